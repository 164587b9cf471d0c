"""The shell: `fit` with nothing stored, `Foveal` and `Session` with everything stored."""

from foveal.session.compare import Compared, Comparison, compare
from foveal.session.foveal import Foveal
from foveal.session.session import Session
from foveal.session.stateless import afit, count_tokens, fit
from foveal.session.views import Hit, Stats

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
