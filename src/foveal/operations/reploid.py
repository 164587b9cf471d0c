"""Prune, summarize, score and measure a plain list of messages.

Pruning keeps system messages and the newest turn, then the most important turns that fit. Turns stay or go
whole and in order. The Python functions return the caller's own message objects, not copies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import Field, SkipValidation, model_validator

from foveal import catalog, wire
from foveal.errors import BudgetError, InputError
from foveal.events import Reports
from foveal.operations.messages import REPLOID, ScoreResult, Skim, counted, meter, score_result, skim
from foveal.operations.registry import Done, Objects, Operation, Shape
from foveal.pipeline.summarize.counts import counts_note
from foveal.presets.reploid import ReploidNumbers, best_that_fit
from foveal.validation import LARGEST
from foveal.window import Score

Messages = Sequence[Any]
T = TypeVar("T", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What stays and what goes, each in order."""

    pruned: Messages
    """The history itself, not a copy, if nothing had to go."""
    removed: Messages
    original: int
    """Tokens before pruning."""
    final: int
    """Tokens after pruning."""
    warnings: tuple[str, ...] = ()
    """What is assumed of a model that is not in the catalogue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarized:
    """The history with one note in place of its older part."""

    summarized: Messages
    """The history itself, not a copy, if nothing was summarized."""
    summary: Any
    """The note as a message in the history's format; None if nothing was summarized."""
    replaced: Messages


class HistoryStats(Shape):
    """How much of the model's limit a history fills."""

    items: int
    tokens: int
    limit: int
    utilization_percent: float
    needs_pruning: bool
    warnings: tuple[str, ...] = Field(default=(), description="What is assumed of an unknown model.")


def score(
    history: Messages, model: str | None = None, *, numbers: ReploidNumbers = REPLOID
) -> Sequence[Score]:
    """The importance of each message, 0 to 100 by default, with its parts."""
    return skim(history, model, numbers).scores()


def prune(
    history: Messages,
    max_tokens: int | None = None,
    model: str | None = None,
    *,
    numbers: ReploidNumbers = REPLOID,
) -> Pruned:
    """Keep the most important messages within `max_tokens`, by default 80% of the model's limit.

    Nothing is added or repaired. For providers that restrict which messages may be neighbours, use `fit` with
    the preset `reploid`, which adds notes where they are needed.

    >>> talk = [{"role": "user", "content": f"{n} the quick brown fox"} for n in range(5)]
    >>> [message["content"][0] for message in prune(talk, 25).pruned]
    ['3', '4']
    """
    found = skim(history, model, numbers)
    sizes = found.tokens()
    tokens = found.framing + sum(sizes)
    budget = int(found.limit * numbers.target) if max_tokens is None else max_tokens
    if tokens <= budget:
        return Pruned(pruned=history, removed=[], original=tokens, final=tokens, warnings=found.warnings)
    gone = _least_important(found, sizes, budget)
    return Pruned(
        pruned=[message for place, message in enumerate(history) if place not in gone],
        removed=[message for place, message in enumerate(history) if place in gone],
        original=tokens,
        final=tokens - sum([sizes[place] for place in gone]),
        warnings=found.warnings,
    )


def _least_important(found: Skim, sizes: Sequence[int], budget: int) -> set[int]:
    """The positions of the messages that have to go."""
    totals, messages = found.totals(), found.messages
    free = [turn for turn in found.turns() if messages[turn.start].links.role != "system"]
    of_free = _of_turns(sizes, free, sum)
    system = sum(sizes) - sum(of_free)
    newest = of_free.pop() if free else 0
    least = found.framing + system + newest
    if budget < least:
        raise BudgetError(
            f"`max_tokens` is {budget:,}, the smallest history has {least:,}: system messages {system:,}, "
            f"newest turn {newest:,}, framing {found.framing:,}",
            remedy=f"raise `max_tokens` to {least:,} or more, or shorten the newest turn",
            field="max_tokens",
        )
    best = _of_turns(totals, free[:-1], max)
    order = best_that_fit(best, of_free, budget - least)
    return {place for at, fits, _ in order if not fits for place in free[at]}


def _of_turns(values: Sequence[T], turns: Sequence[range], of_many: Callable[[Sequence[T]], T]) -> list[T]:
    """A value for each turn, of the values of its messages; most turns are one message."""
    return [
        values[turn.start] if len(turn) == 1 else of_many(values[turn.start : turn.stop]) for turn in turns
    ]


def auto_manage(history: Messages, model: str | None = None, *, numbers: ReploidNumbers = REPLOID) -> Pruned:
    """Prune a history above 80% of the model's limit to that; any other is returned as the same object.

    >>> talk = [{"role": "user", "content": "hello"}]
    >>> auto_manage(talk, "claude-sonnet-4-5").pruned is talk
    True
    """
    return prune(history, None, model, numbers=numbers)


