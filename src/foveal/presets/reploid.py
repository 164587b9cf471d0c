"""Keep the turns of highest importance that fit.

Importance is the sum of recency, role, keywords and length, 0 to 100 by default. Keywords match entire words
in any case, so "panic" does not match in "hispanic".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial

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
    """For the newest message and for system messages; older ones get a share by their position."""
    roles: Mapping[str, float] = field(
        default_factory=lambda: {"system": 30.0, "user": 20.0, "assistant": 10.0, "tool": 10.0}
    )
    error: float = 15.0
    error_words: str = "error failed failure exception traceback fatal panic"
    operation: float = 10.0
    """For a tool call, a tool result, or one of the words."""
    operation_words: str = "tool function execute create update delete deploy"
    length: float = 5.0
    long_above: int = 1000
    """Characters."""
    target: float = 0.8
    """Share of the model's limit above which a history needs pruning, and to which it is pruned."""
    keep: int = 10
    """Messages that stay verbatim when the older ones are summarized."""


def score_importance(
    items: Sequence[Item], _scene: Scene, *, numbers: ReploidNumbers | None = None
) -> Sequence[Score]:
    """Score every item; positions are counted among the messages other than system messages."""
    by = numbers or ReploidNumbers()
    fails, operates = _finder(by.error_words), _finder(by.operation_words)
    recency = by_position(items, most=by.recency)
    return [_score(item, age, by, fails, operates) for item, age in zip(items, recency, strict=True)]


def _score(item: Item, recency: float, by: ReploidNumbers, fails: Finder, operates: Finder) -> Score:
    text = item.text.lower()
    role = by.roles.get(item.role, 0.0)
    keywords = by.error * fails(text) + by.operation * (item.tool or operates(text))
    length = by.length * (len(item.text) > by.long_above)
    return Score(
        total=recency + role + keywords + length,
        parts={"recency": recency, "role": role, "keywords": keywords, "length": length},
    )


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


def pick_important(units: Sequence[Unit], room: int) -> Pick:
    """Take units from the best score down while they fit; of equals, the newest first.

    A unit that is too large is skipped. Forced units are always kept, and `room` does not count them.
    """
    because = {unit.turn: unit.forced for unit in units if unit.forced}
    kept, left = set(because), room
    free = [unit for unit in units if not unit.forced]
    for unit in sorted(free, key=lambda unit: (-unit.score.total, -unit.turn)):
        importance = f"importance {unit.score.total:.1f}"
        if unit.tokens <= left:
            kept.add(unit.turn)
            left -= unit.tokens
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
    )
