"""Estimate tokens of unpublished vocabularies from above, and calibrate the estimate by bills.

An estimate is never low in order to be close: a window that fits by our count must fit by the provider's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from foveal.pipeline.tokens import vocabularies

_SYMBOL = re.compile("[\u2000-\u2bff\U0001f000-\U0001faff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Tokens of an unpublished vocabulary as multiples of a public one's: at most, and at least."""

    base: str
    most: float
    least: float
    """For ordinary prose and code; scripts that the public vocabulary covers badly may be lower."""
    symbol: int = 0
    """Extra tokens for each arrow, box, dash or emoji, which unpublished vocabularies spell in bytes."""

    @property
    def error(self) -> float:
        """How far the true number may be below the bound, as a share of the bound."""
        return round(1 - self.least / self.most, 2)

    def count(self, text: str) -> int:
        tokens = math.ceil(vocabularies.count(self.base, text) * self.most)
        return tokens if text.isascii() else tokens + self.symbol * len(_SYMBOL.findall(text))


# Claude's vocabularies are not public. The factors cover the counts of its endpoint for the Universal
# Declaration of Human Rights in 60 languages and for samples of code, data and symbols. They spread far less
# against cl100k, which covers other languages about as badly as Claude does, than against o200k (Claude 3 to
# 4.6: 0.3 to 1.24 against 0.5 to 4.4; code up to 1.38).
ESTIMATES: Mapping[str, Estimate] = MappingProxyType(
    {
        "claude": Estimate(base="cl100k_base", most=1.4, least=1.0, symbol=2),
        "claude-new": Estimate(base="cl100k_base", most=1.75, least=1.2, symbol=2),
        "gemini": Estimate(base="gemma3", most=1.05, least=0.95),
        "other": Estimate(base="cl100k_base", most=1.3, least=0.8, symbol=2),
    }
)
"""`claude` is Claude 3 to 4.6, `claude-new` 4.7 and later; `other` is any other vocabulary."""


def by_characters(text: str) -> int:
    """Four characters per token: wrong by a third for code, far too low for Chinese."""
    return -(-len(text) // 4)


def by_density(text: str) -> int:
    """3.8 characters per token."""
    return math.ceil(len(text) / 3.8)


def by_words(text: str) -> int:
    """Three quarters of a word per token."""
    return math.ceil(len(text.split()) / 0.75)


RECENT = 20
TRUSTED = 3
MARGIN = 0.02
STEP = 0.05


def calibration(bills: Sequence[tuple[int, int]]) -> float:
    """The factor for our counts, from (counted, billed) pairs of one model, oldest first.

    It is the largest ratio of the last `RECENT` bills plus a margin, so that no recent bill would have been
    underestimated, in steps of `STEP`, because texts are counted again for every new factor. It goes below 1
    only after `TRUSTED` bills show that we count too high.

    >>> calibration([])
    1.0
    >>> calibration([(1000, 1100), (1000, 1050)])
    1.15
    >>> calibration([(1000, 800)] * 3)
    0.85
    """
    ratios = [billed / counted for counted, billed in bills[-RECENT:] if counted > 0 and billed > 0]
    if not ratios:
        return 1.0
    factor = max(ratios) * (1 + MARGIN)
    trusted = factor if len(ratios) >= TRUSTED else max(factor, 1.0)
    return round(math.ceil(round(trusted / STEP, 6)) * STEP, 2)
