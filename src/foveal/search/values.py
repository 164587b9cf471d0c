"""What searching hands around: a document, the numbers that weigh it, and what a question makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from foveal.model import Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
"""One number a document, in the order they were said."""
Whole: TypeAlias = "NDArray[np.int64]"
"""Whole numbers: positions of documents, or counts."""
Flags: TypeAlias = "NDArray[np.bool_]"
Vector: TypeAlias = "NDArray[np.float32]"
"""What one text means, as an embedder puts it."""


Truths: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"
"""Yes or no for each document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One message as search sees it."""

    seq: int
    role: Role
    author: str
    text: str
    created_at: float | None
    tokens: int
    """What it costs in a window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankNumbers:
    """What each part of a value weighs. Keyword and vector scores come in standard deviations above the
    session's mean, so that a hit that stands out is not outweighed by many that do not."""

    saturation: float = 1.2
    """How soon more of the same word stops counting."""
    length: float = 0.75
    """How much more a long message must say than a short one to count like it, 0 to 1."""
    keyword: float = 0.4
    vector: float = 0.7
    neighbour: float = 0.15
    """The share that a message takes on of the one before and the one after it in the same sitting."""
    sitting: float = 0.4
    """The share it takes on of the best one in its sitting."""
    speaker: float = 3.0
    """For the words of whom the question names."""
    user: float = 2.0
    """For the user's words where it names nobody."""
    identifier: float = 4.0
    """For holding the identifiers of the question: whoever names one wants that one."""
    rule: float = 0.5
    """For what the user wants always, never or rather."""
    order: float = 1.0
    """More, where the rule is what the message begins with."""
    time: float = 1.5
    """For the time that the question speaks of."""
    hop: float = 0.3
    """For names shared with the best hits, which the question does not mention."""
    hops_from: int = 3
    """Best hits whose names are followed."""
    cost_power: float = 0.5
    """Messages are taken by their value over this power of their cost."""


NUMBERS = RankNumbers()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What each document is worth for one question: the sum of its parts, on a logarithmic scale."""

    values: Floats
    parts: Mapping[str, Floats]
