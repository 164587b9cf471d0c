"""Where a model is served: its address, protocol, timeout and retries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from foveal.errors import ConfigError

Protocol = Literal["openai", "anthropic"]
ANTHROPIC_HOST = "api.anthropic.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model that can be called. The API key is never part of it."""

    url: str
    """The base, such as `https://api.openai.com/v1`, or the full address, ending in `/chat/completions`."""
    model: str
    protocol: Protocol = "openai"
    key_variable: str = ""
    """The environment variable with the key; empty where none is needed."""
    timeout: float = 60.0
    """Seconds for a whole call: waiting for a free slot, every attempt and the pauses between them."""
    retries: int = 2
    concurrency: int = 4
    """Simultaneous calls, over all threads."""

    @property
    def host(self) -> str:
        """The only part of the address that errors mention: the rest may contain secrets."""
        return urlsplit(self.url).hostname or "?"


def endpoint_at(url: str, model: str = "", *, key_variable: str = "") -> Endpoint:
    """The endpoint at an address, whose fragment may name the model.

    The protocol is Anthropic's where the path ends in `/messages` or the host is `api.anthropic.com`, else
    OpenAI's.

    >>> endpoint_at("https://api.anthropic.com", "claude-haiku-4-5").protocol
    'anthropic'
    >>> endpoint_at("http://localhost:11434/v1#nomic-embed-text").model
    'nomic-embed-text'
    """
    parts = _parts(url)
    anthropic = parts.path.rstrip("/").endswith("/messages") or parts.hostname == ANTHROPIC_HOST
    if not (model or parts.fragment):
        raise ConfigError(
            f"the endpoint at {parts.hostname} has no model",
            remedy="name the model, or append it to the address: `https://…/v1#MODEL`",
        )
    return Endpoint(
        url=parts._replace(fragment="").geturl(),
        model=model or parts.fragment,
        protocol="anthropic" if anthropic else "openai",
        key_variable=key_variable,
    )


def address(endpoint: Endpoint, leaf: str) -> str:
    """The URL for one kind of request: `leaf` is appended to a base, or replaces another leaf.

    >>> address(Endpoint(url="https://a.io/v1/chat/completions?v=2", model="m"), "embeddings")
    'https://a.io/v1/embeddings?v=2'
    """
    parts = _parts(endpoint.url)
    path = parts.path.rstrip("/")
    for known in ("/chat/completions", "/embeddings", "/messages"):
        path = path.removesuffix(known)
    if endpoint.protocol == "anthropic" and not path.endswith("/v1"):
        path += "/v1"
    return parts._replace(path=f"{path}/{leaf}", fragment="").geturl()


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:  # brackets that do not close, a port that is not a number
        valid = False
    if not valid or parts.username is not None or parts.password is not None:
        raise ConfigError(
            f"the endpoint's address ({len(url)} characters) is not http or https, or contains a password",
            remedy="write it as `https://host/v1`, and put the key into an environment variable",
        )
    return parts
