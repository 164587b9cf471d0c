"""What each layer shows of the material. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from foveal import wire
from foveal.pipeline.history import History
from foveal.pipeline.kinds import ENTITY, IDENTITY, LAYERS, RETRIEVAL, TOPIC
from foveal.pipeline.material.placement import charges, layer_of_piece, notes
from foveal.pipeline.material.values import Admission, Material
from foveal.pipeline.values import Scene
from foveal.presets.openscroll.admit import layered
from foveal.presets.openscroll.layers import OpenscrollNumbers
from foveal.session.fit import history_of
from foveal.session.target import target_for

TARGET = target_for("gpt-5", "openai")
NUMBERS = OpenscrollNumbers()


def piece(name: str, words: int, where: str = TOPIC, salience: float = 1.0) -> Material:
    text = "\n".join(f"{name} line {n} says something" for n in range(words))
    return Material(type="topic", source=name, text=text, tokens=0, layer=where, salience=salience)


def talk(messages: int = 3) -> History:
    said = [{"role": ("user", "assistant")[n % 2], "content": f"words {n} " * 9} for n in range(messages)]
    return history_of(wire.load([*said, {"role": "user", "content": "And now?"}], format="openai"), TARGET)


def admitted(*pieces: Material, budget: int = 4_000, room: int | None = None, messages: int = 3) -> Admission:
    scene = Scene(now=0.0, budget=budget, count=TARGET.meter.text)
    most = budget if room is None else room
    return layered(pieces, talk(messages), most, scene, numbers=NUMBERS)


def spent(found: Admission) -> Counter[str]:
    """What the layers' pieces cost in the notes as they are sent."""
    used = Counter[str]()
    for each, tokens in zip(found.shown, charges(found.shown, notes(talk(), found.shown)), strict=True):
        used[layer_of_piece(each)] += tokens
    return used


def test_everything_is_shown_whole_where_the_layers_hold_it() -> None:
    pieces = [piece("b", 3, TOPIC), piece("a", 2, IDENTITY), piece("c", 4, RETRIEVAL)]
    found = admitted(*pieces)
    assert [each.source for each in found.shown] == ["a", "b", "c"]
    assert {each.text for each in found.shown} == {each.text for each in pieces}


def test_the_best_of_a_layer_comes_first_and_ends_it_when_it_has_to_be_cut() -> None:
    found = admitted(piece("worse", 20, salience=0.2), piece("better", 400, salience=0.9), budget=2_000)
    assert [each.source for each in found.shown] == ["better"]
    assert found.shown[0].text.endswith("\n[…]")
    contributed = {each.source: each for each in found.contributed}
    assert ", cut from " in contributed["better"].because
    assert contributed["worse"].verdict == "left out"


def test_a_piece_is_cut_at_a_line_never_within_one() -> None:
    (shown,) = admitted(piece("long", 400), budget=2_000).shown
    assert set(shown.text.splitlines()) <= {*piece("long", 400).text.splitlines(), "[…]"}


def test_what_is_left_out_says_what_it_needed_and_what_was_left() -> None:
    found = admitted(
        Material(type="topic", source="x", text="word " * 900, tokens=0, layer=TOPIC), budget=900
    )
    assert found.shown == ()
    assert found.contributed[0].because.startswith(f"{TOPIC}, needed 9")


def test_the_room_is_a_limit_whatever_was_allotted() -> None:
    assert admitted(piece("a", 30), room=0).shown == ()


def test_one_layer_s_material_takes_nothing_of_another_s() -> None:
    alone = spent(admitted(piece("e", 400, ENTITY), budget=6_000))[ENTITY]
    both = spent(admitted(piece("e", 400, ENTITY), piece("j", 400, RETRIEVAL), budget=6_000))
    assert alone == both[ENTITY]


PIECES = st.lists(
    st.builds(
        piece, st.sampled_from("abc"), st.integers(1, 60), st.sampled_from(LAYERS[:6]), st.floats(0, 1)
    ),
    max_size=9,
)


@given(PIECES, st.integers(50, 6_000), st.integers(0, 6_000), st.integers(0, 60))
@settings(max_examples=200)
def test_no_layer_shows_more_than_it_was_allotted_titles_and_notes_included(
    pieces: list[Material], budget: int, room: int, messages: int
) -> None:
    found = admitted(*pieces, budget=budget, room=room, messages=messages)
    allotted = {slot.name: slot.allotted for slot in found.slots}
    used = spent(found)
    assert [name for name in used if used[name] > allotted[name]] == []
    assert used.total() <= room
    assert sum(allotted.values()) <= budget
    assert Counter(e.source for e in found.contributed) == Counter(e.source for e in pieces)
    assert sum(e.verdict == "kept" for e in found.contributed) == len(found.shown)
