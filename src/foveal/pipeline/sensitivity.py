"""Say what would have kept a left-out decision: more tokens, or a higher score.

    tokens  what the budget lacks for it next to everything that is in, and, where the latest turns stay,
            next to everything newer than it
    score   above those of the kept decisions whose tokens, with the free room, would make place for it

If only its slot of the plan was full, the slot is named.

These numbers come from the manifest alone, and a larger budget may be divided differently; `crossing` finds
the exact number by trying.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from foveal.window import ABSENT, FIXED, Decision, Manifest, Score

FIRST, FASTER = 16, 4
"""The search tries this number first, and makes each next step this many times larger."""


def worth(decision: Decision) -> Score | None:
    """The score of a decision, if the preset scores."""
    return decision.score if decision.score and (decision.score.parts or decision.score.total) else None


def nearest(decisions: Sequence[Decision]) -> list[Decision]:
    """Left-out decisions, nearest to the cut first: by score, or the latest first without scores."""
    return sorted(decisions, key=_nearness)


def _nearness(decision: Decision) -> tuple[bool, float, int]:
    score = worth(decision)
    if score:  # of equal scores the smallest comes first: it lacked least
        return False, -score.total, decision.tokens
    return decision.score is None, 0.0, -decision.last


def crossing(
    flips: Callable[[int], bool], most: int, guesses: Iterable[int] = (), *, within: float = 0.0
) -> tuple[int, int] | None:
    """A number for which `flips` is true and a lower one for which it is not; None if it is false for `most`.

    0 counts as false. The numbers are neighbours, or at most `within` apart, as a share of the higher one.
    Small numbers are tried first, so of several such pairs it rarely returns a large one; a good guess saves
    most of the tries.

    >>> crossing(lambda number: number >= 37, 100), crossing(lambda number: False, 100)
    ((37, 36), None)
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
    while high - low > max(1, within * high):
        middle = (low + high) // 2
        low, high = (low, middle) if flips(middle) else (middle, high)
    return high, low


class Cut:
    """Where a manifest's window was cut."""

    def __init__(self, manifest: Manifest) -> None:
        self.free = manifest.budget - manifest.tokens
        self.digits = 1 if any(s.total > 1 for d in manifest.decisions if (s := worth(d))) else 3
        self._scored = any(worth(decision) for decision in manifest.decisions)
        self._out = [d for d in manifest.left_out if d.code not in ABSENT]
        self._chosen = sorted((d for d in manifest.kept if worth(d) and d.code not in FIXED), key=_total)
        self._slots = {slot.name: max(0, slot.allotted - slot.used) for slot in manifest.slots}
        self._logs = [(note.first, note.last) for note in manifest.notes if note.kind == "log"]
        latest = max(self._out, key=lambda d: d.last, default=None)
        self._slot_bound = latest is not None and latest.tokens <= self.free

    def score(self, total: float) -> str:
        """A score with enough digits to distinguish the scores of this manifest."""
        return f"{total:,.{self.digits}f}"

    def keeps(self, decision: Decision) -> str:
        """What would have kept a left-out decision; empty if nothing would, or if it is unknown."""
        lost = decision.verdict != "left out" or decision.code in ABSENT or decision.code == "too_old"
        # What a log could have had does not depend on the tokens of the message.
        lost = lost or any(first <= decision.first and decision.last <= last for first, last in self._logs)
        if lost or (self._scored and not worth(decision)):
            return ""
        ways = [self._tokens(decision), self._score(decision)]
        return f"{self._subject(decision)} {' or '.join(filter(None, ways))}" if any(ways) else ""

    def _subject(self, decision: Decision) -> str:
        """A run of turns is described as a whole."""
        run = decision.first != decision.last and not (decision.slot and decision in self._out)
        return "all of it needs" if run and not self._scored else "needs"

    def lacks(self, decision: Decision) -> int:
        """Tokens that the budget lacks for it, judging by the manifest."""
        return max(0, self._need(decision) - self.free)

    def _need(self, decision: Decision) -> int:
        return decision.tokens if self._scored else sum(d.tokens for d in self._newer(decision))

    def _tokens(self, decision: Decision) -> str:
        """How many more tokens it needs, in all or in its slot."""
        need = self._need(decision)
        full = [name for name in decision.slot.split(", ") if self._slots.get(name, need) < need]
        if full and (self._slot_bound if not self._scored else need <= self.free):
            tightest = min(full, key=lambda name: self._slots[name])
            # The manifest has no tokens per slot of a turn: at most all of them are in the tightest.
            most = "up to " if ", " in decision.slot else ""
            return f"{most}{need - self._slots[tightest]:,} more tokens for {tightest}"
        if need <= self.free:
            return ""
        # With scores, other turns may take added room, so this is a minimum.
        least = "at least " if self._scored else ""
        return f"{least}{need - self.free:,} more tokens"

    def _newer(self, decision: Decision) -> list[Decision]:
        """The decision and the newer ones of its slots, which would be kept before it."""
        mine = set(decision.slot.split(", "))
        return [d for d in self._out if d.last >= decision.first and mine & set(d.slot.split(", "))]

    def _score(self, decision: Decision) -> str:
        above = self.above(decision)
        return "" if above is None else f"a score over {self.score(above)}"

    def above(self, decision: Decision) -> float | None:
        """The score of the kept decision that it would have to beat; None if no score would help."""
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
