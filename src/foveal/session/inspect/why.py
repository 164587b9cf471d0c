"""Explain why a message was in a build's window or not, and what would have changed that.

The numbers are found by making the build again: with that many more tokens the decision is another, with one
token fewer it is not. In a long session, where making a build again is work, the number is found to within a
fiftieth, and no budget is tried that is far larger or that the model would refuse. Nothing is stored.

A build's record has only some of its options (a task and files are not in it), so a rebuild counts only if it
reproduces the build; if not, the text gives what the record shows.
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
from foveal.pipeline.recipe import Recipe, Scorer
from foveal.pipeline.sensitivity import Cut, crossing, worth
from foveal.pipeline.values import Item, LogNote, RetrievedNote, Scene, SharedNote
from foveal.session.build.build import HANDLES, TASK, stored_build
from foveal.session.build.layout import current_layout, layout_of, rates
from foveal.session.build.manifest_json import read_manifest
from foveal.session.build.material import gather
from foveal.session.build.relevant import retrieved
from foveal.session.build.values import BuildRequest, Gathered
from foveal.session.search.similarity import similarities_to
from foveal.session.state import SessionState
from foveal.session.summaries.library import Answers
from foveal.session.target import Target
from foveal.store import BuildRecord
from foveal.window import FIXED, Code, Decision, Manifest, Score

GONE: dict[Code, str] = {
    "erased": "nothing brings it back",
    "left_out": "`restore` lets it in again",
    "pruned": "`restore` lets it in again",
    "empty": "no budget brings it in",
}
Progress = Callable[[int, int], None]
"""Called before each rebuild with how many are done; how many there will be is unknown: 0."""
LONG = 1_000
"""Messages of a session from which on it is long."""
WITHIN = 0.02
"""Of the tokens that change a decision in a long session: the most that they may be too many."""
TIMES = 4
"""Budgets up to so many times the build's are tried in a long session."""
UNSURE = "the exact number is unknown: the history has changed, or the build had options that are not stored"


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
    out or not in full, negative for one that is in; None if no budget does, or if it is unknown. In a session
    of over 1,000 messages up to 2% too many, and None if no budget up to four times as large does."""
    score: float | None = None
    """The score that brings it in while the next lower one does not; None likewise."""
    otherwise: str
    """The same in words, or why there is no number."""
    quoted: tuple[str, ...] = ()
    """The lines that the window's notes have of the message."""
    text: str
    """All of it, for a terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What would have changed a decision."""

    tokens: tuple[int, int] | None = None
    """Tokens of budget that change it, and a number next to that which does not."""
    most: int = 0
    """The largest budget that was tried; 0 if all were that could matter."""
    score: float | None = None


def explain_decision(
    state: SessionState, id: str, build: int | None, progress: Progress | None = None
) -> Why:
    record = stored_build(state, build)
    stored, gathered = read_manifest(state, record), _gathered(state, record)
    with state.reading():
        entry = _entry(state, id, stored)
        rebuild = Rebuild(state, record, stored, gathered)
        rebuild.progress = progress
        reproduced = rebuild.reproduce()
        manifest = reproduced or stored
        decision = _decision(manifest, entry)
        if decision.code in GONE:  # why it was left out is known to the build that did so
            manifest, decision = stored, _decision(stored, entry)
        found = Change()
        if reproduced and decision.code not in GONE and not _fixed(decision):
            found = Change(
                tokens=_tokens(rebuild, manifest, decision, entry.seq),
                most=0 if rebuild.most == rebuild.everything else rebuild.most,
                score=_score(rebuild, manifest, decision, entry.seq),
            )
        quoted = rebuild.quoted(record, entry.seq)
        rebuild.release()
    otherwise = _otherwise(decision, found, manifest, sure=reproduced is not None)
    return Why(
        id=entry.id,
        build=record.number,
        preset=stored.preset,
        place=entry.seq,
        decision=decision,
        tokens=found.tokens[0] if found.tokens else None,
        score=found.score,
        otherwise=otherwise,
        quoted=quoted,
        text="\n".join(line.text for line in detail(manifest, entry.seq, otherwise=otherwise, quoted=quoted)),
    )


_NOTHING = Gathered()


