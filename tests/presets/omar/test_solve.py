"""What greedy and exact selection promise: never over, every unit accounted for, exact at least as good."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choosing import sentences
from foveal.errors import InputError
from foveal.pipeline.reasons import Reason
from foveal.pipeline.values import Item, Pick, Unit
from foveal.presets.omar.greedy import Terms, charges, fractional_bound, greedy, without_forced
from foveal.presets.omar.solve import exact
from foveal.window import Conflict, Score

CAPPED = {"a": 12, "b": 9}


def unit(
    turn: int, tokens: int, priority: float, *, at: float | None = None, forced: str = "", groups: str = ""
) -> Unit:
    item = Item(
        index=turn, id=str(turn), role="user", kind="tool_output", text=groups, tokens=tokens, timestamp=at
    )
    return Unit(
        turn=turn,
        items=(item,),
        tokens=tokens,
        score=Score(total=priority),
        by_slot={},
        forced=Reason(code="pinned", words=forced) if forced else None,
    )


def terms(**fields: object) -> Terms:
    return Terms(groups_of=lambda item: tuple(item.text), **fields)  # type: ignore[arg-type]


def value(units: Sequence[Unit], pick: Pick) -> Fraction:
    return sum((Fraction(u.score.total) for u in units if u.turn in pick.kept and not u.forced), Fraction(0))


def test_the_highest_priority_goes_first() -> None:
    assert greedy([unit(0, 6, 100), unit(1, 6, 200)], 10).kept == {1}


def test_of_equal_priorities_the_newer_goes_first_and_no_time_last() -> None:
    units = [unit(0, 6, 100), unit(1, 6, 100, at=1), unit(2, 6, 100, at=2)]
    assert greedy(units, 6).kept == {2}
    assert greedy(units[:2], 6).kept == {1}


def test_of_equal_priorities_and_times_the_earlier_goes_first() -> None:
    assert greedy([unit(0, 6, 100, at=5), unit(1, 6, 100, at=5)], 6).kept == {0}


def test_order_by_recency_alone_when_priority_is_not_preferred() -> None:
    units = [unit(0, 6, 900, at=1), unit(1, 6, 100, at=2)]
    assert greedy(units, 6, Terms(prefer_higher_priority=False)).kept == {1}


def test_a_misfit_is_in_conflict_with_the_unit_placed_last() -> None:
    pick = greedy([unit(0, 5, 200), unit(1, 4, 190), unit(2, 3, 180), unit(3, 2, 190)], 9)
    assert pick.kept == {0, 1}
    assert pick.conflicts == (
        Conflict(chunk1=1, chunk2=3, type="priority_conflict"),
        Conflict(chunk1=1, chunk2=2, type="budget_exceeded"),
    )


def test_nothing_placed_means_no_conflict() -> None:
    pick = greedy([unit(0, 50, 200)], 9)
    assert (pick.kept, pick.conflicts) == (frozenset(), ())


def test_selection_continues_after_a_misfit_unless_partial_fill_is_off() -> None:
    units = [unit(0, 5, 200), unit(1, 9, 190), unit(2, 2, 180)]
    assert greedy(units, 9).kept == {0, 2}
    stopped = greedy(units, 9, Terms(allow_partial_fill=False))
    assert stopped.kept == {0}
    assert stopped.because[2].sentence == (
        "priority 180.0, needed 2 tokens, and turn 1 did not fit before it: `allow_partial_fill` is off"
    )


def test_every_reason_has_the_numbers_that_decided() -> None:
    pick = greedy([unit(0, 880, 160), unit(1, 300, 152), unit(2, 7, 3, forced="pinned")], 1_000)
    assert sentences(pick) == {
        0: "priority 160.0, 880 tokens",
        1: "priority 152.0, needed 300 tokens, 120 were left",
        2: "pinned",
    }


def test_a_cap_keeps_a_unit_out_and_says_so() -> None:
    units = [unit(0, 8, 200, groups="a"), unit(1, 8, 190, groups="a"), unit(2, 8, 180)]
    pick = greedy(units, 100, terms(caps={"a": 12}))
    assert pick.kept == {0, 2}
    assert pick.because[1].sentence == "priority 190.0, needed 8 tokens, 4 were left of the 12 for a"
    assert [(slot.name, slot.used) for slot in pick.slots] == [("room", 16), ("a", 8)]


def test_what_is_forced_is_in_and_costs_no_room() -> None:
    units = [unit(0, 500, 1, forced="system prompt"), unit(1, 9, 100)]
    assert greedy(units, 9).kept == exact(units, 9).kept == {0, 1}


def test_exact_takes_two_small_ones_where_greedy_takes_the_large_one() -> None:
    units = [unit(0, 10, 150), unit(1, 5, 100), unit(2, 5, 100)]
    assert greedy(units, 10).kept == {0}
    pick = exact(units, 10)
    assert pick.kept == {1, 2}
    assert (
        pick.because[0].sentence
        == "priority 150.0, needed 10 tokens, 0 were left by the choice with the best total"
    )


def test_exact_never_takes_what_is_worth_less_than_nothing() -> None:
    assert exact([unit(0, 1, -5), unit(1, 1, 5)], 10).kept == {1}


def test_exact_continues_after_the_first_misfit_even_without_partial_fill() -> None:
    units = [unit(0, 20, 200), unit(1, 1, 190)]
    assert exact(units, 10, Terms(allow_partial_fill=False)).kept == {1}


def test_exact_refuses_what_would_take_too_long() -> None:
    units = [unit(turn, 2**turn + 1000, 2.0**turn + 1000) for turn in range(40)]
    with pytest.raises(InputError, match="more than 100 steps") as failure:
        exact(units, sum(u.tokens for u in units) // 2, Terms(exact_steps=100))
    assert "greedy" in failure.value.remedy


def test_exact_finds_what_a_table_over_every_token_finds() -> None:
    units = [unit(turn, 1 + turn * 7919 % 997, 100 + turn * 31 % 110) for turn in range(200)]
    room = 4_000
    table = [0] * (room + 1)
    for each in units:
        for used in range(room, each.tokens - 1, -1):
            table[used] = max(table[used], table[used - each.tokens] + int(each.score.total))
    assert value(units, exact(units, room)) == table[room]


pieces = st.lists(
    st.tuples(
        st.integers(0, 14),
        st.one_of(st.integers(-2, 9), st.floats(0, 10)),
        st.one_of(st.none(), st.integers(0, 3)),
        st.sampled_from(["", "", "a", "b", "ab"]),
        st.sampled_from(["", "", "", "pinned"]),
    ),
    max_size=8,
).map(lambda rows: [unit(i, t, p, at=s, groups=g, forced=f) for i, (t, p, s, g, f) in enumerate(rows)])
caps = st.sampled_from([{}, {"a": 12}, CAPPED])


def within(units: Sequence[Unit], room: int, how: Terms) -> bool:
    spent: dict[str, int] = {}
    for each in units:
        for group, tokens in charges(each, how).items():
            spent[group] = spent.get(group, 0) + tokens
    return sum(u.tokens for u in units) <= room and all(spent[g] <= how.caps[g] for g in spent)


def chosen(units: Sequence[Unit], pick: Pick) -> list[Unit]:
    return [u for u in units if u.turn in pick.kept and not u.forced]


@settings(max_examples=300)
@given(pieces, st.integers(0, 40), caps, st.booleans(), st.booleans())
def test_greedy_never_exceeds_and_records_every_drop(
    units: list[Unit], room: int, limits: dict[str, int], by_priority: bool, go_on: bool
) -> None:
    how = terms(caps=limits, prefer_higher_priority=by_priority, allow_partial_fill=go_on)
    pick = greedy(units, room, how)
    assert within(chosen(units, pick), room, without_forced(units, how))
    assert pick.kept >= {u.turn for u in units if u.forced}
    assert set(pick.because) == {u.turn for u in units}
    dropped = {u.turn for u in units} - pick.kept
    assert {each.chunk2 for each in pick.conflicts} <= dropped
    assert all(str(units[turn].tokens) in pick.because[turn].sentence or not go_on for turn in dropped)


@settings(max_examples=300)
@given(pieces, st.integers(0, 40), caps, st.booleans())
def test_exact_is_the_optimum_and_the_bound_is_above_it(
    units: list[Unit], room: int, limits: dict[str, int], go_on: bool
) -> None:
    how = terms(caps=limits, allow_partial_fill=go_on)
    pick = exact(units, room, how)
    assert within(chosen(units, pick), room, without_forced(units, how))
    free = [u for u in units if not u.forced]
    best = max(
        sum((Fraction(u.score.total) for u in some), Fraction(0))
        for size in range(len(free) + 1)
        for some in combinations(free, size)
        if within(some, room, without_forced(units, how))
    )
    assert value(units, pick) == best >= value(units, greedy(units, room, how))
    assert set(pick.because) == {u.turn for u in units}
    bound = fractional_bound(units, room, how)
    assert float(best) <= bound or math.isclose(float(best), bound)


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(1, 500), st.integers(100, 260)), max_size=40), st.integers(0, 6_000))
def test_exact_is_never_worth_less_than_greedy(rows: list[tuple[int, int]], room: int) -> None:
    units = [unit(turn, tokens, priority) for turn, (tokens, priority) in enumerate(rows)]
    best = exact(units, room)
    assert sum(u.tokens for u in chosen(units, best)) <= room
    assert value(units, best) >= value(units, greedy(units, room))
