"""The values of search: documents, the weights of the ranking, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from foveal.model import Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
"""One number per document, in the order of the session."""
Integers: TypeAlias = "NDArray[np.int64]"
"""Positions of documents, or counts."""
Mask: TypeAlias = "NDArray[np.bool_]"
"""One flag per document."""
Vector: TypeAlias = "NDArray[np.float32]"
"""The embedding of one text."""
NEAREST = 0.15
"""The cosine below which two texts are unrelated."""
CLEAR = 0.35
"""The cosine from which similarity alone shows that texts are related. Of 60 unrelated messages, the nearest
to a question is below 0.33 for nineteen questions of twenty, with static embeddings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One message, as the index reads it."""

    role: Role
    author: str
    text: str
    created_at: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankNumbers:
    """The weight of each part of a score. Keyword and vector scores are in standard deviations above the
    session's mean, so that one outstanding hit is not outweighed by many ordinary ones."""

    saturation: float = 1.2
    """BM25's k1: how soon repetitions of a word stop counting."""
    length: float = 0.75
    """BM25's b: how much long messages are penalized, 0 to 1."""
    keyword: float = 0.4
    vector: float = 0.7
    neighbour: float = 0.15
    """The share of the scores of the messages before and after it in the same sitting."""
    sitting: float = 0.4
    """The share of the best score in its sitting."""
    speaker: float = 3.0
    """For messages of a speaker the question names."""
    user: float = 2.0
    """For the user's messages where the question names no speaker."""
    identifier: float = 4.0
    """For containing the identifiers of the question: a user who names one means that one."""
    rule: float = 0.5
    """For the user's standing preferences: always, never, prefer."""
    order: float = 1.0
    """Added where the message begins with such a rule."""
    time: float = 1.5
    """For messages of the time the question mentions."""
    hop: float = 0.3
    """For names shared with the best hits that the question itself does not mention."""
    hops_from: int = 3
    """How many of the best hits have their names followed."""
    cost_power: float = 0.5
    """Messages are chosen by score divided by this power of their cost."""


NUMBERS = RankNumbers()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The score of each document for one question: the sum of its parts, on a logarithmic scale."""

    values: Floats
    parts: Mapping[str, Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Which documents match a question, and how."""

    share: Floats
    """How much of it their words make up, by the rarity of each word: 0 to 1."""
    near: Mask
    """Their meaning is among the nearest."""
    clear: Mask
    """It is so near that this is no coincidence."""

    @property
    def words(self) -> Mask:
        """They contain a word of it."""
        found: Mask = self.share > 0
        return found

    @property
    def weak(self) -> Mask:
        """Near, but perhaps by coincidence."""
        found: Mask = self.near & ~self.words & ~self.clear
        return found
