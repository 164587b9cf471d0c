"""The `Embedder` protocol, and what every embedder does to texts and vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np

Vectors: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.float32]]"
"""One row per text, in order: of length 1, or all zeros for an empty text."""
T = TypeVar("T")
BATCH = 100
"""Texts that are embedded, or sent to an endpoint, at once."""


class Embedder(Protocol):
    """Maps texts to vectors, so that texts of similar meaning are close together."""

    @property
    def name(self) -> str:
        """Equal only for embedders whose vectors can be compared with each other."""
        ...

    def embed(self, texts: Sequence[str], /) -> Vectors: ...


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def opening(text: str, characters: int) -> str:
    """The start of a text, without surrounding spaces and characters that UTF-8 cannot encode."""
    return text.strip()[:characters].encode("utf-8", "replace").decode()


def unit(rows: Vectors) -> Vectors:
    """The rows scaled to length 1; zero rows stay zero."""
    import numpy as np

    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    scaled: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled
