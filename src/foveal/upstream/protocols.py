"""Write requests and read responses in the protocols of OpenAI and Anthropic.

Responses are untrusted: a field that is missing or of another type means no result, never an exception.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from foveal.upstream.endpoint import Endpoint, address

ANTHROPIC_VERSION = "2023-06-01"
# OpenAI's newer models refuse `max_tokens`; compatible servers know nothing else.
_OPENAI_HOSTS = ("api.openai.com", ".openai.azure.com")
_TRUNCATED = ("length", "max_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    url: str
    headers: Mapping[str, str] = field(repr=False)
    """The API key is among them."""
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    text: str
    complete: bool
    """False when the model was stopped at the token limit."""


def completion_request(endpoint: Endpoint, text: str, *, system: str, max_tokens: int, key: str) -> Request:
    """A request for a completion."""
    turn = {"role": "user", "content": text}
    if endpoint.protocol == "anthropic":
        body = {"model": endpoint.model, "max_tokens": max_tokens, "system": system, "messages": [turn]}
        return _request(endpoint, "messages", body, key)
    limit = "max_completion_tokens" if endpoint.host.endswith(_OPENAI_HOSTS) else "max_tokens"
    messages = [{"role": "system", "content": system}, turn]
    return _request(
        endpoint,
        "chat/completions",
        {"model": endpoint.model, "messages": messages, limit: max_tokens},
        key,
    )


def embedding_request(endpoint: Endpoint, texts: Sequence[str], *, key: str) -> Request:
    """A request for the vectors of texts."""
    return _request(endpoint, "embeddings", {"model": endpoint.model, "input": list(texts)}, key)


def read_completion(endpoint: Endpoint, response: object) -> Completion | None:
    """The text of a completion; None when the response has none."""
    if endpoint.protocol == "anthropic":
        blocks = _list(_at(response, "content"))
        texts = [_at(block, "text") for block in blocks if _at(block, "type") == "text"]
        end = _at(response, "stop_reason")
    else:
        texts = [_at(response, "choices", 0, "message", "content")]
        end = _at(response, "choices", 0, "finish_reason")
    found = [text for text in texts if isinstance(text, str)]
    return Completion(text="".join(found), complete=end not in _TRUNCATED) if found else None


def read_vectors(response: object, number: int) -> list[list[float]] | None:
    """The vectors of `number` texts, in order and of one length; None when any is missing or invalid."""
    found: dict[int, list[float]] = {}
    for position, row in enumerate(_list(_at(response, "data"))):
        index, vector = _at(row, "index"), _floats(_at(row, "embedding"))
        if vector is None:
            return None
        found[index if isinstance(index, int) else position] = vector
    if sorted(found) != list(range(number)) or len({len(vector) for vector in found.values()}) > 1:
        return None
    return [found[position] for position in range(number)]


def error_code(response: object) -> str:
    """The code or type of an error, in either protocol; empty when there is none."""
    found = _at(response, "error", "code") or _at(response, "error", "type")
    return found if isinstance(found, str) else ""


def _request(endpoint: Endpoint, leaf: str, body: Mapping[str, object], key: str) -> Request:
    headers = {"content-type": "application/json", "accept": "application/json"}
    # No compression: a small response must not expand into a large one.
    headers["accept-encoding"] = "identity"
    if endpoint.protocol == "anthropic":
        headers["anthropic-version"] = ANTHROPIC_VERSION
    if key:
        name, value = (
            ("x-api-key", key) if endpoint.protocol == "anthropic" else ("authorization", f"Bearer {key}")
        )
        headers[name] = value
    return Request(url=address(endpoint, leaf), headers=headers, body=json.dumps(body).encode())


def _at(value: object, *path: str | int) -> object:
    """The value at a path of keys and positions; None where there is none."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _floats(value: object) -> list[float] | None:
    numbers = _list(value)
    valid = [float(n) for n in numbers if isinstance(n, int | float) and abs(n) < 1e30 and math.isfinite(n)]
    return valid if valid and len(valid) == len(numbers) else None
