"""A history and two budgets in → what of it is shown in full, trimmed, folded or left out, and its arc.

    ratio ≤ 1     full         every message as it is
    ratio ≤ 2.5   windowed     the newest verbatim, the older ones summarised
    ratio ≤ 8     compacted    a summary, key exchanges, the newest verbatim
    above         multi-level  summaries of summaries, the newest verbatim

The ratio is that of the history's tokens to the budget. The promise: never over the budgets, every message
accounted for once, and every summary comes from `answer` under a key that depends on its content alone.

Messages in → summaries of them that are made once: of blocks of twenty, of five blocks, of five of those.

Block k starts at message 20k, or at the start of the turn that message is in; a group of a level starts at a
multiple of its size. So what was summarised stays as it was when messages are added: at most one summary of
each level is new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from types import MappingProxyType
from typing import Literal

from foveal.errors import BudgetError
from foveal.pipeline.summarize.notes import covering
from foveal.pipeline.summarize.values import Answer, Ask, Passage
from foveal.pipeline.summarize.voices import Said, Turns
from foveal.presets.openscroll.arc import Arc, Style, arc
from foveal.presets.openscroll.zones import (
    Count,
    Piece,
    Treatment,
    fitting,
    folded,
    key,
    left_out,
    newest,
    run,
    verbatim,
)

BLOCK = 20
"""Messages."""
GROUP = 5
"""Summaries of one level that make one of the next."""
SMALLEST = 64
"""Tokens of the smallest summary that is asked for."""


def rung(tokens: int) -> int:
    """The largest power of two within so many tokens, 64 at least: sizes that differ a little are one size.

    >>> rung(10), rung(127), rung(128)
    (64, 64, 128)
    """
    return max(SMALLEST, 1 << max(0, tokens).bit_length() - 1) if tokens > 0 else SMALLEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """The blocks of a history, and whoever answers for their summaries."""

    said: Sequence[Said]
    tokens: int
    """Of each summary, at most."""
    answer: Answer
    bounds: tuple[int, ...]
    """Where each block starts, and where the last one ends."""

    @property
    def number(self) -> int:
        return len(self.bounds) - 1

    def summaries(self, start: int, stop: int) -> list[Passage]:
        """Of the messages from `start` to `stop`, block by block; the first and last may be parts of one."""
        edges = [start, *(bound for bound in self.bounds if start < bound < stop), stop]
        done = frozenset(self.bounds[:-1])  # the last block may still grow
        found = (self._asked(_passages(self.said[a:b]), 1, whole={a, b} <= done) for a, b in pairwise(edges))
        return [summary for summary in found if summary]

    def cover(self, first: int, stop: int, *, level: int) -> list[Passage]:
        """Summaries of `level` and above of the blocks `first` to `stop`, as few as there can be.

        Whole groups, each as large as its place allows; what is left of one at the end is a summary of fewer.
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
        """The summary of a run of blocks that is at most one group of this level."""
        whole = stop - first == GROUP ** (level - 1) and stop < self.number
        if level == 1:
            inside = self.said[self.bounds[first] : self.bounds[stop]]
            return self._asked(_passages(inside), 1, whole=whole)
        step = GROUP ** (level - 2)
        below = (self._summary(at, min(at + step, stop), level - 1) for at in range(first, stop, step))
        return self._asked([passage for passage in below if passage], level, whole=whole)

    def _asked(self, passages: Sequence[Passage], level: int, *, whole: bool) -> Passage | None:
        if not passages:
            return None  # a turn longer than a block leaves an empty one
        ask = Ask(passages=tuple(passages), tokens=self.tokens, level=level, whole=whole)
        return Passage(
            first=passages[0].first,
            last=passages[-1].last,
            role="assistant",
            text=self.answer(ask).text,
            digest=ask.key,
        )


