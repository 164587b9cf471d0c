"""Text and room in → its head and tail, with what was cut said in between; never over the room.

Used where a whole piece is too large: the open turn's tool results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from foveal.model import Message, Part, Text, ToolResult

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


Render = Callable[[Sequence[Message]], Sequence[Message]]
"""Messages as the provider will read them, where that is not as they are."""


def cut_results(
    messages: Sequence[Message],
    room: int,
    price: Callable[[Message], int],
    count: Callable[[str], int],
    *,
    render: Render = tuple,
) -> tuple[Message, ...] | None:
    """Cut the longest tool results until the messages fit; None if even that is not enough."""
    sizes = [count(text) for text in _texts(messages)]
    fixed = sum(map(price, render(messages))) - sum(sizes)
    # What is written otherwise may shrink by more than the texts in it: the shortest is always tried.
    cap = max(0, _level(sizes, room - fixed)) if sizes else -1
    while cap >= 0:
        shorter = tuple(_capped(message, cap, count) for message in messages)
        over = sum(map(price, render(shorter))) - room
        if over <= 0:
            return shorter
        # A cut text can cost a token or two more inside its message than on its own.
        cap -= max(1, over // max(1, sum(size > cap for size in sizes)))
    return None


def least(
    messages: Sequence[Message],
    price: Callable[[Message], int],
    count: Callable[[str], int],
    *,
    render: Render = tuple,
) -> int:
    """What the messages cost at the very least."""
    return sum(map(price, render([_capped(message, 0, count) for message in messages])))


def _texts(messages: Sequence[Message]) -> list[str]:
    return [
        part.text
        for message in messages
        for result in message.results
        for part in result.parts
        if isinstance(part, Text)
    ]


def _level(sizes: Sequence[int], room: int) -> int:
    """The height to which the longest may rise so that all together fit: water finds its level.

    >>> _level([100, 10, 50], 100)
    45
    """
    left = room
    for place, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - place)
        if size > share:
            return share
        left -= size
    return max(sizes, default=-1)


def _capped(message: Message, cap: int, count: Callable[[str], int]) -> Message:
    parts = tuple(_short(part, cap, count) for part in message.parts)
    return message if parts == message.parts else replace(message, parts=parts, body="")


def _short(part: Part, cap: int, count: Callable[[str], int]) -> Part:
    if not isinstance(part, ToolResult):
        return part
    inner = tuple(_shorter(p, cap, count) if isinstance(p, Text) else p for p in part.parts)
    return part if inner == part.parts else replace(part, parts=inner, edited=True)


def _shorter(part: Text, cap: int, count: Callable[[str], int]) -> Text:
    text = cut(part.text, cap, count)
    return part if count(text) >= count(part.text) else replace(part, text=text, edited=True)
