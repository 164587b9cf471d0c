"""Text and room in → its head and tail, with what was cut said in between; never over the room.

And where a whole piece is too large, the open turn's tool results in short form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foveal.model import Message
from foveal.pipeline.compact.shorten import Mark, Render, Scale, capped, leveled

HEAD_SHARE = 0.6
"""Of the room, for the head: what a tool prints first names what follows; errors come last."""


def cut(text: str, room: int, count: Callable[[str], int]) -> str:
    """The longest head and tail that fit in `room` tokens, or the bare statement that it was cut.

    >>> cut("one two three four five six seven eight nine ten", 9, lambda t: len(t.split()))
    'one two\\n[… 34 characters cut …]\\nne ten'
    """
    if count(text) <= room:
        return text
    # Gallop up from a size that surely fits, so that every probe costs the room and not the text.
    low, high = 0, max(room, 1)
    while high < len(text) and count(_cut_to(text, high)) <= room:
        low, high = high, high * 2
    high = min(high, len(text))
    while low < high:
        middle = (low + high + 1) // 2
        if count(_cut_to(text, middle)) <= room:
            low = middle
        else:
            high = middle - 1
    return _cut_to(text, low)


def _cut_to(text: str, size: int) -> str:
    head, tail = text[: int(size * HEAD_SHARE)], text[len(text) - (size - int(size * HEAD_SHARE)) :]
    return f"{head.rstrip()}\n[… {len(text) - size:,} characters cut …]\n{tail.lstrip()}".strip()


def cut_results(
    messages: Sequence[Message],
    room: int,
    price: Callable[[Message], int],
    count: Callable[[str], int],
    *,
    render: Render = tuple,
    mark: Mark | None = None,
) -> tuple[Message, ...] | None:
    """Shorten the longest tool results until the messages fit; None if even that is not enough."""
    return leveled(messages, room, Scale(price=price, count=count, render=render, mark=mark))


def least(
    messages: Sequence[Message],
    price: Callable[[Message], int],
    count: Callable[[str], int],
    *,
    render: Render = tuple,
) -> int:
    """What the messages cost at the very least."""
    scale = Scale(price=price, count=count, render=render)
    return scale.total(capped(messages, 0, scale))
