"""Compressions in → how many times smaller they made things on average, and whether that is too little."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LOW = 2.0
"""Below this summaries are too detailed to be worth having."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """4.2: what was 4.2 tokens is 1."""

    mean: float | None
    """None: nothing was compressed yet."""

    @property
    def low(self) -> bool:
        return self.mean is not None and self.mean < LOW


def ratio(compressions: Iterable[tuple[int, int]]) -> Ratio:
    """The mean over pairs of tokens, before and after; what held nothing before is no compression.

    >>> ratio([(800, 100), (300, 150)]), ratio([(150, 100)]).low
    (Ratio(mean=5.0), True)
    """
    ratios = [before / max(1, after) for before, after in compressions if before > 0]
    return Ratio(mean=sum(ratios) / len(ratios) if ratios else None)
