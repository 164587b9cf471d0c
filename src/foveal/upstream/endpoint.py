"""An address in → an `Endpoint`: where a model is, how it is spoken to, how long it is waited for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from foveal.errors import ConfigError

Protocol = Literal["openai", "anthropic"]
ANTHROPIC = "api.anthropic.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model that can be asked. A plain value: the key itself is never in it."""

    url: str
    """The base, such as `https://api.openai.com/v1`, or the whole address, ending in `/chat/completions`."""
    model: str
    protocol: Protocol = "openai"
    key_variable: str = ""
    """The name of the environment variable that holds the key; empty where none is needed."""
    timeout: float = 60.0
    """Seconds for a whole call: waiting for a turn, every attempt and the pauses between them."""
    retries: int = 2
    concurrency: int = 4
    """Calls at the same moment, over all threads."""

    @property
    def host(self) -> str:
        """All that errors say of the address: the rest of it may hold secrets."""
        return urlsplit(self.url).hostname or "?"


def endpoint_at(url: str, model: str = "", *, key_variable: str = "") -> Endpoint:
    """The endpoint at an address; a model may be named after `#`.

    Anthropic's protocol is spoken where the path ends in `/messages` or the host is `api.anthropic.com`,
    OpenAI's everywhere else.

    >>> endpoint_at("https://api.anthropic.com", "claude-haiku-4-5").protocol
    'anthropic'
    >>> endpoint_at("http://localhost:11434/v1#nomic-embed-text").model
    'nomic-embed-text'
    """
    parts = _parts(url)
    spoken = parts.path.rstrip("/").endswith("/messages") or parts.hostname == ANTHROPIC
    if not (model or parts.fragment):
        raise ConfigError(
            f"the endpoint at {parts.hostname} has no model",
            remedy="name the model, or write it behind the address: `https://…/v1#MODEL`",
        )
    return Endpoint(
        url=parts._replace(fragment="").geturl(),
        model=model or parts.fragment,
        protocol="anthropic" if spoken else "openai",
        key_variable=key_variable,
    )


def address(endpoint: Endpoint, leaf: str) -> str:
    """Where one kind of request goes: the leaf is put behind a base, and replaces another leaf.

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
        fine = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:  # brackets that do not close, a port that is no number
        fine = False
    if not fine or parts.username is not None or parts.password is not None:
        raise ConfigError(
            f"the endpoint's address ({len(url)} characters) is not http or https, or has a password in it",
            remedy="give it as `https://host/v1`; a key belongs in an environment variable",
        )
    return parts
