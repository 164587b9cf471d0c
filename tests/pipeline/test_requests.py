"""Which user messages are requests: not an answer, not a notice, not the output of a command."""

from __future__ import annotations

from typing import Any

import pytest

from foveal.model import Message
from foveal.pipeline.requests import said
from foveal.wire import load

QUESTION = "Could you please provide your user id?"


def message(role: str, content: Any) -> Message:
    return load([{"role": role, "content": content}], format="openai").messages[0]


def judged(text: Any, before: str = "", *, tools: bool = True) -> str:
    return said(message("user", text), message("assistant", before) if before else None, tools=tools)


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


def test_without_tool_calls_what_follows_a_fenced_command_is_its_output() -> None:
    command = "Let me look.\n```bash\nls -l src\n```"
    assert judged("total 12\nauth.py", command, tools=False) == "output"
    assert judged("total 12\nauth.py", "```\nopen auth.py\n```\n", tools=False) == "output"
    assert judged("Now add a test for it.", "```python\nprint(1)\n```", tools=False) == "request"
    assert judged("Now add a test for it.", command, tools=True) == "request"


def test_a_picture_is_a_request() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    assert judged([picture]) == "request"


@pytest.mark.parametrize(
    "start", ["<system-reminder>", "[Request interrupted", "<command-a></command-a>", "```"]
)
def test_long_texts_are_judged_in_linear_time(start: str) -> None:
    assert judged(start * 20_000, "```\n" * 20_000, tools=False)
