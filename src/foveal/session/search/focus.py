"""Build a window of the messages that best answer one question.

Turns are shown whole and in order, never over the budget. Nothing is fixed and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from foveal.errors import BudgetError
from foveal.model import Chunk, Conversation, Format
from foveal.pipeline.account import WindowContent, account
from foveal.pipeline.fit import Fitted
from foveal.pipeline.history import History
from foveal.pipeline.values import Selection
from foveal.search.values import NUMBERS, Floats, RankNumbers
from foveal.session.budget import check_budget
from foveal.session.search.search import SessionIndex
from foveal.session.state import SessionState
from foveal.session.target import Target
from foveal.window import Decision, Manifest, Score, Window

if TYPE_CHECKING:
    from foveal.search.index import Index

FOCUS = "focus"
"""The preset that the manifest of such a window names."""
RELEVANT = 0.05
"""Where relevance begins, between the mean of the session's turns, 0, and the best of them, 1."""
CLOSE = 0.5
"""From here on, what follows a turn belongs to it: an answer may have no word of its question."""


def focus_window(  # noqa: PLR0913 — every option of the window, by name
    state: SessionState,
    question: str,
    *,
    budget: int,
    model: str,
    format: Format | None,
    now: float | None,
    fetch: Any,
) -> Window:
    """The window of the best turns for a question; its manifest is computed when it is first read."""
    check_budget(budget)

    def best(index: Index) -> tuple[Target, History, Floats, dict[int, Chunk], Sequence[bool]]:
        target = state.target(model, format)
        history = state.log.history(target)
        values = _by_turn(history, index.rank(question, now=now).values)
        return target, history, values, *_choose(history, values, target, budget)

    target, history, values, chunks, notes = state.part(SessionIndex).with_index(question, best)
    pieces: list[str] = []
    for chunk, noted in zip(chunks.values(), notes, strict=True):
        pieces += (*history.note_pieces, *chunk.pieces) if noted else chunk.pieces
    spent = target.meter.request + history.note_tokens * sum(notes) + sum(c.tokens for c in chunks.values())
    brief = Manifest(
        preset=FOCUS, counter=target.tokenizer.name, budget=budget, tokens=spent, parts={}, decisions=()
    )
    fitted = Fitted(chunks=tuple(chunks.values()), pieces=tuple(pieces), manifest=brief)
    given = Conversation(format=target.format, messages=())
    window = target.window(fitted, given, entries=history.entries, fetch=fetch)
    # Most callers read only the messages, and the decisions about everything left out take time.
    manifest = partial(_manifest, history, chunks, values, brief, sum(notes), end=len(history.entries) - 1)
    return replace(window, account=cache(manifest))


def rank_turns(index: Index, question: str, history: History, *, most: int, now: float | None) -> list[int]:
    """The turns of a history that have at most `most` tokens, the best for the question first."""
    values = _by_turn(history, index.rank(question, now=now).values[: len(history.entries)])
    return best_first(values, _costs(history, most), most)


def _choose(
    history: History, values: Floats, target: Target, budget: int
) -> tuple[dict[int, Chunk], Sequence[bool]]:
    """The turns of most value for their tokens that fit, in order; and which of them need a note before."""
    room = budget - target.meter.request
    if room < 0:
        raise BudgetError(
            f"the budget is {budget:,} tokens, an empty window has {target.meter.request:,}",
            remedy=f"raise `budget` above {target.meter.request:,}",
            field="budget",
        )
    relevant = relevant_turns(values)
    costs = [cost if relevant[turn] else room + 1 for turn, cost in enumerate(_costs(history, room))]
    turns = best_that_fit(values, costs, room)
    chunks = {turn: chunk for turn in turns if (chunk := history.original(turn)).messages}
    spent = sum([chunk.tokens for chunk in chunks.values()])
    while True:
        notes = history.notes_needed(list(chunks.values()))
        if spent + history.note_tokens * sum(notes) <= room:
            return chunks, notes
        worst = min(chunks, key=lambda turn: (values[turn], turn))
        spent -= chunks.pop(worst).tokens


def relevant_turns(values: Floats) -> list[bool]:
    """Which turns stand out from the session, or follow one that does so clearly."""
    if not len(values):
        return []
    mean = values.mean()
    above, most = values - mean + 1e-9, values.max() - mean
    relevant = above >= RELEVANT * most
    relevant[1:] |= (above >= CLOSE * most)[:-1]
    found: list[bool] = relevant.tolist()
    return found


def best_first(
    values: Floats, costs: Sequence[int], most: int, *, numbers: RankNumbers = NUMBERS
) -> list[int]:
    """The positions that cost no more than `most`, by value for cost; ties go to the newest."""
    import numpy as np

    prices = np.asarray(costs, dtype=np.int64)
    density = values - numbers.cost_power * np.log(np.maximum(prices, 1))
    newest_first = np.flatnonzero(prices <= most)[::-1]
    ordered: list[int] = newest_first[np.argsort(-density[newest_first], kind="stable")].tolist()
    return ordered


def best_that_fit(
    values: Floats, costs: Sequence[int], budget: int, *, numbers: RankNumbers = NUMBERS
) -> list[int]:
    """The positions to show, ascending; their costs add up to at most `budget`.

    The best value for its cost comes first, and one that is too large is skipped. Maximizing the sum of
    values finds less of what was asked for: scores are likelihoods, not amounts.
    """
    left, cheapest = budget, min(costs, default=budget)
    taken: list[int] = []
    for position in best_first(values, costs, budget, numbers=numbers):
        if costs[position] <= left:
            taken.append(position)
            left -= costs[position]
        elif left < cheapest:
            break
    return sorted(taken)


def _by_turn(history: History, values: Floats) -> Floats:
    """The value of each turn: that of its best message."""
    import numpy as np

    if len(history) == len(values):
        return values
    best: Floats = np.maximum.reduceat(values, history.starts)
    return best


def _costs(history: History, room: int) -> list[int]:
    """Tokens of each turn; one that cannot be shown any more costs more than there is room for."""
    sums, starts = history.sums, [*history.starts, len(history.entries)]
    costs = [sums[after] - sums[at] for at, after in pairwise(starts)]
    for first, stop, why in history.absences(0, len(history)):
        if why != "left_out":
            costs[first:stop] = [room + 1] * (stop - first)
    return costs


def _manifest(
    history: History,
    chunks: Mapping[int, Chunk],
    values: Floats,
    brief: Manifest,
    notes: int,
    *,
    end: int,
) -> Manifest:
    """The manifest with its decisions. The history may have grown since: they end with the message `end`."""
    selection = Selection(
        turns=tuple(chunks),
        because_in="among the best for the question that fit",
        because_out="it does not stand out for the question, or others answer it better for their tokens",
        scores={turn: Score(total=round(float(values[turn]), 4)) for turn in chunks},
    )
    choice = WindowContent(window=chunks, selection=selection, notes=notes)
    spent = sum(chunk.tokens for chunk in chunks.values()) + history.note_tokens * notes
    accounted = account(history, choice, {"framing": brief.tokens - spent})
    decisions = tuple(_until(end, history, each) for each in accounted["decisions"] if each.first <= end)
    return replace(brief, **accounted | {"decisions": decisions})


def _until(end: int, history: History, decision: Decision) -> Decision:
    if decision.last <= end:
        return decision
    return replace(decision, last=end, tokens=history.between(decision.first, end))
