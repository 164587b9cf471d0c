"""What `diff` promises: every message that one window has and the other has not, with the reasons of both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal import Foveal, NotFoundError, Session
from foveal.model import Entry
from foveal.presets import PRESETS
from foveal.session.inspect.diff import Changed, _runs
from foveal.window import Decision, Manifest

HISTORY = [
    {"role": ("user", "assistant")[n % 2], "content": f"message {n} of file_{n}.py " * (1 + n % 5)}
    for n in range(41)
]


def places(runs: tuple[Changed, ...]) -> set[int]:
    return {place for run in runs for place in range(run.first, run.last + 1)}


def inside(manifest: Manifest) -> dict[int, str]:
    return {place: d.detail for d in manifest.kept for place in range(d.first, d.last + 1)}


@pytest.mark.parametrize("preset", PRESETS)
def test_the_difference_is_that_of_the_two_manifests(session: Session, preset: str) -> None:
    session.extend(HISTORY)
    a = inside(session.build(budget=300, preset="recent").manifest)
    b = inside(session.build(budget=500, preset=preset).manifest)
    found = session.diff(1, 2)
    assert places(found.entered) == b.keys() - a.keys()
    assert places(found.left) == a.keys() - b.keys()
    assert places(found.changed) == {place for place in a.keys() & b.keys() if a[place] != b[place]}
    assert found.stayed == sum(a[place] == b[place] for place in a.keys() & b.keys())


@pytest.mark.parametrize("preset", PRESETS)
def test_the_tokens_add_up_to_the_difference_of_the_windows(session: Session, preset: str) -> None:
    session.extend(HISTORY)
    first, second = (session.build(budget=budget, preset=preset).manifest for budget in (300, 700))
    session.add("user", "And now?")
    third = session.build(budget=500, preset=preset).manifest
    for before, after, numbers in ((first, second, (1, 2)), (second, third, (2, 3)), (third, first, (3, 1))):
        found = session.diff(*numbers)
        moved = sum(run.now - run.was for run in (*found.entered, *found.left, *found.changed))
        assert moved + found.beside == after.tokens - before.tokens
        assert found.beside == _beside(after) - _beside(before)


def _beside(manifest: Manifest) -> int:
    """Tokens that no message of the history takes."""
    return manifest.tokens - sum(each.tokens for each in manifest.kept)


def test_what_is_folded_into_a_note_takes_no_tokens_and_the_note_its_own(session: Session) -> None:
    session.extend(HISTORY)
    whole, short = (session.build(budget=budget, preset="foveal").manifest for budget in (8_000, 400))
    found = session.diff(1, 2)
    assert sum(run.was for run in found.changed) > sum(run.now for run in found.changed)
    assert sum(run.now for run in found.changed) == sum(d.tokens for d in short.kept if d.detail == "folded")
    assert f"tokens      {whole.tokens:,} → {short.tokens:,}" in found.text
    more = sum(run.now - run.was for run in found.changed)
    assert (
        f"in other detail: {sum(len(run.ids) for run in found.changed)} messages, {more:+,} tokens"
        in found.text
    )


def test_a_note_that_became_another_is_not_the_same_in_both(session: Session) -> None:
    session.extend(HISTORY)
    for budget in (400, 600):
        session.build(budget=budget, preset="foveal")
    found = session.diff(1, 2)
    was, now = (side.parts["log"] for side in (found.a, found.b))
    assert was != now
    assert f"  {'log':<10}{was:,} → {now:,}" in found.text
    assert all(f"{note.tokens:,} tokens" in found.text for side in (found.a, found.b) for note in side.notes)


def test_the_other_way_round_what_entered_left(session: Session) -> None:
    session.extend(HISTORY)
    for budget in (500, 300):
        session.build(budget=budget, preset="omar")
    there, back = session.diff(1, 2), session.diff(2, 1)
    assert places(there.left) == places(back.entered) != set()


def test_a_build_does_not_differ_from_itself(session: Session) -> None:
    session.extend(HISTORY)
    session.build(budget=300)
    found = session.diff(1, 1)
    assert (found.entered, found.left, found.changed) == ((), (), ())


def test_new_messages_entered_and_were_not_there_before(session: Session) -> None:
    session.extend(HISTORY)
    session.build(budget=8_000)
    id = session.add("user", "And now?")
    session.build(budget=8_000)
    (run,) = session.diff(1, 2).entered
    assert (run.ids, run.before) == ((id,), None)
    assert "was not there yet" in session.diff(1, 2).text


def test_each_change_has_the_reasons_of_both_builds(session: Session) -> None:
    session.extend(HISTORY)
    session.build(budget=300, preset="recent")
    session.build(budget=500, preset="recent")
    run = session.diff(1, 2).entered[0]
    assert run.before
    assert run.after
    assert (run.before.verdict, run.after.because) == ("left out", "among the newest turns that fit")


def test_the_text_has_tokens_by_part_in_80_columns(session: Session) -> None:
    session.extend(HISTORY)
    session.build(budget=300, preset="recent")
    session.build(budget=500, preset="omar")
    lines = session.diff(1, 2).text.splitlines()
    assert lines[0] == "build 1 → 2"
    assert "budget      300 → 500" in lines
    assert any(line.startswith("  history") for line in lines)
    assert max(map(len, lines)) <= 80


def test_builds_before_and_after_an_edit_of_the_history_are_not_compared(session: Session) -> None:
    session.sync(HISTORY)
    session.build(budget=300)
    session.sync([*HISTORY[:5], {"role": "user", "content": "Something else."}])
    session.build(budget=300)
    with pytest.raises(NotFoundError, match="edited after build 1"):
        session.diff(1, 2)


def test_a_build_that_does_not_exist_is_an_error_that_says_which_do(fov: Foveal) -> None:
    session = fov.session("empty")
    session.add("user", "Hello")
    session.build(budget=300)
    with pytest.raises(NotFoundError, match="no build 7"):
        session.diff(1, 7)


cuts = st.lists(st.integers(1, 5), max_size=8)


def decided(sizes: list[int]) -> Manifest:
    decisions, first = [], 0
    for size in sizes:
        last = first + size - 1
        decisions.append(
            Decision(first=first, last=last, verdict="kept", code="selected", tokens=size, because=f"{first}")
        )
        first = last + 1
    return Manifest(preset="", counter="", budget=1, tokens=0, parts={}, decisions=tuple(decisions))


@given(cuts, cuts)
def test_every_message_is_in_one_run_with_the_decisions_that_cover_it(a: list[int], b: list[int]) -> None:
    entries = [Entry(seq=seq, id=f"m{seq}", digest="", role="user") for seq in range(max(sum(a), sum(b)))]
    runs = list(_runs(entries, decided(a), decided(b)))
    assert [id for run in runs for id in run.ids] == [entry.id for entry in entries]
    for run in runs:
        for decision, sizes in ((run.before, a), (run.after, b)):
            if decision is None:
                assert run.first >= sum(sizes)
            else:
                assert decision.first <= run.first <= run.last <= decision.last
