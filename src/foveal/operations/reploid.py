"""A plain list of messages in → the list pruned, summarized or measured; what was left out comes back too.

Prune by importance: system messages and the newest turn stay, then the best of the rest that fit; turns
stay or go whole, in their order, and what stays is the very objects that came in.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import Field, model_validator

from foveal import catalog, wire
from foveal.errors import BudgetError, InputError
from foveal.operations.messages import NEWEST, Counted, counted, meter, units
from foveal.operations.registry import Operation, Shape
from foveal.pipeline.summarize.counts import summary_text
from foveal.pipeline.values import Scene, Unit
from foveal.presets.reploid import ReploidNumbers, score_importance
from foveal.presets.reploid import pick_important as best_that_fit
from foveal.window import Score

Messages = Sequence[Any]
DEFAULTS = ReploidNumbers()
TIMELESS = Scene(now=0.0)
"""Importance goes by position: no clock is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What stays and what goes, each in its order."""

    pruned: Messages
    """The history itself, not a copy, when nothing had to go."""
    removed: Messages
    original: int
    """Tokens before."""
    final: int
    """Tokens after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarized:
    """The history with one note in place of its older part."""

    summarized: Messages
    """The history itself, not a copy, when it is no longer than what stays."""
    summary: Any
    """The note as a message of the history's format; None when none was needed."""
    replaced: Messages


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryStats:
    """How full the model is."""

    items: int
    tokens: int
    limit: int
    utilization_percent: float
    needs_pruning: bool


def score(
    history: Messages, model: str | None = None, *, numbers: ReploidNumbers = DEFAULTS
) -> Sequence[Score]:
    """The importance of each message, 0 to 100, with its parts."""
    return score_importance(counted(history, model).items, TIMELESS, numbers=numbers)


def prune(
    history: Messages,
    max_tokens: int | None = None,
    model: str | None = None,
    *,
    numbers: ReploidNumbers = DEFAULTS,
) -> Pruned:
    """Keep what matters most within `max_tokens`, by default 80% of the model's limit.

    Nothing is added or repaired: where a provider minds what its neighbours are, `fit` with the preset
    `reploid` also puts the notes in between.

    >>> talk = [{"role": "user", "content": f"{n} the quick brown fox"} for n in range(5)]
    >>> [message["content"][0] for message in prune(talk, 25).pruned]
    ['3', '4']
    """
    found = counted(history, model)
    budget = int(found.limit * numbers.target) if max_tokens is None else max_tokens
    if found.tokens <= budget:
        return Pruned(pruned=history, removed=[], original=found.tokens, final=found.tokens)
    return _without_the_least(history, found, budget, numbers)


def _without_the_least(history: Messages, found: Counted, budget: int, numbers: ReploidNumbers) -> Pruned:
    turns = units(found, score_importance(found.items, TIMELESS, numbers=numbers))
    must = sum(unit.tokens for unit in turns if unit.forced)
    room = budget - found.framing - must
    if room < 0:
        raise _too_small(turns, budget, found.framing + must)
    kept = best_that_fit(turns, room).kept
    removed = [place for unit in turns if unit.turn not in kept for place in found.turns[unit.turn]]
    gone = set(removed)
    return Pruned(
        pruned=[message for place, message in enumerate(history) if place not in gone],
        removed=[history[place] for place in removed],
        original=found.tokens,
        final=found.tokens - sum(found.items[place].tokens for place in removed),
    )


def _too_small(turns: Sequence[Unit], budget: int, least: int) -> BudgetError:
    newest = sum(unit.tokens for unit in turns if unit.forced == NEWEST)
    system = sum(unit.tokens for unit in turns if unit.forced) - newest
    return BudgetError(
        f"`max_tokens` is {budget:,}, the smallest history has {least:,}: system messages {system:,}, "
        f"newest turn {newest:,}, framing {least - system - newest:,}",
        remedy=f"raise `max_tokens` to {least:,} or more, or shorten the newest turn",
        field="max_tokens",
    )


def auto_manage(history: Messages, model: str | None = None, *, numbers: ReploidNumbers = DEFAULTS) -> Pruned:
    """Prune when the history fills more than 80% of the model's limit; else give it back untouched."""
    return prune(history, model=model, numbers=numbers)


def summarize(history: Messages, keep: int = DEFAULTS.keep) -> Summarized:
    """One note in place of all but the newest `keep` messages, turns whole; system messages stay."""
    if keep < 0:
        raise InputError(f"`keep` is {keep}", remedy="give 0 or more messages to keep", field="keep")
    found = counted(history)
    talk = [turn for turn in found.turns if found.items[turn[0]].role != "system"]
    while talk and keep > 0:
        keep -= len(talk.pop())
    old = [place for turn in talk for place in turn]
    if not old:
        return Summarized(summarized=history, summary=None, replaced=[])
    note = wire.note(summary_text([found.messages[place] for place in old]), found.format)
    summary = json.loads(note.body)
    gone = set(old)
    stays = [(place, message) for place, message in enumerate(history) if place not in gone]
    before = [message for place, message in stays if place < old[0]]
    after = [message for place, message in stays if place > old[0]]
    return Summarized(
        summarized=[*before, summary, *after], summary=summary, replaced=[history[place] for place in old]
    )


