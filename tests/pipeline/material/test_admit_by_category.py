"""What earns its place beside a conversation under presets without layers."""

from __future__ import annotations

from foveal import wire
from foveal.pipeline.material.admit import admit_by_category, admit_by_default
from foveal.pipeline.material.categories import CONTEXT, DIALOG, PenguinNumbers
from foveal.pipeline.material.values import Admission, Material
from foveal.pipeline.values import Scene
from foveal.session.fit import history_of
from foveal.session.target import target_for

TARGET = target_for("gpt-5", "openai")
PENGUIN = PenguinNumbers()


def file(name: str, words: int, salience: float = 1.0) -> Material:
    return Material(
        type="WORKING_FILES", source=name, text="word " * words, tokens=0, weight=0.4, salience=salience
    )


def admitted(*pieces: Material, said: int = 10, budget: int = 1_000, room: int = 1_000) -> Admission:
    history = history_of(wire.load([{"role": "user", "content": "word " * said}], format="openai"), TARGET)
    scene = Scene(now=0.0, budget=budget, count=TARGET.meter.text)
    return admit_by_category(pieces, history, room, scene, numbers=PENGUIN)


def test_context_has_its_share_and_borrows_what_the_dialog_does_not_use() -> None:
    found = admitted(file("a.py", 600), said=100)
    slots = {slot.name: slot for slot in found.slots}
    assert [each.source for each in found.shown] == ["a.py"]
    assert slots[CONTEXT].borrowed == -slots[DIALOG].borrowed == slots[CONTEXT].used - 350


def test_what_the_dialog_uses_is_not_lent() -> None:
    assert admitted(file("a.py", 600), said=480).shown == ()


def test_the_room_beside_what_is_fixed_is_a_limit_for_all_of_it() -> None:
    assert [e.source for e in admitted(file("a", 90), file("b", 90, 0.5), room=150).shown] == ["a"]


def test_a_long_history_is_not_walked_further_than_a_window_reaches() -> None:
    messages = [{"role": "user", "content": "word " * 50}] * 500
    history = history_of(wire.load(messages, format="openai"), TARGET)
    scene = Scene(now=0.0, budget=1_000, count=TARGET.meter.text)
    found = admit_by_category([file("a", 10)], history, 900, scene, numbers=PENGUIN)
    assert next(s.used for s in found.slots if s.name == DIALOG) < 1_200


def test_presets_with_a_plan_of_their_own_get_no_categories() -> None:
    history = history_of(wire.load([{"role": "user", "content": "hi"}], format="openai"), TARGET)
    found = admit_by_default(
        [file("a", 10)], history, 900, Scene(now=0.0, budget=1_000, count=TARGET.meter.text)
    )
    assert (len(found.shown), found.slots) == (1, ())
