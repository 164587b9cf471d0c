"""Which numbers can be fitted, and what is tried for them."""

from __future__ import annotations

import pytest

from foveal.presets.numbers import listed, resolved
from foveal.presets.tunable import TUNABLE, nested


def options(preset: str) -> list[dict[str, object]]:
    current = {each.key: each.value for each in listed(preset, [])}
    found = [option for number in TUNABLE[preset] for option in number.options(current)]  # type: ignore[arg-type]
    return [dict(option) for option in found]


@pytest.mark.parametrize("preset", TUNABLE)
def test_every_value_that_is_tried_is_one_that_the_preset_takes(preset: str) -> None:
    assert len(options(preset)) > 1
    for option in options(preset):
        changed = resolved([("tried", {preset: nested(option)})])[preset]  # type: ignore[arg-type]
        assert changed != resolved([])[preset]


@pytest.mark.parametrize("preset", TUNABLE)
def test_what_is_tried_differs_from_what_is_in_effect(preset: str) -> None:
    current = {each.key: each.value for each in listed(preset, [])}
    assert all(value != current[key] for option in options(preset) for key, value in option.items())


def test_shares_that_are_moved_keep_their_sum() -> None:
    current = {each.key: each.value for each in listed("penguin", [])}
    for option in options("penguin"):
        assert sum(option.values()) == pytest.approx(sum(current[key] for key in option))  # type: ignore[arg-type,misc]
