"""Split a session's entries into turns, and prepare a turn when a build first needs it.

A history may have a hundred thousand messages, of which a build needs the latest few. So turn boundaries and
token sums are updated as entries arrive, in constant time each, and a turn's messages are read, repaired,
counted and written once, on first use.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Any, TypeVar

from foveal.model import Chunk, Entry, Message, Opaque, Repair, Role, Rules, Text, placed
from foveal.pipeline.repair import Scribe, repair
from foveal.pipeline.requests import Said, command_in, said
from foveal.pipeline.summarize.notes import recall_mark, recall_marks
from foveal.pipeline.turns import Links, Turns
from foveal.window import Absence, Fixed

FENCED_SHARE = 0.6
"""Of the model's messages: those that end in a fenced command where tools have a text protocol."""
FENCES_READ = 40
"""The model's first messages in a session, which tell whether tools have a text protocol."""
FENCES_LEAST = 2
"""Messages of the model below which that is not known."""
OPENING = "[The conversation as far as it is shown:]"

Read = Callable[[int, int], Sequence[Message]]
"""The messages from one position up to, not including, another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Everything about the target that a turn's form and price depend on."""

    rules: Rules
    scribe: Scribe
    price: Callable[[Message], int]
    render: Callable[[Sequence[Message]], Sequence[Message]]
    """Messages as the provider will read them: a converted message costs what it is converted to."""
    chained: bool = False
    """The stored format has one item per block, so a run of assistant items is one turn."""
    handles: bool = False
    """The agent has the recall tool: notes and short forms show handles."""


T = TypeVar("T")


HEARD = 200
"""Messages of the user of which what was read is kept."""


