"""Divide a pool's budget among its agents by what they ask for, so that none starves and none wastes it.

An agent asks for room for its history, rounded up to the floor times a power of two, so that its share seldom
changes and windows keep their prefix. An agent without a new message for an hour asks for the floor alone: a
quarter of an equal share. Agents that ask for less than an equal part of what is left get what they ask for;
the others divide the rest equally. What is left over is divided equally too. One division holds for all of
them, at every build, so the shares never exceed the budget together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from foveal.window import PoolShare

FLOOR = 4
"""The floor is this fraction of an equal share."""
IDLE = 3_600.0
"""Seconds without a message after which an agent asks for the floor alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What an agent may need."""

    tokens: int
    """Of its whole history."""
    latest: float
    """When its latest message was added, in seconds since 1970."""


def divided(budget: int, asked: Mapping[str, int]) -> dict[str, int]:
    """Divide a budget: each gets what it asks for if the others leave that, and an equal part of the rest.

    >>> divided(900, {"a": 1_000, "b": 100, "c": 1_000})
    {'a': 400, 'b': 100, 'c': 400}
    >>> divided(900, {"a": 200, "b": 100})
    {'a': 500, 'b': 400}
    """
    shares: dict[str, int] = {}
    left = budget
    for at, name in enumerate(sorted(asked, key=lambda each: (asked[each], each))):
        shares[name] = min(asked[name], left // (len(asked) - at))
        left -= shares[name]
    return {name: shares[name] + left // len(asked) for name in asked}


def asked_for(demand: Demand, floor: int, now: float) -> int:
    """What an agent asks for.

    >>> demand = Demand(tokens=900, latest=0.0)
    >>> [asked_for(demand, 250, now) for now in (60.0, 9_999.0)]
    [1000, 250]
    """
    asked = max(1, floor)
    if now - demand.latest < IDLE:
        while asked < demand.tokens:
            asked *= 2
    return asked


def share_of(
    pool: str, name: str, budget: int | None, demands: Mapping[str, Demand], now: float
) -> PoolShare:
    """The share of one agent's next window, with the reason in words."""
    agents = len(demands)
    team = f"{agents:,} agent{'s' * (agents != 1)}"
    if budget is None:
        because = f"pool {pool} of {team} has no budget: each window has its own"
        return PoolShare(pool=pool, agents=agents, budget=0, tokens=0, because=because)
    floor = budget // (FLOOR * agents)
    asked = {each: asked_for(demand, floor, now) for each, demand in demands.items()}
    tokens = divided(budget, asked)[name]
    others = sum(asked.values()) - asked[name]
    because = (
        f"{tokens:,} of the {budget:,} tokens of pool {pool}, divided among {team}: this one asks for "
        f"{asked[name]:,}, the others for {others:,}"
    )
    return PoolShare(pool=pool, agents=agents, budget=budget, tokens=tokens, because=because)
