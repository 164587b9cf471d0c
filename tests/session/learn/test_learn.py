"""What `learn` promises: numbers fitted to recorded use, offered only if they hold on reserved turns."""

from __future__ import annotations

import pytest

import foveal
import learned
from foveal import ConfigError, Foveal, InputError, NotFoundError
from foveal.presets.tunable import TUNABLE
from foveal.session.learn.learn import Learned


def filled(fov: Foveal, *sources: learned.Source) -> Foveal:
    for seed, source in enumerate(sources):
        fov.session(f"s{seed}", model="gpt-5").extend(learned.session(seed, source))
    return fov


def fitted(fov: Foveal, **options: object) -> Learned:
    return fov.learn(**{"preset": "reploid", "budget": learned.BUDGET} | options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def found() -> Learned:
    """What three sessions teach in which calls need what tools said."""
    with Foveal(":memory:") as fov:
        return fitted(filled(fov, *["tool"] * 3))


def test_numbers_that_keep_more_on_the_turns_reserved_are_accepted(found: Learned) -> None:
    assert found.accepted
    assert found.numbers["reploid"]
    assert found.reserved.after > found.reserved.before + 0.1
    assert found.fitted.after > found.fitted.before + 0.1


def test_a_third_of_the_turns_the_newest_is_reserved(found: Learned) -> None:
    assert found.reserved.turns == (found.fitted.turns + found.reserved.turns) // 3
    assert found.sessions == 3


def test_numbers_fitted_to_a_habit_that_ended_are_not_accepted(fov: Foveal) -> None:
    ended = fitted(filled(fov, "tool", "tool", "user"))
    assert ended.fitted.gain > 0.1
    assert not ended.accepted
    assert (ended.numbers, ended.settings()) == ({}, "")
    assert "reserved" in ended.because


@pytest.mark.parametrize("preset", TUNABLE)
def test_no_preset_gets_numbers_that_are_worse_on_the_turns_reserved(fov: Foveal, preset: str) -> None:
    judged = fitted(filled(fov, "tool", "user"), preset=preset)
    assert judged.accepted == bool(judged.numbers)
    assert judged.reserved.after > judged.reserved.before or not judged.accepted


def test_the_same_store_gives_the_same_numbers(fov: Foveal) -> None:
    filled(fov, "tool", "user")
    assert fitted(fov) == fitted(fov)


def test_windows_with_the_accepted_numbers_keep_what_the_others_lost(found: Learned) -> None:
    messages = learned.session(99, "tool")
    asked = messages[: len(messages) - 3]
    needed = messages[-3]["tool_calls"][0]["function"]["arguments"][-11:-2]
    windows = [
        foveal.fit(asked, model="gpt-5", budget=learned.BUDGET, preset="reploid", numbers=each)
        for each in (None, found.numbers)
    ]
    assert [needed in str(window.messages) for window in windows] == [False, True]


def test_numbers_in_effect_are_what_fitted_ones_must_beat(found: Learned) -> None:
    with Foveal(":memory:", numbers=found.numbers) as fov:
        again = fitted(filled(fov, *["tool"] * 3))
    assert again.reserved.before == found.reserved.after


def test_every_accepted_change_says_what_it_gained(found: Learned) -> None:
    assert sum(step.gain for step in found.steps) == pytest.approx(found.fitted.gain)
    assert all(step.gain > 0 for step in found.steps)


def test_progress_ends_with_all_of_them(fov: Foveal) -> None:
    seen: list[tuple[int, int]] = []
    fitted(filled(fov, "tool", "tool"), progress=lambda done, of: seen.append((done, of)))
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_too_little_history_is_an_error_with_figures_and_a_remedy(fov: Foveal) -> None:
    with pytest.raises(InputError, match=r"1 session have|1 session has") as failure:
        fitted(filled(fov, "tool"))
    assert "at least 30" in failure.value.what
    assert "budget" in failure.value.remedy


def test_an_empty_store_is_too_little_history(fov: Foveal) -> None:
    with pytest.raises(InputError, match="0 sessions"):
        fitted(fov)


def test_without_a_budget_windows_have_a_quarter_of_what_was_never_built(fov: Foveal) -> None:
    assert fitted(filled(fov, "tool", "tool"), budget=None).found > 30


def test_only_the_named_sessions_are_read(fov: Foveal) -> None:
    filled(fov, *["tool"] * 3)
    assert fitted(fov, sessions=["s0", "s2"]).sessions == 2
    with pytest.raises(NotFoundError, match="'s9'"):
        fitted(fov, sessions=["s9"])


def test_only_sessions_of_a_kind_of_work_are_read(fov: Foveal) -> None:
    filled(fov, "tool", "tool")
    with pytest.raises(InputError, match="0 chat sessions"):
        fitted(fov, work="chat")
    with pytest.raises(InputError, match="no kind of work 'cooking'") as failure:
        fitted(fov, work="cooking")
    assert "`coding`" in failure.value.remedy


def test_a_preset_without_numbers_to_fit_is_refused(fov: Foveal) -> None:
    with pytest.raises(ConfigError, match="'recent' has no numbers that can be fitted") as failure:
        fitted(fov, preset="recent")
    assert "`reploid`" in failure.value.remedy


def test_nothing_is_stored(fov: Foveal) -> None:
    filled(fov, "tool", "tool")
    before = [(record.name, record.head) for record in fov.sessions()]
    fitted(fov)
    assert [(record.name, record.head) for record in fov.sessions()] == before
    with pytest.raises(NotFoundError):
        fov.session("s0").manifest()
