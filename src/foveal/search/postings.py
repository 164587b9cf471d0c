"""An inverted index in memory: which documents contain a term, and their BM25 scores.

It grows by appending; nothing is ever recomputed.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from foveal.search.values import Floats, Integers


class Postings:
    """For each term, by its number, the documents that contain it and how often."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._positions: list[array[int]] = []
        self._counts: list[array[int]] = []
        self._lengths = array("q")
        self._total = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def append(self, terms: Sequence[str]) -> None:
        position = len(self._lengths)
        self._lengths.append(len(terms))
        self._total += len(terms)
        for term, count in Counter(terms).items():
            number = self._numbers.setdefault(term, len(self._positions))
            if number == len(self._positions):
                self._positions.append(array("q"))
                self._counts.append(array("q"))
            self._positions[number].append(position)
            self._counts[number].append(count)

    def known(self, terms: Iterable[str]) -> list[int]:
        """The numbers of those terms that occur in any document, each once."""
        return [self._numbers[term] for term in dict.fromkeys(terms) if term in self._numbers]

    def rarest(self, numbers: Iterable[int], most: int) -> list[int]:
        """The rarest of the terms that occur in more than one document, rarest first."""
        linking = [number for number in numbers if len(self._positions[number]) > 1]
        return sorted(linking, key=lambda number: (len(self._positions[number]), number))[:most]

    def scores(self, numbers: Sequence[int], *, saturation: float, length: float) -> Floats:
        """The BM25 score of every document."""
        if not numbers:
            return np.zeros(len(self))
        positions, weights = self._weighted(numbers)
        counts = np.concatenate([np.frombuffer(self._counts[number], dtype=np.int64) for number in numbers])
        norms = saturation * self._norms(length)[positions]
        return self._summed(positions, weights * counts * (saturation + 1) / (counts + norms))

    def frequency(self, number: int) -> int:
        """How many documents contain a term."""
        return len(self._positions[number])

    def positions(self, number: int) -> Integers:
        """The documents that contain a term."""
        return np.frombuffer(self._positions[number], dtype=np.int64)

    def shared(self, numbers: Sequence[int], *, length: float) -> Floats:
        """The summed rarity of those terms that each document contains, however often."""
        if not numbers:
            return np.zeros(len(self))
        positions, weights = self._weighted(numbers)
        return self._summed(positions, weights / self._norms(length)[positions])

    def share(self, terms: Sequence[str]) -> Floats:
        """Of the summed rarity of these terms, those of no document included, what each document contains."""
        known = self.known(terms)
        if not known:
            return np.zeros(len(self))
        positions, weights = self._weighted(known)
        unknown = len(set(terms)) - len(known)
        total = sum(_rarity(len(self), self.frequency(number)) for number in known)
        total += unknown * _rarity(len(self), 0)
        return self._summed(positions, weights) / float(total)

    def _weighted(self, numbers: Sequence[int]) -> tuple[Integers, Floats]:
        """The documents of each term, concatenated, with the inverse document frequency of the term."""
        positions = [np.frombuffer(self._positions[number], dtype=np.int64) for number in numbers]
        sizes = np.array([len(of_one) for of_one in positions])
        return np.concatenate(positions), np.repeat(_rarity(len(self), sizes), sizes)

    def _summed(self, positions: Integers, weights: Floats) -> Floats:
        return np.bincount(positions, weights, len(self)).astype(np.float64, copy=False)

    def _norms(self, length: float) -> Floats:
        """Length factors: 1 for a document of average length."""
        average = self._total / len(self) or 1.0
        lengths = np.frombuffer(self._lengths, dtype=np.int64)
        return (lengths * (length / average) + (1 - length)).astype(np.float64, copy=False)


def _rarity(documents: int, containing: Any) -> Any:
    """The inverse document frequency of terms, by how many documents contain each."""
    return np.log1p((documents - containing + 0.5) / (containing + 0.5))
