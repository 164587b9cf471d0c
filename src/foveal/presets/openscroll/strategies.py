"""Compact a history into verbatim, trimmed, summarized and omitted pieces, and its arc.

    ratio ≤ 1     full         every message as it is
    ratio ≤ 2.5   windowed     the newest verbatim, the older ones summarized
    ratio ≤ 8     compacted    a summary, key exchanges, the newest verbatim
    above         multi-level  summaries of summaries, the newest verbatim

The ratio is that of the history's tokens to the budget. The result stays within the budgets and accounts for
every message once. Every summary comes from `answer`, under a key that depends only on its content.

Summaries are made of blocks of twenty messages, of groups of five blocks, and of five such groups. Block k
starts at message 20k, or at the start of that message's turn; groups start at multiples of their size. So
appended messages leave existing summaries as they are and need at most one new summary per level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from types import MappingProxyType
from typing import Literal

from foveal.errors import BudgetError
from foveal.pipeline.summarize.notes import message_range
from foveal.pipeline.summarize.values import Answer, Ask, Passage
from foveal.pipeline.summarize.voices import TurnStarts, Utterance
from foveal.presets.openscroll.arc import NO_ARC, Arc, Style, arc
from foveal.presets.openscroll.zones import (
    NUMBERS,
    Count,
    KeyMessageNumbers,
    Piece,
    Treatment,
    first_fitting,
    folded,
    join_omitted,
    key_turns,
    newest,
    piece_of,
    verbatim_label,
)

Strategy = Literal["full", "windowed", "compacted", "multi-level"]
STYLES: Mapping[Strategy, Style] = MappingProxyType(
    {"windowed": "light", "compacted": "rich", "multi-level": "dense"}
)
MANY_BLOCKS = 10
"""With this many blocks, the oldest get summaries of the third level."""
BLOCK = 20
"""Messages of a block."""
GROUP = 5
"""Summaries of one level that make up one of the next."""
SMALLEST = 64
"""Tokens of the smallest summary that is requested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many messages are shown in which way; the total is the sum of the others."""

    total_messages: int
    full_messages: int
    trimmed_messages: int
    summarized_messages: int
    dropped_messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """A compacted history."""

    strategy: Strategy
    pieces: tuple[Piece, ...]
    """In order; together they cover every message once."""
    arc: Arc
    """Empty if every message is shown verbatim."""

    @property
    def tokens(self) -> int:
        return sum(piece.tokens for piece in self.pieces)

    @property
    def coverage(self) -> Coverage:
        def number(detail: Treatment) -> int:
            return sum(piece.messages for piece in self.pieces if piece.detail == detail)

        return Coverage(
            total_messages=sum(piece.messages for piece in self.pieces),
            full_messages=number("full"),
            trimmed_messages=number("trimmed"),
            summarized_messages=number("folded"),
            dropped_messages=number("omitted"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Zone:
    """A stretch of the history that one note replaces."""

    start: int
    stop: int
    """Positions of its first message and after its last."""
    summaries: Sequence[Passage]
    pieces: Sequence[Piece]


def strategy_for(tokens: int, budget: int) -> Strategy:
    """The strategy for a history of so many tokens.

    >>> [strategy_for(tokens, 1_000) for tokens in (1_000, 2_500, 8_000, 8_001)]
    ['full', 'windowed', 'compacted', 'multi-level']
    """
    if tokens <= budget:
        return "full"
    if 2 * tokens <= 5 * budget:
        return "windowed"
    return "compacted" if tokens <= 8 * budget else "multi-level"


def compact(  # noqa: PLR0913 — what is compacted into which budgets, and what that takes
    messages: Sequence[Utterance],
    *,
    l4_budget: int,
    l6_budget: int,
    strategy: Strategy | None = None,
    answer: Answer,
    count: Count,
    numbers: KeyMessageNumbers = NUMBERS,
) -> Compacted:
    """Compact a history to `l6_budget` tokens, with an arc of at most `l4_budget`.

    `count` counts texts; a caller that puts notes into messages has to add their framing.
    """
    chosen = strategy or strategy_for(sum(each.tokens for each in messages), l6_budget)
    tree = blocks(messages, answer, tokens=summary_size(l6_budget // 10), numbers=numbers)
    pieces = _STRATEGIES[chosen](tree, l6_budget, count) if messages else []
    found = NO_ARC
    if messages and chosen != "full":
        found = arc(messages, l4_budget, STYLES[chosen], count, answer=answer)
    return Compacted(strategy=chosen, pieces=tuple(_joined(pieces, count)), arc=found)


def _joined(pieces: Sequence[Piece], count: Count) -> Iterator[Piece]:
    """Join neighbouring omitted pieces into one."""
    for is_omitted, group in groupby(pieces, key=lambda piece: piece.detail == "omitted" and not piece.label):
        neighbours = list(group)
        yield from [join_omitted(neighbours, count)] if is_omitted and len(neighbours) > 1 else neighbours


def _full(tree: Blocks, budget: int, _count: Count) -> list[Piece]:
    tokens = sum(each.tokens for each in tree.messages)
    if tokens > budget:
        raise BudgetError(
            f"the history has {tokens:,} tokens, `l6_budget` is {budget:,}",
            remedy="omit `strategy`, or raise `l6_budget`",
            field="l6_budget",
        )
    return [piece_of(tree.messages, "full", tokens)]


def _windowed(tree: Blocks, budget: int, count: Count) -> list[Piece]:
    messages, label = tree.messages, count(verbatim_label(tree.messages))
    start = min(first_fitting(messages, budget * 7 // 10 - label), _last_turn(messages))
    older = folded(messages[:start], tree.summaries(0, start), budget * 3 // 10, count)
    wider = first_fitting(messages, budget - _tokens(older) - label)
    if wider < start:
        again = folded(messages[:wider], tree.summaries(0, wider), _tokens(older), count)
        if not again or again[0].detail == "folded":
            older, start = again, wider
    return [*older, *newest(messages[start:], budget - _tokens(older), count)]


def _compacted(tree: Blocks, budget: int, count: Count) -> list[Piece]:
    messages, turns = tree.messages, TurnStarts.of(tree.messages)
    early, late = turns.back(len(messages) * 2 // 5), turns.back(len(messages) * 3 // 4)
    first = folded(messages[:early], tree.summaries(0, early), budget // 10, count)
    middle = messages[early:late]
    label = f"[Key exchanges of {message_range(middle[0].seq, middle[-1].seq)}]" if middle else ""
    then = key_turns(middle, budget // 4, count, label=label, numbers=tree.numbers)
    return [*first, *then, *newest(messages[late:], budget - _tokens([*first, *then]), count)]


def _multi_level(tree: Blocks, budget: int, count: Count) -> list[Piece]:
    messages, label = tree.messages, count(verbatim_label(tree.messages[-2:]))
    zones = [zone for zone in _zones(tree, budget, count) if zone.pieces]
    while zones:
        # The newest messages get what the older zones leave unused, and may replace some of those zones.
        start = first_fitting(messages, budget - _tokens(_pieces(zones)) - label)
        *rest, last = zones
        if start >= last.stop:
            break
        shorter = [_shortened(messages, last, start, count)] if last.start < start else []
        if shorter == [last]:
            break
        zones = [*rest, *shorter]
    pieces = _pieces(zones)
    start = zones[-1].stop if zones else 0
    return [*pieces, *newest(messages[start:], budget - _tokens(pieces), count)]


def _pieces(zones: Sequence[_Zone]) -> list[Piece]:
    return [piece for zone in zones for piece in zone.pieces]


def _zones(tree: Blocks, budget: int, count: Count) -> Iterator[_Zone]:
    """The zones of all but the newest block; the older, the denser."""
    last = tree.number - 1
    recent = max(0, last - 3)
    ancient = tree.number * 3 // 10 // GROUP * GROUP if tree.number >= MANY_BLOCKS else 0
    for first, end, level, percent in ((0, ancient, 3, 5), (ancient, recent, 2, 10), (recent, last, 1, 15)):
        start, stop = tree.bounds[first], tree.bounds[end]
        # Level 1 has one summary per block; higher levels use whole groups.
        found = tree.summaries(start, stop) if level == 1 else tree.cover(first, end, level=level)
        pieces = folded(tree.messages[start:stop], found, budget * percent // 100, count)
        yield _Zone(start=start, stop=stop, summaries=found, pieces=pieces)


def _shortened(messages: Sequence[Utterance], zone: _Zone, stop: int, count: Count) -> _Zone:
    """The zone up to `stop`, at no higher cost; unchanged if that would lose its summary.

    It reuses the summaries of whole blocks, so that none depends on where the newest messages begin.
    """
    found = [summary for summary in zone.summaries if summary.first < messages[stop].seq]
    pieces = folded(messages[zone.start : stop], found, _tokens(zone.pieces), count)
    alike = [piece.detail for piece in pieces] == [piece.detail for piece in zone.pieces]
    return _Zone(start=zone.start, stop=stop, summaries=found, pieces=pieces) if alike else zone


def _last_turn(messages: Sequence[Utterance]) -> int:
    return TurnStarts.of(messages).back(len(messages) - 1)


def _tokens(pieces: Sequence[Piece]) -> int:
    return sum(piece.tokens for piece in pieces)


_STRATEGIES: Mapping[Strategy, Callable[[Blocks, int, Count], list[Piece]]] = MappingProxyType(
    {"full": _full, "windowed": _windowed, "compacted": _compacted, "multi-level": _multi_level}
)


def summary_size(tokens: int) -> int:
    """The largest power of two up to `tokens`, at least 64, so that similar budgets share their summaries.

    >>> summary_size(10), summary_size(127), summary_size(128)
    (64, 64, 128)
    """
    return max(SMALLEST, 1 << max(0, tokens).bit_length() - 1) if tokens > 0 else SMALLEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """The blocks of a history, and their summaries."""

    messages: Sequence[Utterance]
    tokens: int
    """The most tokens of a summary."""
    answer: Answer
    bounds: tuple[int, ...]
    """The start of each block, and the end of the last one."""
    numbers: KeyMessageNumbers
    """What makes a message worth quoting."""

    @property
    def number(self) -> int:
        return len(self.bounds) - 1

    def summaries(self, start: int, stop: int) -> list[Passage]:
        """Summaries of the messages `start` to `stop`, one for each block or part of one."""
        edges = [start, *(bound for bound in self.bounds if start < bound < stop), stop]
        complete = frozenset(self.bounds[:-1])  # the last block may still grow
        found = (
            self._summarize(_passages(self.messages[a:b]), 1, whole={a, b} <= complete)
            for a, b in pairwise(edges)
        )
        return [summary for summary in found if summary]

    def cover(self, first: int, stop: int, *, level: int) -> list[Passage]:
        """The fewest summaries of `level` and above that cover the blocks `first` to `stop`.

        Each group is whole and as large as its position allows; only the last may be partial.
        """
        found: list[Passage | None] = []
        while first < stop:
            step, up = GROUP ** (level - 1), level
            while first % (step * GROUP) == 0 and first + step * GROUP <= stop:
                step, up = step * GROUP, up + 1
            found.append(self._summary(first, min(first + step, stop), up))
            first += step
        return [summary for summary in found if summary]

    def _summary(self, first: int, stop: int, level: int) -> Passage | None:
        """The summary of blocks that are at most one group of this level."""
        whole = stop - first == GROUP ** (level - 1) and stop < self.number
        if level == 1:
            inside = self.messages[self.bounds[first] : self.bounds[stop]]
            return self._summarize(_passages(inside), 1, whole=whole)
        step = GROUP ** (level - 2)
        below = (self._summary(at, min(at + step, stop), level - 1) for at in range(first, stop, step))
        return self._summarize([passage for passage in below if passage], level, whole=whole)

    def _summarize(self, passages: Sequence[Passage], level: int, *, whole: bool) -> Passage | None:
        if not passages:
            return None  # a turn that is longer than a block leaves an empty block
        ask = Ask(passages=tuple(passages), tokens=self.tokens, level=level, whole=whole)
        return Passage(
            first=passages[0].first,
            last=passages[-1].last,
            role="assistant",
            text=self.answer(ask).text,
            digest=ask.key,
        )


def blocks(
    messages: Sequence[Utterance], answer: Answer, *, tokens: int, numbers: KeyMessageNumbers = NUMBERS
) -> Blocks:
    turns = TurnStarts.of(messages)
    starts = [turns.back(index) for index in range(0, len(messages), BLOCK)]
    return Blocks(
        messages=messages, tokens=tokens, answer=answer, bounds=(*starts, len(messages)), numbers=numbers
    )


def _passages(messages: Sequence[Utterance]) -> list[Passage]:
    return [passage for message in messages for passage in message.passages]
