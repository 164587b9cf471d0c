"""Messages in → summaries of them that are made once: of blocks of twenty, of five blocks, of five of those.

Block k starts at message 20k, or at the start of the turn that message is in; a group of a level starts at a
multiple of its size. So what was summarised stays as it was when messages are added: at most one summary of
each level is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from foveal.pipeline.compact.values import Answer, Ask, Passage
from foveal.pipeline.compact.voices import Said, Turns

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
