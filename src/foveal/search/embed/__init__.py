"""Turn texts into vectors: by static embeddings, a transformer in a folder, or an endpoint."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from foveal.errors import ConfigError, masked
from foveal.search.embed.base import Embedder, Vectors
from foveal.search.embed.endpoint import Ask, EndpointEmbedder

NONE = "none"

__all__ = ["Embedder", "Vectors", "embedder_named"]


def embedder_named(choice: str, ask: Ask | None = None) -> Embedder | None:
    """The embedder of a setting: empty means static embeddings, `none` means no vectors.

    A path is the folder of a transformer. A URL is an endpoint: the caller's `ask` requests vectors from it.
    """
    if choice == NONE:
        return None
    if not choice:
        from foveal.search.embed.static import static

        return static()
    if "://" in choice:
        if ask is None:
            raise ConfigError(
                f"`embedder` names the endpoint {masked(choice)}, which cannot be called from here",
                remedy="install `foveal[llm]`, or leave `embedder` empty for static embeddings",
            )
        parts = urlsplit(choice)
        # The rest of an address may contain secrets, and the name is stored with every vector.
        return EndpointEmbedder(name=f"{parts.hostname}{parts.path}#{parts.fragment}", ask=ask)
    from foveal.search.embed.transformer import transformer

    return transformer(Path(choice))
