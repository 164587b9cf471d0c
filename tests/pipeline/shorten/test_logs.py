"""What the short form of a log shows of lines that repeat, and which names it lists."""

from __future__ import annotations

import re
from itertools import pairwise

from foveal.pipeline.shorten.short_form import short_form
from foveal.pipeline.tokens.count import tokenizer

count = tokenizer("o200k_base").count
LINES = [
    f"2025-03-01T08:{n // 60 % 60:02}:{n % 60:02}.{n % 1000:03}Z INFO worker-{n % 9} handled request"
    f" id={n * 7919 % 100000} took={n * 31 % 400}ms"
    for n in range(3_000)
]


def form(lines: list[str], room: int) -> str:
    found = short_form("\n".join(lines), room, count)
    assert found is not None
    assert found.content == "log"
    assert found.tokens <= room
    return found.text


def places(text: str) -> list[int]:
    """Where the lines of the short form are in the log."""
    lines = [re.sub(r"(?: ×\d+)?(?: …)?$", "", line) for line in text.splitlines()]
    return [LINES.index(line) for line in lines if line in LINES]


def test_the_room_is_used_while_there_are_more_lines_to_show() -> None:
    small, large = form(LINES, 4_000), form(LINES, 16_000)
    assert count(small) > 3_600
    assert count(large) > 14_400


def test_the_first_of_similar_lines_says_how_many_there_are() -> None:
    assert form(LINES, 1_000).startswith(f"{LINES[0]} ×3000")


def test_the_first_and_the_last_lines_are_shown() -> None:
    found = places(form(LINES, 1_000))
    assert found[:3] == [0, 1, 2]
    assert found[-3:] == [2_997, 2_998, 2_999]


def test_the_other_lines_are_evenly_spaced() -> None:
    found = places(form(LINES, 4_000))
    gaps = [after - before for before, after in pairwise(found)]
    assert len(found) > 60
    assert max(gaps) < 4 * len(LINES) / len(found)


def test_lines_not_shown_are_counted() -> None:
    text = form(LINES, 1_000)
    assert f"[… {len(LINES) - len(places(text)):,} lines not shown" in text


def test_parts_of_timestamps_and_durations_are_not_listed_as_names() -> None:
    footer = form([*LINES, "2025-03-01T09:00:00.5Z WARN disk-7 slow: 31ms"], 300).splitlines()[-1]
    assert not re.search(r"\dZ|\dms|08:", footer)


def test_ids_of_which_most_do_not_fit_are_not_listed_but_recurring_names_are() -> None:
    footer = form(LINES, 300).splitlines()[-1]
    assert "worker-" in footer
    assert "15838" not in footer


def test_an_error_among_similar_lines_is_shown_with_the_lines_around_it() -> None:
    lines = [*LINES]
    lines[1234] = "2025-03-01T08:20:34.234Z ERROR worker-1 lost its connection to db-7"
    text = form(lines, 600)
    assert "\n".join(lines[1233:1236]) in text


def test_a_line_that_repeats_exactly_is_shown_once() -> None:
    text = form(["INFO the queue is empty", "INFO started worker-3"] * 400, 200)
    assert text.count("queue is empty") == 1
    assert "×400" in text
