"""Read and write plain `{role, content}` messages, which any program can produce without an API reference.

A message may also have an id, a name, a timestamp, a priority, metadata and `private`; tool calls look like
OpenAI's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from foveal.errors import InputError
from foveal.model import PRIORITY_MOST, Message, Rules, is_priority
from foveal.wire.formats import openai
from foveal.wire.formats.codec import JSON, Codec, Reading, object_field, rest_of
from foveal.wire.times import seconds

KEYS = frozenset({"role", "content", "name", *openai.PLAIN_FIELDS})


def read(item: JSON, where: str) -> Reading:
    reading = openai.read(item, where)
    return replace(
        reading,
        rest=rest_of(reading.extra, *KEYS),
        id=_id(item.get("id"), where),
        created_at=_created_at(item, where),
        priority=item["priority"] if is_priority(item.get("priority")) else None,
        metadata=object_field(item, "metadata", where) if item.get("metadata") is not None else {},
    )


def check(item: JSON, where: str) -> None:
    """Refuse wrong values of fields; a stored message may have them, from before they had a meaning."""
    if item.get("priority") is None or is_priority(item["priority"]):
        return
    raise InputError(
        f"{where}: `priority` is not a number from 0 to {PRIORITY_MOST:,}",
        remedy=f"make `priority` a number from 0 to {PRIORITY_MOST:,}, or omit it",
        field="priority",
    )


def _id(value: Any, where: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    raise InputError(
        f"{where}: `id` is of type {type(value).__name__}, not text",
        remedy="make `id` a text or a number",
        field="id",
    )


def _created_at(item: JSON, where: str) -> float | None:
    key = "timestamp" if item.get("timestamp") is not None else "created_at"
    if item.get(key) is None:
        return None
    found = seconds(item[key])
    if found is None:
        raise InputError(
            f"{where}: `{key}` is not a time",
            remedy="use seconds since 1970, or ISO 8601 such as 2025-01-31T09:30:00Z",
            field=key,
        )
    return found


def write(message: Message) -> list[JSON]:
    if message.format in ("plain", "openai"):
        return openai.write_all_fields(message)
    return [{**piece, **_plain_fields(message)} for piece in openai.write_all_fields(message)]


def _plain_fields(message: Message) -> JSON:
    fields = {"id": message.id, "name": message.author, "timestamp": message.created_at}
    return {key: value for key, value in fields.items() if value} | (
        {"metadata": dict(message.metadata)} if message.metadata else {}
    )


CODEC = Codec(
    format="plain",
    read=read,
    write=write,
    rules=Rules(needs_call=False, pairs_by_name=True, function_calls=True),
    framing=openai.CODEC.framing,
    check=check,
    kept_back=frozenset(("priority", "private")),
)
