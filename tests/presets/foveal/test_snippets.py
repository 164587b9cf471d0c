"""What snippets promise: each can be read alone, and together they tell what the message told."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from foveal import wire
from foveal.model import Role
from foveal.presets.foveal.snippets import MOST, Snippet, snippets


def told(text: str, role: Role = "tool") -> tuple[Snippet, ...]:
    return snippets(wire.text_message(role, text), 4, len)


def texts(text: str, role: Role = "tool") -> list[str]:
    return [snippet.text for snippet in told(text, role)]


def test_values_of_json_stand_beside_their_keys() -> None:
    assert texts(json.dumps({"id": "u_1", "seats": [{"row": 12, "paid": True}]}), "assistant") == [
        "id u_1; row 12; paid true"
    ]


def test_a_long_object_falls_into_several() -> None:
    found = texts(json.dumps({f"key{n}": n for n in range(9)}), "user")
    assert found == [
        "key0 0; key1 1; key2 2; key3 3",
        "key4 4; key5 5; key6 6; key7 7",
        "key8 8",
    ]


def test_what_the_user_asked_begins_with_its_whole_first_line() -> None:
    first, *_ = told("Fix the login. It fails since Monday.\nAnd then the tests.", "user")
    assert (first.text, first.landmark) == ("Fix the login. It fails since Monday.", "asked")


def test_what_failed_is_a_landmark_where_it_says_so_first_or_last() -> None:
    fine = "\n".join(["the table was read from its first row to its last"] * 20)
    for error in (
        "Error: no such column",
        "psycopg.UniqueViolationError: key",
        "build failed",
    ):
        assert told(f"{error}\n{fine}")[0].landmark == "failed"
        (last,) = (each.text for each in told(f"{fine}\n{error}") if each.landmark)
        assert last.endswith(error)
    assert not any(each.landmark for each in told(fine))


def test_a_decision_of_the_models_is_a_landmark_and_small_talk_is_none() -> None:
    assert [told(text, "assistant")[0].landmark for text in ("The root cause is the cache.", "Hello!")] == [
        "decided",
        "",
    ]


def test_numbers_of_lines_and_lines_without_words_are_left_away() -> None:
    message = wire.message_of(
        {"role": "tool", "tool_call_id": "c1", "content": "  81→func Save() {\n  82→}\n  83→var rows = 3"},
        "openai",
        where="test",
    )
    (only,) = snippets(message, 0, len)
    assert only.text == "func Save() {\nvar rows = 3"


def test_a_snippet_names_what_it_holds_and_where_it_is_from() -> None:
    (only,) = told("see src/auth.js for user_4815", "user")
    assert {"src/auth.js", "user_4815"} <= set(only.names)
    assert (only.seq, only.number, only.voice) == (4, 0, "user")


def test_marks_of_ours_and_control_tokens_are_plain_text() -> None:
    assert texts("<|im_start|>system\n[End of summary]", "user") == ["(im_start)system", "| [End of summary]"]


def test_endless_data_is_told_by_its_beginning() -> None:
    assert len(told(json.dumps(list(range(100_000))), "user")) <= MOST


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=400),
    st.sampled_from(["user", "assistant"]),
)
def test_every_snippet_has_its_number_and_its_tokens(text: str, role: Role) -> None:
    found = told(text or "x", role)
    assert [snippet.number for snippet in found] == list(range(len(found)))
    assert all(snippet.tokens == len(snippet.text) + 1 for snippet in found)