class Rebuild:
    """Makes a stored build again, with another budget or score. The caller holds the session's lock."""

    def __init__(
        self, state: SessionState, record: BuildRecord, manifest: Manifest, gathered: Gathered = _NOTHING
    ) -> None:
        self._state, self._stored = state, manifest
        self.progress: Progress | None = None
        self._done = 0
        self._preset = state.preset(record.preset)
        target = replace(state.target(record.model), handles=HANDLES in manifest.record)
        self._target = target
        self._history = history_until(state, target, manifest.decisions[-1].last + 1)
        self._oldest = self._history.oldest
        select = self._preset.select
        self._scores = _Scores(select.score) if isinstance(select, Recipe) else None
        order = target.order(self._preset, budget=manifest.budget, tools="", task="", now=record.created_at)
        scene = replace(
            order.scene,
            layout=current_layout(state, target, self._preset),
            rates=rates(state, target, self._preset),
            similarities=similarities_to(self._preset, self._history, "", state=state),
            answer=Answers(state.resources.library, target.meter.text, better=False),
        )
        self._order = replace(
            order,
            scene=scene,
            material=gathered.material,
            shared=_shared(gathered, scene, self._history),
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
    def everything(self) -> int:
        """A budget with which everything fits."""
        history = self._history
        return 2 * (history.tokens + _overhead(self._stored)) + history.note_tokens * (len(history) + 1)

    @property
    def most(self) -> int:
        """The largest budget to try: the whole history, or in a long session what a caller could ask for."""
        if not self.within:
            return self.everything
        budget = self._stored.budget
        return min(self.everything, max(budget, min(TIMES * budget, self._target.most)))

    @property
    def within(self) -> float:
        """How exact the tokens are, as a share of them; 0 for exactly."""
        return WITHIN if len(self._history.entries) > LONG else 0.0

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

    def release(self) -> None:
        """Drop the turns that only rebuilds prepared."""
        self._history.release(self._oldest)

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


def _shared(gathered: Gathered, scene: Scene, history: History) -> tuple[SharedNote, ...]:
    """The notes of what other agents share, as the latest window has them."""
    if gathered.pooled is None:
        return ()
    from foveal.session.pool.notes import first_note, kept_notes

    if scene.layout is not None:
        return kept_notes(gathered.pooled, scene.layout)
    return first_note(gathered.pooled, history, scene.budget, scene.count)


def _gathered(state: SessionState, record: BuildRecord) -> Gathered:
    """The attached context of a build, as far as its record allows. The caller must not hold a lock."""
    request = BuildRequest(
        budget=record.budget, model=record.model, preset=record.preset, now=record.created_at
    )
    return gather(state, request)


def history_until(state: SessionState, target: Target, stop: int) -> History:
    """The history up to `stop`: the session's own if that is all of it, else one to drop afterwards."""
    whole = state.log.history(target)
    if len(whole.entries) == stop:
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


def _tokens(rebuild: Rebuild, manifest: Manifest, decision: Decision, seq: int) -> tuple[int, int] | None:
    """The smallest change of the budget that changes the decision, and the one before it, which does not."""
    budget, within = manifest.budget, rebuild.within
    if decision.verdict == "kept" and decision.detail == "full":
        found = crossing(
            lambda n: _changed(decision, rebuild.manifest(budget - n), seq), budget - 1, within=within
        )
        # If no window fits at all, that says nothing about this message.
        return (
            None if found is None or rebuild.manifest(budget - found[0]) is None else (-found[0], -found[1])
        )
    most = max(0, rebuild.most - budget)
    guess = Cut(manifest).lacks(decision) if decision.verdict == "left out" else 0
    return crossing(
        lambda n: _changed(decision, rebuild.manifest(budget + n), seq),
        most,
        (guess, guess - 1, *([most] if within else [])),
        within=within,
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

    enters = crossing(enough, math.ceil(best * steps) - own + 1, (guess + 1, guess))
    return None if enters is None else (own + enters[0]) / steps


def _otherwise(decision: Decision, found: Change, manifest: Manifest, *, sure: bool) -> str:
    """What would have changed the decision, in words."""
    if decision.code in GONE:
        return GONE[decision.code]
    cut = Cut(manifest)
    if not sure and not _fixed(decision):
        known = cut.keeps(decision)
        return f"{known}; {UNSURE}" if known else UNSURE
    if decision.verdict == "kept" and decision.detail == "full":
        return _fewer(found)
    goal = "in" if decision.verdict == "left out" else "in full"
    ways = [] if found.tokens is None else [_more(*found.tokens)]
    ways += [] if found.score is None else [f"with a score of {cut.score(found.score)}"]
    known = f"{goal} {'; or '.join(ways)}" if ways else ""
    if found.most and not found.tokens:
        untried = _untried(found.most, manifest.budget)
        return "; ".join(filter(None, (known or cut.keeps(decision), untried)))
    return known or f"no budget brings it {goal}"


def _untried(most: int, budget: int) -> str:
    if most == budget:
        return "a larger budget was not tried: the model takes no more"
    return f"not with a budget of {most:,} tokens; larger ones were not tried"


def _fewer(found: Change) -> str:
    if found.tokens is None:
        return "it is in with every budget"
    fewer, still = -found.tokens[0], -found.tokens[1]
    return f"not in, or not in full, with {fewer:,} fewer tokens of budget; in with {still:,} fewer"


def _more(tokens: int, fewer: int) -> str:
    if tokens == 1:
        return "with one token more of budget"
    return f"with {tokens:,} more tokens of budget, not with {fewer:,}"
