"""Explain why a message was in a build's window or not, and what would have changed that.

The numbers are found by making the build again: with that many more tokens the decision is another, with one
token fewer it is not. Nothing is stored. A build's record has only some of its options (a task and files are
not in it), so a rebuild counts only if it reproduces the build; if not, the text gives what the record shows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from foveal.errors import BudgetError, NotFoundError
from foveal.model import Entry
from foveal.pipeline import fit as pipeline
from foveal.pipeline.explain import decision_about, detail
from foveal.pipeline.history import History
from foveal.pipeline.material.values import Material
from foveal.pipeline.recipe import Recipe, Scorer
from foveal.pipeline.sensitivity import Cut, crossing, worth
from foveal.pipeline.values import Item, LogNote, RetrievedNote, Scene
from foveal.presets import Preset
from foveal.session.build.build import HANDLES, TASK, stored_build
from foveal.session.build.layout import current_layout, layout_of, rates
from foveal.session.build.manifest_json import read_manifest
from foveal.session.build.material import gather
from foveal.session.build.relevant import retrieved
from foveal.session.build.values import BuildRequest
from foveal.session.state import SessionState
from foveal.session.summaries.library import Answers
from foveal.session.target import Target
from foveal.store import BuildRecord
from foveal.window import FIXED, Code, Decision, Manifest, Score

GONE: dict[Code, str] = {
    "erased": "nothing brings it back",
    "left_out": "`restore` lets it in again",
    "empty": "no budget brings it in",
}
Progress = Callable[[int, int], None]
"""Called before each rebuild with how many are done; how many there will be is unknown: 0."""
UNSURE = "the exact number is unknown: not all options of the build are stored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """The decision about one message in a build."""

    id: str
    build: int
    preset: str
    place: int
    """Its position in the history, from 0."""
    decision: Decision
    """In or out, the detail, the reason, the score by part, the slot; shared with the rest of its turn."""
    tokens: int | None = None
    """Tokens of budget that change the decision while one fewer does not: positive for a message that is left
    out or not in full, negative for one that is in; None if no budget does, or if it is unknown."""
    score: float | None = None
    """The score that brings it in while the next lower one does not; None likewise."""
    otherwise: str
    """The same in words, or why there is no number."""
    quoted: tuple[str, ...] = ()
    """The lines that the window's notes have of the message."""
    text: str
    """All of it, for a terminal."""


def explain_decision(
    state: SessionState, id: str, build: int | None, progress: Progress | None = None
) -> Why:
    record = stored_build(state, build)
    stored, material = read_manifest(state, record), _material(state, record)
    with state.reading():
        entry = _entry(state, id, stored)
        rebuild = Rebuild(state, record, stored, material)
        rebuild.progress = progress
        reproduced = rebuild.reproduce()
        manifest = reproduced or stored
        decision = _decision(manifest, entry)
        tokens = score = None
        if reproduced and decision.code not in GONE and not _fixed(decision):
            tokens = _tokens(rebuild, manifest, decision, entry.seq)
            score = _score(rebuild, manifest, decision, entry.seq)
        quoted = rebuild.quoted(record, entry.seq)
    otherwise = _otherwise(decision, tokens, score, manifest, sure=reproduced is not None)
    return Why(
        id=entry.id,
        build=record.number,
        preset=stored.preset,
        place=entry.seq,
        decision=decision,
        tokens=tokens,
        score=score,
        otherwise=otherwise,
        quoted=quoted,
        text="\n".join(line.text for line in detail(manifest, entry.seq, otherwise=otherwise, quoted=quoted)),
    )


