"""Rank the messages of one session for a question, with an index in memory.

Appending is incremental. A question costs one pass over the postings of its terms and one over the vectors;
its own vector is cached. The index is thread-safe.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock
from types import MappingProxyType

import numpy as np

from foveal.errors import UpstreamError
from foveal.search.dates import mentioned_time
from foveal.search.embed.base import Vectors
from foveal.search.postings import Postings
from foveal.search.rank import best_in_sitting, neighbours, rule_strength, standardized, within
from foveal.search.terms import asks, repeats, terms
from foveal.search.values import (
    CLEAR,
    NEAREST,
    NUMBERS,
    Document,
    Floats,
    Matches,
    Ranking,
    RankNumbers,
    Vector,
)

PAUSE = 3_600.0
"""Seconds without a message after which a new sitting begins."""
CACHED_QUERIES = 256
SPEAKER_SHARE = 0.02
"""An author of at least this share of the messages, and of at least three, is a speaker."""
FOLLOWED_NAMES = 32
"""Names of one hit that are followed, the rarest first."""
RARE_SHARE = 0.02
"""An identifier counts as rare when at most this share of the messages contain it."""
STANDS_OUT = 2.0
"""Standard deviations above the mean similarity that a hit by meaning needs."""
FEWEST = 20
"""Documents below which no similarity can stand out so much."""
_ROLES = frozenset({"", "system", "user", "assistant", "tool"})


class Index:
    """What the ranking needs of every message, in columns."""

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
        self._questions: dict[int, frozenset[str]] = {}
        """The terms of the documents that do nothing but ask, by position."""
        self._vectors, self._sum = array("f"), np.zeros(1)
        self._query_vector = lru_cache(maxsize=CACHED_QUERIES)(self._embed_query)

    def __len__(self) -> int:
        return len(self._postings)

    def extend(self, documents: Sequence[Document], vectors: Vectors | None = None) -> None:
        """Append documents. They are embedded here unless the caller passes their vectors."""
        if vectors is None and self._embed is not None and documents:
            vectors = self._embed([document.text for document in documents])
        assert vectors is None or len(vectors) == len(documents), "one vector per document"
        with self._lock:
            for document in documents:
                self._append(document)
            if vectors is not None:
                self._vectors.frombytes(np.ascontiguousarray(vectors, dtype=np.float32).tobytes())
                self._sum = self._sum + vectors.sum(axis=0, dtype=np.float64)

    def rank(
        self, query: str, *, now: float | None = None, end: int | None = None, answers: bool = False
    ) -> Ranking:
        """Score each document for `query`, part by part. `now` defaults to the time of the last document.

        `end`: rank only so many of the first documents. If the query is a document itself, no other stands
        out beside it. `answers`: what only asks the same as the query is worth no more than what is around
        it.
        """
        vector = self.vector(query)
        with self._lock:
            end = len(self) if end is None else min(end, len(self))
            asking = self._asking(query, end) if answers else []
            parts = self._parts(query, vector, now, end, asking) if end else {"keyword": np.zeros(0)}
        return Ranking(values=sum(parts.values(), np.zeros(end)), parts=MappingProxyType(parts))

    @property
    def by_words(self) -> bool:
        """Whether there is no embedder, so that keywords alone decide."""
        return self._embed is None

    def vector(self, query: str) -> Vector | None:
        """The cached vector of a question; None without an embedder, or when it cannot be reached."""
        if self._embed is None:
            return None
        try:
            return self._query_vector(query)
        except UpstreamError:
            return None

    def matches(self, query: str) -> Matches:
        """Which documents contain a word of the query, and which are related to it by their meaning."""
        vector = self.vector(query)
        with self._lock:
            share = self._postings.share(terms(query).all)
            if vector is None or not vector.any() or not len(self):
                none = np.zeros(len(self), dtype=np.bool_)
                return Matches(share=share, near=none, clear=none)
            cosines = np.frombuffer(self._vectors, dtype=np.float32).reshape(len(self), -1) @ vector
            near = cosines >= NEAREST
            if len(self) >= FEWEST:
                near &= self._similarity(vector, len(self)) >= STANDS_OUT
            return Matches(share=share, near=near, clear=near & (cosines >= CLEAR))

    def _append(self, document: Document) -> None:
        position, last, found = len(self), self._last, terms(document.text)
        paused = last is None or _paused(last.created_at, document.created_at)
        if paused:
            self._starts.append(position)
        # Two adjacent tool results are unrelated.
        self._joined.append(not paused and not (last and last.role == document.role == "tool"))
        self._users.append(document.role == "user")
        self._rules.append(self._rule(document))
        self._times.append(np.nan if document.created_at is None else document.created_at)
        self._postings.append(found.all)
        if asks(document.text):
            self._questions[position] = frozenset(found.all)
        self._names.append(array("q", self._postings.known(sorted(found.names))))
        if document.role != "tool" and document.author not in _ROLES:
            self._speakers.setdefault(tuple(terms(document.author).all), array("q")).append(position)
        self._last = document

    def _rule(self, document: Document) -> float:
        """How much of a standing rule it is; only the user's messages can be one."""
        if document.role != "user":
            return 0.0
        return rule_strength(document.text, rule=self._numbers.rule, order=self._numbers.order)

    def _asking(self, query: str, end: int) -> list[int]:
        """The documents that only ask what the query asks."""
        asked = frozenset(terms(query).all)
        return [at for at, found in self._questions.items() if at < end and repeats(found, asked)]

    def _parts(
        self, query: str, vector: Vector | None, now: float | None, end: int, asking: Sequence[int]
    ) -> dict[str, Floats]:
        numbers, query_terms = self._numbers, terms(query)
        every = query_terms.all
        speakers = self._named_speakers(every)
        parts = {"keyword": numbers.keyword * self._keyword([t for t in every if t not in speakers], end)}
        if vector is not None:
            parts["vector"] = numbers.vector * self._similarity(vector, end)
        close = sum(parts.values(), np.zeros(end))
        joined, starts = np.array(self._joined[:end], dtype=np.bool_), np.array(self._starts, dtype=np.int64)
        parts["neighbours"] = numbers.neighbour * neighbours(close, joined)
        parts["sitting"] = numbers.sitting * best_in_sitting(close, starts[starts < end])
        parts["speaker"] = self._by_speaker(speakers)[:end]
        if coined := [term for term in every if term in query_terms.coined]:
            parts["identifier"] = numbers.identifier * self._containing(coined)[:end]
        parts["rules"] = np.array(self._rules[:end])
        if (time := self._time(query, now)) is not None:
            parts["time"] = numbers.time * time[:end]
        for name in ("keyword", "vector", "speaker", "identifier") if asking else ():
            if name in parts:
                parts[name][asking] = np.minimum(parts[name][asking], 0.0)
        parts["hop"] = numbers.hop * self._hop(every, sum(parts.values(), np.zeros(end)))
        return parts

    def _keyword(self, query_terms: Sequence[str], end: int) -> Floats:
        numbers, known = self._numbers, self._postings.known(query_terms)
        scores = self._postings.scores(known, saturation=numbers.saturation, length=numbers.length)
        return standardized(scores[:end])

    def _containing(self, coined: Sequence[str]) -> Floats:
        """The share of the rare ones among these identifiers that each document contains."""
        limit = max(2.0, RARE_SHARE * len(self))
        rare = [n for n in self._postings.known(coined) if self._postings.frequency(n) <= limit]
        shares = np.zeros(len(self))
        for number in rare:
            shares[self._postings.positions(number)] += 1 / len(rare)
        return shares

    def _similarity(self, vector: Vector, end: int) -> Floats:
        """How similar to the question, relative to the mean of the session."""
        if not vector.any():
            return np.zeros(end)
        rows = np.frombuffer(self._vectors, dtype=np.float32).reshape(len(self), -1)[:end]
        mean = (self._sum / len(self)).astype(np.float32)
        return standardized((rows @ (vector - mean)).astype(np.float64))

    def _named_speakers(self, query_terms: Sequence[str]) -> dict[str, array[int]]:
        """The terms of the question that name a speaker, and the positions of that speaker's messages."""
        least = max(3, SPEAKER_SHARE * len(self))
        speakers = ((words, found) for words, found in self._speakers.items() if len(found) >= least)
        return {word: found for words, found in speakers for word in words if word in query_terms}

    def _by_speaker(self, speakers: dict[str, array[int]]) -> Floats:
        if not speakers:
            return self._numbers.user * np.array(self._users, dtype=np.float64)
        part = np.zeros(len(self))
        for positions in speakers.values():
            part[np.frombuffer(positions, dtype=np.int64)] = self._numbers.speaker
        return part

    def _time(self, query: str, now: float | None) -> Floats | None:
        present = now if now is not None or self._last is None else self._last.created_at
        interval = mentioned_time(query, present) if present is not None else None
        return within(np.array(self._times), interval) if interval else None

    def _hop(self, query_terms: Sequence[str], values: Floats) -> Floats:
        """Score documents by names that they share with the best hits and the question does not mention."""
        best = np.argsort(-values, kind="stable")[: self._numbers.hops_from]
        chances = np.exp(values[best] - values[best[0]])
        mentioned = set(self._postings.known(query_terms))
        found = np.zeros(len(values))
        for position, chance in zip(best.tolist(), chances.tolist(), strict=True):
            names = self._postings.rarest(
                (n for n in self._names[position] if n not in mentioned), FOLLOWED_NAMES
            )
            shared = chance * self._postings.shared(names, length=0.5)[: len(values)]
            shared[position] = 0
            np.maximum(found, shared, out=found)
        return standardized(found)

    def _embed_query(self, query: str) -> Vector:
        assert self._embed is not None
        return self._embed([query]).reshape(-1)


def _paused(before: float | None, after: float | None) -> bool:
    return before is not None and after is not None and abs(after - before) > PAUSE
