"""Read turns as the entries of a log: who said what, which call did what and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from foveal.model import File, Message, Part, Text, ToolCall, ToolResult
from foveal.pipeline.history import History
from foveal.pipeline.requests import without_notices
from foveal.pipeline.signals import names_in
from foveal.pipeline.summarize.notes import NOTE_MARKS, quoted_material
from foveal.pipeline.summarize.tool_calls import Action, command_action, read_call
from foveal.pipeline.summarize.voices import OWN_TEXT_KINDS
from foveal.presets.foveal.excerpts import Excerpts, Voice, divided
from foveal.presets.foveal.outcomes import Outcome, beyond, outcome

ORPHANS = 1_000
"""The number of the first result of a message that answers no call of its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One line of a log, and the text that excerpts of it may come from."""

    seq: int
    """Position of the message: what was said, or the call."""
    part: int
    """Its index among the entries of that message."""
    voice: Voice
    excerpts: Excerpts
    author: str = ""
    """The name of the person or model that said it, where it is known."""
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
        return tuple(self.read(messages))

    def command_entries(self, history: History, turn: int) -> tuple[LogEntry, ...]:
        """The entries of a turn where tools have a text protocol: a fenced command, answered as the user."""
        first, last = history.span(turn)
        if history.follows_command(turn):
            if history.command(turn - 1):
                return ()  # with the command before it
            result = spoken_text(history.read(first, last + 1)[0])
            return (self._orphan(result, "command", at=(first, ORPHANS)),)
        found = self.entries(history, turn)
        command = history.command(turn)
        if not command or turn + 1 >= len(history):
            return found
        answer, _ = history.span(turn + 1)
        if history.entries[answer].role != "user":
            return found
        action = command_action(command.split()[0], command)
        if action.kind == "look":
            action = replace(action, kind="other")  # what a protocol's own words do is not known
        answered = history.follows_command(turn + 1)
        text = spoken_text(history.read(answer, answer + 1)[0]) if answered else ""
        at = (first, len(found), answer if answered else first)
        return (*found, self._called(action, text, at=at, used=command, answered=answered))

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

    def read(self, messages: Sequence[tuple[int, Message]]) -> Iterator[LogEntry]:
        """The entries of one turn's messages, given with their positions."""
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
                    author=message.author,
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
                yield self._orphan(_part_text(result), tool, at=(seq, number))

    def _orphan(self, result: str, tool: str, *, at: tuple[int, int]) -> LogEntry:
        """A result whose call is not known."""
        action = Action(kind="other", tool=tool, subject="", key=f"{at[0]} {at[1]}")
        return self._called(action, result, at=(*at, at[0]), used="")

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


def speaks_in_fences(history: History, turns: Sequence[int]) -> bool:
    """Whether the model ran commands by writing them into fenced blocks, as of these turns.

    What follows them is left aside, except for the next turn: the same log is read from them after a restart.
    """
    return history.speaks_in_fences(turns[-1] + 1)
