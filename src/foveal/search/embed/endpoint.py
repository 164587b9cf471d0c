"""Embed texts with a model behind an endpoint; the caller provides the function that requests vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foveal.errors import UpstreamError
from foveal.search.embed.base import Vectors, opening, unit

Ask = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Returns one vector for each of any number of texts, in order; it splits them into requests itself."""
LONGEST = 8_000
"""Characters of a text that are sent: most models refuse more."""


class EndpointEmbedder:
    """Requests vectors. Empty texts are not sent, and a response is checked before it is used."""

    def __init__(self, *, name: str, ask: Ask) -> None:
        self.name = name
        self.dimensions = 0
        """0 until the first response."""
        self._ask = ask

    def embed(self, texts: Sequence[str], /) -> Vectors:
        import numpy as np

        nonempty = [at for at, text in enumerate(texts) if text.strip()]
        found = self._request([texts[at] for at in nonempty]) if nonempty else None
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if found is not None:
            rows[nonempty] = unit(found)
        return rows

    def _request(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        vectors = self._ask([opening(text, LONGEST) for text in texts])
        width = self.dimensions or len(vectors[0] if vectors else ())
        if len(vectors) != len(texts) or not width or any(len(vector) != width for vector in vectors):
            raise UpstreamError(
                f"{self.name} returned {len(vectors)} vectors for {len(texts)} texts, "
                f"of {sorted({len(vector) for vector in vectors})} numbers where {width} were expected",
                remedy="check that `embedder` names a single embedding model",
            )
        rows: Vectors = np.asarray(vectors, dtype=np.float32)
        if not np.isfinite(rows).all():
            raise UpstreamError(
                f"{self.name} returned {len(texts)} vectors, and not all of their numbers are finite",
                remedy="set `embedder` to another embedding model, or leave it empty",
            )
        self.dimensions = width
        return rows
