"""What the importance of a message is made of."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal.model import Role
from foveal.pipeline.kinds import kind_of
from foveal.pipeline.values import Item, Scene
from foveal.presets.reploid import ReploidNumbers, score_importance

SCENE = Scene(now=0.0)


def item(index: int, role: Role = "user", text: str = "plain words", *, tool: bool = False) -> Item:
    kind = kind_of(role, tool_call=tool, newest_user=False)
    return Item(index=index, id=f"m{index}", role=role, kind=kind, text=text, tokens=1, tool=tool)


def talk(*roles: Role) -> list[Item]:
    return [item(index, role) for index, role in enumerate(roles)]


def keywords(text: str, *, tool: bool = False) -> float:
    return score_importance([item(0, text=text, tool=tool)], SCENE)[0].parts["keywords"]


def test_six_plain_messages_score_70_20_18_36_34_60() -> None:
    scores = score_importance(talk("system", "user", "assistant", "user", "assistant", "user"), SCENE)
    assert [score.total for score in scores] == [70, 20, 18, 36, 34, 60]


def test_a_score_names_its_parts() -> None:
    (score,) = score_importance([item(0, "assistant", "the build failed")], SCENE)
    assert score.parts == {"recency": 40, "role": 10, "keywords": 15, "length": 0}
    assert score.total == 65


def test_the_score_of_a_system_message_does_not_depend_on_its_position() -> None:
    scores = score_importance(talk("user", "system", "user"), SCENE)
    assert [score.parts["recency"] for score in scores] == [0, 40, 40]


@pytest.mark.parametrize("word", ["error", "failed", "failure", "exception", "traceback", "fatal", "panic"])
def test_a_word_of_failure_is_worth_15_in_any_case(word: str) -> None:
    assert keywords(f"there: {word}!") == keywords(word.upper()) == 15


@pytest.mark.parametrize("word", ["tool", "function", "execute", "create", "update", "delete", "deploy"])
def test_a_word_of_an_operation_is_worth_10(word: str) -> None:
    assert keywords(f"please {word} it") == 10


def test_words_count_whole_and_once() -> None:
    assert keywords("a hispanic toolbox was recreated") == 0
    assert keywords("error, error: failed to create, update or delete") == 25


def test_a_tool_call_or_result_is_an_operation_whatever_it_says() -> None:
    assert keywords("42", tool=True) == 10


def test_more_than_1000_characters_are_worth_5() -> None:
    lengths = [
        score_importance([item(0, text="x" * size)], SCENE)[0].parts["length"] for size in (1000, 1001)
    ]
    assert lengths == [0, 5]


def test_every_number_can_be_another() -> None:
    numbers = ReploidNumbers(recency=0, roles={"user": 1}, error=2, error_words="oops", long_above=3)
    (score,) = score_importance([item(0, text="Oops")], SCENE, numbers=numbers)
    assert score.parts == {"recency": 0, "role": 1, "keywords": 2, "length": 5}


OTHERS: dict[str, Any] = {
    "recency": 1.0,
    "roles": {"user": 1.0},
    "error": 1.0,
    "error_words": "nothing",
    "operation": 1.0,
    "operation_words": "nothing",
    "length": 1.0,
    "long_above": 9,
}


@pytest.mark.parametrize("name", OTHERS)
def test_each_number_has_an_effect_of_its_own(name: str) -> None:
    text = "create an error" if name == "long_above" else "create an error " * 100
    items = [item(0, text=text), item(1, text=text)]
    other = ReploidNumbers(**{name: OTHERS[name]})
    assert score_importance(items, SCENE, numbers=other) != score_importance(items, SCENE)


def test_the_other_numbers_say_when_and_how_far_sessions_are_pruned_and_summarized() -> None:
    assert {field.name for field in fields(ReploidNumbers)} - set(OTHERS) == {"target", "keep"}


def test_no_words_at_all_find_nothing() -> None:
    (score,) = score_importance([item(0)], SCENE, numbers=ReploidNumbers(error_words="", operation_words=""))
    assert score.parts["keywords"] == 0


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["system", "user", "assistant", "tool"]),
            st.sampled_from(["", "hello", "error: tool", "x" * 1001]),
            st.booleans(),
        ),
        max_size=12,
    )
)
def test_every_score_is_between_0_and_100_and_the_sum_of_its_parts(
    drawn: list[tuple[Role, str, bool]],
) -> None:
    items = [item(at, role, text, tool=tool) for at, (role, text, tool) in enumerate(drawn)]
    for score in score_importance(items, SCENE):
        assert 0 <= score.total <= 100
        assert score.total == pytest.approx(sum(score.parts.values()))
