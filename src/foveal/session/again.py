"""A stored build in → the same build made again with another budget, or another score of one message.

Nothing is stored. What a caller said of a build beside its budget (a task, files) is not in its record, so
whoever asks looks first whether the build comes out as it was: `faithful`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from foveal import presets
from foveal.errors import BudgetError
from foveal.pipeline import fit as pipeline
from foveal.pipeline.history import History
from foveal.pipeline.items import Scorer
from foveal.pipeline.material import Material
from foveal.pipeline.scored import Recipe
from foveal.pipeline.values import Item, Scene, Score
from foveal.presets import Preset
from foveal.session import holding
from foveal.session.answers import Answers
from foveal.session.building import HANDLES, TASK, Wanted, gather
from foveal.session.core import Core
from foveal.session.retrieving import retrieved
from foveal.session.target import Target
from foveal.store import BuildRecord
from foveal.window import Decision, Manifest


class Again:
    """One stored build. Whoever asks holds the session."""

    def __init__(
        self, core: Core, record: BuildRecord, manifest: Manifest, material: Sequence[Material] = ()
    ) -> None:
        self._core, self._told = core, manifest
        self._preset = presets.find(record.preset, core.desk.numbers)
        aim = replace(core.aim(record.model), handles=HANDLES in manifest.record)
        self._history = _history(core, aim, manifest.decisions[-1].last + 1, self._preset)
        select = self._preset.select
        self._scores = _Scores(select.score) if isinstance(select, Recipe) else None
        order = aim.order(self._preset, budget=manifest.budget, tools="", task="", now=record.created_at)
        self._order = replace(
            order,
            held=holding.held(core, aim, self._preset),
            rates=holding.rates(core, aim, self._preset),
            material=tuple(material),
            admit=self._preset.admit,
            tools=_overhead(manifest) - order.framing,
            answer=Answers(core.desk.library, aim.meter.text, better=False),
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
        order = replace(self._order, budget=budget)
        try:
            fitted = pipeline.fit(self._history, order)
            if self._preset.retrieves:
                past = retrieved(self._core, self._history, fitted.manifest, order)
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
        return told if self._preset.steady and TASK not in told.record else None


def material_of(core: Core, record: BuildRecord) -> Sequence[Material]:
    """What stood beside that build, as far as it can be known. Nothing may be locked meanwhile."""
    wanted = Wanted(budget=record.budget, model=record.model, preset=record.preset, now=record.created_at)
    return gather(core, wanted).material


def _history(core: Core, aim: Target, stop: int, preset: Preset) -> History:
    """The history as long as it was then; one that reads little is read anew and let go of."""
    whole = core.ledger.history(aim)
    if preset.looks_at_all and len(whole.entries) == stop:
        return whole
    history = History(core.ledger.read, whole.frame)
    history.extend(whole.entries[:stop])
    return history


def _overhead(manifest: Manifest) -> int:
    """Tokens of the request that no message of the history has."""
    stored = sum(d.tokens for d in manifest.kept if d.because == "system prompt")
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
