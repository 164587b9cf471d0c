"""What the window bar shows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foveal.cli.interactive import CELLS, KINDS, by_kind, gauge
from foveal.model import Entry, Role
from foveal.window import Decision, Manifest


def entries(*roles: Role) -> list[Entry]:
    return [Entry(seq=seq, id=f"m{seq}", digest="", role=role, tokens=10) for seq, role in enumerate(roles)]


def manifest(tokens: int, budget: int, *decisions: Decision) -> Manifest:
    return Manifest(
        preset="recent", counter="words", budget=budget, tokens=tokens, parts={}, decisions=decisions
    )


def kept(first: int, last: int, tokens: int) -> Decision:
    return Decision(first=first, last=last, verdict="kept", code="selected", tokens=tokens, because="fits")


def test_a_turn_is_shared_out_among_those_who_speak_in_it() -> None:
    found = by_kind(manifest(23, 100, kept(0, 1, 20)), entries("assistant", "tool"))
    assert {kind: n for kind, n in found.items() if n} == {"assistant": 10, "tool": 10, "other": 3}


def test_what_is_folded_is_a_summary_whatever_its_role() -> None:
    folded = Decision(
        first=0, last=1, verdict="kept", code="logged", tokens=7, because="note", detail="folded"
    )
    assert by_kind(manifest(7, 100, folded), entries("user", "tool"))["summary"] == 7


def test_what_was_left_out_takes_no_room() -> None:
    gone = Decision(first=0, last=0, verdict="left out", code="not_selected", tokens=50, because="old")
    assert sum(by_kind(manifest(10, 100, gone, kept(1, 1, 10)), entries("user", "user")).values()) == 10


@given(st.lists(st.integers(1, 400_000), min_size=1, max_size=4), st.integers(0, 400_000))
def test_two_lines_of_80_columns_at_most(sizes: list[int], free: int) -> None:
    roles: tuple[Role, ...] = ("system", "user", "assistant", "tool")
    decisions = [kept(at, at, size) for at, size in enumerate(sizes)]
    tokens = sum(sizes) + 3
    lines = gauge(manifest(tokens, tokens + free, *decisions), entries(*roles)).splitlines()
    assert [len(line) <= 80 for line in lines] == [True, True]
    bar = lines[0].partition(" ")[0]
    assert len(bar) == CELLS
    assert all(KINDS[role][0] in bar for role, _ in zip(roles, sizes, strict=False))
