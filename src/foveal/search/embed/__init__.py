"""Texts in → vectors out, by a table of words, a transformer in a folder, or an endpoint."""

from foveal.search.embed.base import BATCH, Embedder, Vectors
from foveal.search.embed.choose import named

__all__ = ["BATCH", "Embedder", "Vectors", "named"]
