"""Encode values as JSON text with a content address; an `InputError` names the field that cannot be encoded.

Checks run on the whole text at the speed of the JSON encoder; only a value that fails is walked again,
slowly, to find the field.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from foveal.errors import InputError
from foveal.wire.markers import MARKER, remove_markers

MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 200
_TAG = b"foveal.message.1\n"
_REMEDY = "send JSON values: text, numbers, true, false, null, lists and objects with text keys"


class _NotJSONError(Exception):
    """The value contains one that JSON cannot express; `_errors` finds where."""


# Created once: `json.dumps` with options creates an encoder at each call.
_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_CANONICAL = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)


def compact(value: Any) -> str:
    """JSON text without spaces, in the given key order."""
    return _COMPACT.encode(value)


def address(body: str) -> str:
    """The content address of a JSON text, independent of key order, spacing and cache markers."""
    return _digest(json.loads(body), body)


def sealed(value: Any, where: str) -> tuple[str, str]:
    """The JSON text of a value and its address; the caller has passed the value through `plain`."""
    try:
        body = compact(value)
        size = len(body.encode())
    except (ValueError, RecursionError):
        raise _located(value, where) from None
    if size > MAX_BYTES:
        raise InputError(
            f"{where} is {size:,} bytes of JSON; the most is {MAX_BYTES:,}",
            remedy="send large data as a file or a URL, or split the message",
        )
    # An escaped NUL and the characters \u0000 in a text look alike here: the slow walk can tell them apart.
    if "\\u0000" in body and any(_errors(value, "")):
        raise _located(value, where)
    return body, _digest(value, body)


def to_json(value: Any, where: str) -> str:
    """Any JSON-like value, SDK objects too, as checked JSON text."""
    return sealed(plain(value, where), where)[0]


def plain(value: Any, where: str) -> Any:
    """A copy of plain JSON values: SDK objects are dumped, tuples become lists."""
    try:
        return _plain(value, 0)
    except (_NotJSONError, RecursionError):
        raise _located(value, where) from None


def _plain(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if depth > MAX_DEPTH:
        raise _NotJSONError
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise _NotJSONError
        return {key: _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    if hasattr(value, "model_dump"):
        return _plain(_dumped(value), depth + 1)
    raise _NotJSONError


def _dumped(model: Any) -> Any:
    """What the SDK itself would send: the fields that were set, by their wire names."""
    google = type(model).__module__.startswith("google.")  # its models set every field, most to None
    found = model.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=google)
    if isinstance(found, dict) and found.get("type") == "message" and "usage" in found:
        # An Anthropic response: a request with its bookkeeping fields is refused.
        return {"role": found["role"], "content": found["content"]}
    return found


def _digest(value: Any, body: str) -> str:
    if MARKER in body:
        value = json.loads(body)
        remove_markers(value)
    canonical = _CANONICAL.encode(value)
    return hashlib.sha256(_TAG + canonical.encode()).hexdigest()


def _located(value: Any, where: str) -> InputError:
    try:
        path, what, remedy = next(_errors(value, ""))
    except (StopIteration, RecursionError):
        path, what, remedy = "", "contains a value that JSON cannot express", _REMEDY
    return InputError(f"{where}: {_field(path)}{what}", remedy)


def _field(path: str) -> str:
    return f"`{path.lstrip('.')}` " if path else ""


def _errors(value: Any, path: str) -> Iterator[tuple[str, str, str]]:
    """Everything that JSON, a provider or a store would refuse: path, what, remedy."""
    if path.count(".") + path.count("[") > MAX_DEPTH:
        yield path[:60] + "…", f"is nested deeper than {MAX_DEPTH} levels", "flatten it, or send it as text"
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(key, str):
                yield from _text_errors(key, f"{path}.{key!r}")
                yield from _errors(item, f"{path}.{key}")
            else:
                yield path, f"has the key {key!r}, which is not text", _REMEDY
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _errors(item, f"{path}[{index}]")
    elif isinstance(value, str):
        yield from _text_errors(value, path)
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, f"is {value}, which JSON does not have", "send null or a text instead"
    elif not (value is None or isinstance(value, int | float) or hasattr(value, "model_dump")):
        yield path, f"is a {type(value).__name__}, not a JSON value", _REMEDY


def _text_errors(text: str, path: str) -> Iterator[tuple[str, str, str]]:
    if "\0" in text:
        yield path, f"has a NUL character at {text.index(chr(0)):,}", "remove it: providers refuse it"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        yield (
            path,
            f"has a lone surrogate at {error.start:,}",
            "decode the bytes it came from with `errors='replace'`",
        )
