"""Units and room in → the choice of the `omar` preset, by its solver and under its caps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foveal.pipeline.plan.flat import groups_of
from foveal.pipeline.score.omar import OmarNumbers
from foveal.pipeline.select.exact import exact
from foveal.pipeline.select.greedy import greedy
from foveal.pipeline.select.terms import Terms
from foveal.pipeline.values import Pick, Unit


def terms_of(numbers: OmarNumbers, caps: Mapping[str, int] | None = None) -> Terms:
    """The terms that the numbers state; `caps` come on top of theirs."""
    return Terms(
        prefer_higher_priority=numbers.prefer_higher_priority,
        allow_partial_fill=numbers.allow_partial_fill,
        caps={group: int(cap) for group, cap in numbers.group_caps.items()} | dict(caps or {}),
        groups_of=groups_of,
        exact_steps=numbers.exact_steps,
    )


def omar(
    units: Sequence[Unit], room: int, numbers: OmarNumbers, caps: Mapping[str, int] | None = None
) -> Pick:
    select = exact if numbers.solver == "exact" else greedy
    return select(units, room, terms_of(numbers, caps))
