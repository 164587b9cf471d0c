"""Which material earns its place. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from foveal.pipeline.material.admit import admit_by_salience
from foveal.pipeline.material.categories import CONTEXT, DIALOG, PenguinNumbers, category_slots, report
from foveal.pipeline.material.values import Admission, Material


def piece(source: str, tokens: int, *, weight: float = 0.4, salience: float = 1.0) -> Material:
    return Material(type="CUSTOM", source=source, text="…", tokens=tokens, weight=weight, salience=salience)


def admitted(*pieces: Material, dialog: int = 500, total: int = 1_000, room: int | None = None) -> Admission:
    """Of 1,000 tokens CONTEXT has 350 and DIALOG 500, which are all in use unless it is said."""
    slots = [
        replace(s, used=dialog if s.name == DIALOG else 0) for s in category_slots(total, PenguinNumbers())
    ]
    return admit_by_salience(pieces, slots, room=room)


def sources(found: Admission) -> list[str]:
    return [each.source for each in found.shown]


def reasons(found: Admission) -> dict[str, str]:
    return {each.source: each.because for each in found.contributed}


def test_rank_is_weight_times_salience() -> None:
    found = admitted(
        piece("files", 300, weight=0.4, salience=0.5), piece("hit", 300, weight=0.25, salience=0.9)
    )
    assert [(each.source, each.verdict) for each in found.contributed] == [
        ("hit", "kept"),
        ("files", "left out"),
    ]
    assert reasons(found) == {
        "hit": "weight 0.25 x salience 0.90, 300 tokens",
        "files": "weight 0.40 x salience 0.50, needed 300 tokens, 50 were left",
    }


def test_of_equals_the_one_of_more_weight_comes_first_then_the_one_offered_first() -> None:
    light, heavy = piece("light", 9, weight=0.2), piece("heavy", 9, weight=0.4, salience=0.5)
    assert sources(admitted(light, heavy, replace(light, source="later"))) == ["heavy", "light", "later"]


def test_what_does_not_fit_borrows_just_what_is_missing_from_dialog() -> None:
    found = admitted(piece("a", 300), piece("b", 100, salience=0.5), dialog=420)
    assert reasons(found)["b"] == "weight 0.40 x salience 0.50, 100 tokens, 50 borrowed from DIALOG"
    lent = {each.name: (each.maximum, each.borrowed, each.lent) for each in report(found.slots)}
    assert (lent[CONTEXT], lent[DIALOG]) == ((400, 50, 0), (450, 0, 50))


def test_the_loan_of_the_design_document() -> None:
    """CONTEXT has 2k left and needs 8k, DIALOG has 30k: it lends 6k."""
    found = admitted(
        piece("first", 50_500), piece("second", 8_000, salience=0.5), dialog=45_000, total=150_000
    )
    assert reasons(found)["second"].endswith("8,000 tokens, 6,000 borrowed from DIALOG")
    assert [(each.name, each.maximum, each.current) for each in report(found.slots)] == [
        ("SYSTEM", 15_000, 0),
        (CONTEXT, 58_500, 58_500),
        (DIALOG, 69_000, 45_000),
        ("SYSTEM_OUTPUT", 7_500, 0),
    ]


def test_what_dialog_cannot_lend_for_is_left_out_and_the_next_one_is_tried() -> None:
    found = admitted(piece("large", 400), piece("small", 100, salience=0.1), dialog=480)
    assert sources(found) == ["small"]
    assert reasons(found)["large"].endswith("needed 400 tokens, 350 were left and DIALOG could lend 20")


def test_dialog_lends_nothing_below_its_minimum() -> None:
    slots = category_slots(1_000, PenguinNumbers(minimums={DIALOG: 490}))
    assert admit_by_salience([piece("a", 361)], slots).shown == ()
    assert admit_by_salience([piece("a", 360)], slots).shown != ()


def test_a_context_that_is_over_full_already_borrows_for_that_too() -> None:
    slots = [
        replace(s, used=380 if s.name == CONTEXT else 0) for s in category_slots(1_000, PenguinNumbers())
    ]
    assert reasons(admit_by_salience([piece("a", 100)], slots))["a"].endswith("130 borrowed from DIALOG")


def test_a_room_for_everything_cannot_be_borrowed_around() -> None:
    found = admitted(piece("a", 100), piece("b", 100, salience=0.5), dialog=0, room=150)
    assert reasons(found)["b"].endswith("needed 100 tokens, 50 were left")


def test_salience_stays_within_0_and_1() -> None:
    high, low = piece("high", 1, salience=7), piece("low", 1, salience=-1)
    assert [each.salience for each in admitted(low, high).contributed] == [1.0, 0.0]


def test_without_categories_nothing_fits_and_nothing_breaks() -> None:
    assert admit_by_salience([piece("a", 1)], ()).shown == ()


PIECES = st.builds(
    piece,
    st.text(max_size=3),
    st.integers(0, 400),
    weight=st.floats(0, 1),
    salience=st.floats(-1, 2),
)


@given(
    st.lists(PIECES, max_size=10), st.integers(0, 600), st.integers(0, 1_500), st.none() | st.integers(0, 900)
)
def test_no_admission_exceeds_its_category_its_room_or_the_total(
    pieces: list[Material], dialog: int, total: int, room: int | None
) -> None:
    found = admitted(*pieces, dialog=dialog, total=total, room=room)
    context = next(slot for slot in found.slots if slot.name == CONTEXT)
    spent = sum(each.tokens for each in found.shown)
    assert context.used == spent <= min(context.allotted, total if room is None else room)
    assert sum(s.allotted for s in found.slots) == sum(
        s.allotted for s in category_slots(total, PenguinNumbers())
    )
    assert Counter(found.shown) <= Counter(pieces)
    assert len(found.contributed) == len(pieces)
