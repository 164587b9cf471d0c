"""Messages in → what the store is asked to keep of them, and how much of a history it has already."""

from __future__ import annotations

import time
from collections.abc import Sequence

from foveal.model import Message
from foveal.pipeline.turns import links
from foveal.session.target import Target
from foveal.store import Draft


def drafted(message: Message, aim: Target) -> Draft:
    link = links(message)
    return Draft(
        message=message,
        tokens=aim.meter.message(message),
        calls=link.calls,
        answers=link.answers,
        created_at=message.created_at if message.created_at is not None else time.time(),
    )


def telling(message: Message) -> bool:
    """Is there anything about the message that only OpenAI's form has?"""
    return bool(message.extra or message.calls or message.results or any(p.raw for p in message.parts))


def common(stored: Sequence[str], given: Sequence[str]) -> int:
    """How many messages the two have in common from the start."""
    shared = 0
    for ours, theirs in zip(stored, given, strict=False):
        if ours != theirs:
            break
        shared += 1
    return shared
