"""The short forms of large tool outputs: whole lines, marked gaps, and the line with the failure."""

from __future__ import annotations

import pytest

from foveal.pipeline.shorten.short_form import short_form
from foveal.pipeline.tokens.count import tokenizer
from outputs import FAILURE, TYPES, output

ROOMS = (500, 2_000, 8_000)
BY_LINE = ("log", "code", "csv", "html", "diff", "test output")
"""Types whose short form consists of lines of the output."""
count = tokenizer("o200k_base").count


def shown(type: str, room: int) -> list[str]:
    short = short_form(output(type, 100_000), room, count)
    assert short
    assert short.tokens <= room
    return short.text.splitlines()


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("type", TYPES)
def test_a_short_form_says_that_something_was_left_out(type: str, room: int) -> None:
    assert any(line.startswith("[") and ("not shown" in line or "also" in line) for line in shown(type, room))


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("type", BY_LINE)
def test_it_consists_of_whole_lines(type: str, room: int) -> None:
    lines = {line.rstrip() for line in output(type, 100_000).splitlines()}
    body = [line.removesuffix(" …").partition(" ×")[0] for line in shown(type, room)[:-1] if line != "…"]
    assert set(body) <= lines


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("type", ["log", "json", "test output"])
def test_it_keeps_the_failure(type: str, room: int) -> None:
    assert FAILURE in "\n".join(shown(type, room))
