"""Read turns as the entries of a log: who said what, which call did what and how it ended."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from foveal.model import File, Message, Part, Text, ToolCall, ToolResult
from foveal.pipeline.history import History
from foveal.pipeline.requests import without_notices
from foveal.pipeline.signals import names_in
from foveal.pipeline.summarize.notes import NOTE_MARKS, quoted_material
from foveal.pipeline.summarize.voices import OWN_TEXT_KINDS
from foveal.presets.foveal.excerpts import Excerpts, Voice, divided
from foveal.presets.foveal.outcomes import Outcome, beyond, outcome
from foveal.presets.foveal.tool_calls import Action, command_action, read_call

_FENCED = re.compile(r"```\w{0,20}\n")
ORPHANS = 1_000
"""The number of the first result of a message that answers no call of its turn."""
FENCED_SHARE = 0.6
"""Of the model's messages: those that end in a fenced command where tools have a text protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One line of a log, and the text that excerpts of it may come from."""

    seq: int
    """Position of the message: what was said, or the call."""
    part: int
    """Its index among the entries of that message."""
    voice: Voice
    excerpts: Excerpts
    action: Action | None = None
    """What a call does; None for words."""
    outcome: Outcome | None = None
    source: int = 0
    """Position of the message that the excerpts come from: the call's result."""
    authored: bool = False
    """Whether the excerpts are the model's own text: its words, or what it wrote into a file."""
    answers: bool = False
    """Words of the model that end its turn: an answer, not a remark before a call."""
    used: frozenset[str] = frozenset()
    """Names that the model wrote into the call."""

    @property
    def id(self) -> tuple[int, int]:
        return self.seq, self.part


class LogReader:
    """Reads the entries of turns; `History.cached` keeps them until the turn changes."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    def entries(self, history: History, turn: int) -> tuple[LogEntry, ...]:
        """The entries of a turn in order."""
        first, last = history.span(turn)
        if history.stand_in(turn):
            messages = list(enumerate(history.chunk(turn).messages, last))
        else:
            messages = list(enumerate(history.read(first, last + 1), first))
        return tuple(self._read(messages))

    def command_entries(self, history: History, turn: int) -> tuple[LogEntry, ...]:
        """The entries of a turn where tools have a text protocol: a fenced command, answered as the user."""
        first, last = history.span(turn)
        message = history.read(first, last + 1)[0]
        if message.role == "user" and turn and fenced_command(history, turn - 1):
            return ()  # the output of the command before it
        found = self.entries(history, turn)
        command = fenced_command(history, turn)
        if not command or turn + 1 >= len(history):
            return found
        answer, _ = history.span(turn + 1)
        result = history.read(answer, answer + 1)[0]
        if result.role != "user":
            return found
        action = command_action(command.split()[0], command)
        if action.kind == "look":
            action = replace(action, kind="other")  # what a protocol's own words do is not known
        return (
            *found,
            self._called(action, spoken_text(result), at=(first, len(found), answer), used=command),
        )

    def names(self, history: History, turn: int) -> frozenset[str]:
        """The names in its texts, the model's own aside."""
        found = [entry for entry in history.cached(turn, self.entries) if not entry.authored]
        return frozenset(name for entry in found for part in entry.excerpts.parts for name in part.names)

    def used(self, history: History, turn: int) -> frozenset[str]:
        """The names that the model wrote into its calls, or the user into a message."""
        found = history.cached(turn, self.entries)
        calls = frozenset(name for entry in found for name in entry.used)
        said = (part.names for entry in found if entry.voice == "user" for part in entry.excerpts.parts)
        return calls | frozenset(name for names in said for name in names)

    def _read(self, messages: Sequence[tuple[int, Message]]) -> Iterator[LogEntry]:
        results = {part.call_id: (seq, part) for seq, message in messages for part in message.results}
        unnamed = [(seq, part) for seq, message in messages for part in message.results if not part.call_id]
        answered: set[int] = set()
        for seq, message in messages:
            number = 0
            for voice, text in _texts(message):
                yield LogEntry(
                    seq=seq,
                    part=number,
                    voice=voice,
                    excerpts=divided(text, voice, self._count),
                    source=seq,
                    authored=voice == "assistant",
                    answers=voice == "assistant" and not message.calls,
                )
                number += 1
            for call in message.calls:
                found = results.get(call.id) or (unnamed.pop(0) if unnamed else None)
                action = read_call(call.name, call.arguments)
                at = (seq, number, found[0] if found else seq)
                text = _part_text(found[1]) if found else ""
                error = bool(found and found[1].error)
                yield self._called(
                    action, text, at=at, used=call.arguments, error=error, answered=bool(found)
                )
                answered |= {id(found[1])} if found else set()
                number += 1
        for seq, message in messages:
            orphans = [part for part in message.results if id(part) not in answered]
            for number, result in enumerate(orphans, ORPHANS):
                tool = " ".join(result.name.split()) or "tool"
                action = Action(kind="other", tool=tool, subject="", key=f"{seq} {number}")
                yield self._called(action, _part_text(result), at=(seq, number, seq), used="")

    def _called(
        self,
        action: Action,
        result: str,
        *,
        at: tuple[int, int, int],
        used: str,
        error: bool = False,
        answered: bool = True,
    ) -> LogEntry:
        ended = outcome(result, action, error=error) if answered else Outcome(ok=None, text="no result")
        # The words of a failure are what brings its line into a full log; `written` leaves them out.
        quoted = result if ended.ok is False else beyond(result, ended, action)
        authored = bool(ended.ok and action.written)
        if authored:  # its line shows one of them already
            rows = action.written.split("\n")
            quoted = "\n".join(row for row in rows if " ".join(row.split()) != action.change[2:])
        return LogEntry(
            seq=at[0],
            part=at[1],
            voice="tool",
            authored=authored,
            excerpts=divided("" if ended.rejected else quoted, "tool", self._count),
            action=replace(
                action,
                tool=quoted_material(action.tool),
                subject=quoted_material(action.subject),
                change=quoted_material(action.change),
            ),
            outcome=replace(ended, text=quoted_material(ended.text)),
            source=at[0] if authored else at[2],
            used=frozenset(names_in(used[:8_000])),
        )


