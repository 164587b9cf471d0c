"""A message in → what was said in it, by voice: the user's, the model's, that of tools and files.

A provider's message of role user may hold tool results and files; whoever summarises must not take them for
the user's own words.
"""

from __future__ import annotations

from base64 import b64decode
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import groupby
from operator import itemgetter

from foveal.model import File, Kind, Message, Part, Role, Text, ToolCall, ToolResult
from foveal.pipeline.summarize.counts import MARK
from foveal.pipeline.summarize.language import typed
from foveal.pipeline.summarize.records import Overheard, Record, mined, repeated
from foveal.pipeline.summarize.values import Passage

SPOKEN: frozenset[Kind | None] = frozenset(
    {
        None,
        "system_prompt",
        "current_user_prompt",
        "chat_history_user",
        "chat_history_assistant",
        "tool_input",
    }
)
"""Kinds whose text is the role's own; the others were retrieved for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message as compaction sees it."""

    seq: int
    role: Role
    """Whose message it is, whatever voices are in it."""
    passages: tuple[Passage, ...]
    """One for each run of parts of the same voice; at least one."""
    tokens: int
    """What it costs verbatim."""
    opens: bool = True
    """A turn starts here: the messages before can be treated apart from it."""
    records: tuple[Record, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(passage.text for passage in self.passages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Where the turns of a history start."""

    starts: Sequence[int]
    """Places, the first of them 0."""
    end: int

    @classmethod
    def of(cls, said: Sequence[Said]) -> Turns:
        return cls(starts=[at for at, each in enumerate(said) if each.opens or at == 0], end=len(said))

    def back(self, place: int) -> int:
        """The start of the turn that a place is in; what is past the end stays."""
        return place if place >= self.end else self.starts[bisect_right(self.starts, place) - 1]

    def within(self, start: int, stop: int) -> list[range]:
        """The turns that start in this range, each as the places of its messages up to `stop`."""
        first, last = bisect_left(self.starts, start), bisect_left(self.starts, stop)
        inside = self.starts[first:last]
        return list(map(range, inside, [*inside[1:], stop]))


def said_by(message: Message, seq: int, heard: Overheard) -> Said:
    """A message with its records, not yet priced. What it brings is heard first: no echo is a record."""
    passages = voices(message, seq)
    for passage in passages:
        if passage.role in ("tool", "user"):
            heard.hear(passage.text if passage.role == "tool" else typed(passage.text)[1])
    told = tuple(replace(each, outside=_echoes(each, heard)) for each in passages)
    records = mined(message, seq, outside=heard)
    return Said(seq=seq, role=message.role, passages=told, tokens=0, records=records)


def _echoes(passage: Passage, heard: Overheard) -> tuple[str, ...]:
    return repeated(passage.text, heard) if passage.role in ("user", "assistant") else ()


def voices(message: Message, seq: int) -> tuple[Passage, ...]:
    """The message as passages: text in its role's voice; calls, results, files and notes in that of a tool.

    >>> from foveal.wire import text_message
    >>> [(passage.role, passage.text) for passage in voices(text_message("user", "Fix it."), 0)]
    [('user', 'Fix it.')]
    """
    told = [(_voice(part, message), _text(part)) for part in message.parts]
    runs = [
        (role, "\n".join(text for _, text in run))
        for role, run in groupby([each for each in told if each[1]], itemgetter(0))
    ] or [(message.role, "")]
    digest = message.digest or sha256(repr(runs).encode("utf-8", "surrogatepass")).hexdigest()
    return tuple(
        Passage(first=seq, last=seq, role=role, text=text, digest=digest, author=message.author)
        for role, text in runs
    )


def _voice(part: Part, message: Message) -> Role:
    own = isinstance(part, Text) and message.kind in SPOKEN and not part.text.startswith(MARK)
    return message.role if own else "tool"


def _text(part: Part) -> str:
    match part:
        case Text(text=text):
            return text
        case File(text=text, data=data, media_type=kind):
            return text or (_decoded(data) if kind.startswith("text/") else "")
        case ToolCall(name=name, arguments=arguments):
            return f"{name}({arguments})"
        case ToolResult(parts=parts):
            return "\n".join(filter(None, map(_text, parts)))
        case _:
            return ""


def _decoded(data: str) -> str:
    """The text of a file that came as base64; empty where it is none."""
    try:
        return b64decode(data).decode("utf-8", "replace")
    except ValueError:
        return ""
