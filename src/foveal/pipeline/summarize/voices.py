"""Split a message into passages by speaker: the user, the model, or tools and files.

A provider's user message may contain tool results and files, which a summary must not attribute to the user.
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
from foveal.pipeline.summarize.language import split_pasted
from foveal.pipeline.summarize.notes import NOTE_MARKS
from foveal.pipeline.summarize.records import EchoDetector, echoes, mine_records
from foveal.pipeline.summarize.values import Passage, Record

OWN_TEXT_KINDS: frozenset[Kind | None] = frozenset(
    {
        None,
        "system_prompt",
        "current_user_prompt",
        "chat_history_user",
        "chat_history_assistant",
        "tool_input",
    }
)
"""Kinds of messages whose text is the role's own; the others were retrieved for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One message as summaries read it: its passages and its records."""

    seq: int
    role: Role
    """The role of the message; its passages may have others."""
    passages: tuple[Passage, ...]
    """One for each run of parts of the same speaker; at least one."""
    tokens: int
    """What it costs verbatim."""
    opens: bool = True
    """A turn starts here, so the messages before it can be treated separately."""
    records: tuple[Record, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(passage.text for passage in self.passages)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarts:
    """Where the turns of a history start."""

    starts: Sequence[int]
    """Indexes, the first of them 0."""
    end: int

    @classmethod
    def of(cls, utterances: Sequence[Utterance]) -> TurnStarts:
        starts = [at for at, each in enumerate(utterances) if each.opens or at == 0]
        return cls(starts=starts, end=len(utterances))

    def back(self, index: int) -> int:
        """The start of the turn that contains an index; an index past the end stays."""
        return index if index >= self.end else self.starts[bisect_right(self.starts, index) - 1]

    def within(self, start: int, stop: int) -> list[range]:
        """The turns that start in this range, each as the indexes of its messages up to `stop`."""
        first, last = bisect_left(self.starts, start), bisect_left(self.starts, stop)
        inside = self.starts[first:last]
        return list(map(range, inside, [*inside[1:], stop]))


def read_message(message: Message, seq: int, is_echo: EchoDetector) -> Utterance:
    """A message with its records, not yet priced. Its tool output and pasted text are added to `is_echo`."""
    passages = voices(message, seq)
    for passage in passages:
        if passage.role in ("tool", "user"):
            is_echo.add(passage.text if passage.role == "tool" else split_pasted(passage.text)[1])
    passages = tuple(replace(each, outside=_echoes(each, is_echo)) for each in passages)
    records = mine_records(message, seq, outside=is_echo)
    return Utterance(seq=seq, role=message.role, passages=passages, tokens=0, records=records)


def _echoes(passage: Passage, is_echo: EchoDetector) -> tuple[str, ...]:
    return echoes(passage.text, is_echo) if passage.role in ("user", "assistant") else ()


def voices(message: Message, seq: int) -> tuple[Passage, ...]:
    """The passages of a message: text is its role's own; calls, results, files and notes are a tool's.

    >>> from foveal.wire import text_message
    >>> [(passage.role, passage.text) for passage in voices(text_message("user", "Fix it."), 0)]
    [('user', 'Fix it.')]
    """
    texts = [(*_voice(part, message, at), _text(part)) for at, part in enumerate(message.parts)]
    runs = [
        (role, called, "\n".join(text for *_, text in run))
        for (role, called, _), run in groupby([each for each in texts if each[-1]], itemgetter(0, 1, 2))
    ] or [(message.role, "", "")]
    digest = message.digest or sha256(repr(runs).encode("utf-8", "surrogatepass")).hexdigest()
    return tuple(
        Passage(
            first=seq, last=seq, role=role, text=text, digest=digest, author=message.author, called=called
        )
        for role, called, text in runs
    )


def _voice(part: Part, message: Message, at: int) -> tuple[Role, str, int]:
    """Whose the part is, the tool that it calls, and what distinguishes it from the next call."""
    if isinstance(part, ToolCall):
        return "tool", part.name or "tool", at
    own = isinstance(part, Text) and message.kind in OWN_TEXT_KINDS and not part.text.startswith(NOTE_MARKS)
    return message.role if own else "tool", "", -1


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
    """The text of a base64 file; empty when it cannot be decoded."""
    try:
        return b64decode(data).decode("utf-8", "replace")
    except ValueError:
        return ""
