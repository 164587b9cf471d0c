"""Choose what the log of a window has: entries for what was asked and done, then the most valuable excerpts.

The user's words and the actions come first, up to a share of the room; where they are too many, repeated
actions become one line, the oldest first. The rest of the room goes to excerpts. The value of an excerpt is
that of the names in it that the window does not have yet, and more if it has a failure or a decision. The one
with the highest value for its length is taken first. Its length includes the entry it is quoted under, if the
log does not have that yet.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice

from foveal.presets.foveal.excerpts import BEGINNING, Excerpt, Excerpts
from foveal.presets.foveal.log import LogEntry
from foveal.presets.foveal.log_note import LogLine, head, log_lines
from foveal.presets.foveal.paths import Paths

LEAST = 24
"""Tokens of room below which there is no note."""
SHORT = 60
"""Tokens of a user's message that is quoted whole."""
LONG = 200
"""Tokens of the rest of a longer one that may be quoted too."""
WORDY = 25
"""Tokens of what people say in a chat from which on it counts in full; shorter ones are often courtesy."""
SAMPLES = 3
"""Of lines of which a text has many, those that are worth something."""

BEGINNING_TOKENS = 22
"""About what the beginning of a message costs, where there is no room for more."""
CONCLUSIONS = 2
"""Conclusions taken from one message of the model, beside how it begins."""
REFERRING = 60
"""Words of a reply that may refer to an item by its number or letter."""
BRIEF = 8
"""Words of a reply that answers the last question."""
PROPOSALS = 3
"""Of the latest such replies, the message before is quoted whole."""
PROPOSAL = 250
"""Tokens of such a message; of a longer one the end."""
_ITEM = re.compile(
    r"\W{0,4}(?:(?:option|step|question|scenario|approach|variant|choice) )?(\d{1,2}|[A-E])(?:[.):*]|\s)",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?<![\w.])(\d{1,2}|(?<!^)[A-E])(?![\w%'])(?!\.\d)")
_COURTESY = re.compile(
    r"\W{0,3}(?:sure|of course|certainly|absolutely|thank|you're welcome|no problem|please|no response"
    r"|i can (?:assist|help)|i(?:'d| would| will|'ll)? be happy|i(?:'m| am) happy"
    r"|i understand|i apologi[sz]e|i(?:'m| am) sorry|let me know|could you|feel free)\b",
    re.IGNORECASE,
)
MISSES = 60
"""Excerpts in a row that do not fit, after which no further one is tried."""

Id = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestNumbers:
    """How entries and excerpts are valued; `benchmarks/tune.py` tries other numbers on recorded runs."""

    bent: float = 0.7
    """The value of an excerpt is divided by its tokens to this power."""
    asked: float = 6.0
    """Added to the value of how a user's message begins."""
    said: float = 3.0
    """Added to the value of a user's other words."""
    failed: float = 3.0
    """Added to the value of a failure."""
    agreed: float = 4.0
    """Added to the value of an explicit decision."""
    decided: float = 1.0
    """Added to the value of a conclusion."""
    answered: float = 1.0
    """Added to the value of how an answer begins."""
    used: float = 3.0
    """Factor for names that were used later, by the model in a call or by the user."""
    fades: float = 3.0
    """The value of a name halves with this many message budgets of distance."""
    faded: float = 0.3
    """The lowest factor for distance."""
    repeated: float = 0.1
    """Factor for names in lines of which a text has many, unless they were used later."""
    restated: float = 0.4
    """Factor for names in the model's words: it mostly restates what tools returned, with less around it."""
    many: int = 40
    """Lines that differ only in numbers from which on they are such lines."""
    log_share: float = 0.6
    """Share of the room for what the user said and what was done."""
    referred_share: float = 0.05
    """Share of the room for what the user's replies refer to: a question, items of a list."""
    looks_share: float = 0.1
    """Share of the room, as far as excerpts left it, for calls that only looked at something."""
    said_share: float = 0.1
    """Share of the room for the rest of longer messages of the user, the latest first."""
    concluded_share: float = 0.06
    """Share of the room for what the model concluded and answered, the latest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the value of an excerpt depends on besides itself."""

    known: Set[str] = frozenset()
    """Names that the window already has."""
    distance: Callable[[int], float] = lambda _: 0.0
    """How far back a message is, in message budgets."""
    used: Set[str] = frozenset()
    """Names that were used in calls or by the user."""
    replies: Mapping[int, str] = field(default_factory=dict)
    """By position of a message of the model, what the user said to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The chosen lines of a log and the excerpts in them."""

    lines: tuple[LogLine, ...] = ()
    shown: Mapping[Id, tuple[int, ...]] = field(default_factory=dict)
    """By id of an entry, the numbers of its excerpts that are shown."""
    cut: float = 0.0
    """Value for its length of the best excerpt that did not fit; 0 if all did."""
    missing: Mapping[int, int] = field(default_factory=dict)
    """By message of which something was tried and did not fit, the tokens that were missing."""
    order: tuple[tuple[Id, int], ...] = ()
    """The excerpts that may be taken out again, in the order in which they were taken."""

    def without(self, tokens: int) -> Digest:
        """The same without the excerpts taken last, about so many tokens; without lines when none is left."""
        order, shown = list(self.order), dict(self.shown)
        sizes = {entry.id: entry.excerpts.parts for line in self.lines for entry in line.entries}
        while tokens > 0 and order:
            at, number = order.pop()
            tokens -= sizes[at][number].tokens
            shown[at] = tuple(each for each in shown[at] if each != number)
        lines = [
            line for line in self.lines if line.says or any(shown.get(entry.id) for entry in line.entries)
        ]
        if tokens > 0:
            lines = lines[len(lines) // 4 + 1 :]
        return replace(self, lines=tuple(lines), shown=shown, order=tuple(order))


def choose(
    entries: Sequence[LogEntry],
    room: int,
    *,
    numbers: DigestNumbers,
    surroundings: Surroundings,
    paths: Paths,
    count: Callable[[str], int],
) -> Digest:
    """The most useful log within `room` tokens."""
    if room < LEAST:
        return Digest()
    lines, costs = _merged(entries, int(numbers.log_share * room), paths, count)
    taken = _Taken(room, lines, costs, _Values(entries, numbers, surroundings))
    taken.take_log(int(numbers.log_share * room))
    taken.take_said(int(numbers.said_share * room))
    taken.take_referred(surroundings.replies, int(numbers.referred_share * room))
    taken.take_conclusions(int(numbers.concluded_share * room))
    cut = taken.take_excerpts()
    taken.take_looks(int(numbers.looks_share * room))
    return taken.digest(cut)


def _merged(
    entries: Sequence[LogEntry], most: int, paths: Paths, count: Callable[[str], int]
) -> tuple[list[LogLine], list[int]]:
    """The lines of the log and what each costs; old actions are merged as far as it takes to fit."""
    end = entries[-1].seq if entries else 0
    for share in (0.0, 0.5, 0.8, 1.0):
        lines = log_lines(entries, merged_until=int(share * end) if share else -1)
        costs = [count(head(line, paths)) + 1 for line in lines]
        spoken = sum(
            _whole(entry)
            for line in lines
            for entry in line.entries
            if entry.voice == "user" and entry.action is None
        )
        if spoken + sum(cost for line, cost in zip(lines, costs, strict=True) if line.says) <= most:
            break
    return lines, costs


def _whole(entry: LogEntry) -> int:
    """Tokens of a user's message as the log quotes it: whole, or how it begins and ends."""
    parts = entry.excerpts.parts
    whole = sum(part.tokens for part in parts)
    return whole if whole <= SHORT else parts[0].tokens + parts[-1].tokens


class _Taken:
    """What is taken into the log, and the room that is left."""

    def __init__(self, room: int, lines: Sequence[LogLine], costs: Sequence[int], values: _Values) -> None:
        self.room = self.whole = room
        self.lines, self.costs, self.values = lines, costs, values
        self.opened: set[int] = set()
        """Indexes of the lines that are in."""
        self.shown: dict[Id, set[int]] = {}
        self.order: list[tuple[Id, int]] = []
        self.missing: dict[int, int] = {}
        self.heap: list[tuple[float, int, int, int]] = []

    def take_log(self, most: int) -> None:
        """Take what the user said, then what was done, the latest first; actions within `most` tokens.

        In a chat, where people said more than the log has room for, only the first of it.
        """
        said = [
            at for at, line in enumerate(self.lines) if line.last.voice == "user" and line.last.action is None
        ]
        whole = sum(self.costs[at] + _whole(self.lines[at].last) for at in said)
        chat = whole > self.room and not any(line.says for line in self.lines)
        least = self.room - most // 2 if chat else 0
        tight = whole > self.room
        for at in (*said[:1], *(() if chat else reversed(said[1:]))):
            entry = self.lines[at].last
            if tight and not chat and _whole(entry) > BEGINNING_TOKENS:
                self._begin(at, entry)
            else:
                self._take(at, entry, _quoted_numbers(entry), least)
        least = min(self.room, self.room + self._spent() - most)
        for at in range(len(self.lines) - 1, -1, -1):
            if self.lines[at].says:
                self._take(at, self.lines[at].last, (), max(0, least))

    def take_said(self, most: int) -> None:
        """Take the rest of the user's messages of which the log has both ends, the latest first."""
        least = max(0, self.room - most)
        for at in sorted(self.opened, reverse=True):
            entry = self.lines[at].last
            shown = self.shown.get(entry.id, set())
            if entry.voice == "user" and entry.action is None and shown and BEGINNING not in shown:
                rest = [number for number in range(len(entry.excerpts.parts)) if number not in shown]
                if rest and sum(entry.excerpts.parts[number].tokens for number in rest) <= LONG:
                    self._take(at, entry, rest, least)

    def take_referred(self, replies: Mapping[int, str], most: int) -> None:
        """Take what the user's replies refer to in the message before them, the latest first."""
        least, found = max(0, self.room - most), 0
        for at in range(len(self.lines) - 1, -1, -1):
            entry = self.lines[at].last
            if entry.answers and (numbers := referred(entry, replies.get(entry.seq, ""))):
                found += 1
                whole = {*numbers, *(_end_of(entry, PROPOSAL) if found <= PROPOSALS else ())}
                if not self._take(at, entry, sorted(whole), least):
                    self._take(at, entry, numbers, least)

    def take_conclusions(self, most: int) -> None:
        """Take how the model's answers begin and its conclusions, the latest first, within `most` tokens."""
        least = max(0, self.room - most)
        for at in range(len(self.lines) - 1, -1, -1):
            entry = self.lines[at].last
            if entry.voice == "assistant" and (numbers := _conclusions(entry)):
                self._take(at, entry, numbers, least)

    def take_looks(self, most: int) -> None:
        """Take the lines of calls that only looked at something, the latest first, within `most` tokens."""
        least = max(0, self.room - most)
        for at in range(len(self.lines) - 1, -1, -1):
            if at not in self.opened and self.lines[at].last.action is not None:
                self._take(at, self.lines[at].last, (), least)

    def _begin(self, at: int, entry: LogEntry) -> None:
        """Take how a message begins, if there is room."""
        if self.costs[at] + BEGINNING_TOKENS <= self.room and at not in self.opened:
            self._open(at)
            self.shown[entry.id] = {BEGINNING}
            self.room -= BEGINNING_TOKENS

    def _spent(self) -> int:
        return self.whole - self.room

    def _take(self, at: int, entry: LogEntry, numbers: Sequence[int], least: int) -> bool:
        """Take a line with these excerpts, if it leaves `least` tokens."""
        header = 0 if at in self.opened else self.costs[at]
        cost = header + sum(entry.excerpts.parts[number].tokens for number in numbers)
        if self.room - cost < least:
            self.missing[entry.seq] = cost + least - self.room
            return False
        self._open(at)
        for number in numbers:
            self._add(entry, number)
        return True

    def take_excerpts(self) -> float:
        """Take excerpts, the most valuable for their length first; returns the value of the best one left.

        Values only fall, when names are taken, so the top of the heap is the best if its value is current.
        """
        self.heap = [each for at in range(len(self.lines)) for each in self._queued(at)]
        heapq.heapify(self.heap)
        cut, misses = 0.0, 0
        while self.heap and misses < MISSES:
            queued, at, which, number = heapq.heappop(self.heap)
            entry = self.lines[at].entries[which]
            if number in self.shown.get(entry.id, ()):
                continue
            cost = entry.excerpts.parts[number].tokens + (0 if at in self.opened else self.costs[at])
            value = self.values.value(entry, number)
            density = value / cost**self.values.numbers.bent
            if density <= 0.0:
                continue
            if -density > queued + 1e-9:
                heapq.heappush(self.heap, (-density, at, which, number))
                continue
            if cost > self.room:
                cut, misses = max(cut, density), misses + 1
                self.missing[entry.seq] = cost - self.room
                continue
            opened, misses = at in self.opened, 0
            self._open(at)
            self._add(entry, number)
            self.order.append((entry.id, number))
            if not opened:  # the others of this line are cheaper now
                for each in self._queued(at):
                    heapq.heappush(self.heap, each)
        return cut

    def _queued(self, at: int) -> Iterator[tuple[float, int, int, int]]:
        """The excerpts of a line with the most that they can be worth for their length."""
        header, bent = (0 if at in self.opened else self.costs[at]), self.values.numbers.bent
        for which, entry in enumerate(self.lines[at].entries):
            shown, most = self.shown.get(entry.id, ()), self.values.most(entry)
            if BEGINNING in shown:
                continue
            for number, part in enumerate(entry.excerpts.parts):
                if (worth := most(number, part)) > 0.0 and number not in shown:
                    yield -worth / (part.tokens + header) ** bent, at, which, number

    def _open(self, at: int) -> None:
        if at not in self.opened:
            self.opened.add(at)
            self.room -= self.costs[at]

    def _add(self, entry: LogEntry, number: int) -> None:
        self.shown.setdefault(entry.id, set()).add(number)
        self.values.add(entry, number)
        self.room -= entry.excerpts.parts[number].tokens

    def digest(self, cut: float) -> Digest:
        return Digest(
            lines=tuple(line for at, line in enumerate(self.lines) if at in self.opened),
            shown={at: tuple(sorted(numbers)) for at, numbers in self.shown.items()},
            cut=cut,
            missing=self.missing,
            order=tuple(self.order),
        )


def referred(entry: LogEntry, reply: str) -> tuple[int, ...]:
    """The excerpts of the model's message that a short reply refers to: numbered items, the last question."""
    words = reply.split()
    if not words or len(words) > REFERRING:
        return ()
    parts, text = entry.excerpts.parts, entry.excerpts.text
    asked = set(_ORDINAL.findall(reply))
    found = {
        number
        for number, part in enumerate(parts)
        if asked and any(_item(line) in asked for line in text[part.start : part.end].split("\n"))
    }
    if len(words) <= BRIEF or found:
        found.add(len(parts) - 1)
    return tuple(sorted(found))


def _item(line: str) -> str:
    """The number or letter with which an item of a list begins; empty if it is none."""
    found = _ITEM.match(line)
    return found[1].upper() if found else ""


def _end_of(entry: LogEntry, most: int) -> tuple[int, ...]:
    """The last excerpts of a message within `most` tokens; all of them if they fit."""
    found: list[int] = []
    for number in range(len(entry.excerpts.parts) - 1, -1, -1):
        most -= entry.excerpts.parts[number].tokens
        if most < 0:
            break
        found.append(number)
    return tuple(found)


def _conclusions(entry: LogEntry) -> tuple[int, ...]:
    """How an answer begins, and the first conclusions in the model's words."""
    parts = entry.excerpts.parts
    first = (0,) if entry.answers and parts and not is_courtesy(entry.excerpts, 0) else ()
    decided = (
        number
        for number, part in enumerate(parts)
        if part.landmark in ("decided", "agreed") and number not in first
    )
    return (*first, *islice(decided, CONCLUSIONS))


def is_courtesy(excerpts: Excerpts, number: int) -> bool:
    """Whether an excerpt of the model's words only offers help or asks for something, in English."""
    part = excerpts.parts[number]
    return not part.names and not part.landmark and bool(_COURTESY.match(excerpts.text, part.start))


def is_short(entry: LogEntry) -> bool:
    """Whether it is a user's message that is quoted whole."""
    return (
        entry.voice == "user"
        and entry.action is None
        and _whole(entry) <= SHORT
        and len(_quoted_numbers(entry)) == len(entry.excerpts.parts)
    )


def _quoted_numbers(entry: LogEntry) -> tuple[int, ...]:
    """The excerpts of a user's message that are quoted in any case: all if it is short, else both ends."""
    parts = entry.excerpts.parts
    if sum(part.tokens for part in parts) <= SHORT:
        return tuple(range(len(parts)))
    return (0, len(parts) - 1) if len(parts) > 1 else (0,)


class _Values:
    """The values of excerpts, given what the window and the log already have."""

    def __init__(
        self, entries: Sequence[LogEntry], numbers: DigestNumbers, surroundings: Surroundings
    ) -> None:
        self.numbers = numbers
        self._chat = not any(entry.action for entry in entries)
        self._used = surroundings.used
        self._names = set(surroundings.known)
        self._fade: dict[int, float] = {
            seq: max(numbers.faded, 0.5 ** (surroundings.distance(seq) / numbers.fades))
            for seq in {entry.seq for entry in entries}
        }
        self._landmarks = {
            "asked": numbers.asked,
            "said": numbers.said,
            "failed": numbers.failed,
            "agreed": numbers.agreed,
            "decided": numbers.decided,
            "": 0.0,
        }

    def most(self, entry: LogEntry) -> Callable[[int, Excerpt], float]:
        """The most that excerpts of an entry can add to the log, without looking at what it has already."""
        used, fade, numbers, landmarks = self._used, self._fade[entry.seq], self.numbers, self._landmarks
        first = numbers.answered if entry.answers else 0.0
        restated = numbers.restated if entry.authored else 1.0

        def worth(number: int, part: Excerpt) -> float:
            if part.names and not used.isdisjoint(part.names):
                return self.value(entry, number)
            factor = numbers.repeated if part.repeats >= numbers.many else restated
            factor = 0.0 if part.repeats >= numbers.many and part.nth > SAMPLES else factor
            return part.worth * factor * fade + landmarks[part.landmark] + (0.0 if number else first)

        return worth

    def value(self, entry: LogEntry, number: int) -> float:
        """What an excerpt would add to the log."""
        part, known, used, numbers = entry.excerpts.parts[number], self._names, self._used, self.numbers
        # Of lines of which there are many, a few count a little; names that were used count anyway.
        plain = 1.0 if part.repeats < numbers.many else numbers.repeated if part.nth <= SAMPLES else 0.0
        value = 0.0
        for name, weight in zip(part.names, part.weights, strict=True):
            if name not in known:
                value += weight * (numbers.used if name in used else plain)
        if entry.authored:
            value *= self.numbers.restated
        extra = self._landmarks[part.landmark]
        if self._chat and not entry.action:
            extra *= min(1.0, part.tokens / WORDY)
        if number == 0 and entry.answers and not is_courtesy(entry.excerpts, 0):
            extra += self.numbers.answered
        return value * self._fade[entry.seq] + extra

    def add(self, entry: LogEntry, number: int) -> None:
        if not entry.authored:
            self._names.update(entry.excerpts.parts[number].names)
