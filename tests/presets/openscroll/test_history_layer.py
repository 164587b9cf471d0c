"""What becomes of a history that is larger than its layer. Read the test names top to bottom."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foveal
from foveal.pipeline.kinds import ARC, MESSAGE_HISTORY
from foveal.window import Slot, Window


def talk(pairs: int, words: int = 30) -> list[dict[str, str]]:
    return [
        {"role": role, "content": f"{said} {number}: {'word ' * words}ends. We'll use option {number}."}
        for number in range(pairs)
        for role, said in (("user", "Question"), ("assistant", "Answer"))
    ] + [{"role": "user", "content": "And now?"}]


def built(pairs: int, budget: int) -> Window:
    return foveal.fit(talk(pairs), budget=budget, preset="openscroll", now=0.0)


def slot(window: Window, name: str) -> Slot:
    return next(slot for slot in window.manifest.slots if slot.name == name)


def details(window: Window) -> set[str]:
    return {decision.detail for decision in window.manifest.kept}


def test_a_history_that_fits_stays_as_it_is() -> None:
    window = built(5, 2_000)
    assert window.messages == talk(5)
    assert slot(window, ARC).used == 0


@pytest.mark.parametrize(("pairs", "strategy"), [(15, "windowed"), (40, "compacted"), (120, "multi-level")])
def test_a_larger_one_is_compacted_the_more_the_larger_it_is(pairs: int, strategy: str) -> None:
    window = built(pairs, 1_200)
    assert any(
        f"{MESSAGE_HISTORY}, {strategy}: a summary of" in kept.because for kept in window.manifest.kept
    )


def test_every_message_has_one_decision_and_a_summary_says_which_ones_it_holds() -> None:
    window = built(40, 1_200)
    runs = [(decision.first, decision.last) for decision in window.manifest.decisions]
    assert [first for first, _ in runs] == [0, *(last + 1 for _, last in runs[:-1])]
    folded = [d for d in window.manifest.kept if d.detail == "folded" and not d.tokens]
    assert all("in the summary at message" in decision.because for decision in folded)
    assert folded


def test_the_arc_stands_before_the_history_in_its_own_layer() -> None:
    window = built(40, 1_200)
    request, note = (message["content"] for message in window.messages[:2])
    assert request.startswith("Question 0:")
    assert note.startswith("[Summary of earlier messages, made by a program.")
    assert "Decisions:\n- user: We'll use option" in note
    assert 0 < slot(window, ARC).used <= slot(window, ARC).allotted


def test_notes_are_the_user_s_side_never_the_system_s() -> None:
    window = built(120, 1_200)
    notes = [m for m in window.messages if m["content"].startswith(("[Summary", "[..."))]
    assert {note["role"] for note in notes} == {"user"}
    assert len(notes) >= 3


@given(st.integers(1, 30), st.integers(60, 1_500), st.integers(1, 30))
@settings(max_examples=100)
def test_history_never_uses_more_than_its_layers_were_allotted(pairs: int, budget: int, words: int) -> None:
    window = foveal.fit(talk(pairs, words), budget=budget, preset="openscroll", now=0.0)
    assert window.tokens <= budget
    if details(window) - {"full"}:
        assert slot(window, MESSAGE_HISTORY).used <= slot(window, MESSAGE_HISTORY).allotted
        assert slot(window, ARC).used <= slot(window, ARC).allotted