class Rebuild:
    """Makes a stored build again, with another budget or score. The caller holds the session's lock."""

    def __init__(
        self, state: SessionState, record: BuildRecord, manifest: Manifest, material: Sequence[Material] = ()
    ) -> None:
        self._state, self._stored = state, manifest
        self.progress: Progress | None = None
        self._done = 0
        self._preset = state.preset(record.preset)
        target = replace(state.target(record.model), handles=HANDLES in manifest.record)
        self._target = target
        self._history = history_until(state, target, manifest.decisions[-1].last + 1, self._preset)
        select = self._preset.select
        self._scores = _Scores(select.score) if isinstance(select, Recipe) else None
        order = target.order(self._preset, budget=manifest.budget, tools="", task="", now=record.created_at)
        scene = replace(
            order.scene,
            layout=current_layout(state, target, self._preset),
            rates=rates(state, target, self._preset),
            answer=Answers(state.resources.library, target.meter.text, better=False),
        )
        self._order = replace(
            order,
            scene=scene,
            material=tuple(material),
            admit=self._preset.admit,
            tools=_overhead(manifest) - order.framing,
            select=self._recipe(select) if isinstance(select, Recipe) else select,
        )

    def _recipe(self, recipe: Recipe) -> Recipe:
        return replace(recipe, score=self._scores or recipe.score, report=None)

    @property
    def scored(self) -> bool:
        """Whether the preset scores messages, so that a score can be changed."""
        return self._scores is not None

    @property
    def most(self) -> int:
        """A budget with which everything fits."""
        history = self._history
        return 2 * (history.tokens + _overhead(self._stored)) + history.note_tokens * (len(history) + 1)

    def manifest(self, budget: int, *, scores: tuple[int, float] | None = None) -> Manifest | None:
        """The manifest with another budget; None if no window fits it.

        `scores`: the position of a message, and the score to use instead of its own.
        """
        if self.progress:
            self.progress(self._done, 0)
        self._done += 1
        if self._scores:
            self._scores.instead = scores
        order = replace(self._order, scene=replace(self._order.scene, budget=budget))
        try:
            fitted = pipeline.fit(self._history, order)
            if self._preset.retrieves:
                past = retrieved(self._state, self._history, fitted.manifest, order.scene)
                fitted = pipeline.fit(self._history, replace(order, retrieved=past)) if past else fitted
        except BudgetError:
            return None
        return fitted.manifest

    def reproduce(self) -> Manifest | None:
        """The manifest of the build with the score of every decision; None if it cannot be reproduced."""
        stored, found = self._stored, self.manifest(self._stored.budget)
        if found is None or _contributed(found) != _contributed(stored):
            return None
        if found.tokens == stored.tokens and _kept(found) == _kept(stored):
            return found
        # With a stable prefix, other budgets get a new layout, whatever the windows before this build were.
        return stored if self._preset.stable_prefix and TASK not in stored.record else None

    def quoted(self, record: BuildRecord, seq: int) -> tuple[str, ...]:
        """The lines that the notes of the stored window have of a message, written again."""
        if not any(note.lines_of(seq) for note in self._stored.notes):
            return ()
        layout = layout_of(self._state, record, self._history, self._target)
        notes: Sequence[LogNote | RetrievedNote] = (*layout.notes, *layout.retrieved) if layout else ()
        return tuple(
            text
            for each in notes
            for text, sources in zip(each.note.messages[0].text.split("\n"), each.sources, strict=False)
            if seq in sources
        )


class _Scores:
    """A scorer that is called once: the same messages at the same time have the same scores."""

    def __init__(self, score: Scorer) -> None:
        self.instead: tuple[int, float] | None = None
        self._score = score
        self._found: Sequence[Score] | None = None

    def __call__(self, items: Sequence[Item], scene: Scene) -> Sequence[Score]:
        if self._found is None:
            self._found = self._score(items, scene)
        if self.instead is None:
            return self._found
        seq, total = self.instead
        pairs = zip(items, self._found, strict=True)
        return [replace(score, total=total) if item.index == seq else score for item, score in pairs]


def _material(state: SessionState, record: BuildRecord) -> Sequence[Material]:
    """The attached context of a build, as far as its record allows. The caller must not hold a lock."""
    request = BuildRequest(
        budget=record.budget, model=record.model, preset=record.preset, now=record.created_at
    )
    return gather(state, request).material


def history_until(state: SessionState, target: Target, stop: int, preset: Preset) -> History:
    """The history up to `stop`; a preset that looks at few turns gets a copy that is dropped afterwards."""
    whole = state.log.history(target)
    if preset.looks_at_all and len(whole.entries) == stop:
        return whole
    history = History(state.log.read, whole.frame)
    history.extend(whole.entries[:stop])
    return history


def _overhead(manifest: Manifest) -> int:
    """Tokens of the request that no message of the history has."""
    stored = sum(d.tokens for d in manifest.kept if d.code == "system_prompt")
    return sum(manifest.parts.get(part, 0) for part in ("framing", "tools", "system")) - stored


def _kept(manifest: Manifest) -> set[tuple[int, str]]:
    return {(seq, each.detail) for each in manifest.kept for seq in range(each.first, each.last + 1)}


