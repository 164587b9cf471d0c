"""Shorten the messages of a turn to fit their room, the longest texts first.

Tool results are shortened first. What people and the model wrote is shortened only when that is not enough;
calls, thinking, images and unknown blocks stay as they are. Turns that every window has (`shortened`) keep
the model's words, and of the user's at least the beginning and the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from foveal.model import Chunk, Message, Part, Text, ToolResult
from foveal.pipeline.history import History
from foveal.pipeline.shorten.short_form import short_form
from foveal.pipeline.summarize.notes import parts_of_result_note

Render = Callable[[Sequence[Message]], Sequence[Message]]
"""Writes messages as the provider will read them."""
Mark = Callable[[Message], str]
"""The end of a message's short forms: the mark by which an agent recalls the original."""
Own = Literal["none", "any", "user", "output"]
"""Whose own text may be shortened, beside tool results; the user's alone is cut at its middle.

The output of a command that has the user's role is shortened like a tool result.
"""
STEP = 12
"""A cap that is too high falls by at least a twelfth, so few caps are tried."""
LEAST_WORDS = 40
"""Tokens that are left at least of a user's text: its beginning, its end, and the statement of the cut."""


def shortened(
    history: History, turn: int, room: int, count: Callable[[str], int], *, words: bool = True
) -> Chunk | None:
    """The turn within `room` tokens; None when that is not possible.

    Its longest tool results are shortened; if that is not enough, and if `words`, the middle of what the user
    wrote is cut. The result depends on the turn and the room alone: `shortened(history, turn, chunk.cut_to,
    count)` returns the same bytes in a later build, also after a restart.
    """
    chunk = history.chunk(turn)
    if chunk.tokens <= room:
        return chunk
    forms = history.cached(turn, _no_forms)
    if (room, words) not in forms:
        forms[room, words] = _shortened(history, chunk, room, count, words=words)
    return forms[room, words]


def _no_forms(_history: History, _turn: int) -> dict[tuple[int, bool], Chunk | None]:
    return {}


def _shortened(
    history: History, chunk: Chunk, room: int, count: Callable[[str], int], *, words: bool
) -> Chunk | None:
    frame = history.frame
    for own in _owns(history, history.turn_of(chunk.first), words=words):
        # Without room for handles, the text may still fit.
        for mark in (history.marks(chunk), None):
            scale = Scale(price=frame.price, count=count, render=frame.render, mark=mark)
            if messages := _leveled(chunk.messages, room, scale, own=own):
                return replace(history.reword(chunk, messages), cut_to=room)
            if mark is None:
                break
    return None


def _owns(history: History, turn: int, *, words: bool) -> tuple[Own, ...]:
    """What may be shortened of a turn that every window has, from the best choice to the shortest."""
    if history.is_output(turn):
        return ("output",)
    return ("none", "user") if words else ("none",)


def least_form_tokens(
    history: History, turn: int, count: Callable[[str], int], *, words: bool = False
) -> int:
    """What the shortest form of a turn costs, with or without a cut in the user's words."""
    frame, chunk = history.frame, history.chunk(turn)
    own = _owns(history, turn, words=words)[-1]
    return min(chunk.tokens, least_tokens(chunk.messages, frame.price, count, render=frame.render, own=own))


def shorten_turn(
    messages: Sequence[Message],
    room: int,
    *,
    price: Callable[[Message], int],
    render: Render,
    count: Callable[[str], int],
    mark: Mark | None = None,
) -> tuple[Message, ...] | None:
    """The messages within `room` tokens; None when even their short forms do not fit."""
    scale = Scale(price=price, count=count, render=render, mark=mark)
    return _leveled(messages, room, scale) or _leveled(messages, room, scale, own="any")


