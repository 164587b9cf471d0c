"""Choose the snippets of earlier messages that are worth their tokens, and write them into a note.

The value of a snippet is that of the names in it that the window does not have yet, and more if it begins a
user's request or a failure. The snippet with the highest value for its length is taken first. Values only
fall, when a snippet with the same names is taken, so the top of the heap is the best if its value is current.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from foveal.pipeline.signals import weight
from foveal.pipeline.summarize.notes import SUMMARY_END, SUMMARY_MARK
from foveal.presets.foveal.snippets import LABEL, Snippet, labelled

LEAST = 24
"""Tokens of room below which there is no note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestNumbers:
    """How snippets are valued. `benchmarks/tune.py` tries neighbouring numbers on recorded agent runs."""

    bent: float = 0.7
    """The value of a snippet is divided by its tokens to this power."""
    asked: float = 6.0
    failed: float = 4.0
    """Added to the value of the snippet that begins a user's request or a failure."""
    used: float = 3.0
    """Factor for names that the model wrote into tool calls."""
    fades: float = 3.0
    """The value of a name halves with this many message budgets of distance."""
    faded: float = 0.3
    """The lowest factor for distance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the value of a snippet depends on besides itself."""

    known: Set[str] = frozenset()
    """Names that the window already has."""
    distance: Callable[[int], float] = lambda _: 0.0
    """How far back a message is, in message budgets."""
    used: Set[str] = frozenset()
    """Names that the model wrote into tool calls."""
    gists: int = 0
    """Tokens reserved for how the user's requests and the model's decisions begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The chosen snippets in the order in which they were taken."""

    chosen: tuple[Snippet, ...] = ()
    values: Mapping[int, float] = field(default_factory=dict)
    """By message, the value of its chosen snippets."""
    cut: float = 0.0
    """Value for its length of the best snippet that did not fit; 0 if all did."""


def choose(
    snippets: Sequence[Snippet], room: int, *, numbers: DigestNumbers, surroundings: Surroundings
) -> Digest:
    """The most valuable snippets within `room` tokens."""
    if room < LEAST:
        return Digest()
    taken = _Taken(room, _Values(snippets, numbers, surroundings))
    _take_gists(snippets, taken, surroundings.gists)
    heap = [(-taken.values.density(each), at) for at, each in enumerate(snippets)]
    heapq.heapify(heap)
    cut = 0.0
    while heap and taken.room >= LABEL:
        queued, at = heapq.heappop(heap)
        snippet = snippets[at]
        current = -taken.values.density(snippet)
        if current > queued:
            heapq.heappush(heap, (current, at))
            continue
        if current == 0.0:
            break
        if not taken.take(snippet):
            cut = max(cut, -current)
    return Digest(chosen=tuple(taken.chosen), values=taken.by_message, cut=cut)


def _take_gists(snippets: Sequence[Snippet], taken: _Taken, most: int) -> None:
    """Take how requests and decisions begin, newest first, each text once, within `most` tokens."""
    least, texts = max(taken.room - most, LABEL), set[str]()
    for snippet in reversed(snippets):
        if snippet.landmark not in {"asked", "decided"} or snippet.text in texts:
            continue
        if taken.room - taken.cost(snippet) >= least:
            texts.add(snippet.text)
            taken.take(snippet)


class _Taken:
    """The snippets taken so far, and the room that is left."""

    def __init__(self, room: int, values: _Values) -> None:
        self.room = room
        self.values = values
        self.chosen: list[Snippet] = []
        self.by_message: dict[int, float] = {}

    def cost(self, snippet: Snippet) -> int:
        return snippet.tokens + (0 if snippet.seq in self.by_message else LABEL)

    def take(self, snippet: Snippet) -> bool:
        """Take a snippet if there is room for it."""
        cost = self.cost(snippet)
        if cost > self.room:
            return False
        self.room -= cost
        self.by_message[snippet.seq] = self.by_message.get(snippet.seq, 0.0) + self.values.value(snippet)
        self.chosen.append(snippet)
        self.values.add(snippet)
        return True


class _Values:
    """The values of snippets, given what the window and the note already have."""

    def __init__(
        self, snippets: Sequence[Snippet], numbers: DigestNumbers, surroundings: Surroundings
    ) -> None:
        names = {name for snippet in snippets for name in snippet.names}
        used = surroundings.used
        self._weights = {name: weight(name) * (numbers.used if name in used else 1.0) for name in names}
        self._names = set(surroundings.known)
        self._texts: set[str] = set()
        self._bent = numbers.bent
        self._fade: dict[int, float] = {
            seq: max(numbers.faded, 0.5 ** (surroundings.distance(seq) / numbers.fades))
            for seq in {snippet.seq for snippet in snippets}
        }
        self._landmarks = {"asked": numbers.asked, "failed": numbers.failed}

    def value(self, snippet: Snippet) -> float:
        """What the snippet would add; 0 once it is in the note."""
        value = sum(self._weights[name] for name in snippet.names if name not in self._names)
        value *= self._fade[snippet.seq]
        if snippet.text in self._texts:
            return value
        return value + self._landmarks.get(snippet.landmark, 0.0)

    def density(self, snippet: Snippet) -> float:
        length: float = snippet.tokens**self._bent
        return self.value(snippet) / length

    def add(self, snippet: Snippet) -> None:
        self._names.update(snippet.names)
        self._texts.add(snippet.text)


def note_text(chosen: Sequence[Snippet]) -> str:
    """The note: the chosen snippets in conversation order, labelled with their messages."""
    ordered = sorted(chosen, key=lambda each: (each.seq, each.number))
    return "\n".join((SUMMARY_MARK, *labelled(ordered), SUMMARY_END))