class History:
    """The turns of one session, oldest first."""

    def __init__(self, read: Read, frame: Frame) -> None:
        self.frame = frame
        note = frame.scribe.note(OPENING)
        self.note_tokens = frame.price(note)
        self.note_pieces = frame.scribe.dump([note])
        self._read = read
        self._entries: list[Entry] = []
        self._turns = Turns(runs=frame.chained)
        self._starts = self._turns.starts
        self._sums: list[int] = [0]
        self._since = 0
        """The position after the latest message that a stand-in replaces, or that was erased or left out."""
        self._forced: dict[int, Fixed] = {}
        self._absent: dict[int, Absence] = {}
        self._absences: list[tuple[int, int, Absence]] = []
        """The absent turns in order, as runs with one reason: first, one past the last, reason."""
        self._stand_ins: dict[int, str] = {}
        """Texts that windows show in place of a left-out turn and those before it."""
        self._covered_from: dict[int, int] = {}
        """By position of such a text, the position of the first message that it covers."""
        self._begun: dict[Role, list[int]] = {"user": [], "assistant": []}
        """Turns by the role of their first message."""
        self._heard: list[int] = []
        """Turns that have a user message, alone or next to tool results."""
        self._said: dict[int, tuple[Said, bool]] = {}
        """By such a turn, as far as a build needed to know: what its user message is if it is no output, and
        whether it is one in a session with a text protocol."""
        self._commands: dict[int, str] = {}
        """By turn of the model's among the first, the fenced command that ends it."""
        self._in_fences: bool | None = None
        """Whether tools have a text protocol, if that is known."""
        self._called_at: int | None = None
        """The first turn with a tool call."""
        self._gathered: dict[str, tuple[bool, int, dict[int, Any]]] = {}
        """Results of `gathered`: whether there was a text protocol, the turns before which every message was
        read, and what was found."""
        self._chunks: dict[int, Chunk] = {}
        self._last_read: tuple[tuple[int, int], Sequence[Message]] = ((0, 0), ())
        """The positions read last, and their messages."""
        self._made: dict[int, dict[str, Any]] = {}
        """Results of `cached`, by turn."""
        self._oldest = 0
        """The oldest turn that is prepared, fixed ones aside."""
        self._begins = 0
        """The position of the first message that is not of the system prompt."""

    def extend(self, entries: Sequence[Entry]) -> None:
        """Add new entries; only the turn they join is prepared again."""
        for entry in entries:
            self._add(entry)

    def _add(self, entry: Entry) -> None:
        leads = entry.role == "system" and entry.seq == self._begins
        self._begins += leads
        if entry.role == "system" and not leads:
            entry = replace(entry, kind=entry.kind or "tool_output")
        turn = self._turn_with(entry)
        self._hear(entry, turn)
        self._chunks.pop(turn, None)
        self._made.pop(turn, None)
        self._entries.append(entry)
        self._sums.append(self._sums[-1] + entry.tokens)
        if self._absent.get(turn) == "empty":
            del self._absent[turn]
            self._absences = []
        if entry.noted_by is not None:
            self._covered_from.setdefault(entry.noted_by, entry.seq)
        if entry.stand_in or entry.absence:
            self._since = entry.seq + 1
        if entry.stand_in:
            self._stand_ins[turn] = entry.stand_in
            self._absent.pop(turn, None)
        elif entry.absence and self._absent.get(turn) != "erased":
            self._set_absent(turn, "erased" if entry.absence == "erased" else "left_out")
        if leads:
            self._forced[turn] = "system_prompt"
        elif entry.pinned:
            self._forced[turn] = "pinned"

    def _turn_with(self, entry: Entry) -> int:
        """The newest turn, with this entry: a new one, the one before, or several that become one."""
        before = len(self._starts)
        link = Links(role=entry.role, calls=entry.calls, answers=entry.answers)
        self._turns.add(entry.seq, link, since=self._since)
        turn = len(self._starts) - 1
        if turn == before:
            self._begun.setdefault(entry.role, []).append(turn)
        elif turn < before - 1:
            self._unite(turn, before)
        return turn

    def _unite(self, turn: int, turns: int) -> None:
        """Make the turns from this one on, of which none has a stand-in or was left out, the newest one."""
        for begun in self._begun.values():
            del begun[bisect_right(begun, turn) :]
        heard = bisect_left(self._heard, turn)
        self._heard[heard:] = [turn] if heard < len(self._heard) else []
        for later in range(turn + 1, turns):
            for known in (self._said, self._commands, self._chunks, self._made, self._absent):
                known.pop(later, None)
            if later in self._forced:
                self._forced.setdefault(turn, self._forced.pop(later))
        self._absences = []
        self._in_fences = None
        for name, (fences, until, found) in self._gathered.items():
            self._gathered[name] = fences, min(until, turn), found
        self._oldest = min(self._oldest, turn)

    def _hear(self, entry: Entry, turn: int) -> None:
        self._said.pop(turn, None)
        self._commands.pop(turn, None)
        if entry.role == "assistant":
            self._in_fences = None
        if entry.calls and self._called_at is None:
            self._called_at = turn
        if entry.role == "user" and self._heard[-1:] != [turn]:
            self._heard.append(turn)

    def _set_absent(self, turn: int, why: Absence) -> None:
        self._absent[turn] = why
        self._absences = []
        self._in_fences = None

    def __len__(self) -> int:
        """How many turns there are."""
        return len(self._starts)

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    @property
    def oldest(self) -> int:
        """The oldest turn that is prepared, fixed ones aside."""
        return self._oldest

    @property
    def starts(self) -> Sequence[int]:
        """The position of each turn's first message."""
        return self._starts

    @property
    def sums(self) -> Sequence[int]:
        """Stored tokens before each position; the last element is the total."""
        return self._sums

    @property
    def tokens(self) -> int:
        """Stored tokens of everything."""
        return self._sums[-1]

    @property
    def pinned(self) -> Mapping[int, Fixed]:
        """Turns that are in every window: system prompts and pinned messages."""
        return {turn: why for turn, why in self._forced.items() if turn not in self._absent}

    def absence(self, turn: int) -> Absence | None:
        """Why a turn cannot be in any window; None if it can. An empty turn is found when it is prepared."""
        return self._absent.get(turn)

    def latest_request(self, turn: int) -> int | None:
        """The latest turn up to this one that begins with a user message and can be in a window."""
        asked = self._begun["user"]
        for at in range(bisect_right(asked, turn) - 1, -1, -1):
            if asked[at] not in self._absent:
                return asked[at]
        return None

    @property
    def has_calls(self) -> bool:
        """Whether the model called tools in this session."""
        return self._called_at is not None

    def speaks_in_fences(self, until: int | None = None) -> bool:
        """Whether the model runs commands by ending its messages with them, instead of calling tools.

        The first messages of the session tell; with `until`, those up to this turn.
        """
        if until is not None:
            return self._fenced(until)
        if self._in_fences is None:
            self._in_fences = self._fenced(len(self))
        return self._in_fences

    def _fenced(self, until: int) -> bool:
        if self._called_at is not None and self._called_at <= until:
            return False
        # Also what is left out: how the model calls its tools does not depend on what a window shows.
        known = (
            turn
            for turn in self._begun["assistant"]
            if all(entry.absence != "erased" for entry in self._turn_entries(turn))
        )
        replies = list(islice(takewhile(lambda turn: turn <= until, known), FENCES_READ))
        for turn in replies:
            if turn not in self._commands:
                self._commands[turn] = self._command(turn)
        fenced = sum(bool(self._commands[turn]) for turn in replies)
        return len(replies) >= FENCES_LEAST and fenced >= FENCED_SHARE * len(replies)

    def command(self, turn: int) -> str:
        """The fenced command that ends the model's message; empty if there is none or it is absent."""
        return "" if turn in self._absent or turn in self._stand_ins else self._command(turn)

    def _command(self, turn: int) -> str:
        first, last = self.span(turn)
        if first != last or self._entries[first].role != "assistant":
            return ""
        return command_in(self.read(first, first + 1)[0].text)

    def _turn_entries(self, turn: int) -> Sequence[Entry]:
        first, last = self.span(turn)
        return self._entries[first : last + 1]

    def follows_command(self, turn: int) -> bool:
        """Whether a user message answers the fenced command that ends the message of the model before it."""
        if turn in self._absent or turn in self._stand_ins:
            return False
        return self._entries[self._starts[turn]].role == "user" and self._judgement(turn)[1]

    def is_output(self, turn: int) -> bool:
        """Whether the turn is the output of a fenced command in a session that has a text protocol up to it.

        What follows the turn does not matter, so that it always has the same short form.
        """
        return self.follows_command(turn) and self.speaks_in_fences(turn)

    def newest_words(self, turn: int) -> int | None:
        """The latest turn up to this one with words of the user: no notice, no output of a program."""
        return self._latest(turn, ("request", "answer"))

    def words_before(self, turn: int) -> Iterator[int]:
        """The turns before this one with words of the user, newest first."""
        for at in range(bisect_left(self._heard, turn) - 1, -1, -1):
            if self._is_said(self._heard[at], ("request", "answer")):
                yield self._heard[at]

    def requests(self, turn: int) -> tuple[int, ...]:
        """The first turn with a request of the user, and the latest up to this one, if that is another."""
        latest = self._latest(turn, ("request",))
        if latest is None:
            return ()
        first = next(t for t in self._heard if t == latest or self._is_said(t, ("request",)))
        return (latest,) if first == latest else (first, latest)

    def gathered(self, find: Callable[[str, int], Sequence[T]]) -> Mapping[int, Sequence[T]]:
        """By position of a user's message, what `find` finds in its words; every message is read once."""
        fences = self.speaks_in_fences()
        judged, until, found = self._gathered.get(find.__qualname__, (fences, 0, {}))
        if judged != fences:
            until, found = 0, {}
        for turn in self._heard[bisect_left(self._heard, until) :]:
            if self._is_said(turn, ("request", "answer")):
                first, last = self.span(turn)
                for seq in range(first, last + 1):
                    if self._entries[seq].role == "user":
                        (message,) = self.read(seq, seq + 1)
                        words = "\n".join(part.text for part in message.parts if isinstance(part, Text))
                        found |= {seq: hits} if (hits := find(words, seq)) else {}
        # The newest turn may grow.
        self._gathered[find.__qualname__] = (fences, max(0, len(self) - 1), found)
        return found

    def _latest(self, turn: int, what: Sequence[Said]) -> int | None:
        heard = (self._heard[at] for at in range(bisect_right(self._heard, turn) - 1, -1, -1))
        return next((t for t in heard if self._is_said(t, what)), None)

    def _is_said(self, turn: int, what: Sequence[Said]) -> bool:
        """Whether the turn can be in a window and its user message is of this sort, and no output."""
        if turn in self._absent or turn in self._stand_ins:
            return False
        kind, follows = self._judgement(turn)
        return kind in what and not (follows and self.speaks_in_fences())

    def _judgement(self, turn: int) -> tuple[Said, bool]:
        if turn not in self._said:
            self._said[turn] = self._judged(turn)
        return self._said[turn]

    def _judged(self, turn: int) -> tuple[Said, bool]:
        first, last = self.span(turn)
        before = self._entries[first - 1] if first else None
        after_one = before is not None and before.absence != "erased"
        messages = self.read(first - after_one, last + 1)
        at = max(at for at, message in enumerate(messages) if message.role == "user")
        earlier = messages[at - 1] if at else None
        kind = said(messages[at], earlier)
        if earlier is None:  # what followed an erased message of the model was most likely its output
            follows = before is not None and before.role == "assistant"
        else:
            follows = earlier.role == "assistant" and bool(command_in(earlier.text))
        return kind, follows and kind != "notice"

    def absences(self, start: int, stop: int) -> Iterator[tuple[int, int, Absence]]:
        """The absent turns from `start` up to `stop`, as runs: first, one past the last, reason."""
        if self._absent and not self._absences:
            self._absences = list(_runs(self._absent))
        at = bisect_right(self._absences, (start, len(self), ""))
        for first, last, why in self._absences[max(0, at - 1) :]:
            if first >= stop:
                return
            if last > start:
                yield max(first, start), min(last, stop), why

    def is_first(self, turn: int) -> bool:
        """Is this the history's first turn, system prompts and absent ones aside?"""
        return all(t in self._absent or self._forced.get(t) == "system_prompt" for t in range(turn))

    def span(self, turn: int) -> tuple[int, int]:
        """Positions of a turn's first and last message."""
        stop = self._starts[turn + 1] if turn + 1 < len(self._starts) else len(self._entries)
        return self._starts[turn], stop - 1

    def turn_of(self, seq: int) -> int:
        return bisect_right(self._starts, seq) - 1

    def between(self, first: int, last: int) -> int:
        """Stored tokens of the messages from `first` to `last`, both included."""
        return self._sums[last + 1] - self._sums[first]

    def chunk(self, turn: int) -> Chunk:
        """The turn in the provider's form; without messages if nothing of it can be sent."""
        found = self._chunks.get(turn)
        if found is None:
            found = self._chunks[turn] = self._prepared(turn)
            self._oldest = min(self._oldest, turn)
            if not found.messages:
                self._set_absent(turn, "empty")
        return found

    def _prepared(self, turn: int) -> Chunk:
        if turn in self._stand_ins:
            return self.folded(turn, self._stand_ins[turn], first=self._covered_from.get(self.span(turn)[1]))
        return self._repaired(turn)

    def original(self, turn: int) -> Chunk:
        """The turn itself, even where a stand-in replaces it."""
        return self._repaired(turn) if turn in self._stand_ins else self.chunk(turn)

    def _repaired(self, turn: int) -> Chunk:
        first, last = self.span(turn)
        read = self.read(first, last + 1)
        messages, repairs = repair(read, self.frame.rules, self.frame.scribe, seq=first)
        return self._written(messages, first, last, repairs)

    def folded(self, turn: int, text: str, *, first: int | None = None) -> Chunk:
        """A note that replaces this turn and whatever else its text covers, from message `first` on."""
        start, last = self.span(turn)
        if self.frame.handles:
            text = f"{text}\n{self.recall_mark(start if first is None else first, last)}"
        return replace(self.note(text), first=start, last=last, detail="folded")

    def recall_mark(self, first: int, last: int) -> str:
        """The handle that recalls these messages; empty if the agent has no recall tool."""
        return recall_mark(self._entries[first], self._entries[last]) if self.frame.handles else ""

    def marks(self, chunk: Chunk) -> Callable[[Message], str] | None:
        """Returns the handle that ends a message's short form; None if the agent has no recall tool."""
        return recall_marks(self._entries[chunk.first : chunk.last + 1]) if self.frame.handles else None

    def note(self, text: str) -> Chunk:
        """A note that replaces no turn."""
        return self._written([self.frame.scribe.note(text)], -1, -1, ())

    def stand_in(self, turn: int) -> str:
        """The text that windows show in place of this turn; empty for the others."""
        return self._stand_ins.get(turn, "")

    def read(self, start: int, stop: int) -> Sequence[Message]:
        """The messages from `start` up to `stop`, as stored; the last range read is kept."""
        (first, last), kept = self._last_read
        if not first <= start <= stop <= last:
            found = enumerate(self._read(start, stop), start)
            kept = [placed(message, begun=seq >= self._begins) for seq, message in found]
            first, self._last_read = start, ((start, stop), kept)
        return kept[start - first : stop - first]

    def cached(self, turn: int, make: Callable[[History, int], T]) -> T:
        """The result of `make` for a turn, computed once for as long as the turn does not change."""
        made, name = self._made.setdefault(turn, {}), make.__qualname__
        if name not in made:
            made[name] = make(self, turn)
            self._oldest = min(self._oldest, turn)
        found: T = made[name]
        return found

    def _written(
        self, messages: Sequence[Message], first: int, last: int, repairs: Sequence[Repair]
    ) -> Chunk:
        return Chunk(
            first=first,
            last=last,
            messages=tuple(messages),
            pieces=self.frame.scribe.dump(messages) if messages else (),
            tokens=sum(map(self.frame.price, self.frame.render(messages))),
            repairs=tuple(repairs),
        )

    def reword(self, chunk: Chunk, messages: Sequence[Message]) -> Chunk:
        """The same chunk with shortened messages."""
        return replace(self._written(messages, chunk.first, chunk.last, chunk.repairs), detail="trimmed")

    def release(self, turn: int) -> None:
        """Drop the prepared turns before this one: the window has moved past them.

        What was read from the latest messages of the user is kept, since every log has them.
        """
        if turn <= self._oldest:
            return
        self._oldest = turn
        newest = len(self) - 1
        lasting = {*self._forced, *self.requests(newest), self.newest_words(newest)}
        self._chunks = {t: c for t, c in self._chunks.items() if t >= turn or t in lasting}
        heard = {*self._heard[-HEARD:]}
        self._made = {t: made for t, made in self._made.items() if t >= turn or t in heard}

    def adopt(self, before: History) -> None:
        """Take over turns that an older copy of this history prepared and that did not change since."""
        for turn in {*before._chunks, *before._made, *before._said}:
            if not 0 <= turn < len(self) or turn in self._stand_ins or turn in self._absent:
                continue
            if not self._same(before, turn):
                continue
            if (chunk := before._chunks.get(turn)) and chunk.messages:
                self._chunks[turn] = chunk
            # What was read from a turn may depend on its neighbours: a command, and its output.
            if all(self._same(before, other) for other in (turn - 1, turn + 1)):
                self._said |= {turn: before._said[turn]} if turn in before._said else {}
                self._made |= {turn: before._made[turn]} if turn in before._made else {}
            self._oldest = min(self._oldest, turn)

    def _same(self, before: History, turn: int) -> bool:
        """Whether a turn, if there is one, has the same entries as in an older copy."""
        if not 0 <= turn < len(self) or turn >= len(before):
            return turn < 0 or turn >= max(len(self), len(before))
        first, last = self.span(turn)
        return (first, last) == before.span(turn) and (
            self._entries[first : last + 1] == before._entries[first : last + 1]
        )

    def needs_note(self, before: Chunk | None, after: Chunk) -> bool:
        """Whether the provider accepts these neighbours only with a note between them."""
        message = after.messages[0]
        if before is None:  # every provider accepts a note here, some require one
            continues = message.results and not self.frame.rules.needs_call
            return message.role != "user" and not continues
        if not self.frame.rules.calls_follow_input or before.messages[-1].role != "assistant":
            return False
        return any(message.calls for message in takewhile(_is_model, after.messages))

    def notes_needed(self, chunks: Sequence[Chunk]) -> list[bool]:
        """For each chunk in order, whether a note must precede it. System prompts are not neighbours."""
        among = [self._is_among_messages(chunk) for chunk in chunks]
        if not self.frame.rules.calls_follow_input:  # only the first chunk can need one
            found = [False] * len(chunks)
            first = next((at for at, inside in enumerate(among) if inside), None)
            if first is not None:
                found[first] = self.needs_note(None, chunks[first])
            return found
        found, before = [], None
        for chunk, inside in zip(chunks, among, strict=True):
            if not inside:
                found.append(False)
                continue
            found.append(self.needs_note(before, chunk))
            before = chunk
        return found

    def _is_among_messages(self, chunk: Chunk) -> bool:
        """Whether the provider sees it among the messages: a system message there is one of them."""
        return not is_system(chunk) or (chunk.messages[0].in_place and not self.frame.chained)


def _runs(absent: Mapping[int, Absence]) -> Iterator[tuple[int, int, Absence]]:
    """Neighbouring turns with the same reason as one run."""
    first = last = -1
    why: Absence = "erased"
    for turn in sorted(absent):
        if turn == last and absent[turn] == why:
            last += 1
            continue
        if first >= 0:
            yield first, last, why
        first, last, why = turn, turn + 1, absent[turn]
    if first >= 0:
        yield first, last, why


def _is_model(message: Message) -> bool:
    return message.role == "assistant"


def is_system(chunk: Chunk) -> bool:
    """Whether it is of the system prompt, or an item that every window needs like it."""
    message = chunk.messages[0]
    is_item = all(isinstance(part, Opaque) for part in message.parts)
    return message.role == "system" and (is_item or not message.in_place)
