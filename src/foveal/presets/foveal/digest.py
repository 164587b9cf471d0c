"""Snippets and room in → those worth their tokens, chosen together, and the note that tells them.

A snippet is worth the names in it that the window does not tell yet, and what it is: a question of the
user's, a failure, a decision. The best for its length goes first; a value only ever falls, when another one
tells the same names, so one that did not fall is the best.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from foveal.pipeline.signals import weight
from foveal.pipeline.summarize.counts import MARK
from foveal.pipeline.summarize.notes import END
from foveal.presets.foveal.snippets import LABEL, Snippet, labelled

LEAST = 24
"""Tokens of room below which nothing is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What snippets are worth. `benchmarks/tune.py` tries their neighbours on recorded agent runs."""

    bent: float = 0.7
    """Value is weighed against tokens to this power."""
    asked: float = 6.0
    failed: float = 4.0
    """What the beginning of such a message is worth beside its names."""
    used: float = 3.0
    """Times: names that the model wrote into calls."""
    fades: float = 3.0
    """Rooms of tokens further back, what a name is worth halves."""
    faded: float = 0.3
    """But not below this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What a choice depends on beside the snippets themselves."""

    back: Callable[[int], float] = lambda _: 0.0
    """By message, how many rooms of tokens it lies behind."""
    used: Set[str] = frozenset()
    """Names that the model wrote into calls."""
    gists: int = 0
    """Tokens within which what the user said and what was decided is told, whatever else is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The chosen snippets, in order, and how far out the others were."""

    chosen: tuple[Snippet, ...] = ()
    values: Mapping[int, float] = field(default_factory=dict)
    """By message, what the chosen snippets of it are worth."""
    cut: float = 0.0
    """Value for its length of the first snippet that did not fit; 0 where all did."""


def choose(
    snippets: Sequence[Snippet], room: int, known: Set[str], *, worth: Worth, beside: Beside
) -> Digest:
    """The most telling snippets within `room` tokens; `known` are names that the window tells already."""
    if room < LEAST:
        return Digest()
    taking = _Taking(room, _Scale(snippets, known, worth, beside))
    _gists(snippets, taking, beside.gists)
    heap = [(-taking.scale.density(each), at) for at, each in enumerate(snippets)]
    heapq.heapify(heap)
    cut = 0.0
    while heap and taking.room >= LABEL:
        claimed, at = heapq.heappop(heap)
        snippet = snippets[at]
        now = -taking.scale.density(snippet)
        if now > claimed:
            heapq.heappush(heap, (now, at))
            continue
        if now == 0.0:
            break
        if not taking.take(snippet):
            cut = max(cut, -now)
    return Digest(chosen=tuple(taking.chosen), values=taking.values, cut=cut)


def _gists(snippets: Sequence[Snippet], taking: _Taking, most: int) -> None:
    """How what the user said and what was decided begins, newest first, each once, within so many tokens."""
    least, said = max(taking.room - most, LABEL), set[str]()
    for snippet in reversed(snippets):
        if snippet.landmark not in {"asked", "decided"} or snippet.text in said:
            continue
        if taking.room - taking.cost(snippet) >= least:
            said.add(snippet.text)
            taking.take(snippet)


class _Taking:
    """The snippets taken so far, and the room that is left."""

    def __init__(self, room: int, scale: _Scale) -> None:
        self.room = room
        self.scale = scale
        self.chosen: list[Snippet] = []
        self.values: dict[int, float] = {}

    def cost(self, snippet: Snippet) -> int:
        return snippet.tokens + (0 if snippet.seq in self.values else LABEL)

    def take(self, snippet: Snippet) -> bool:
        """False where there is no room for it."""
        cost = self.cost(snippet)
        if cost > self.room:
            return False
        self.room -= cost
        self.values[snippet.seq] = self.values.get(snippet.seq, 0.0) + self.scale.value(snippet)
        self.chosen.append(snippet)
        self.scale.tell(snippet)
        return True


class _Scale:
    """What snippets are worth beside what is told already."""

    def __init__(self, snippets: Sequence[Snippet], known: Set[str], worth: Worth, beside: Beside) -> None:
        names = {name for snippet in snippets for name in snippet.names}
        self._weights = {name: weight(name) * (worth.used if name in beside.used else 1.0) for name in names}
        self._told = set(known)
        self._begun: set[str] = set()
        self._worth = worth
        messages = {snippet.seq for snippet in snippets}
        self._fade: dict[int, float] = {
            seq: max(worth.faded, 0.5 ** (beside.back(seq) / worth.fades)) for seq in messages
        }
        self._landmarks = {"asked": worth.asked, "failed": worth.failed}

    def value(self, snippet: Snippet) -> float:
        """0 once it is told."""
        named = sum(self._weights[name] for name in snippet.names if name not in self._told)
        named *= self._fade[snippet.seq]
        if snippet.text in self._begun:
            return named
        return named + self._landmarks.get(snippet.landmark, 0.0)

    def density(self, snippet: Snippet) -> float:
        length: float = snippet.tokens**self._worth.bent
        return self.value(snippet) / length

    def tell(self, snippet: Snippet) -> None:
        self._told.update(snippet.names)
        self._begun.add(snippet.text)


def note_text(chosen: Sequence[Snippet]) -> str:
    """The note: what is told of each message, in order, under whose words they are."""
    told = sorted(chosen, key=lambda each: (each.seq, each.number))
    return "\n".join((MARK, *labelled(told), END))