def summarize(history: Messages, keep: int = REPLOID.keep) -> Summarized:
    """Replace all but the newest `keep` messages with one note; turns stay whole, system messages stay."""
    if keep < 0:
        raise InputError(f"`keep` is {keep}", remedy="give 0 or more messages to keep", field="keep")
    found = counted(history)
    talk = [turn for turn in found.turns if found.items[turn[0]].role != "system"]
    while talk and keep > 0:
        keep -= len(talk.pop())
    old = [place for turn in talk for place in turn]
    if not old:
        return Summarized(summarized=history, summary=None, replaced=[])
    note = wire.note(counts_note([found.messages[place] for place in old]), found.format)
    summary = json.loads(note.body)
    gone = set(old)
    stays = [(place, message) for place, message in enumerate(history) if place not in gone]
    before = [message for place, message in stays if place < old[0]]
    after = [message for place, message in stays if place > old[0]]
    return Summarized(
        summarized=[*before, summary, *after], summary=summary, replaced=[history[place] for place in old]
    )


def stats(history: Messages, model: str | None = None, *, numbers: ReploidNumbers = REPLOID) -> HistoryStats:
    """Messages, tokens, and how much of the model's limit they fill."""
    found = skim(history, model, numbers)
    tokens = found.framing + sum(found.tokens())
    return HistoryStats(
        items=len(found.messages),
        tokens=tokens,
        limit=found.limit,
        utilization_percent=round(100 * tokens / found.limit, 2),
        needs_pruning=tokens > int(found.limit * numbers.target),
        warnings=found.warnings,
    )


TARGET = "By default 80% of the model's limit, or the share that the settings give as `target`."
KEEP = "Newest messages that stay; by default 10, or `keep` of the settings."


class HistoryRequest(Shape):
    messages: Objects = Field(description="Messages in any provider's format.")
    model: str = Field(default="", description="The model that will read them.")


class PruneRequest(HistoryRequest):
    max_tokens: int | None = Field(
        default=None,
        strict=True,
        gt=0,
        le=LARGEST,
        description=TARGET,
    )


class PruneStats(Shape):
    original: int = Field(description="Tokens before.")
    final: int = Field(description="Tokens after.")
    items_removed: int
    items_kept: int


class PruneResult(Shape):
    pruned: SkipValidation[Objects]
    removed: SkipValidation[Objects]
    stats: PruneStats
    warnings: tuple[str, ...] = Field(default=(), description="What is assumed of an unknown model.")


class SummarizeRequest(Shape):
    messages: Objects
    keep: int | None = Field(
        default=None,
        strict=True,
        ge=0,
        le=LARGEST,
        description=KEEP,
    )
    max_items: int | None = Field(
        default=None, strict=True, ge=0, le=LARGEST, description="Another name of `keep`."
    )

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


def _score(request: HistoryRequest, numbers: ReploidNumbers) -> ScoreResult:
    return score_result(score(request.messages, request.model, numbers=numbers))


def _prune(request: PruneRequest, numbers: ReploidNumbers) -> PruneResult:
    done = prune(request.messages, request.max_tokens, request.model, numbers=numbers)
    return PruneResult(
        warnings=done.warnings,
        pruned=list(done.pruned),
        removed=list(done.removed),
        stats=PruneStats(
            original=done.original,
            final=done.final,
            items_removed=len(done.removed),
            items_kept=len(done.pruned),
        ),
    )


def _summarize(request: SummarizeRequest, numbers: ReploidNumbers) -> SummarizeResult:
    given = request.max_items if request.keep is None else request.keep
    done = summarize(request.messages, numbers.keep if given is None else given)
    replaced = len(done.replaced)
    return SummarizeResult(
        summarized=list(done.summarized),
        summary=done.summary,
        stats=SummarizeStats(summarized_items=replaced, kept_items=len(request.messages) - replaced),
    )


def _stats(request: HistoryRequest, numbers: ReploidNumbers) -> HistoryStats:
    return stats(request.messages, request.model, numbers=numbers)


def _count(request: CountRequest) -> CountResult:
    given = None if request.messages is None else wire.load(request.messages, model=request.model)
    card = catalog.find(request.model)
    costs = meter(request.counter or card.tokenizer, given.format if given else "plain", card.images)
    if given is None:
        tokens = costs.text(request.text or "")
    else:
        tokens = costs.request + sum(map(costs.message, given.messages))
    counter = costs.tokenizer
    assumed = bool(request.model) and not card.known and not request.counter
    return CountResult(
        tokens=tokens,
        exact=counter.exact and not assumed,
        error_bound=counter.error,
        tokenizer=counter.name,
    )


def _pruned(done: Done) -> Reports:
    stats = done.result.stats
    if not stats.items_removed:
        return []
    payload = {
        "original": stats.original,
        "final": stats.final,
        "removed": stats.items_removed,
        "token_reduction": stats.original - stats.final,
    }
    return [("context:pruned", payload)]


def _summarized(done: Done) -> Reports:
    """Without the text of the note: it names topics, and no session is there to erase it with."""
    stats = done.result.stats
    if not stats.summarized_items:
        return []
    return [("context:summarized", {"summarized": stats.summarized_items, "kept": stats.kept_items})]


OPERATIONS = (
    Operation("history_score", "How much each message matters, 0 to 100.", _score),
    Operation("history_prune", "Keep the messages that matter most and fit.", _prune, events=_pruned),
    Operation("history_auto_manage", "Prune only when the model is over 80% full.", _prune, events=_pruned),
    Operation(
        "history_summarize", "One note in place of the older messages.", _summarize, events=_summarized
    ),
    Operation("history_stats", "How full the model is with these messages.", _stats),
    Operation("tokens_count", "Tokens of a text or of messages.", _count),
)
