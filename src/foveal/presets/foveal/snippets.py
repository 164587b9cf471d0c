"""Split a message into snippets that can be read on their own, each with the names in it.

JSON values keep their keys, short lines are joined with the next, and the first line of what the user or the
model said stays in one piece. Foveal's note marks and control tokens in a message are neutralized.
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
"""Characters below which a line is joined with the next."""
PAIRS = 4
"""JSON values, each after its key, in one snippet."""
HEAD = 82
"""The shortest head, in characters, of a first line that is too long for one snippet."""
LOOKED_AT = 400
"""Characters of a tool result searched for an error: it is named at the start or at the very end."""
LABEL = 4
"""Tokens of the label before the snippets of a message."""
MOST = 4_000
"""Snippets of one text; a text with more is data, and only its beginning is used."""
_NUMBERED = re.compile(r"^\s*\d+(?:→|[-:](?=\s))")
_ERROR = re.compile(rf"{PROBLEM.pattern}|\w(?:Error|Exception)\b", re.IGNORECASE)
_WORDY = re.compile(r"\w{3}")
_DECISION = re.compile(
    r"\b(?:decided|decision|instead|root cause|must|should not|the (?:issue|problem|cause|fix) (?:is|was)"
    r"|(?:I'll|I will|we'll|let's) (?:use|go with|keep|switch))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    seq: int
    """Position of its message."""
    number: int
    """Its index among the snippets of that message."""
    voice: Voice
    text: str
    names: tuple[str, ...]
    tokens: int
    landmark: Landmark = ""
    """Set if it begins a user's request, a failure or a decision of the model, or ends a failure."""


def labelled(chosen: Iterable[Snippet]) -> Iterator[str]:
    """The lines of a note with these snippets; a label names the speaker and message where they change."""
    previous = None
    for snippet in chosen:
        source = (snippet.seq, snippet.voice)
        yield snippet.text if source == previous else f"[{snippet.voice} {snippet.seq + 1}] {snippet.text}"
        previous = source


def snippets(message: Message, seq: int, count: Callable[[str], int]) -> tuple[Snippet, ...]:
    """The snippets of a message in order; tool calls have none, their results say the same."""
    found: list[Snippet] = []
    for voice, text in _texts(message):
        landmark = _landmark(voice, text)
        pieces = list(islice(_split(voice, text, keep_head=bool(landmark)), MOST))
        marked = 0
        if voice == "tool" and not landmark and pieces and _ERROR.search(pieces[-1]):
            landmark, marked = "failed", len(pieces) - 1
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
                    landmark=landmark if at == marked else "",
                )
            )
    return tuple(found)


def _texts(message: Message) -> Iterator[tuple[Voice, str]]:
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
        return "failed" if _ERROR.search(text[:LOOKED_AT]) else ""
    return "decided" if _DECISION.search(text) else ""


def _split(voice: Voice, text: str, *, keep_head: bool) -> Iterator[str]:
    if text[:1] in "{[" and (values := _values(text)) is not None:
        yield from _paired(values)
        return
    if keep_head or voice != "tool":
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
    """Join short lines with the next; one that can be read on its own is not joined with a long one."""
    pending = ""
    for line in lines:
        if len(pending) >= MIN_PIECE and len(line) >= READABLE:
            yield pending
            pending = ""
        pending = f"{pending}\n{line}" if pending else line
        if len(pending) >= READABLE:
            yield pending
            pending = ""
    if pending:
        yield pending


def _lines(text: str) -> Iterator[str]:
    """The lines with words, without line numbers and indentation."""
    for line in text.splitlines():
        plain = _NUMBERED.sub("", line).strip()
        if _WORDY.search(plain):
            yield from split_long(plain)


def _values(text: str) -> list[str] | None:
    """The values of a JSON text, each after its key; None if it is not JSON."""
    try:
        document = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    found: list[str] = []
    waiting: list[tuple[str, object]] = [("", document)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(str(name), inner) for name, inner in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [(key, inner) for inner in reversed(value)]
        else:
            found.append(f"{key} {_written(value)}".strip())
    return found


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _paired(values: Sequence[str]) -> Iterator[str]:
    """Join `PAIRS` short values; a long one is split into lines of its own."""
    pending: list[str] = []
    for value in values:
        if len(value) > MAX_PIECE:
            yield from ["; ".join(pending)] * bool(pending)
            pending = []
            yield from _joined(_lines(value))
            continue
        pending.append(value)
        if len(pending) == PAIRS:
            yield "; ".join(pending)
            pending = []
    yield from ["; ".join(pending)] * bool(pending)
