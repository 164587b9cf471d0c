"""A turn's messages and room in → the same with their tool results in short form; never over the room.

Calls, thinking, pictures and unknown blocks stay as they are. What people and the model wrote is shortened
only when the results alone are not enough.

Text and room in → its head and tail, with what was cut said in between; never over the room.

And where a whole piece is too large, the open turn's tool results in short form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from foveal.model import Message, Part, Text, ToolResult
from foveal.pipeline.shorten.short_form import short_form

Render = Callable[[Sequence[Message]], Sequence[Message]]
"""Messages as the provider will read them, where that is not as they are."""
Mark = Callable[[Message], str]
"""What ends the short forms of a message: the way back to the original."""
STEP = 12
"""When a cap is still too high it falls by a twelfth or more, so few caps are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How messages and texts are weighed, and how short forms end."""

    price: Callable[[Message], int]
    count: Callable[[str], int]
    render: Render = tuple
    mark: Mark | None = None

    def total(self, messages: Sequence[Message]) -> int:
        return sum(map(self.price, self.render(messages)))


def shorten_turn(
    messages: Sequence[Message],
    room: int,
    *,
    price: Callable[[Message], int],
    render: Render,
    count: Callable[[str], int],
    mark: Mark | None = None,
) -> tuple[Message, ...] | None:
    """The messages within `room` tokens; None when no short form is short enough."""
    scale = Scale(price=price, count=count, render=render, mark=mark)
    return leveled(messages, room, scale) or leveled(messages, room, scale, words_too=True)


def leveled(
    messages: Sequence[Message], room: int, scale: Scale, *, words_too: bool = False
) -> tuple[Message, ...] | None:
    """Shorten the longest texts, down to one level, until the messages fit; None if that is not enough."""
    sizes = [scale.count(text) for message in messages for text in _texts(message, words_too=words_too)]
    fixed = scale.total(messages) - sum(sizes)
    # What is written otherwise may shrink by more than the texts in it: the shortest is always tried.
    cap = max(0, _level(sizes, room - fixed)) if sizes else -1
    while cap >= 0:
        shorter = capped(messages, cap, scale, words_too=words_too)
        over = scale.total(shorter) - room
        if over <= 0:
            return shorter
        # A short text can cost a token or two more inside its message than on its own.
        step = max(1, over // max(1, sum(size > cap for size in sizes)), cap // STEP)
        cap = max(0, cap - step) if cap else -1
    return None


def capped(
    messages: Sequence[Message], cap: int, scale: Scale, *, words_too: bool = False
) -> tuple[Message, ...]:
    """The messages with no text above `cap` tokens, as far as a short form can be had."""
    return tuple(_capped(message, cap, scale, words_too=words_too) for message in messages)


def _texts(message: Message, *, words_too: bool) -> list[str]:
    own = message.parts if words_too and message.role != "system" else ()
    inner = (part for result in message.results for part in result.parts)
    return [part.text for part in (*own, *inner) if isinstance(part, Text)]


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


def _capped(message: Message, cap: int, scale: Scale, *, words_too: bool) -> Message:
    words_too = words_too and message.role != "system"
    at_level = _Level(cap=cap, scale=scale, end=scale.mark(message) if scale.mark else "")
    parts = tuple(_part(part, at_level, words_too=words_too) for part in message.parts)
    return message if parts == message.parts else replace(message, parts=parts, body="")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """How far the texts of one message are shortened, and how the short ones end."""

    cap: int
    scale: Scale
    end: str


def _part(part: Part, level: _Level, *, words_too: bool) -> Part:
    if isinstance(part, Text) and words_too:
        return _shorter(part, level)
    if not isinstance(part, ToolResult):
        return part
    inner = tuple(_shorter(p, level) if isinstance(p, Text) else p for p in part.parts)
    return part if inner == part.parts else replace(part, parts=inner, edited=True)


def _shorter(part: Text, level: _Level) -> Text:
    count = level.scale.count
    tokens = count(part.text)
    if tokens <= level.cap:
        return part
    made = short_form(part.text, level.cap, count)
    text = (made.text if made else f"[… {len(part.text):,} characters left out]") + level.end
    return part if count(text) >= tokens else replace(part, text=text, edited=True)


HEAD_SHARE = 0.6
"""Of the room, for the head: what a tool prints first names what follows; errors come last."""


def cut_middle(text: str, room: int, count: Callable[[str], int]) -> str:
    """The longest head and tail that fit in `room` tokens, or the bare statement that it was cut.

    >>> cut_middle("one two three four five six seven eight nine ten", 9, lambda t: len(t.split()))
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


def shorten_results(
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


def least_tokens(
    messages: Sequence[Message],
    price: Callable[[Message], int],
    count: Callable[[str], int],
    *,
    render: Render = tuple,
) -> int:
    """What the messages cost at the very least."""
    scale = Scale(price=price, count=count, render=render)
    return scale.total(capped(messages, 0, scale))
