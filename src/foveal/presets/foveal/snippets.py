"""A message in → the snippets it falls into, each with its names: what is told of it where it is not whole.

A snippet can be read alone. Values stand beside their keys, short lines with the next, the first line of what
somebody said in one piece. Marks of ours and control tokens in it are plain text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from foveal.model import File, Message, Part, Text, ToolResult
from foveal.pipeline.shorten.outline import MAX_PIECE, MIN_PIECE, PROBLEM, split_long
from foveal.pipeline.signals import names_in
from foveal.pipeline.summarize.language import sentences
from foveal.pipeline.summarize.notes import SUMMARY_MARK, neutral
from foveal.pipeline.summarize.voices import OWN_TEXT_KINDS

Voice = Literal["user", "assistant", "tool"]
Landmark = Literal["", "asked", "failed", "decided"]

READABLE = 100
"""Characters below which a line stands with the next."""
PAIRS = 4
"""Values of JSON, each after its key, that make up a snippet."""
HEAD = 82
"""Characters of a first line that stay together, if it is too long to stay whole."""
LOOKED_AT = 400
"""Characters of a result in which trouble is looked for: what failed says so at once, or at the very last."""
LABEL = 4
"""Tokens of the mark before what is told of a message."""
MOST = 4_000
"""Snippets of one text; what falls into more is data, and its beginning stands for it."""
_NUMBERED = re.compile(r"^\s*\d+(?:→|[-:](?=\s))")
_RAISED = re.compile(rf"{PROBLEM.pattern}|\w(?:Error|Exception)\b", re.IGNORECASE)
_WORDY = re.compile(r"\w{3}")
_SETTLES = re.compile(
    r"\b(?:decided|decision|instead|root cause|must|should not|the (?:issue|problem|cause|fix) (?:is|was)"
    r"|(?:I'll|I will|we'll|let's) (?:use|go with|keep|switch))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    seq: int
    """The message it is from."""
    number: int
    """Its place among the snippets of that message."""
    voice: Voice
    text: str
    names: tuple[str, ...]
    tokens: int
    landmark: Landmark = ""
    """It begins what the user asked, what failed or what the model decided, or ends what failed."""


def labelled(told: Iterable[Snippet]) -> Iterator[str]:
    """The lines of a note that tells them: whose words they are stands where that changes."""
    before = None
    for snippet in told:
        place = (snippet.seq, snippet.voice)
        yield snippet.text if place == before else f"[{snippet.voice} {snippet.seq + 1}] {snippet.text}"
        before = place


def snippets(message: Message, seq: int, count: Callable[[str], int]) -> tuple[Snippet, ...]:
    """The snippets of a message in order. What a call says is in its result: calls have none."""
    found: list[Snippet] = []
    for voice, text in _told(message):
        landmark = _landmark(voice, text)
        pieces = list(_pieces(voice, text, whole_head=bool(landmark)))
        place = 0
        if voice == "tool" and not landmark and pieces and _RAISED.search(pieces[-1]):
            landmark, place = "failed", len(pieces) - 1
        for at, piece in enumerate(pieces):
            plain = neutral(piece)
            found.append(
                Snippet(
                    seq=seq,
                    number=len(found),
                    voice=voice,
                    text=plain,
                    names=names_in(plain),
                    tokens=count(plain) + 1,
                    landmark=landmark if at == place else "",
                )
            )
    return tuple(found)


def _told(message: Message) -> Iterator[tuple[Voice, str]]:
    own: Voice = "assistant" if message.role == "assistant" else "user" if message.role == "user" else "tool"
    for part in message.parts:
        text = _text(part)
        if not text.strip():
            continue
        spoken = (
            isinstance(part, Text) and message.kind in OWN_TEXT_KINDS and not text.startswith(SUMMARY_MARK)
        )
        yield (own if spoken else "tool"), text.strip()


def _text(part: Part) -> str:
    match part:
        case Text(text=text) | File(text=text):
            return text
        case ToolResult(parts=parts):
            return "\n".join(filter(None, map(_text, parts)))
        case _:
            return ""


def _landmark(voice: Voice, text: str) -> Landmark:
    if voice == "user":
        return "asked"
    if voice == "tool":
        return "failed" if _RAISED.search(text[:LOOKED_AT]) else ""
    return "decided" if _SETTLES.search(text) else ""


def _pieces(voice: Voice, text: str, *, whole_head: bool) -> Iterator[str]:
    return islice(_split(voice, text, whole_head=whole_head), MOST)


def _split(voice: Voice, text: str, *, whole_head: bool) -> Iterator[str]:
    if text[:1] in "{[" and (values := _values(text)) is not None:
        yield from _paired(values)
        return
    if whole_head or voice != "tool":
        head = _head(text)
        yield head
        text = text[len(head) :].strip()
    if not text:
        return
    if voice == "tool":
        yield from _joined(_lines(text))
    else:
        yield from _joined(part for each in sentences(text) for part in split_long(each))


def _head(text: str) -> str:
    line = text.split("\n", 1)[0]
    if len(line) <= MAX_PIECE:
        return line
    end = line.find(" ", HEAD, MAX_PIECE)
    return line[: end if end > 0 else MAX_PIECE]


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """Short lines with the next; one that says something by itself is not drawn into a long one."""
    held = ""
    for line in lines:
        if len(held) >= MIN_PIECE and len(line) >= READABLE:
            yield held
            held = ""
        held = f"{held}\n{line}" if held else line
        if len(held) >= READABLE:
            yield held
            held = ""
    if held:
        yield held


def _lines(text: str) -> Iterator[str]:
    """The lines that say anything, without their numbers and indents."""
    for line in text.splitlines():
        plain = _NUMBERED.sub("", line).strip()
        if _WORDY.search(plain):
            yield from split_long(plain)


def _values(text: str) -> list[str] | None:
    """The values of JSON, each after its key; None for anything else."""
    try:
        whole = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    found: list[str] = []
    waiting: list[tuple[str, object]] = [("", whole)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(str(name), inner) for name, inner in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [(key, inner) for inner in reversed(value)]
        else:
            found.append(f"{key} {_spelled(value)}".strip())
    return found


def _spelled(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _paired(values: Sequence[str]) -> Iterator[str]:
    """So many short values together; a long one in lines of its own."""
    held: list[str] = []
    for value in values:
        if len(value) > MAX_PIECE:
            yield from ["; ".join(held)] * bool(held)
            held = []
            yield from _joined(_lines(value))
            continue
        held.append(value)
        if len(held) == PAIRS:
            yield "; ".join(held)
            held = []
    yield from ["; ".join(held)] * bool(held)
