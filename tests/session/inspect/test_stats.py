"""The numbers of a session agree with each other, whatever its preset and its newest window."""

from __future__ import annotations

import time

import pytest

from foveal import Foveal, Session
from foveal.session.values import Stats

BUDGET = 2_000


def talk(fov: Foveal, preset: str) -> Session:
    """A system prompt, and two hours of 40 rounds."""
    session, then = fov.session("talk", model="gpt-5", preset=preset), time.time() - 7_200
    session.add("system", "You fix bugs.", timestamp=then)
    for number in range(40):
        session.add("user", f"Please look at module {number} for errors. " * 5, timestamp=then + number)
        session.add("assistant", f"Module {number} is fine. " * 20, timestamp=then + number)
    session.add("user", "So where is the bug?")
    return session


def in_levels(found: Stats) -> tuple[int, int]:
    """Tokens used and allotted in all levels."""
    return sum(slot.used for slot in found.levels), sum(slot.allotted for slot in found.levels)


def test_a_history_of_fifth_that_outgrew_its_newest_window_counts_whole(fov: Foveal) -> None:
    session = talk(fov, "fifth")
    window = session.build(budget=BUDGET)
    session.restore()
    found = session.stats()
    assert (found.absent, found.needs_pruning) == (0, True)
    assert (found.used_tokens, found.used_limit) == (found.tokens + 3, BUDGET)  # 3 frame a request
    assert in_levels(found) == (found.tokens, BUDGET)
    assert found.levels != window.manifest.slots


def test_new_messages_of_fifth_count_once_they_make_the_next_build_compress(fov: Foveal) -> None:
    session = talk(fov, "fifth")
    before = session.build(budget=BUDGET).tokens
    session.add("assistant", "The bug is in module 7. " * 200)
    found = session.stats()
    assert found.needs_pruning
    assert found.used_tokens > before + 1_000


def test_right_after_a_build_of_fifth_the_numbers_are_those_of_its_window(fov: Foveal) -> None:
    session = talk(fov, "fifth")
    window = session.build(budget=BUDGET)
    found = session.stats()
    assert (found.used_tokens, found.levels) == (window.tokens, window.manifest.slots)
    assert not found.needs_pruning


@pytest.mark.parametrize("preset", ["reploid", "foveal", "recent"])
def test_levels_of_other_presets_share_the_limit_of_what_is_used(fov: Foveal, preset: str) -> None:
    session = talk(fov, preset)
    assert in_levels(session.stats())[1] == session.stats().used_limit
    session.build(budget=BUDGET)
    assert in_levels(session.stats())[1] == session.stats().used_limit == BUDGET
