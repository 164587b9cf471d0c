"""A manifest in → for each left-out decision, what would have kept it: more tokens, or a higher score.

    tokens  what the budget lacks for it beside everything that is in; where the newest stay, beside
            everything newer than it too
    score   above that of the kept ones whose tokens, with the room that is left, make place for it

Where there was room in the whole and not in its own share of the plan, the share is named.

These are read off the manifest, and a larger budget may be shared out anew: `crossing` finds the number
itself, by trying.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from foveal.pipeline.history import EMPTY, ERASED, LEFT_OUT
from foveal.window import Decision, Manifest, Score

FIXED = ("system prompt", "pinned", "open turn")
"""How the reasons begin of what is in whatever its score."""
ABSENT = (EMPTY, ERASED, LEFT_OUT)
FIRST, FASTER = 16, 4
"""How a number is looked for: the first that is tried, and how many times larger each next step is."""


def worth(decision: Decision) -> Score | None:
    """The score of a decision, where the preset gives any."""
    return decision.score if decision.score and (decision.score.parts or decision.score.total) else None


def nearest(decisions: Sequence[Decision]) -> list[Decision]:
    """Left-out decisions, those nearest to the cut first: by score, or where there is none the newest."""
    return sorted(decisions, key=_nearness)


def _nearness(decision: Decision) -> tuple[bool, float, int]:
    score = worth(decision)
    if score:  # of equals the smallest: least was missing for it
        return False, -score.total, decision.tokens
    return decision.score is None, 0.0, -decision.last


def crossing(flips: Callable[[int], bool], most: int, guesses: Iterable[int] = ()) -> int | None:
    """A number that flips something while one less does not, 0 taken as such; None where `most` does not.

    It tries small numbers first, so of several such numbers it is seldom a large one; a good guess saves most
    of the tries.

    >>> crossing(lambda number: number >= 37, 100), crossing(lambda number: False, 100)
    (37, None)
    """
    low, high, step = 0, most + 1, FIRST
    for guess in guesses:
        if low < guess < high:
            low, high = (low, guess) if flips(guess) else (guess, high)
    while low + step < high:
        if flips(low + step):
            high = low + step
        else:
            low, step = low + step, FASTER * step
    if high > most and (low >= most or not flips(most)):
        return None
    high = min(high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if flips(middle) else (middle, high)
    return high


class Cut:
    """Where the window of a manifest was cut."""

    def __init__(self, manifest: Manifest) -> None:
        self.free = manifest.budget - manifest.tokens
        self.digits = 1 if any(s.total > 1 for d in manifest.decisions if (s := worth(d))) else 3
        self._scored = any(worth(decision) for decision in manifest.decisions)
        self._out = [d for d in manifest.left_out if d.because not in ABSENT]
        self._chosen = sorted(
            (d for d in manifest.kept if worth(d) and not d.because.startswith(FIXED)), key=_total
        )
        self._slots = {slot.name: max(0, slot.allotted - slot.used) for slot in manifest.slots}
        newest = max(self._out, key=lambda d: d.last, default=None)
        self._slot_bound = newest is not None and newest.tokens <= self.free

    def score(self, total: float) -> str:
        """A score with the digits that tell the scores of this manifest apart."""
        return f"{total:,.{self.digits}f}"

    def keeps(self, decision: Decision) -> str:
        """What would have kept a left-out decision; empty where nothing would, or nobody knows."""
        lost = decision.verdict != "left out" or decision.because in ABSENT
        if lost or (self._scored and not worth(decision)):
            return ""
        ways = [self._tokens(decision), self._score(decision)]
        return f"{self._subject(decision)} {' or '.join(filter(None, ways))}" if any(ways) else ""

    def _subject(self, decision: Decision) -> str:
        """A run of turns is spoken of as a whole."""
        run = decision.first != decision.last and not (decision.slot and decision in self._out)
        return "all of it needs" if run and not self._scored else "needs"

    def lacks(self, decision: Decision) -> int:
        """Tokens that the budget lacks for it, as far as the manifest tells."""
        return max(0, self._need(decision) - self.free)

    def _need(self, decision: Decision) -> int:
        return decision.tokens if self._scored else sum(d.tokens for d in self._newer(decision))

    def _tokens(self, decision: Decision) -> str:
        """How many more tokens, of the whole or of its slot."""
        need = self._need(decision)
        full = [name for name in decision.slot.split(", ") if self._slots.get(name, need) < need]
        if full and (self._slot_bound if not self._scored else need <= self.free):
            tightest = min(full, key=lambda name: self._slots[name])
            # A turn's tokens by slot are not in the manifest: in its tightest it has all of them or fewer.
            most = "up to " if ", " in decision.slot else ""
            return f"{most}{need - self._slots[tightest]:,} more tokens for {tightest}"
        if need <= self.free:
            return ""
        # Of a preset that scores, others may take room that is added: this much is the least.
        least = "at least " if self._scored else ""
        return f"{least}{need - self.free:,} more tokens"

    def _newer(self, decision: Decision) -> list[Decision]:
        """The decision and those that stay before it does, where the newest of a slot stay."""
        mine = set(decision.slot.split(", "))
        return [d for d in self._out if d.last >= decision.first and mine & set(d.slot.split(", "))]

    def _score(self, decision: Decision) -> str:
        above = self.above(decision)
        return "" if above is None else f"a score over {self.score(above)}"

    def above(self, decision: Decision) -> float | None:
        """The score of the kept one that it would have to beat; None where no score would help it."""
        if not self._scored or decision.tokens <= self.free:
            return None
        room = self.free
        for rival in self._chosen:
            if rival.slot == decision.slot:
                room += rival.tokens
                if room >= decision.tokens:
                    return _total(rival) if _total(decision) < _total(rival) else None
        return None


def _total(decision: Decision) -> float:
    return decision.score.total if decision.score else 0.0
