"""What an embedder is, and what all of them do to a text before they look at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np

Vectors: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.float32]]"
"""One row a text, in order: of length 1, or all zeros where the text says nothing."""
Thing = TypeVar("Thing")
BATCH = 100
"""Texts that are embedded, or sent to an endpoint, at a time."""


class Embedder(Protocol):
    """Whoever gives texts a place in space, so that those of like meaning lie close together."""

    @property
    def name(self) -> str:
        """Equal only for embedders whose vectors may be compared with each other."""
        ...

    def embed(self, texts: Sequence[str], /) -> Vectors: ...


def batches(things: Sequence[Thing]) -> Iterator[Sequence[Thing]]:
    for start in range(0, len(things), BATCH):
        yield things[start : start + BATCH]


def opening(text: str, characters: int) -> str:
    """The start of a text, without the spaces around it and without what UTF-8 cannot carry."""
    return text.strip()[:characters].encode("utf-8", "replace").decode()


def unit(rows: Vectors) -> Vectors:
    """The same rows, each of length 1; a row of zeros stays one."""
    import numpy as np

    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    scaled: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled
