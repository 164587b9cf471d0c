"""Write messages as the provider's JSON. An unchanged message is written as the text it was read from.

Writing turn by turn gives the same pieces as writing the whole list, as long as a run of assistant messages
and the results that follow it stay together.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from foveal.model import Format, Message
from foveal.wire.convert import converted
from foveal.wire.formats.codec import Codec, without
from foveal.wire.formats.registry import codec_of
from foveal.wire.jsontext import compact, sendable


@dataclass(frozen=True, slots=True, kw_only=True)
class Dumped:
    """A window's messages as JSON texts."""

    pieces: tuple[str, ...]
    system: str
    """JSON of the system prompt where the format keeps it outside the messages; else empty."""


def dump(messages: Sequence[Message], format: Format, *, whole: bool = False) -> Dumped:
    """Write messages of any format in the given one.

    `whole`: with the fields that only Foveal reads, which no window has.

    >>> from foveal.wire import load
    >>> dump(load([{"role": "user", "content": "hello"}]).messages, "gemini").pieces
    ('{"role":"user","parts":[{"text":"hello"}]}',)
    """
    codec = codec_of(format)
    if not whole:
        messages = [_sent(message, codec) for message in messages]
    inside = [message for message in messages if not _outside(message, codec)]
    system = [message for message in messages if _outside(message, codec)]
    return Dumped(pieces=_pieces(inside, codec), system=_system(system, codec))


def _sent(message: Message, codec: Codec) -> Message:
    """The message without the fields that only Foveal reads."""
    if message.format != codec.format or message.outside:
        return message
    texts = (message.extra, message.body)
    if not any(f'"{name}":' in text for text in texts for name in codec.kept_back):
        return message
    extra, body = (json.loads(text) if text else {} for text in texts)
    if codec.kept_back.isdisjoint(extra) and codec.kept_back.isdisjoint(body):
        return message
    return replace(
        message,
        extra=compact(without(extra, *codec.kept_back)) if extra else "",
        body=compact(without(body, *codec.kept_back)) if body else "",
    )


def _system(system: Sequence[Message], codec: Codec) -> str:
    """The system prompt as JSON; empty without one."""
    if not system or codec.write_system is None:
        return ""
    if len(system) == 1 and system[0].format == codec.format and system[0].body and system[0].outside:
        return system[0].body
    return compact(codec.write_system(system))


def _outside(message: Message, codec: Codec) -> bool:
    """Whether the format keeps this message outside the list, as the system prompt."""
    if message.role != "system" or message.in_place or codec.write_system is None:
        return False
    # Responses also takes system messages among its items: only what came as `instructions` goes there.
    return codec.format != "responses" or (message.format == "responses" and message.outside)


def _pieces(messages: Sequence[Message], codec: Codec) -> tuple[str, ...]:
    if all(message.body and message.format == codec.format for message in messages):
        return tuple(message.body for message in messages)
    pieces: list[str] = []
    for message in converted(messages, codec.format):
        if message.body and message.format == codec.format:
            pieces.append(message.body)
        else:
            pieces += (compact(sendable(piece)[0]) for piece in codec.write(message))
    return tuple(pieces)
