"""The messages of one session in → an index in memory that ranks them for a question.

Only appended documents cost anything. A question costs a pass over the postings of its terms and one over the
vectors; its own vector is remembered. Any thread may ask.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock
from types import MappingProxyType

import numpy as np

from foveal.errors import UpstreamError
from foveal.search.embed.base import Vectors
from foveal.search.postings import Postings
from foveal.search.rank import beside, of_sittings, rule_strength, standing_out, within
from foveal.search.terms import terms
from foveal.search.values import NUMBERS, Document, Floats, Ranking, RankNumbers, Truths, Vector
from foveal.search.when import when

PAUSE = 3_600.0
"""Seconds without a word after which a new sitting begins."""
ASKED = 256
"""Questions whose vectors are remembered."""
OFTEN = 0.02
"""Who says this share of the messages, and no fewer than three, is a speaker."""
FOLLOWED = 32
"""Names of one hit that are followed, the rarest."""
RARE = 0.02
"""An identifier that no more than this share of the messages hold points at them."""
STANDS_OUT = 2.0
"""Standard deviations above the usual likeness from which on likeness alone makes a hit."""
_ROLES = frozenset({"", "system", "user", "assistant", "tool"})


class Index:
    """What is known of every message, in columns."""

    def __init__(
        self, embed: Callable[[Sequence[str]], Vectors] | None, numbers: RankNumbers = NUMBERS
    ) -> None:
        self._embed = embed
        self._numbers = numbers
        self._lock = Lock()
        self._last: Document | None = None
        self._postings = Postings()
        self._names: list[array[int]] = []
        self._speakers: dict[tuple[str, ...], array[int]] = {}
        self._joined, self._users = array("b"), array("b")
        self._starts = array("q")
        self._rules, self._times = array("d"), array("d")
        self._vectors, self._sum = array("f"), np.zeros(1)
        self._asked = lru_cache(maxsize=ASKED)(self._question)

    def __len__(self) -> int:
        return len(self._postings)

    def extend(self, documents: Sequence[Document], vectors: Vectors | None = None) -> None:
        """Append documents. Their vectors are made here unless they come along."""
        if vectors is None and self._embed is not None and documents:
            vectors = self._embed([document.text for document in documents])
        assert vectors is None or len(vectors) == len(documents), "one vector a document"
        with self._lock:
            for document in documents:
                self._append(document)
            if vectors is not None:
                self._vectors.frombytes(np.ascontiguousarray(vectors, dtype=np.float32).tobytes())
                self._sum = self._sum + vectors.sum(axis=0, dtype=np.float64)

    def rank(self, query: str, *, now: float | None = None) -> Ranking:
        """What each document is worth for `query`, part by part. `now` is the last one's time unless said."""
        vector = self.vector(query)
        with self._lock:
            parts = self._parts(query, vector, now) if len(self) else {"keyword": np.zeros(0)}
        return Ranking(values=sum(parts.values(), np.zeros(len(self))), parts=MappingProxyType(parts))

    @property
    def by_words(self) -> bool:
        """Nobody embeds: words alone decide."""
        return self._embed is None

    def vector(self, query: str) -> Vector | None:
        """The vector of a question, remembered; None where nobody gives one, or not now."""
        if self._embed is None:
            return None
        try:
            return self._asked(query)
        except UpstreamError:
            return None

    def matches(self, query: str, *, floor: float) -> Truths:
        """Which documents hold a word of the query, or are so near to it that they need not."""
        vector = self.vector(query)
        with self._lock:
            found = self._postings.shared(self._postings.known(terms(query).all), length=0.0) > 0
            if vector is None or not vector.any() or not len(self):
                return found
            rows = np.frombuffer(self._vectors, dtype=np.float32).reshape(len(self), -1)
            near: Truths = (rows @ vector >= floor) & (self._alike(vector) >= STANDS_OUT)
            return found | near

    def _append(self, document: Document) -> None:
        place, last, found = len(self), self._last, terms(document.text)
        paused = last is None or _paused(last.created_at, document.created_at)
        if paused:
            self._starts.append(place)
        # Two tool results side by side say nothing about each other.
        self._joined.append(not paused and not (last and last.role == document.role == "tool"))
        self._users.append(document.role == "user")
        self._rules.append(self._rule(document))
        self._times.append(np.nan if document.created_at is None else document.created_at)
        self._postings.append(found.all)
        self._names.append(array("q", self._postings.known(sorted(found.names))))
        if document.role != "tool" and document.author not in _ROLES:
            self._speakers.setdefault(tuple(terms(document.author).all), array("q")).append(place)
        self._last = document

    def _rule(self, document: Document) -> float:
        """What anyone but the user wants for good is no rule."""
        if document.role != "user":
            return 0.0
        return rule_strength(document.text, rule=self._numbers.rule, order=self._numbers.order)

    def _parts(self, query: str, vector: Vector | None, now: float | None) -> dict[str, Floats]:
        numbers, read = self._numbers, terms(query)
        asked, coined_terms = read.all, read.coined
        named = self._named(asked)
        parts = {"keyword": numbers.keyword * self._keyword([term for term in asked if term not in named])}
        if vector is not None:
            parts["vector"] = numbers.vector * self._alike(vector)
        close = sum(parts.values(), np.zeros(len(self)))
        parts["neighbours"] = numbers.neighbour * beside(close, np.frombuffer(self._joined, dtype=np.bool_))
        parts["sitting"] = numbers.sitting * of_sittings(close, np.frombuffer(self._starts, dtype=np.int64))
        parts["speaker"] = self._said_by(named)
        if coined := [term for term in asked if term in coined_terms]:
            parts["identifier"] = numbers.identifier * self._holding(coined)
        parts["rules"] = np.array(self._rules)
        if (time := self._time(query, now)) is not None:
            parts["time"] = numbers.time * time
        parts["hop"] = numbers.hop * self._hop(asked, sum(parts.values(), np.zeros(len(self))))
        return parts

    def _keyword(self, wanted: Sequence[str]) -> Floats:
        numbers, known = self._numbers, self._postings.known(wanted)
        scores = self._postings.scores(known, saturation=numbers.saturation, length=numbers.length)
        return standing_out(scores)

    def _holding(self, coined: Sequence[str]) -> Floats:
        """The share of these identifiers that each document holds; those that many hold say nothing."""
        rare = [n for n in self._postings.known(coined) if self._postings.holders(n) <= self._rare]
        held = np.zeros(len(self))
        for number in rare:
            held[self._postings.places(number)] += 1 / len(rare)
        return held

    @property
    def _rare(self) -> float:
        return max(2.0, RARE * len(self))

    def _alike(self, vector: Vector) -> Floats:
        """How near to the question, and not just to everything that was said here."""
        if not vector.any():
            return np.zeros(len(self))
        rows = np.frombuffer(self._vectors, dtype=np.float32).reshape(len(self), -1)
        usual = (self._sum / len(self)).astype(np.float32)
        return standing_out((rows @ (vector - usual)).astype(np.float64))

    def _named(self, asked: Sequence[str]) -> dict[str, array[int]]:
        """The terms of the question that name a speaker, and where that one speaks."""
        often = max(3, OFTEN * len(self))
        spoken = ((words, places) for words, places in self._speakers.items() if len(places) >= often)
        return {word: places for words, places in spoken for word in words if word in asked}

    def _said_by(self, named: dict[str, array[int]]) -> Floats:
        if not named:
            return self._numbers.user * np.array(self._users, dtype=np.float64)
        part = np.zeros(len(self))
        for places in named.values():
            part[np.frombuffer(places, dtype=np.int64)] = self._numbers.speaker
        return part

    def _time(self, query: str, now: float | None) -> Floats | None:
        present = now if now is not None or self._last is None else self._last.created_at
        interval = when(query, present) if present is not None else None
        return within(np.array(self._times), interval) if interval else None

    def _hop(self, asked: Sequence[str], values: Floats) -> Floats:
        """Who shares names with the best hits that the question does not mention: the rest of the answer."""
        best = np.argsort(-values, kind="stable")[: self._numbers.hops_from]
        chances = np.exp(values[best] - values[best[0]])
        mentioned = set(self._postings.known(asked))
        found = np.zeros(len(self))
        for place, chance in zip(best.tolist(), chances.tolist(), strict=True):
            names = self._postings.rarest((n for n in self._names[place] if n not in mentioned), FOLLOWED)
            shared = chance * self._postings.shared(names, length=0.5)
            shared[place] = 0
            np.maximum(found, shared, out=found)
        return standing_out(found)

    def _question(self, query: str) -> Vector:
        assert self._embed is not None
        return self._embed([query]).reshape(-1)


def _paused(before: float | None, after: float | None) -> bool:
    return before is not None and after is not None and abs(after - before) > PAUSE
