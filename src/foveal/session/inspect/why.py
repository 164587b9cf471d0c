"""A message and a build in → why it was in that window or not, and what would have changed that.

The numbers are found by making the build again: with that many tokens more the decision is another, with one
fewer it is not. Where a build cannot be made again, the words say what its record tells.

A stored build in → the same build made again with another budget, or another score of one message.

Nothing is stored. What a caller said of a build beside its budget (a task, files) is not in its record, so
whoever asks looks first whether the build comes out as it was: `faithful`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from foveal.errors import BudgetError, NotFoundError
from foveal.model import Entry
from foveal.pipeline import fit as pipeline
from foveal.pipeline.explain import Line, decision_about, detail
from foveal.pipeline.history import History
from foveal.pipeline.material.values import Material
from foveal.pipeline.scoring import Recipe, Scorer
from foveal.pipeline.sensitivity import Cut, crossing, worth
from foveal.pipeline.values import Item, Scene
from foveal.presets import Preset
from foveal.session.build.build import HANDLES, TASK, stored_build
from foveal.session.build.layout import current_layout, rates
from foveal.session.build.manifest_json import read_manifest
from foveal.session.build.material import gather
from foveal.session.build.relevant import retrieved
from foveal.session.build.values import BuildRequest
from foveal.session.state import SessionState
from foveal.session.summaries.library import Answers
from foveal.session.target import Target
from foveal.store import BuildRecord
from foveal.window import FIXED, Code, Decision, Manifest, Score


class Again:
    """One stored build. Whoever asks holds the session."""

    def __init__(
        self, state: SessionState, record: BuildRecord, manifest: Manifest, material: Sequence[Material] = ()
    ) -> None:
        self._state, self._told = state, manifest
        self._preset = state.preset(record.preset)
        target = replace(state.target(record.model), handles=HANDLES in manifest.record)
        self._history = _history(state, target, manifest.decisions[-1].last + 1, self._preset)
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
        """Its scores can be changed one by one."""
        return self._scores is not None

    @property
    def most(self) -> int:
        """Tokens with which everything fits, and more."""
        history = self._history
        return 2 * (history.tokens + _overhead(self._told)) + history.note_tokens * (len(history) + 1)

    def made(self, budget: int, *, scores: tuple[int, float] | None = None) -> Manifest | None:
        """The manifest with that budget; None where there is no window so small.

        `scores`: the position of a message, and the score it has instead of its own.
        """
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

    def faithful(self) -> Manifest | None:
        """The build as it was, every decision with its score; None where it does not come out the same."""
        told, found = self._told, self.made(self._told.budget)
        if found is None or _beside(found) != _beside(told):
            return None
        if found.tokens == told.tokens and _kept(found) == _kept(told):
            return found
        # A window that holds still is laid out anew for another budget, whatever came before it.
        return told if self._preset.stable_prefix and TASK not in told.record else None


def material_of(state: SessionState, record: BuildRecord) -> Sequence[Material]:
    """What stood beside that build, as far as it can be known. Nothing may be locked meanwhile."""
    wanted = BuildRequest(
        budget=record.budget, model=record.model, preset=record.preset, now=record.created_at
    )
    return gather(state, wanted).material


def _history(state: SessionState, target: Target, stop: int, preset: Preset) -> History:
    """The history as long as it was then; one that reads little is read anew and let go of."""
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
    return {(seq, each.detail) for each in manifest.kept for seq in _places(each)}


def _beside(manifest: Manifest) -> Counter[tuple[str, int]]:
    """The material that there was, in or not."""
    return Counter((each.type, each.tokens) for each in manifest.contributed)


def _places(decision: Decision) -> range:
    return range(decision.first, decision.last + 1)


class _Scores:
    """A scorer that is asked once: of the same messages at the same moment it says the same."""

    def __init__(self, score: Scorer) -> None:
        self.instead: tuple[int, float] | None = None
        self._score = score
        self._found: Sequence[Score] | None = None

    def __call__(self, items: Sequence[Item], scene: Scene) -> Sequence[Score]:
        if self._found is None:
            self._found = self._score(items, scene)
        if self.instead is None:
            return self._found
        place, total = self.instead
        pairs = zip(items, self._found, strict=True)
        return [replace(score, total=total) if item.index == place else score for item, score in pairs]


GONE: dict[Code, str] = {
    "erased": "nothing brings it back",
    "left_out": "`restore` lets it in again",
    "empty": "no budget brings it in",
}
UNSURE = "more exactly nobody can say: what the build was asked for beside its budget is not stored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """The decision about one message in a build."""

    id: str
    build: int
    preset: str
    place: int
    """Its position in the history, from 0."""
    decision: Decision
    """In or out, the detail, the reason, the score by part, the slot; together with the rest of its turn."""
    tokens: int | None = None
    """Tokens of budget that change the decision while one fewer does not: more for what is left out or not
    in full, fewer, below 0, for what is in; None where no budget does, or nobody can say."""
    score: float | None = None
    """The score that brings it in while the next lower one does not; None likewise."""
    otherwise: str
    """The same in words, or why there is no number."""
    text: str
    """All of it for a person at a terminal."""


def explain_decision(state: SessionState, id: str, build: int | None) -> Why:
    record = stored_build(state, build)
    told, material = read_manifest(state, record), material_of(state, record)
    with state.reading():
        entry = _entry(state, id, told)
        again = Again(state, record, told, material)
        manifest = again.faithful()
        decision = _decision(manifest or told, entry)
        tokens = score = None
        if manifest and decision.code not in GONE and not _fixed(decision):
            tokens = _tokens(again, manifest, decision, entry.seq)
            score = _score(again, manifest, decision, entry.seq)
    otherwise = _words(decision, tokens, score, manifest or told, sure=manifest is not None)
    found = Why(
        id=entry.id,
        build=record.number,
        preset=told.preset,
        place=entry.seq,
        decision=decision,
        tokens=tokens,
        score=score,
        otherwise=otherwise,
        text="",
    )
    return replace(found, text="\n".join(line.text for line in lines(manifest or told, found)))


def lines(manifest: Manifest, found: Why) -> Iterator[Line]:
    return detail(manifest, found.place, otherwise=found.otherwise)


def _entry(state: SessionState, id: str, manifest: Manifest) -> Entry:
    """The message, if the build saw it."""
    place = state.located(id)
    if manifest.record.get("branch", str(state.log.head.branch)) != str(state.log.head.branch):
        raise NotFoundError(
            "the history was edited after that build: its positions are those of the branch that was left",
            remedy="`explain` shows the whole of it; or name a later build",
        )
    if not place.current:
        raise NotFoundError(
            f"message {id!r} is on a branch that the session left", remedy="`entries` gives those it has"
        )
    return place.entry


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
    """Is it in now, or in full now, or no more?"""
    found = decision_about(after, seq) if after else None
    if before.verdict == "left out":
        return found is not None and found.verdict == "kept"
    whole = found is not None and (found.verdict, found.detail) == ("kept", "full")
    return whole if before.detail != "full" else not whole


def _tokens(again: Again, manifest: Manifest, decision: Decision, seq: int) -> int | None:
    budget = manifest.budget
    if decision.verdict == "kept" and decision.detail == "full":
        fewer = crossing(lambda n: _changed(decision, again.made(budget - n), seq), budget - 1)
        # Where there is no window at all, nothing was decided about this message.
        return None if fewer is None or again.made(budget - fewer) is None else -fewer
    guess = Cut(manifest).lacks(decision) if decision.verdict == "left out" else 0
    return crossing(
        lambda n: _changed(decision, again.made(budget + n), seq),
        max(0, again.most - budget),
        (guess, guess - 1),
    )


def _score(again: Again, manifest: Manifest, decision: Decision, seq: int) -> float | None:
    """The lowest, in steps of the digits that scores are told with, that brings a left-out message in."""
    cut, score = Cut(manifest), worth(decision)
    if not again.scored or score is None or decision.verdict == "kept":
        return None
    steps = 10**cut.digits
    own = math.floor(score.total * steps)
    best = max(found.total for each in manifest.decisions if (found := worth(each)))
    above = cut.above(decision)
    guess = 0 if above is None else math.floor(above * steps) - own

    def enough(more: int) -> bool:
        return _changed(decision, again.made(manifest.budget, scores=(seq, (own + more) / steps)), seq)

    more = crossing(enough, math.ceil(best * steps) - own + 1, (guess + 1, guess))
    return None if more is None else (own + more) / steps


def _more(tokens: int) -> str:
    if tokens == 1:
        return "with one token more of budget"
    return f"with {tokens:,} more tokens of budget, not with {tokens - 1:,}"


def _words(
    decision: Decision, tokens: int | None, score: float | None, manifest: Manifest, *, sure: bool
) -> str:
    if decision.code in GONE:
        return GONE[decision.code]
    whole, cut = decision.verdict == "kept" and decision.detail == "full", Cut(manifest)
    if not sure and not _fixed(decision):
        told = cut.keeps(decision)
        return f"{told}; {UNSURE}" if told else UNSURE
    if whole and tokens is None:
        return "it is in with every budget"
    if whole and tokens is not None:
        fewer = -tokens
        return f"not in, or not in full, with {fewer:,} fewer tokens of budget; in with {fewer - 1:,} fewer"
    goal = "in" if decision.verdict == "left out" else "in full"
    ways = [] if tokens is None else [_more(tokens)]
    ways += [] if score is None else [f"with a score of {cut.score(score)}"]
    return f"{goal} {'; or '.join(ways)}" if ways else f"no budget brings it {goal}"
