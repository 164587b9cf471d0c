"""A question in → the request that a protocol makes of it; a protocol's JSON in → what was answered.

Answers are somebody else's data: a field that is missing or of another type makes no answer, never a crash.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from foveal.upstream.endpoint import Endpoint, address

ANTHROPIC_VERSION = "2023-06-01"
# OpenAI's own newer models refuse `max_tokens`; servers that are only compatible know nothing else.
_OPENAI_HOSTS = ("api.openai.com", ".openai.azure.com")
_CUT_SHORT = ("length", "max_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    url: str
    headers: Mapping[str, str] = field(repr=False)
    """The key is among them."""
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    text: str
    whole: bool
    """The model came to its end; false when it was stopped for its length."""


def asking(endpoint: Endpoint, text: str, *, system: str, max_tokens: int, key: str) -> Request:
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


def embedding(endpoint: Endpoint, texts: Sequence[str], *, key: str) -> Request:
    """A request for the vectors of some texts."""
    return _request(endpoint, "embeddings", {"model": endpoint.model, "input": list(texts)}, key)


def said(endpoint: Endpoint, answer: object) -> Said | None:
    """The words of a completion; None when the answer has none."""
    if endpoint.protocol == "anthropic":
        blocks = _list(_at(answer, "content"))
        texts = [_at(block, "text") for block in blocks if _at(block, "type") == "text"]
        end = _at(answer, "stop_reason")
    else:
        texts = [_at(answer, "choices", 0, "message", "content")]
        end = _at(answer, "choices", 0, "finish_reason")
    words = [text for text in texts if isinstance(text, str)]
    return Said(text="".join(words), whole=end not in _CUT_SHORT) if words else None


def vectors(answer: object, number: int) -> list[list[float]] | None:
    """One vector for each of so many texts, in order, all of one length; None when they are not there."""
    found: dict[int, list[float]] = {}
    for place, row in enumerate(_list(_at(answer, "data"))):
        index, vector = _at(row, "index"), _floats(_at(row, "embedding"))
        if vector is None:
            return None
        found[index if isinstance(index, int) else place] = vector
    if sorted(found) != list(range(number)) or len({len(vector) for vector in found.values()}) > 1:
        return None
    return [found[place] for place in range(number)]


def error_code(answer: object) -> str:
    """The code or the type of an error, both protocols alike; empty when there is none."""
    found = _at(answer, "error", "code") or _at(answer, "error", "type")
    return found if isinstance(found, str) else ""


def _request(endpoint: Endpoint, leaf: str, body: Mapping[str, object], key: str) -> Request:
    headers = {"content-type": "application/json", "accept": "application/json"}
    # Nothing packed: a small answer must not unfold into a large one.
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
    """What stands at a path of keys and positions; None where there is nothing."""
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
    fine = [float(n) for n in numbers if isinstance(n, int | float) and abs(n) < 1e30 and math.isfinite(n)]
    return fine if fine and len(fine) == len(numbers) else None
