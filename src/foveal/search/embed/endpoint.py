"""Texts in → vectors from somebody else's model: whoever calls gives the function that asks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foveal.errors import UpstreamError
from foveal.search.embed.base import Vectors, opening, unit

Ask = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Any number of texts in, a vector for each out, in order; how many go in one request is its affair."""


LONGEST = 8_000
"""Characters of a text that are sent: more than that most models refuse."""


class Endpoint:
    """An embedder that asks. Texts that say nothing are not sent; an answer is checked before it is used."""

    def __init__(self, *, name: str, ask: Ask) -> None:
        self.name = name
        self.dimensions = 0
        """Unknown, and so 0, until the first answer."""
        self._ask = ask

    def embed(self, texts: Sequence[str], /) -> Vectors:
        import numpy as np

        saying = [at for at, text in enumerate(texts) if text.strip()]
        answer = self._answer([texts[at] for at in saying]) if saying else None
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if answer is not None:
            rows[saying] = unit(answer)
        return rows

    def _answer(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        said = self._ask([opening(text, LONGEST) for text in texts])
        width = self.dimensions or len(said[0] if said else ())
        if len(said) != len(texts) or not width or any(len(vector) != width for vector in said):
            raise UpstreamError(
                f"{self.name} gave {len(said)} vectors for {len(texts)} texts, "
                f"of {sorted({len(vector) for vector in said})} numbers where {width} were expected",
                remedy="check that `embedder` names one embedding model that always stays the same",
            )
        rows: Vectors = np.asarray(said, dtype=np.float32)
        if not np.isfinite(rows).all():
            raise UpstreamError(
                f"{self.name} gave {len(texts)} vectors, and not all of their numbers are finite",
                remedy="name another embedding model in `embedder`, or leave it empty",
            )
        self.dimensions = width
        return rows