def _texts(message: Message) -> Iterator[tuple[Voice, str]]:
    own: Voice = "assistant" if message.role == "assistant" else "user" if message.role == "user" else "tool"
    for part in message.parts:
        if isinstance(part, ToolCall | ToolResult) or not (text := _part_text(part)).strip():
            continue
        said = isinstance(part, Text) and message.kind in OWN_TEXT_KINDS and not text.startswith(NOTE_MARKS)
        if said and own == "user" and not (text := without_notices(text)):
            continue
        yield (own if said else "tool"), text


def spoken_text(message: Message) -> str:
    return "\n".join(text for _, text in _texts(message))


def _part_text(part: Part) -> str:
    match part:
        case Text(text=text) | File(text=text):
            return text
        case ToolResult(parts=parts):
            return "\n".join(filter(None, map(_part_text, parts)))
        case _:
            return ""


def fenced_command(history: History, turn: int) -> str:
    """The command that ends the model's message in a session with a text protocol; empty if there is none."""
    first, last = history.span(turn)
    if first != last or history.entries[first].role != "assistant":
        return ""
    return command_in(history.read(first, first + 1)[0].text)


def command_in(text: str) -> str:
    """The text of a fenced block at the very end of a text.

    >>> command_in("Look first.\\n```\\nls -la\\n```")
    'ls -la'
    """
    text = text.rstrip()
    if not text.endswith("```"):
        return ""
    body = text[:-3]
    at = body.rfind("```")
    opening = _FENCED.match(body, at) if at >= 0 else None
    return body[opening.end() :].strip() if opening else ""


def speaks_in_fences(history: History, turns: Sequence[int]) -> bool:
    """Whether the model of this session runs commands by writing them into fenced blocks."""
    replies = [turn for turn in turns if history.entries[history.starts[turn]].role == "assistant"]
    if len(replies) < 2 or any(history.entries[history.starts[turn]].calls for turn in replies):
        return False
    fenced = sum(bool(fenced_command(history, turn)) for turn in replies)
    return fenced >= FENCED_SHARE * len(replies)
