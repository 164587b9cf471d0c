"""Keep the turns of highest importance that fit.

Importance is the sum of recency, role, keywords and length, 0 to 100 by default. Keywords match entire words
in any case, so "panic" does not match in "hispanic".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial

from foveal.model import Role
from foveal.pipeline.reasons import Reason, no_room
from foveal.pipeline.recipe import Recipe
from foveal.pipeline.values import Item, Pick, Scene, Unit
from foveal.presets.base import Preset
from foveal.presets.omar.greedy import slot_of
from foveal.presets.recency_curves import by_position
from foveal.window import Score

Finder = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReploidNumbers:
    """The numbers of importance and of pruning."""

    recency: float = 40.0
    """Points for the newest message and for system messages; older ones get a share by their position."""
    roles: Mapping[str, float] = field(
        default_factory=lambda: {"system": 30.0, "user": 20.0, "assistant": 10.0, "tool": 10.0}
    )
    """Points by the role of a message."""
    error: float = 15.0
    """Points for one of the words of failure, once."""
    error_words: str = "error failed failure exception traceback fatal panic"
    """The words of failure, separated by spaces; they match whole and in any case."""
    operation: float = 10.0
    """Points for a tool call, a tool result, or one of the words."""
    operation_words: str = "tool function execute create update delete deploy"
    """The words of an operation, separated by spaces; they match whole and in any case."""
    length: float = 5.0
    """Points for a long message."""
    long_above: int = 1000
    """Characters above which a message is long."""
    target: float = 0.8
    """Share of the model's limit above which a history needs pruning, and to which it is pruned."""
    keep: int = 10
    """Messages that stay verbatim when the older ones are summarized."""


def score_importance(
    items: Sequence[Item], _scene: Scene, *, numbers: ReploidNumbers | None = None
) -> Sequence[Score]:
    """Score every item; positions are counted among the messages other than system messages."""
    by = numbers or ReploidNumbers()
    found = [traits_of(item.text, item.role, tool=item.tool, numbers=by) for item in items]
    return importance_by_traits(found, by)


@dataclass(frozen=True, slots=True, eq=False)
class Traits:
    """What the importance of a message depends on besides its position.

    Messages with the same traits share the object, so that it can be looked up by identity.
    """

    role: Role
    fails: bool
    """It has a word for an error."""
    operates: bool
    """It calls a tool or answers a call, or has a word for an operation."""
    long: bool


def traits_of(text: str, role: Role, *, tool: bool, numbers: ReploidNumbers) -> Traits:
    """Only the words and the length in the numbers count here, not the weights."""
    lower = text.lower()
    fails, operates = _finder(numbers.error_words), _finder(numbers.operation_words)
    return _shared(role, fails(lower), tool or operates(lower), len(text) > numbers.long_above)


_shared = lru_cache(maxsize=64)(Traits)


def importance_by_traits(traits: Sequence[Traits], numbers: ReploidNumbers) -> list[Score]:
    """The importance of the messages of a history, given their traits in order."""
    recency = by_position([each.role for each in traits], most=numbers.recency)
    parts = {each: _parts(each, numbers) for each in set(traits)}
    found = ({"recency": age, **parts[each]} for each, age in zip(traits, recency, strict=True))
    return [Score(total=sum(each.values()), parts=each) for each in found]


def importance_totals(traits: Sequence[Traits], numbers: ReploidNumbers) -> list[float]:
    """The same without the parts, in less time."""
    recency = by_position([each.role for each in traits], most=numbers.recency)
    content = {each: tuple(_parts(each, numbers).values()) for each in set(traits)}
    return [
        age + role + keywords + length
        for age, (role, keywords, length) in zip(recency, map(content.__getitem__, traits), strict=True)
    ]


def _parts(traits: Traits, numbers: ReploidNumbers) -> dict[str, float]:
    """What the traits of a message add to its importance, wherever it stands."""
    return {
        "role": numbers.roles.get(traits.role, 0.0),
        "keywords": numbers.error * traits.fails + numbers.operation * traits.operates,
        "length": numbers.length * traits.long,
    }


@lru_cache(maxsize=16)
def _finder(words: str) -> Finder:
    """A function that says whether a lower-case text has one of the words, which are separated by spaces."""
    known = words.lower().split()
    entire = re.compile(rf"\b(?:{'|'.join(map(re.escape, known))})\b")

    def found(text: str) -> bool:
        # `in` is many times faster than the pattern, and most texts have none of the words.
        for word in known:
            if word in text:
                return entire.search(text) is not None
        return False

    return found


def best_that_fit(
    scores: Sequence[float], sizes: Sequence[int], room: int
) -> Iterator[tuple[int, bool, int]]:
    """From the best score down, of equals the newest first: the position, whether it fits, and the room left.

    What is too large is skipped.

    >>> list(best_that_fit([3.0, 9.0, 3.0], [5, 20, 5], room=8))
    [(1, False, 8), (2, True, 8), (0, False, 3)]
    """
    newest_first = range(len(scores) - 1, -1, -1)
    for at in sorted(newest_first, key=scores.__getitem__, reverse=True):  # keeps the order of equals
        fits = sizes[at] <= room
        yield at, fits, room
        room -= sizes[at] * fits


def pick_important(units: Sequence[Unit], room: int) -> Pick:
    """Take units from the best score down while they fit.

    Forced units are always kept, and `room` does not count them.
    """
    because = {unit.turn: unit.forced for unit in units if unit.forced}
    kept = set(because)
    free = [unit for unit in units if not unit.forced]
    order = best_that_fit([unit.score.total for unit in free], [unit.tokens for unit in free], room)
    for at, fits, left in order:
        unit = free[at]
        importance = f"importance {unit.score.total:.1f}"
        if fits:
            kept.add(unit.turn)
            because[unit.turn] = Reason(code="selected", columns=importance)
        else:
            because[unit.turn] = no_room(needed=unit.tokens, left=left, columns=importance)
    return Pick(kept=frozenset(kept), because=because)


def reploid(numbers: ReploidNumbers = ReploidNumbers()) -> Preset:
    return Preset(
        name="reploid",
        about="pruned by importance",
        select=Recipe(
            score=partial(score_importance, numbers=numbers),
            slot_of=slot_of,
            plan=lambda _items, _scene: (),
            pick=lambda units, room, _slots: pick_important(units, room),
        ),
        looks_at_all=True,
        manages="prune",
    )
