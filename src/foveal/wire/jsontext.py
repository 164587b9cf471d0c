"""Encode values as JSON text with a content address; an `InputError` names the field that cannot be encoded.

Checks run on the whole text at the speed of the JSON encoder; only a value that fails is walked again,
slowly, to find the field. NUL characters and lone surrogates, which providers refuse, are kept as JSON
escapes; `sendable` replaces them.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from foveal.errors import InputError
from foveal.wire.markers import MARKER, remove_markers

MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 200
_TAG = b"foveal.message.1\n"
_REPLACEMENT = "\ufffd"
_ESCAPE = r"\\(?:u0000|ud[89a-f][0-9a-f]{2})"
# NUL is always written as an escape, and of the surrogates only lone ones are.
_UNSENDABLE = re.compile(rf"(?<!\\){_ESCAPE}")
# An even number of backslashes before it is a text that ends with backslashes. These are rare, and a
# replacement with a group takes ten times as long.
_UNSENDABLE_AFTER_BACKSLASHES = re.compile(rf"(?<!\\)((?:\\\\)+){_ESCAPE}")
_REMEDY = "send JSON values: text, numbers, true, false, null, lists and objects with text keys"


class _NotJSONError(Exception):
    """The value contains one that JSON cannot express; `_errors` finds where."""


# Created once: `json.dumps` with options creates an encoder at each call.
_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_CANONICAL = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)


def compact(value: Any) -> str:
    """JSON text without spaces, in the given key order."""
    return _escaped(_COMPACT.encode(value))


def _escaped(text: str) -> str:
    """JSON text that can be encoded: lone surrogates as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def json_kind(value: object) -> str:
    """The type of a JSON value, with its article.

    >>> json_kind(None), json_kind([1])
    ('null', 'an array')
    """
    kinds = {dict: "an object", list: "an array", str: "a text", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")


def sendable(value: Any, body: str = "") -> tuple[Any, int]:
    """The value with U+FFFD in place of NUL characters and lone surrogates, and how many there were.

    `body`: its JSON text, if the caller has it.

    >>> sendable({"text": "a\\0b"})
    ({'text': 'a\ufffdb'}, 1)
    """
    body = body or compact(value)
    if "\\u" not in body:
        return value, 0
    text, replaced = _UNSENDABLE.subn(_REPLACEMENT, body)
    text, more = _UNSENDABLE_AFTER_BACKSLASHES.subn(rf"\g<1>{_REPLACEMENT}", text)
    return (json.loads(text), replaced + more) if replaced + more else (value, 0)


def address(body: str) -> str:
    """The content address of a JSON text, independent of key order, spacing and cache markers."""
    return _digest(json.loads(body), body)


def sealed(value: Any, where: str) -> tuple[str, str]:
    """The JSON text of a value and its address; the caller has passed the value through `plain`."""
    body = encoded(value, where)
    return body, _digest(value, body)


def encoded(value: Any, where: str) -> str:
    """The JSON text of a value of acceptable size; the caller has passed the value through `plain`."""
    try:
        body = compact(value)
    except (ValueError, RecursionError):
        raise _located(value, where) from None
    size = len(body) if body.isascii() else len(body.encode())
    if size > MAX_BYTES:
        raise InputError(
            f"{where} is {size:,} bytes of JSON; the most is {MAX_BYTES:,}",
            remedy="send large data as a file or a URL, or split the message",
            field=_key(where),
        )
    return body


def to_json(value: Any, where: str) -> str:
    """Any JSON-like value, SDK objects too, as checked JSON text that providers accept."""
    given = plain(value, where)
    return sealed(sendable(given, sealed(given, where)[0])[0], where)[0]


def plain(value: Any, where: str) -> Any:
    """A copy of plain JSON values: SDK objects are dumped, tuples are lists, surrogate pairs are joined."""
    try:
        return _plain(value, 0)
    except (_NotJSONError, RecursionError):
        raise _located(value, where) from None


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else _paired(value)
    if value is None or isinstance(value, int | float):
        return value
    if depth > MAX_DEPTH:
        raise _NotJSONError
    if isinstance(value, dict | Mapping):
        return {_plain_key(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    if hasattr(value, "model_dump"):
        return _plain(_dumped(value), depth + 1)
    raise _NotJSONError


def _plain_key(key: Any) -> str:
    if not isinstance(key, str):
        raise _NotJSONError
    return key if key.isascii() else _paired(key)


def _paired(text: str) -> str:
    """The text with each pair of surrogates as the one character that it is in JSON."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return text


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
    return hashlib.sha256(_TAG + _escaped(canonical).encode()).hexdigest()


def _located(value: Any, where: str) -> InputError:
    try:
        path, what, remedy = next(_errors(value, ""))
    except (StopIteration, RecursionError):
        path, what, remedy = "", "contains a value that JSON cannot express", _REMEDY
    return InputError(f"{where}: {_field(path)}{what}", remedy, field=path.lstrip(".") or _key(where))


def _key(where: str) -> str:
    """The field of a request that a place is in, which is what an error is about that has no other field."""
    return where.split("`")[1] if "`" in where else "messages"


def _field(path: str) -> str:
    return f"`{path.lstrip('.')}` " if path else ""


def _errors(value: Any, path: str) -> Iterator[tuple[str, str, str]]:
    """Everything that JSON cannot express: path, what, remedy."""
    if path.count(".") + path.count("[") > MAX_DEPTH:
        yield path[:60] + "…", f"is nested deeper than {MAX_DEPTH} levels", "flatten it, or send it as text"
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(key, str):
                yield from _errors(item, f"{path}.{key}")
            else:
                yield path, f"has the key {key!r}, which is not text", _REMEDY
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _errors(item, f"{path}[{index}]")
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, f"is {value}, which JSON does not have", "send null or a text instead"
    elif not (value is None or isinstance(value, str | int | float) or hasattr(value, "model_dump")):
        yield path, f"is a {type(value).__name__}, not a JSON value", _REMEDY
