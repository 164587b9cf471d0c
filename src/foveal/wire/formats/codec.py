"""What each format's file provides, and the small tools they share for reading and writing fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foveal.errors import InputError
from foveal.model import File, Format, Framing, Image, Message, Opaque, Part, Role, Rules, Text
from foveal.wire.jsontext import compact
from foveal.wire.markers import MARKER

JSON = dict[str, Any]
Flat = Text | Image | File | Opaque
BOOKKEEPING = frozenset(
    {"type", "role", "id", "call_id", "tool_call_id", "tool_use_id", "index", "status", "phase"}
    | {MARKER, "logprobs"}
)
"""Fields, wherever they stand, that tie things together or are for programs: no model reads them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One wire message, understood."""

    role: Role
    parts: tuple[Part, ...]
    extra: JSON = field(default_factory=dict)
    """Top-level fields that no part carries."""
    rest: str = ""
    """What of them the model is shown, as far as we know: all but names and bookkeeping."""
    flaw: str = ""
    """What the provider refuses about the message as it came, though its parts are understood."""
    author: str = ""
    id: str = ""
    created_at: float | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """A format: how its messages are read and written, what it refuses, what it adds to a count."""

    format: Format
    read: Callable[[JSON, str], Reading]
    write: Callable[[Message], list[JSON]]
    """One message as wire messages, from its parts alone; it may be of another format."""
    rules: Rules
    framing: Framing
    read_system: Callable[[Any, str], tuple[Part, ...]] | None = None
    """For formats with a place for the system prompt outside the messages."""
    write_system: Callable[[Sequence[Message]], Any] | None = None
    continues: Callable[[JSON], bool] | None = None
    """Whether a request body goes on with a history that the provider keeps: calls may be there."""


def pick(table: Mapping[str, Role], item: JSON, where: str) -> Role:
    """The role of a wire message, by the format's own names."""
    role = item.get("role")
    found = table.get(role) if isinstance(role, str) else None
    if found is None:
        raise InputError(
            f"{where}: `role` is {_shown(role)}; this format knows {', '.join(table)}",
            remedy="correct the role, or pass `format` if the format was detected wrongly",
            field="role",
        )
    return found


def missing(where: str, key: str) -> InputError:
    return InputError(
        f"{where}: `{key}` is missing",
        remedy=f"give the message a `{key}`, or leave the message out",
        field=key,
    )


def text_field(item: JSON, key: str, where: str) -> str:
    """A field that is text when it is there."""
    value = item.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise wrong_type(where, key, value, "text")
    return value


def object_field(item: JSON, key: str, where: str) -> JSON:
    """A field that must be an object."""
    value = item.get(key)
    if not isinstance(value, dict):
        raise wrong_type(where, key, value, "an object")
    return value


def blocks_of(value: Any, where: str, key: str) -> list[JSON]:
    """A list of content blocks."""
    if not isinstance(value, list):
        raise wrong_type(where, key, value, "text or a list of blocks")
    for index, block in enumerate(value):
        if not isinstance(block, dict):
            raise wrong_type(where, f"{key}[{index}]", block, "an object")
    return value


def wrong_type(where: str, key: str, value: Any, wanted: str) -> InputError:
    return InputError(
        f"{where}: `{key}` is {_shown(value)}, not {wanted}",
        remedy=f"make `{key}` {wanted}, as the provider's reference shows it",
        field=key,
    )


def without(item: JSON, *keys: str) -> JSON:
    return {key: value for key, value in item.items() if key not in keys}


def rest_of(item: JSON, *named: str) -> str:
    """What an object says beyond its `named` fields, as JSON; mostly nothing.

    >>> rest_of({"type": "text", "text": "hello", "citations": None}, "text")
    ''
    >>> rest_of({"type": "text", "text": "hello", "aside": ["psst"]}, "text")
    '{"aside":["psst"]}'
    """
    rest = {
        key: value
        for key, value in item.items()
        if value and value is not True and key not in named and key not in BOOKKEEPING
    }
    return compact(rest) if rest else ""


def rest_with(item: JSON, key: str, *named: str) -> str:
    """The rest of an object that keeps what it says in another one, under `key`."""
    return rest_of(item, key) + rest_of(item[key], *named)


def extra_of(message: Message) -> JSON:
    extra: JSON = json.loads(message.extra) if message.extra else {}
    return extra


def raw_of(part: Part) -> JSON:
    raw: JSON = json.loads(part.raw) if part.raw else {}
    return raw


def opaque(block: JSON) -> Opaque:
    return Opaque(type=str(block.get("type", "")), raw=compact(block))


def _shown(value: Any) -> str:
    match value:
        case None:
            return "missing or null"
        case str() if len(value) <= 40:
            return repr(value)
        case _:
            return f"of type {type(value).__name__}"