def blocks(said: Sequence[Said], answer: Answer, *, tokens: int) -> Blocks:
    turns = Turns.of(said)
    starts = [turns.back(place) for place in range(0, len(said), BLOCK)]
    return Blocks(said=said, tokens=tokens, answer=answer, bounds=(*starts, len(said)))


def _passages(said: Sequence[Said]) -> list[Passage]:
    return [passage for message in said for passage in message.passages]


Strategy = Literal["full", "windowed", "compacted", "multi-level"]
STYLES: Mapping[Strategy, Style] = MappingProxyType(
    {"windowed": "light", "compacted": "rich", "multi-level": "dense"}
)
MANY_BLOCKS = 10
"""Blocks from which on the oldest get a third level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What became of the messages: the total is the sum of the rest."""

    total: int
    full: int
    trimmed: int
    summarized: int
    dropped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """A history made to fit."""

    strategy: Strategy
    pieces: tuple[Piece, ...]
    """In order; together they hold every message once."""
    arc: Arc
    """Empty where every message is shown as it is."""

    @property
    def tokens(self) -> int:
        return sum(piece.tokens for piece in self.pieces)

    @property
    def coverage(self) -> Coverage:
        def messages(detail: Treatment) -> int:
            return sum(piece.messages for piece in self.pieces if piece.detail == detail)

        return Coverage(
            total=sum(piece.messages for piece in self.pieces),
            full=messages("full"),
            trimmed=messages("trimmed"),
            summarized=messages("folded"),
            dropped=messages("omitted"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Zone:
    """A stretch of the history that one note stands for."""

    start: int
    stop: int
    """Places of its first message and behind its last."""
    summaries: Sequence[Passage]
    pieces: Sequence[Piece]


def strategy_for(tokens: int, budget: int) -> Strategy:
    """Which strategy a history of so many tokens needs.

    >>> [strategy_for(tokens, 1_000) for tokens in (1_000, 2_500, 8_000, 8_001)]
    ['full', 'windowed', 'compacted', 'multi-level']
    """
    if tokens <= budget:
        return "full"
    if 2 * tokens <= 5 * budget:
        return "windowed"
    return "compacted" if tokens <= 8 * budget else "multi-level"


def compact(
    said: Sequence[Said],
    *,
    l4_budget: int,
    l6_budget: int,
    strategy: Strategy | None = None,
    answer: Answer,
    count: Count,
) -> Compacted:
    """Make a history fit `l6_budget`, and tell its thread in `l4_budget`.

    `count` prices texts alone: who puts notes into messages of their own adds the framing.
    """
    chosen = strategy or strategy_for(sum(each.tokens for each in said), l6_budget)
    tree = blocks(said, answer, tokens=rung(l6_budget // 10))
    pieces = _STRATEGIES[chosen](tree, l6_budget, count) if said else []
    thread = arc(said, l4_budget, STYLES[chosen], count) if said and chosen != "full" else Arc()
    return Compacted(strategy=chosen, pieces=tuple(_joined(pieces, count)), arc=thread)


def _joined(pieces: Sequence[Piece], count: Count) -> Iterator[Piece]:
    """Neighbours that were left out for different reasons are left out together."""
    for gone, group in groupby(pieces, key=lambda piece: piece.detail == "omitted" and not piece.label):
        run = list(group)
        yield from [left_out(run, count)] if gone and len(run) > 1 else run


def _full(tree: Blocks, budget: int, _count: Count) -> list[Piece]:
    tokens = sum(each.tokens for each in tree.said)
    if tokens > budget:
        raise BudgetError(
            f"the history has {tokens:,} tokens, `l6_budget` is {budget:,}",
            remedy="leave out `strategy`, or raise `l6_budget`",
            field="l6_budget",
        )
    return [run(tree.said, "full", tokens)]


def _windowed(tree: Blocks, budget: int, count: Count) -> list[Piece]:
    said, label = tree.said, count(verbatim(tree.said))
    start = min(fitting(said, budget * 7 // 10 - label), _last_turn(said))
    older = folded(said[:start], tree.summaries(0, start), budget * 3 // 10, count)
    wider = fitting(said, budget - _tokens(older) - label)
    if wider < start:
        again = folded(said[:wider], tree.summaries(0, wider), _tokens(older), count)
        if not again or again[0].detail == "folded":
            older, start = again, wider
    return [*older, *newest(said[start:], budget - _tokens(older), count)]


def _compacted(tree: Blocks, budget: int, count: Count) -> list[Piece]:
    said, turns = tree.said, Turns.of(tree.said)
    early, late = turns.back(len(said) * 2 // 5), turns.back(len(said) * 3 // 4)
    first = folded(said[:early], tree.summaries(0, early), budget // 10, count)
    middle = said[early:late]
    label = f"[Key exchanges of {covering(middle[0].seq, middle[-1].seq).lower()}]" if middle else ""
    then = key(middle, budget // 4, count, label=label)
    return [*first, *then, *newest(said[late:], budget - _tokens([*first, *then]), count)]


def _multi_level(tree: Blocks, budget: int, count: Count) -> list[Piece]:
    said, label = tree.said, count(verbatim(tree.said[-2:]))
    zones = [zone for zone in _zones(tree, budget, count) if zone.pieces]
    while zones:
        # What the older zones leave unused goes to the newest, which may take the place of some.
        start = fitting(said, budget - _tokens(_pieces(zones)) - label)
        *rest, last = zones
        if start >= last.stop:
            break
        shorter = [_until(said, last, start, count)] if last.start < start else []
        if shorter == [last]:
            break
        zones = [*rest, *shorter]
    pieces = _pieces(zones)
    start = zones[-1].stop if zones else 0
    return [*pieces, *newest(said[start:], budget - _tokens(pieces), count)]


def _pieces(zones: Sequence[_Zone]) -> list[Piece]:
    return [piece for zone in zones for piece in zone.pieces]


def _zones(tree: Blocks, budget: int, count: Count) -> Iterator[_Zone]:
    """All but the newest block, the older the denser."""
    last = tree.number - 1
    recent = max(0, last - 3)
    ancient = tree.number * 3 // 10 // GROUP * GROUP if tree.number >= MANY_BLOCKS else 0
    for first, end, level, percent in ((0, ancient, 3, 5), (ancient, recent, 2, 10), (recent, last, 1, 15)):
        start, stop = tree.bounds[first], tree.bounds[end]
        # One level-1 summary for each block; above that, groups of groups where they are whole.
        found = tree.summaries(start, stop) if level == 1 else tree.cover(first, end, level=level)
        pieces = folded(tree.said[start:stop], found, budget * percent // 100, count)
        yield _Zone(start=start, stop=stop, summaries=found, pieces=pieces)


def _until(said: Sequence[Said], zone: _Zone, stop: int, count: Count) -> _Zone:
    """The zone without its newest messages, for no more than it cost; as it was if nothing is left to tell.

    The summaries are those of whole blocks, so that none is made for where the newest zone happens to begin.
    """
    found = [summary for summary in zone.summaries if summary.first < said[stop].seq]
    pieces = folded(said[zone.start : stop], found, _tokens(zone.pieces), count)
    told = [piece.detail for piece in pieces] == [piece.detail for piece in zone.pieces]
    return _Zone(start=zone.start, stop=stop, summaries=found, pieces=pieces) if told else zone


def _last_turn(said: Sequence[Said]) -> int:
    return Turns.of(said).back(len(said) - 1)


def _tokens(pieces: Sequence[Piece]) -> int:
    return sum(piece.tokens for piece in pieces)


_STRATEGIES: Mapping[Strategy, Callable[[Blocks, int, Count], list[Piece]]] = MappingProxyType(
    {"full": _full, "windowed": _windowed, "compacted": _compacted, "multi-level": _multi_level}
)
