"""Documents' terms in → which documents share terms with a question, and how much that says.

Only what is appended costs anything. Scores are BM25: rare terms say more, repetition less and less, and a
long document must say more than a short one.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from foveal.search.values import Floats, Whole


class Postings:
    """For each term, by its number, the documents that have it and how often."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._places: list[array[int]] = []
        self._counts: list[array[int]] = []
        self._lengths = array("q")
        self._total = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def append(self, terms: Sequence[str]) -> None:
        place = len(self._lengths)
        self._lengths.append(len(terms))
        self._total += len(terms)
        for term, count in Counter(terms).items():
            number = self._numbers.setdefault(term, len(self._places))
            if number == len(self._places):
                self._places.append(array("q"))
                self._counts.append(array("q"))
            self._places[number].append(place)
            self._counts[number].append(count)

    def known(self, terms: Iterable[str]) -> list[int]:
        """The numbers of those terms that any document has, each once."""
        return [self._numbers[term] for term in dict.fromkeys(terms) if term in self._numbers]

    def rarest(self, numbers: Iterable[int], most: int) -> list[int]:
        """Those that lead anywhere, from one document to another, the rarest first."""
        leading = [number for number in numbers if len(self._places[number]) > 1]
        return sorted(leading, key=lambda number: (len(self._places[number]), number))[:most]

    def scores(self, numbers: Sequence[int], *, saturation: float, length: float) -> Floats:
        """BM25 of every document."""
        if not numbers:
            return np.zeros(len(self))
        places, says = self._gathered(numbers)
        counts = np.concatenate([np.frombuffer(self._counts[number], dtype=np.int64) for number in numbers])
        norms = saturation * self._norms(length)[places]
        return self._summed(places, says * counts * (saturation + 1) / (counts + norms))

    def holders(self, number: int) -> int:
        """How many documents have a term."""
        return len(self._places[number])

    def places(self, number: int) -> Whole:
        """The documents that have a term."""
        return np.frombuffer(self._places[number], dtype=np.int64)

    def shared(self, numbers: Sequence[int], *, length: float) -> Floats:
        """How much those terms say that a document has, however often."""
        if not numbers:
            return np.zeros(len(self))
        places, says = self._gathered(numbers)
        return self._summed(places, says / self._norms(length)[places])

    def _gathered(self, numbers: Sequence[int]) -> tuple[Whole, Floats]:
        """The documents of all these terms one after another, and beside each how much its term says."""
        places = [np.frombuffer(self._places[number], dtype=np.int64) for number in numbers]
        sizes = np.array([len(of_one) for of_one in places])
        says = np.log1p((len(self) - sizes + 0.5) / (sizes + 0.5))
        return np.concatenate(places), np.repeat(says, sizes)

    def _summed(self, places: Whole, weights: Floats) -> Floats:
        return np.bincount(places, weights, len(self)).astype(np.float64, copy=False)

    def _norms(self, length: float) -> Floats:
        """1 for a document of ordinary length."""
        usual = self._total / len(self) or 1.0
        lengths = np.frombuffer(self._lengths, dtype=np.int64)
        return (lengths * (length / usual) + (1 - length)).astype(np.float64, copy=False)
