"""Which user messages are requests: not an answer, not a notice."""

from __future__ import annotations

from typing import Any

import pytest

from foveal.model import Message
from foveal.pipeline.requests import command_in, said
from foveal.wire import load

QUESTION = "Could you please provide your user id?"


def message(role: str, content: Any) -> Message:
    return load([{"role": role, "content": content}], format="openai").messages[0]


def judged(text: Any, before: str = "") -> str:
    return said(message("user", text), message("assistant", before) if before else None)


@pytest.mark.parametrize(
    "text",
    ["yes", "Continue.", "ok do it", "ok, do it", "Thanks, go on!", "👍", "y", "the second one, please"],
)
def test_a_go_ahead_starts_nothing_new(text: str) -> None:
    assert judged(text) == judged(text, QUESTION) == "answer"


@pytest.mark.parametrize(
    "text", ["mia_li_3668", "My user id is mia_li_3668.", "May 20th", "2026-11-16", "It's the economy one."]
)
def test_what_was_asked_for_is_an_answer(text: str) -> None:
    assert judged(text, QUESTION) == "answer"


@pytest.mark.parametrize(
    "text",
    [
        "Fix the build.",
        "Why does refresh fail?",
        "I want to cancel my reservation.",
        "ok, now write a test for it",
        "can you also check the docs",
        "yeah let's abandon the current branch, and create a new one from main, and then add a fix for 2",
    ],
)
def test_what_asks_for_something_is_a_request_even_after_a_question(text: str) -> None:
    assert judged(text) == judged(text, QUESTION) == "request"


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder>The date changed.</system-reminder>",
        "<command-name>/exit</command-name>\n<command-message>exit</command-message>",
        "[Request interrupted by user]",
        "<system-reminder>without an end",
    ],
)
def test_a_notice_of_a_program_is_no_request(text: str) -> None:
    assert judged(text) == "notice"


def test_words_after_a_notice_are_the_users() -> None:
    assert judged("<system-reminder>Note.</system-reminder>\nFix the build.") == "request"
    parts = [{"type": "text", "text": "<system-reminder>Note.</system-reminder>"}]
    assert judged([*parts, {"type": "text", "text": "Fix the build."}]) == "request"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("```\nls -la\n```", "ls -la"),
        ("First ```this```.\n```bash\nls\n```\n", "ls"),
        ("```mswea_bash_command\nls\n```", "ls"),
        ("```\nls\n``` and then?", ""),
        ("no command", ""),
        ("```", ""),
        ("``````", ""),
    ],
)
def test_a_command_is_the_fenced_block_that_ends_a_text(text: str, command: str) -> None:
    assert command_in(text) == command


def test_an_endless_row_of_fences_is_read_in_linear_time() -> None:
    assert command_in("`" * 1_000_000) == ""


def test_a_picture_is_a_request() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    assert judged([picture]) == "request"


@pytest.mark.parametrize(
    "start", ["<system-reminder>", "[Request interrupted", "<command-a></command-a>", "```"]
)
def test_long_texts_are_judged_in_linear_time(start: str) -> None:
    assert judged(start * 20_000, "```\n" * 20_000)