def least_tokens(
    messages: Sequence[Message],
    price: Callable[[Message], int],
    count: Callable[[str], int],
    *,
    render: Render = tuple,
    own: Own = "none",
) -> int:
    """What the messages cost with their tool results, and perhaps their own texts, as short as possible."""
    scale = Scale(price=price, count=count, render=render)
    return scale.total(_all_capped(messages, 0, scale, own=own))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How messages and texts are counted, and how short forms end."""

    price: Callable[[Message], int]
    count: Callable[[str], int]
    render: Render = tuple
    mark: Mark | None = None

    def total(self, messages: Sequence[Message]) -> int:
        return sum(map(self.price, self.render(messages)))


def _leveled(
    messages: Sequence[Message], room: int, scale: Scale, *, own: Own = "none"
) -> tuple[Message, ...] | None:
    """Shorten the longest texts, down to one level, until the messages fit; None if that is not enough."""
    sizes = [scale.count(text) for message in messages for text in _texts(message, own)]
    fixed = scale.total(messages) - sum(sizes)
    # Rendered messages may shrink by more than their texts do, so the shortest form is always tried.
    cap = max(0, _level(sizes, room - fixed)) if sizes else -1
    while cap >= 0:
        shorter = _all_capped(messages, cap, scale, own=own)
        over = scale.total(shorter) - room
        if over <= 0:
            return shorter
        # A short text can cost a token or two more inside its message than on its own.
        step = max(1, over // max(1, sum(size > cap for size in sizes)), cap // STEP)
        cap = max(0, cap - step) if cap else -1
    return None


def _level(sizes: Sequence[int], room: int) -> int:
    """The largest size at which to cap the longest texts so that all together fit.

    >>> _level([100, 10, 50], 100)
    45
    """
    left = room
    for at, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - at)
        if size > share:
            return share
        left -= size
    return max(sizes, default=-1)


def _all_capped(
    messages: Sequence[Message], cap: int, scale: Scale, *, own: Own = "none"
) -> tuple[Message, ...]:
    """The messages with no text above `cap` tokens, where a short form is possible."""
    return tuple(_capped(message, cap, scale, own) for message in messages)


def _capped(message: Message, cap: int, scale: Scale, own: Own) -> Message:
    level = _Level(cap=cap, scale=scale, end=scale.mark(message) if scale.mark else "", own=own)
    own_text = _may_shorten(message, own)
    parts = tuple(_part(part, level, own_text=own_text) for part in message.parts)
    return message if parts == message.parts else replace(message, parts=parts, body="")


def _may_shorten(message: Message, own: Own) -> bool:
    """Whether its own text may be shortened. Applications send tool output as system messages too."""
    if message.in_place:
        return True
    if own in ("user", "output"):
        return message.role == "user"
    return own == "any" and message.role != "system"


def _texts(message: Message, own: Own) -> list[str]:
    own_text = _may_shorten(message, own)
    inner = (part for result in message.results for part in result.parts)
    texts = [part.text for part in (*message.parts, *inner) if isinstance(part, Text)]
    mine = sum(isinstance(part, Text) for part in message.parts)
    return [t for at, t in enumerate(texts) if own_text or at >= mine or parts_of_result_note(t)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """How far the texts of one message are shortened, and how the short ones end."""

    cap: int
    scale: Scale
    end: str
    own: Own


def _part(part: Part, level: _Level, *, own_text: bool) -> Part:
    if isinstance(part, Text) and (note := parts_of_result_note(part.text)):
        begin, output, end = note
        short = _shorter(Text(text=output), level)
        return replace(part, text=f"{begin}{short.text}{end}", edited=True) if short.edited else part
    if isinstance(part, Text) and own_text:
        return _cut_words(part, level) if level.own == "user" else _shorter(part, level)
    if not isinstance(part, ToolResult):
        return part
    inner = tuple(_shorter(p, level) if isinstance(p, Text) else p for p in part.parts)
    return part if inner == part.parts else replace(part, parts=inner, edited=True)


def _shorter(part: Text, level: _Level) -> Text:
    count = level.scale.count
    tokens = count(part.text)
    if tokens <= level.cap:
        return part
    short = short_form(part.text, level.cap, count)
    text = (short.text if short else f"[… {len(part.text):,} characters left out]") + level.end
    return part if count(text) >= tokens else replace(part, text=text, edited=True)


def _cut_words(part: Text, level: _Level) -> Text:
    """What a user wrote, cut at its middle; at least its beginning and its end are left."""
    count, room = level.scale.count, max(level.cap, LEAST_WORDS)
    tokens = count(part.text)
    if tokens <= room:
        return part
    text = cut_middle(part.text, room - count(level.end), count) + level.end
    return part if count(text) >= tokens else replace(part, text=text, edited=True)


HEAD_SHARE = 0.6
"""The share of the room for the head: tool output begins with its subject and ends with errors."""


def cut_middle(text: str, room: int, count: Callable[[str], int]) -> str:
    """The longest head and tail that fit in `room` tokens, or only the statement that the text was cut.

    >>> cut_middle("one two three four five six seven eight nine ten", 9, lambda t: len(t.split()))
    'one two\\n[… 32 characters cut …]\\nnine ten'
    """
    if count(text) <= room:
        return text
    # Gallop up from a size that surely fits, so that every probe is near the room, not the text's length.
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
    head, tail = _whole_head(head), _whole_tail(tail)
    cut = len(text) - len(head) - len(tail)
    return f"{head.rstrip()}\n[… {cut:,} characters cut …]\n{tail.lstrip()}".strip()


_ENDS = ("\n", ". ", "! ", "? ")
"""The ends of lines and sentences."""


def _whole_head(head: str) -> str:
    """Up to the end of a line or a sentence in its second half; else of a word."""
    least = len(head) // 2
    end = max(head.rfind(mark, least) for mark in _ENDS)
    end = end if end >= 0 else head.rfind(" ", least)
    return head[: end + 1] if end >= 0 else head


def _whole_tail(tail: str) -> str:
    """From the start of a line or a sentence in its first half on; else of a word."""
    most = len(tail) // 2
    found = [at for mark in _ENDS if (at := tail.find(mark, 0, most)) >= 0]
    return tail[(min(found) if found else tail.find(" ", 0, most)) + 1 :]
