"""The name of an embedder in → the embedder, or None where vectors are not wanted."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from foveal.errors import ConfigError
from foveal.search.embed.base import Embedder
from foveal.search.embed.endpoint import Ask, Endpoint

NONE = "none"


def named(choice: str, ask: Ask | None = None) -> Embedder | None:
    """Nothing said is the table that is always there; a folder is a transformer; a URL is what `ask` asks."""
    if choice == NONE:
        return None
    if not choice:
        from foveal.search.embed.static import static

        return static()
    if "://" in choice:
        if ask is None:
            raise ConfigError(
                f"`embedder` names the endpoint {choice}, and there is nobody to ask it",
                remedy="install `foveal[llm]`, or leave `embedder` empty for the table that needs none",
            )
        parts = urlsplit(choice)
        # The rest of an address may hold secrets, and the name is stored beside every vector.
        return Endpoint(name=f"{parts.hostname}{parts.path}#{parts.fragment}", ask=ask)
    from foveal.search.embed.transformer import transformer

    return transformer(Path(choice))
