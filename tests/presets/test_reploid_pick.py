"""What choosing by importance promises."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from choosing import sentences
from foveal.pipeline.reasons import Reason
from foveal.pipeline.values import Unit
from foveal.presets.reploid import pick_important
from foveal.window import Score


def unit(turn: int, tokens: int, score: float = 0.0, *, forced: str = "") -> Unit:
    return Unit(
        turn=turn,
        items=(),
        tokens=tokens,
        score=Score(total=score),
        by_slot={"window": tokens},
        forced=Reason(code="pinned", words=forced) if forced else None,
    )


def kept(units: list[Unit], room: int) -> list[int]:
    return sorted(pick_important(units, room).kept)


def test_the_best_stay_until_the_room_is_full() -> None:
    assert kept([unit(0, 5, 30), unit(1, 5, 10), unit(2, 5, 20)], 10) == [0, 2]


def test_a_misfit_is_passed_over_and_the_next_may_still_fit() -> None:
    assert kept([unit(0, 4, 10), unit(1, 8, 20), unit(2, 4, 30)], 10) == [0, 2]


def test_of_equals_the_newest_stays() -> None:
    assert kept([unit(0, 5, 10), unit(1, 5, 10)], 5) == [1]


def test_what_is_forced_is_in_and_takes_none_of_the_room() -> None:
    assert kept([unit(0, 900, forced="system prompt"), unit(1, 5, 10)], 5) == [0, 1]


def test_every_unit_has_a_reason_with_its_numbers() -> None:
    units = [unit(0, 3, forced="system prompt"), unit(1, 300, 20), unit(2, 80, 36)]
    assert sentences(pick_important(units, 200)) == {
        0: "system prompt",
        1: "importance 20.0, needed 300 tokens, 120 were left",
        2: "importance 36.0",
    }


UNITS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 100), st.booleans()), max_size=14)


@settings(max_examples=300)
@given(UNITS, st.integers(0, 200))
def test_the_room_is_never_exceeded_and_nothing_that_would_still_fit_is_out(
    drawn: list[tuple[int, int, bool]], room: int
) -> None:
    units = [
        unit(at, tokens, score, forced="pinned" * forced) for at, (tokens, score, forced) in enumerate(drawn)
    ]
    pick = pick_important(units, room)
    spent = sum(each.tokens for each in units if each.turn in pick.kept and not each.forced)
    assert spent <= room
    assert all(each.tokens > room - spent for each in units if each.turn not in pick.kept)
    assert set(pick.because) == {each.turn for each in units}
    assert all(each.turn in pick.kept for each in units if each.forced)