def stats(history: Messages, model: str | None = None, *, numbers: ReploidNumbers = DEFAULTS) -> HistoryStats:
    """Messages, tokens, and how much of the model's limit they fill."""
    found = counted(history, model)
    return HistoryStats(
        items=len(found.items),
        tokens=found.tokens,
        limit=found.limit,
        utilization_percent=round(100 * found.tokens / found.limit, 2),
        needs_pruning=found.tokens > int(found.limit * numbers.target),
    )


# The same, as operations on JSON.

Objects = list[dict[str, Any]]


class Listed(Shape):
    messages: Objects = Field(description="Messages in any provider's format.")
    model: str = Field(default="", description="The model that will read them.")


class PruneRequest(Listed):
    max_tokens: int | None = Field(default=None, gt=0, description="By default 80% of the model's limit.")


class PruneStats(Shape):
    original: int = Field(description="Tokens before.")
    final: int = Field(description="Tokens after.")
    items_removed: int
    items_kept: int


class PruneResult(Shape):
    pruned: Objects
    removed: Objects
    stats: PruneStats


class SummarizeRequest(Shape):
    messages: Objects
    keep: int | None = Field(default=None, ge=0, description="Newest messages that stay; 10 unless given.")
    max_items: int | None = Field(default=None, ge=0, description="Another name of `keep`.")

    @model_validator(mode="after")
    def _one_number(self) -> SummarizeRequest:
        if None not in (self.keep, self.max_items) and self.keep != self.max_items:
            raise ValueError(f"`keep` is {self.keep} and `max_items` {self.max_items}: give one of them")
        return self


class SummarizeStats(Shape):
    summarized_items: int
    kept_items: int


class SummarizeResult(Shape):
    summarized: Objects
    summary: dict[str, Any] | None
    stats: SummarizeStats


class ScoreResult(Shape):
    scores: list[float]
    parts: list[dict[str, float]]


class StatsResult(Shape):
    items: int
    tokens: int
    limit: int
    utilization_percent: float
    needs_pruning: bool


class CountRequest(Shape):
    text: str | None = None
    messages: Objects | None = None
    model: str = ""
    counter: str = Field(default="", description="A tokenizer by name; by default the model's.")

    @model_validator(mode="after")
    def _one_content(self) -> CountRequest:
        if (self.text is None) == (self.messages is None):
            raise ValueError("give either `text` or `messages`")
        return self


class CountResult(Shape):
    tokens: int
    exact: bool
    error_bound: float = Field(description="How far the truth may lie below, as a share of the count.")
    tokenizer: str


def _score(request: Listed) -> ScoreResult:
    found = score(request.messages, request.model)
    return ScoreResult(scores=[each.total for each in found], parts=[dict(each.parts) for each in found])


def _prune(request: PruneRequest) -> PruneResult:
    done = prune(request.messages, request.max_tokens, request.model)
    numbers = PruneStats(
        original=done.original,
        final=done.final,
        items_removed=len(done.removed),
        items_kept=len(done.pruned),
    )
    return PruneResult(pruned=list(done.pruned), removed=list(done.removed), stats=numbers)


def _summarize(request: SummarizeRequest) -> SummarizeResult:
    given = request.max_items if request.keep is None else request.keep
    done = summarize(request.messages, DEFAULTS.keep if given is None else given)
    numbers = SummarizeStats(
        summarized_items=len(done.replaced), kept_items=len(request.messages) - len(done.replaced)
    )
    return SummarizeResult(summarized=list(done.summarized), summary=done.summary, stats=numbers)


def _stats(request: Listed) -> StatsResult:
    return StatsResult.model_validate(asdict(stats(request.messages, request.model)))


def _count(request: CountRequest) -> CountResult:
    given = None if request.messages is None else wire.load(request.messages, model=request.model)
    card = catalog.find(request.model)
    by = meter(request.counter or card.tokenizer, given.format if given else "plain", card.images)
    if given is None:
        tokens = by.text(request.text or "")
    else:
        tokens = by.request + sum(map(by.message, given.messages))
    name = by.tokenizer
    assumed = bool(request.model) and not card.known and not request.counter
    return CountResult(
        tokens=tokens, exact=name.exact and not assumed, error_bound=name.error, tokenizer=name.name
    )


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="history_score",
        about="How much each message matters, 0 to 100.",
        request=Listed,
        result=ScoreResult,
        run=_score,
    ),
    Operation(
        name="history_prune",
        about="Keep the messages that matter most and fit.",
        request=PruneRequest,
        result=PruneResult,
        run=_prune,
    ),
    Operation(
        name="history_auto_manage",
        about="Prune only when the model is over 80% full.",
        request=PruneRequest,
        result=PruneResult,
        run=_prune,
    ),
    Operation(
        name="history_summarize",
        about="One note in place of the older messages.",
        request=SummarizeRequest,
        result=SummarizeResult,
        run=_summarize,
    ),
    Operation(
        name="history_stats",
        about="How full the model is with these messages.",
        request=Listed,
        result=StatsResult,
        run=_stats,
    ),
    Operation(
        name="tokens_count",
        about="Tokens of a text or of messages.",
        request=CountRequest,
        result=CountResult,
        run=_count,
    ),
)