def _contributed(manifest: Manifest) -> Counter[tuple[str, int]]:
    """The material that was offered, admitted or not."""
    return Counter((each.type, each.tokens) for each in manifest.contributed)


def _entry(state: SessionState, id: str, manifest: Manifest) -> Entry:
    """The message, if it is on the branch of the build."""
    located = state.located(id)
    if manifest.record.get("branch", str(state.log.head.branch)) != str(state.log.head.branch):
        raise NotFoundError(
            "the history was edited after that build: its positions are those of the branch that was left",
            remedy="`explain` shows the whole build; or name a later one",
        )
    if not located.current:
        raise NotFoundError(
            f"message {id!r} is on a branch this session has left",
            remedy="`entries` gives the ids of the current branch",
        )
    return located.entry


def _decision(manifest: Manifest, entry: Entry) -> Decision:
    found = decision_about(manifest, entry.seq)
    if found is None:
        raise NotFoundError(
            f"message {entry.id!r} came after that build", remedy="name a later build, or build a window now"
        )
    return found


def _fixed(decision: Decision) -> bool:
    return decision.verdict == "kept" and decision.detail == "full" and decision.code in FIXED


def _changed(before: Decision, after: Manifest | None, seq: int) -> bool:
    """Whether a left-out message is in now, a shortened one in full, or one in full no longer so."""
    found = decision_about(after, seq) if after else None
    if before.verdict == "left out":
        return found is not None and found.verdict == "kept"
    whole = found is not None and (found.verdict, found.detail) == ("kept", "full")
    return whole if before.detail != "full" else not whole


def _tokens(rebuild: Rebuild, manifest: Manifest, decision: Decision, seq: int) -> int | None:
    """The smallest change of the budget that changes the decision."""
    budget = manifest.budget
    if decision.verdict == "kept" and decision.detail == "full":
        fewer = crossing(lambda n: _changed(decision, rebuild.manifest(budget - n), seq), budget - 1)
        # If no window fits at all, that says nothing about this message.
        return None if fewer is None or rebuild.manifest(budget - fewer) is None else -fewer
    guess = Cut(manifest).lacks(decision) if decision.verdict == "left out" else 0
    return crossing(
        lambda n: _changed(decision, rebuild.manifest(budget + n), seq),
        max(0, rebuild.most - budget),
        (guess, guess - 1),
    )


def _score(rebuild: Rebuild, manifest: Manifest, decision: Decision, seq: int) -> float | None:
    """The lowest score that brings a left-out message in, with as many digits as scores are shown with."""
    cut, score = Cut(manifest), worth(decision)
    if not rebuild.scored or score is None or decision.verdict == "kept":
        return None
    steps = 10**cut.digits
    own = math.floor(score.total * steps)
    best = max(found.total for each in manifest.decisions if (found := worth(each)))
    above = cut.above(decision)
    guess = 0 if above is None else math.floor(above * steps) - own

    def enough(more: int) -> bool:
        scores = (seq, (own + more) / steps)
        return _changed(decision, rebuild.manifest(manifest.budget, scores=scores), seq)

    more = crossing(enough, math.ceil(best * steps) - own + 1, (guess + 1, guess))
    return None if more is None else (own + more) / steps


def _otherwise(
    decision: Decision, tokens: int | None, score: float | None, manifest: Manifest, *, sure: bool
) -> str:
    """What would have changed the decision, in words."""
    if decision.code in GONE:
        return GONE[decision.code]
    whole, cut = decision.verdict == "kept" and decision.detail == "full", Cut(manifest)
    if not sure and not _fixed(decision):
        known = cut.keeps(decision)
        return f"{known}; {UNSURE}" if known else UNSURE
    if whole and tokens is None:
        return "it is in with every budget"
    if whole and tokens is not None:
        fewer = -tokens
        return f"not in, or not in full, with {fewer:,} fewer tokens of budget; in with {fewer - 1:,} fewer"
    goal = "in" if decision.verdict == "left out" else "in full"
    ways = [] if tokens is None else [_more(tokens)]
    ways += [] if score is None else [f"with a score of {cut.score(score)}"]
    return f"{goal} {'; or '.join(ways)}" if ways else f"no budget brings it {goal}"


def _more(tokens: int) -> str:
    if tokens == 1:
        return "with one token more of budget"
    return f"with {tokens:,} more tokens of budget, not with {tokens - 1:,}"
