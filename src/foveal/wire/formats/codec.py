"""The `Codec` that each format provides, and helpers to read and write fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from foveal.errors import InputError
from foveal.model import File, Format, Framing, Image, Message, Opaque, Part, Role, Rules, Text
from foveal.wire.jsontext import compact
from foveal.wire.markers import MARKER

JSON = dict[str, Any]
Flat = Text | Image | File | Opaque
P = TypeVar("P", bound=Part)
BOOKKEEPING = frozenset(
    {"type", "role", "id", "call_id", "tool_call_id", "tool_use_id", "index", "status", "phase"}
    | {MARKER, "logprobs"}
)
"""Fields at any depth that link objects or are meant for programs: no model reads them."""
_TEXTS = frozenset({"content", "output", "system"})
"""Fields that are a text or a list of blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One parsed wire message."""

    role: Role
    parts: tuple[Part, ...]
    extra: JSON = field(default_factory=dict)
    """Top-level fields that belong to no part."""
    rest: str = ""
    """The JSON of those the model probably reads: all but names and bookkeeping."""
    flaw: str = ""
    """Why the provider refuses the message as it came, although its parts could be parsed."""
    author: str = ""
    id: str = ""
    created_at: float | None = None
    priority: float | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    pinned: bool = False
    """It carries tools, settings or state, so every window needs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """A format: how to read and write its messages, what it refuses, what it adds to token counts."""

    format: Format
    read: Callable[[JSON, str], Reading]
    write: Callable[[Message], list[JSON]]
    """Writes one message, of any format, as wire messages, from its parts alone."""
    rules: Rules
    framing: Framing
    check: Callable[[JSON, str], None] | None = None
    """Refuses fields that a caller has to correct, although stored messages may have them."""
    kept_back: frozenset[str] = frozenset({"private"})
    """Top-level fields that only Foveal reads: no window has them."""
    read_system: Callable[[Any, str], tuple[Part, ...]] | None = None
    """For formats that keep the system prompt outside the messages."""
    write_system: Callable[[Sequence[Message]], Any] | None = None
    continues: Callable[[JSON], bool] | None = None
    """Whether a request body continues a history that the provider stores, which may contain calls."""


def role_of(roles: Mapping[str, Role], item: JSON, where: str) -> Role:
    """The role of a wire message, by the format's own names; any other name is an application's own."""
    role = item.get("role")
    if not isinstance(role, str) or not role.strip():
        raise InputError(
            f"{where}: `role` is {_shown(role)}; this format knows {', '.join(roles)}",
            remedy="correct the role, or pass `format` if the format was detected wrongly",
            field="role",
        )
    return roles.get(role, "system")


def missing(where: str, key: str) -> InputError:
    return InputError(
        f"{where}: `{key}` is missing",
        remedy=f"add `{key}`, or omit what lacks it",
        field=key,
    )


def text_field(item: JSON, key: str, where: str) -> str:
    """A text field; empty where it is missing or null."""
    value = item.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise wrong_type(where, key, value, "text")
    return value


def text_of_block(block: JSON, key: str, where: str) -> str:
    """The text of a text block, which must have one; it may be null."""
    if key not in block:
        raise missing(where, key)
    return text_field(block, key, where)


def object_field(item: JSON, key: str, where: str) -> JSON:
    """A field that must be an object."""
    value = item.get(key)
    if not isinstance(value, dict):
        raise wrong_type(where, key, value, "an object")
    return value


def read_content(
    content: Any, where: str, read: Callable[[JSON, str], P], *, key: str = "content"
) -> tuple[P | Text, ...]:
    """The parts of a content that is null, a text, or a list of blocks that `read` understands."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(text=content),)
    return tuple(
        read(block, f"{where}: {key}[{number}]")
        for number, block in enumerate(blocks_of(content, where, key))
    )


def blocks_of(value: Any, where: str, key: str) -> list[JSON]:
    """A list of content blocks, calls or parts."""
    if not isinstance(value, list):
        raise wrong_type(where, key, value, "text or a list of blocks" if key in _TEXTS else "a list")
    for index, block in enumerate(value):
        if not isinstance(block, dict):
            raise wrong_type(where, f"{key}[{index}]", block, "an object")
    return value


def wrong_type(where: str, key: str, value: Any, expected: str) -> InputError:
    return InputError(
        f"{where}: `{key}` is {_shown(value)}, not {expected}",
        remedy=f"make `{key}` {expected}, as in the provider's API reference",
        field=key,
    )


def without(item: JSON, *keys: str) -> JSON:
    return {key: value for key, value in item.items() if key not in keys}


def rest_of(item: JSON, *named: str) -> str:
    """The fields of an object beyond the `named` ones and bookkeeping, as JSON; mostly empty.

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
    """As `rest_of`, for an object whose content is in another object, under `key`."""
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
