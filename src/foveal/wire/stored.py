"""A stored original → the `Message` it was when it came in."""

from __future__ import annotations

import json

from foveal.model import Format, Message, Role
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
