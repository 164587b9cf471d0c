"""A stored original → the `Message` it was; messages → those a provider will read once they are written."""

from __future__ import annotations

import json
from collections.abc import Sequence

from foveal.model import Format, Message, Role
from foveal.wire.dump import dump
from foveal.wire.formats import codec_of
from foveal.wire.load import message_of


def reread(body: str, format: Format, role: Role, *, digest: str) -> Message:
    """Understand a body again; what stood outside the messages is told by its role and its shape."""
    value, codec = json.loads(body), codec_of(format)
    outside = not isinstance(value, dict) or "role" not in value or format == "gemini"
    if role == "system" and codec.read_system is not None and outside:
        parts = codec.read_system(value, "a stored system prompt")
        return Message(role=role, parts=parts, format=format, body=body, digest=digest)
    return message_of(value, format, where="a stored message")


def rendered(messages: Sequence[Message], format: Format) -> tuple[Message, ...]:
    """The messages as `format` reads what `dump` writes of them: what they cost there is the truth.

    Messages that are in that format already come back as they are; of others only role and parts count,
    and there may be fewer or more of them.
    """
    if all(message.format == format for message in messages):
        return tuple(messages)
    dumped = dump(messages, format)
    system = [reread(dumped.system, format, "system", digest="")] if dumped.system else []
    return (*system, *(message_of(json.loads(piece), format) for piece in dumped.pieces))
