"""Messages → the provider's JSON, piece by piece. What was not changed goes out as the text it came in as.

Dumping turn by turn gives the same pieces as dumping the whole list, as long as a run of assistant
messages and the results that follow it stay together.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from foveal.model import Format, Message
from foveal.wire.convert import gathered
from foveal.wire.formats.codec import Codec
from foveal.wire.formats.registry import codec_of
from foveal.wire.jsontext import compact


@dataclass(frozen=True, slots=True, kw_only=True)
class Dumped:
    """A window's messages as JSON texts."""

    pieces: tuple[str, ...]
    system: str
    """JSON of the system prompt where the format keeps it outside the messages; else empty."""


def dump(messages: Sequence[Message], format: Format) -> Dumped:
    """Write messages of any format in the one that is asked for.

    >>> from foveal.wire import load
    >>> dump(load([{"role": "user", "content": "hello"}]).messages, "gemini").pieces
    ('{"role":"user","parts":[{"text":"hello"}]}',)
    """
    codec = codec_of(format)
    inside = [message for message in messages if not _outside(message, codec)]
    return Dumped(pieces=_pieces(inside, codec), system=_system(messages, format))


def _system(messages: Sequence[Message], format: Format) -> str:
    """The system prompt as JSON, for formats that keep it outside the messages; empty without one."""
    codec = codec_of(format)
    system = [message for message in messages if _outside(message, codec)]
    if not system or codec.write_system is None:
        return ""
    if len(system) == 1 and system[0].format == format and system[0].body and not _listed(system[0]):
        return system[0].body
    return compact(codec.write_system(system))


def _outside(message: Message, codec: Codec) -> bool:
    if message.role != "system" or codec.write_system is None:
        return False
    # Responses takes system messages among its items too: only what came as `instructions` goes back there.
    return codec.format != "responses" or (message.format == "responses" and message.body.startswith('"'))


def _listed(system: Message) -> bool:
    """Whether it stood among the messages, where it had a role."""
    body = json.loads(system.body)
    return isinstance(body, dict) and "content" in body


def _pieces(messages: Sequence[Message], codec: Codec) -> tuple[str, ...]:
    if all(message.body and message.format == codec.format for message in messages):
        return tuple(message.body for message in messages)
    pieces: list[str] = []
    for message in gathered(messages, codec.format):
        if message.body and message.format == codec.format:
            pieces.append(message.body)
        else:
            pieces += map(compact, codec.write(message))
    return tuple(pieces)
