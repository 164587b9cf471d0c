"""What a text carries. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.pipeline.signals import identifiers, weight, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("open src/lib/parser.js:45:3.", ["src/lib/parser.js", "parser.js"]),
        (r"in C:\dev\a.py", ["C:/dev/a.py", "a.py"]),
        ("edit ./setup.cfg, then /etc/hosts", ["setup.cfg", "etc/hosts"]),
        ("+++ b/src/auth.js", ["b/src/auth.js", "auth.js"]),
        ("ask bob@example.org.", ["bob@example.org"]),
        ("see https://a.io/x?id=7#top.", ["https://a.io/x?id=7#top"]),
        ("commit 3f2a9bc", ["3f2a9bc"]),
        ("550e8400-e29b-41d4-a716-446655440000", ["550e8400-e29b-41d4-a716-446655440000"]),
        ("order 48151 of 12,345.67, not 42", ["48151", "12345.67"]),
        ("issue #1234", ["1234"]),
        ("TypeError in userId and user_id", ["TypeError", "userId", "user_id"]),
        ("port=8081", ["8081"]),
        ('the key "order-status" is set', ["order-status"]),
        ("auth.js and auth.js", ["auth.js", "auth.js"]),
    ],
)
def test_identifiers_are_found(text: str, found: list[str]) -> None:
    assert identifiers(text) == found


@pytest.mark.parametrize(
    "text",
    ["", "Hello there.", "The USA, e.g. here", "and/or", "don't", '"status": "ok"', "12 of 99", "x" * 900],
)
def test_plain_words_are_no_identifiers(text: str) -> None:
    assert identifiers(text) == []


def test_words_are_lower_case_without_those_that_say_nothing() -> None:
    assert words("Where is the Auth_Token for user 7?") == ["auth", "token", "user", "7"]


def test_scripts_without_spaces_fall_into_their_characters() -> None:
    assert words("修复登录") == ["修", "复", "登", "录"]


@pytest.mark.parametrize("seed", ["a", "a/", '"a', "1,", "a@", ":1", "a.", "1,1", "\\", "=", "'`\""])
def test_time_is_linear_on_any_input(seed: str) -> None:
    started = time.perf_counter()
    identifiers(seed * 200_000)
    words(seed * 200_000)
    assert time.perf_counter() - started < 10


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert all(identifiers(text))
    assert all(words(text))


def test_a_moment_is_worth_less_than_a_day() -> None:
    assert weight("2024-05-05T00:38:24") < weight("2024-05-05")
    assert weight("22:00:00") < weight("2024-05-05")
