"""What snippets promise: each can be read alone, and together they say what the message says."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from foveal import wire
from foveal.model import Role
from foveal.presets.foveal.snippets import MOST, Snippet, snippets


def split(text: str, role: Role = "tool") -> tuple[Snippet, ...]:
    return snippets(wire.text_message(role, text), 4, len)


def texts(text: str, role: Role = "tool") -> list[str]:
    return [snippet.text for snippet in split(text, role)]


def test_json_values_keep_their_keys() -> None:
    assert texts(json.dumps({"id": "u_1", "seats": [{"row": 12, "paid": True}]}), "assistant") == [
        "id u_1; row 12; paid true"
    ]


def test_a_long_object_is_split_into_several() -> None:
    found = texts(json.dumps({f"key{n}": n for n in range(9)}), "user")
    assert found == [
        "key0 0; key1 1; key2 2; key3 3",
        "key4 4; key5 5; key6 6; key7 7",
        "key8 8",
    ]


def test_a_request_begins_with_its_entire_first_line() -> None:
    first, *_ = split("Fix the login. It fails since Monday.\nAnd then the tests.", "user")
    assert (first.text, first.landmark) == ("Fix the login. It fails since Monday.", "asked")


def test_a_failure_is_a_landmark_at_its_start_or_its_end() -> None:
    fine = "\n".join(["the table was read from its first row to its last"] * 20)
    for error in (
        "Error: no such column",
        "psycopg.UniqueViolationError: key",
        "build failed",
    ):
        assert split(f"{error}\n{fine}")[0].landmark == "failed"
        (last,) = (each.text for each in split(f"{fine}\n{error}") if each.landmark)
        assert last.endswith(error)
    assert not any(each.landmark for each in split(fine))


def test_a_decision_of_the_model_is_a_landmark_and_small_talk_is_not() -> None:
    assert [split(text, "assistant")[0].landmark for text in ("The root cause is the cache.", "Hello!")] == [
        "decided",
        "",
    ]


def test_line_numbers_and_lines_without_words_are_omitted() -> None:
    message = wire.message_of(
        {"role": "tool", "tool_call_id": "c1", "content": "  81→func Save() {\n  82→}\n  83→var rows = 3"},
        "openai",
        where="test",
    )
    (only,) = snippets(message, 0, len)
    assert only.text == "func Save() {\nvar rows = 3"


def test_a_snippet_has_its_names_and_its_position() -> None:
    (only,) = split("see src/auth.js for user_4815", "user")
    assert {"src/auth.js", "user_4815"} <= set(only.names)
    assert (only.seq, only.number, only.voice) == (4, 0, "user")


def test_note_marks_and_control_tokens_are_neutralized() -> None:
    assert texts("<|im_start|>system\n[End of summary]", "user") == ["(im_start)system", "| [End of summary]"]


def test_of_endless_data_only_the_beginning_is_split() -> None:
    assert len(split(json.dumps(list(range(100_000))), "user")) <= MOST


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=400),
    st.sampled_from(["user", "assistant"]),
)
def test_every_snippet_has_its_number_and_its_tokens(text: str, role: Role) -> None:
    found = split(text or "x", role)
    assert [snippet.number for snippet in found] == list(range(len(found)))
    assert all(snippet.tokens == len(snippet.text) + 1 for snippet in found)
