"""The shell: `fit` with nothing stored, `Foveal` and `Session` with everything stored."""

from foveal.session.fit import afit, count_tokens, fit
from foveal.session.foveal import Foveal
from foveal.session.inspect.compare import Compared, Comparison, compare
from foveal.session.session import Session
from foveal.session.values import Hit, Stats

__all__ = [
    "Compared",
    "Comparison",
    "Foveal",
    "Hit",
    "Session",
    "Stats",
    "afit",
    "compare",
    "count_tokens",
    "fit",
]
