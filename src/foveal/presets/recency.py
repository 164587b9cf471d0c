"""Ages and positions in → what being recent is worth, in the four shapes the presets use."""

from __future__ import annotations

import math
from collections.abc import Sequence

from foveal.pipeline.values import Item, Scene
from foveal.window import Score

DAY = 86_400.0
MINUTE = 60.0


def age(timestamp: float, now: float) -> float:
    """Seconds since then; a time in the future is now."""
    return max(0.0, now - timestamp)


def linear(days: float, *, most: float) -> float:
    """One point less a day.

    >>> linear(4.5, most=20), linear(30, most=20)
    (15.5, 0.0)
    """
    return max(0.0, most - days)


def exponential(days: float, *, most: float, rate: float) -> float:
    """A share less a day."""
    return most * math.exp(-rate * days)


def per_minute(minutes: float) -> float:
    """Half after a minute, a third after two.

    >>> per_minute(0), per_minute(1), per_minute(3)
    (1.0, 0.5, 0.25)
    """
    return 1 / (1 + minutes)


def by_position(items: Sequence[Item], *, most: float) -> list[float]:
    """By place among the messages that are not system's; the newest and the system's get all of it."""
    others = sum(item.role != "system" for item in items)
    found, place = [], 0
    for item in items:
        newest = item.role == "system" or place == others - 1
        found.append(most if newest else most * place / others)
        place += item.role != "system"
    return found


def unscored(items: Sequence[Item], _: Scene) -> Sequence[Score]:
    """No score at all: for presets whose plan and order decide alone."""
    return [Score(total=0.0)] * len(items)
