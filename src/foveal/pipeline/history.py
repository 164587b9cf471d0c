"""Entries in → turns that are read, mended and priced when somebody looks at them.

A history may hold a hundred thousand messages; a build looks at the newest few. So turn boundaries and
token sums are kept as entries arrive, in constant time each, and a turn's messages are read, repaired,
counted and written once, when first needed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from foveal.model import Chunk, Entry, Message, Repair, Rules
from foveal.pipeline.repair import Scribe, repair
from foveal.pipeline.summarize.notes import recall_mark, recall_marks
from foveal.pipeline.turns import Links, Tail, joined, joins

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
    """Messages as the provider will read them: what is converted costs what it is written as."""
    chained: bool = False
    """The stored format gives every block an item of its own: assistant runs are one turn."""
    handles: bool = False
    """The agent can bring originals back: notes and short forms show how."""


T = TypeVar("T")
ERASED = "erased"
LEFT_OUT = "left out on request, until restored"
EMPTY = "empty: nothing of it can be sent"


class History:
    """The turns of one session, oldest first."""

    def __init__(self, read: Read, frame: Frame) -> None:
        self.frame = frame
        note = frame.scribe.note(OPENING)
        self.note_tokens = frame.price(note)
        self.note_pieces = frame.scribe.dump([note])
        self._read = read
        self._entries: list[Entry] = []
        self._starts: list[int] = []
        self._sums: list[int] = [0]
        self._tail: Tail | None = None
        self._forced: dict[int, str] = {}
        self._absent: dict[int, str] = {}
        self._absences: list[tuple[int, int, str]] = []
        """The absent turns in order, as runs with one reason: first, one past the last, why."""
        self._stand_ins: dict[int, str] = {}
        """Texts that windows show in place of a left-out turn and those before it."""
        self._noted: dict[int, int] = {}
        """By position of such a text, that of the first message it tells of."""
        self._asked: list[int] = []
        """Turns that begin with the user's words."""
        self._chunks: dict[int, Chunk] = {}
        self._newly: tuple[tuple[int, int], Sequence[Message]] = ((0, 0), ())
        """What was read last, and where it stands."""
        self._made: dict[int, dict[str, Any]] = {}
        """By turn, what was remembered of it."""
        self._oldest = 0
        """No turn before this one is at hand, the forced ones aside."""

    def extend(self, entries: Sequence[Entry]) -> None:
        """Take newly arrived entries; only the turn they join is looked at again."""
        for entry in entries:
            self._add(entry)

    def _add(self, entry: Entry) -> None:
        link = Links(role=entry.role, calls=entry.calls, answers=entry.answers)
        if not joins(self._tail, link, runs=self.frame.chained):
            self._starts.append(entry.seq)
            if entry.role == "user":
                self._asked.append(len(self._starts) - 1)
        self._tail = joined(self._tail, link, runs=self.frame.chained)
        turn = len(self._starts) - 1
        self._chunks.pop(turn, None)
        self._made.pop(turn, None)
        self._entries.append(entry)
        self._sums.append(self._sums[-1] + entry.tokens)
        if self._absent.get(turn) == EMPTY:
            del self._absent[turn]
            self._absences = []
        if entry.noted_by is not None:
            self._noted.setdefault(entry.noted_by, entry.seq)
        if entry.stand_in:
            self._stand_ins[turn] = entry.stand_in
            self._absent.pop(turn, None)
        elif entry.absence and self._absent.get(turn) != ERASED:
            self._set_absent(turn, ERASED if entry.absence == "erased" else LEFT_OUT)
        if entry.role == "system":
            self._forced[turn] = "system prompt"
        elif entry.pinned:
            self._forced[turn] = "pinned"

    def _set_absent(self, turn: int, why: str) -> None:
        self._absent[turn] = why
        self._absences = []

    def __len__(self) -> int:
        """How many turns there are."""
        return len(self._starts)

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    @property
    def starts(self) -> Sequence[int]:
        """The position of each turn's first message."""
        return self._starts

    @property
    def sums(self) -> Sequence[int]:
        """Stored tokens before each position, and of everything at last."""
        return self._sums

    @property
    def tokens(self) -> int:
        """Stored tokens of everything."""
        return self._sums[-1]

    @property
    def pinned(self) -> Mapping[int, str]:
        """Turns that must be in, and why: the system prompt and what somebody pinned."""
        return {turn: why for turn, why in self._forced.items() if turn not in self._absent}

    def absence(self, turn: int) -> str:
        """Why a turn cannot be in any window; empty when it can. An empty turn is known once prepared."""
        return self._absent.get(turn, "")

    def asked(self, turn: int) -> int | None:
        """The newest turn up to this one that begins with the user's words and can be in a window."""
        for at in range(bisect_right(self._asked, turn) - 1, -1, -1):
            if self._asked[at] not in self._absent:
                return self._asked[at]
        return None

    def begun(self) -> int | None:
        """The first turn that begins with the user's words and can be in a window."""
        return next((turn for turn in self._asked if turn not in self._absent), None)

    def absences(self, start: int, stop: int) -> Iterator[tuple[int, int, str]]:
        """The absent turns from `start` up to `stop`, as runs: first, one past the last, why."""
        if self._absent and not self._absences:
            self._absences = list(_runs(self._absent))
        at = bisect_right(self._absences, (start, len(self), ""))
        for first, last, why in self._absences[max(0, at - 1) :]:
            if first >= stop:
                return
            if last > start:
                yield max(first, start), min(last, stop), why

    def leads(self, turn: int) -> bool:
        """Is this the history's first turn, system prompts and absent ones aside?"""
        return all(t in self._absent or self._forced.get(t) == "system prompt" for t in range(turn))

    def span(self, turn: int) -> tuple[int, int]:
        """Positions of a turn's first and last message."""
        stop = self._starts[turn + 1] if turn + 1 < len(self._starts) else len(self._entries)
        return self._starts[turn], stop - 1

    def turn_of(self, seq: int) -> int:
        return bisect_right(self._starts, seq) - 1

    def between(self, first: int, last: int) -> int:
        """Stored tokens of the messages from one position to another, both included."""
        return self._sums[last + 1] - self._sums[first]

    def chunk(self, turn: int) -> Chunk:
        """The turn as the provider may see it; without messages if nothing of it can be sent."""
        found = self._chunks.get(turn)
        if found is None:
            found = self._chunks[turn] = self._prepared(turn)
            self._oldest = min(self._oldest, turn)
            if not found.messages:
                self._set_absent(turn, EMPTY)
        return found

    def _prepared(self, turn: int) -> Chunk:
        if turn in self._stand_ins:
            return self.folded(turn, self._stand_ins[turn], first=self._noted.get(self.span(turn)[1]))
        return self._mended(turn)

    def original(self, turn: int) -> Chunk:
        """The turn itself, also where a note stands in its place or it was left out."""
        return self._mended(turn) if turn in self._stand_ins else self.chunk(turn)

    def _mended(self, turn: int) -> Chunk:
        first, last = self.span(turn)
        read = self.read(first, last + 1)
        messages, repairs = repair(read, self.frame.rules, self.frame.scribe, seq=first)
        return self._written(messages, first, last, repairs)

    def folded(self, turn: int, text: str, *, first: int | None = None) -> Chunk:
        """A note in the place of a turn, for it and whatever else the text covers, from `first` on."""
        start, last = self.span(turn)
        if self.frame.handles:
            text = f"{text}\n{self.way_back(start if first is None else first, last)}"
        return replace(self.note(text), first=start, last=last, detail="folded")

    def way_back(self, first: int, last: int) -> str:
        """The mark by which an agent brings these messages back; empty where it has no tool for that."""
        return recall_mark(self._entries[first], self._entries[last]) if self.frame.handles else ""

    def marks(self, chunk: Chunk) -> Callable[[Message], str] | None:
        """How short forms of a turn's messages end; None where the agent could not use it."""
        return recall_marks(self._entries[chunk.first : chunk.last + 1]) if self.frame.handles else None

    def note(self, text: str) -> Chunk:
        """A note of ours that stands in no turn's place."""
        return self._written([self.frame.scribe.note(text)], -1, -1, ())

    def stand_in(self, turn: int) -> str:
        """The text that windows show in place of this turn; empty for the others."""
        return self._stand_ins.get(turn, "")

    def read(self, start: int, stop: int) -> Sequence[Message]:
        """The messages from one position up to another, as they were stored; twice in a row costs once."""
        if self._newly[0] != (start, stop):
            self._newly = ((start, stop), self._read(start, stop))
        return self._newly[1]

    def remembered(self, turn: int, make: Callable[[History, int], T]) -> T:
        """What `make` says of a turn, asked once for as long as the turn does not change."""
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
        """Let go of the prepared turns before this one: the window has moved past them."""
        if turn <= self._oldest:
            return
        self._oldest = turn
        self._chunks = {t: c for t, c in self._chunks.items() if t >= turn or t in self._forced}
        self._made = {t: made for t, made in self._made.items() if t >= turn}

    def adopt(self, before: History) -> None:
        """Take what an older reading of the same history prepared of turns that did not change since."""
        for turn in {*before._chunks, *before._made}:
            if turn >= len(self) or turn in self._stand_ins or turn in self._absent:
                continue
            (first, last), was = self.span(turn), before.span(turn)
            if (first, last) != was or self._entries[first : last + 1] != before._entries[first : last + 1]:
                continue
            if (chunk := before._chunks.get(turn)) and chunk.messages:
                self._chunks[turn] = chunk
            if turn in before._made:
                self._made[turn] = before._made[turn]
            self._oldest = min(self._oldest, turn)

    def joint(self, before: Chunk | None, after: Chunk) -> bool:
        """Must a note of ours stand between the two for the provider to accept them as neighbours?"""
        message = after.messages[0]
        if before is None:  # no provider minds a note, some insist on one
            continues = message.results and not self.frame.rules.needs_call
            return message.role not in ("user", "system") and not continues
        return (
            self.frame.rules.calls_follow_input
            and before.messages[-1].role == "assistant"
            and bool(message.calls)
        )

    def joints(self, chunks: Sequence[Chunk]) -> list[bool]:
        """For each chunk in order: does a note stand before it? System prompts are nobody's neighbours."""
        if not self.frame.rules.calls_follow_input:  # then only the first can need one
            found = [False] * len(chunks)
            first = next((at for at, chunk in enumerate(chunks) if not is_system(chunk)), None)
            if first is not None:
                found[first] = self.joint(None, chunks[first])
            return found
        found, before = [], None
        for chunk in chunks:
            if is_system(chunk):
                found.append(False)
                continue
            found.append(self.joint(before, chunk))
            before = chunk
        return found


def _runs(absent: Mapping[int, str]) -> Iterator[tuple[int, int, str]]:
    """Neighbours with one reason as one run."""
    first = last = -1
    why = ""
    for turn in sorted(absent):
        if turn == last and absent[turn] == why:
            last += 1
            continue
        if first >= 0:
            yield first, last, why
        first, last, why = turn, turn + 1, absent[turn]
    if first >= 0:
        yield first, last, why


def is_system(chunk: Chunk) -> bool:
    return chunk.messages[0].role == "system"
