"""Score recency, by one of the four curves that the presets use."""

from __future__ import annotations

import math
from collections.abc import Sequence

from foveal.model import Role
from foveal.pipeline.values import Item, Scene
from foveal.window import Score

DAY = 86_400.0
MINUTE = 60.0


def age(timestamp: float, now: float) -> float:
    """Seconds since then; 0 for a time in the future."""
    return max(0.0, now - timestamp)


def linear(days: float, *, most: float) -> float:
    """One point less per day.

    >>> linear(4.5, most=20), linear(30, most=20)
    (15.5, 0.0)
    """
    return max(0.0, most - days)


def exponential(days: float, *, most: float, rate: float) -> float:
    """Decays by the rate per day."""
    return most * math.exp(-rate * days)


def per_minute(minutes: float) -> float:
    """Half after a minute, a third after two.

    >>> per_minute(0), per_minute(1), per_minute(3)
    (1.0, 0.5, 0.25)
    """
    return 1 / (1 + minutes)


def by_position(roles: Sequence[Role], *, most: float) -> list[float]:
    """By position among the other messages for all but the newest and system messages, which get `most`.

    >>> by_position(["system", "user", "assistant", "user"], most=40)
    [40, 0.0, 13.333333333333334, 40]
    """
    others = len(roles) - roles.count("system")
    scores, position = [], 0
    for role in roles:
        if role == "system":
            scores.append(most)
            continue
        position += 1
        scores.append(most if position == others else most * (position - 1) / others)
    return scores


def unscored(items: Sequence[Item], _: Scene) -> Sequence[Score]:
    """Zero for every item: for presets that go by plan and order alone."""
    return [Score(total=0.0)] * len(items)
