"""What cutting promises: never over the room, head and tail kept, what was cut is said."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.model import Message
from foveal.pipeline.shorten.turn import Render, cut_middle, least_tokens, shorten_turn
from foveal.wire import load

LONG = "\n".join(f"line {n} of the log" for n in range(400))


def words(text: str) -> int:
    return len(text.split())


def shorter(messages: Sequence[Message], room: int, render: Render = tuple) -> tuple[Message, ...] | None:
    return shorten_turn(messages, room, price=lambda m: words(m.text), render=render, count=words)


def tool(text: str) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": "a", "content": text}


def test_what_fits_is_not_cut() -> None:
    assert cut_middle("all of it", 3, words) == "all of it"


def test_the_head_and_the_tail_stay_and_the_gap_is_stated() -> None:
    short = cut_middle(LONG, 60, words)
    assert short.startswith("line 0 of the log")
    assert short.endswith("line 399 of the log")
    assert "characters cut" in short


@given(st.text(max_size=3_000), st.integers(6, 200))
def test_a_cut_never_exceeds_its_room(text: str, room: int) -> None:
    assert words(cut_middle(text, room, words)) <= room


def test_the_longest_results_are_cut_first() -> None:
    messages = load([tool(LONG), tool("short and whole")]).messages
    long, short = shorter(messages, 200) or messages
    assert words(long.text) < 200
    assert short == messages[1]


def test_what_cannot_fit_is_said_to_be_impossible() -> None:
    messages = load([{"role": "user", "content": LONG}]).messages
    assert shorter(messages, 3) is None


def test_every_probe_costs_the_room_and_not_the_text() -> None:
    seen: list[int] = []

    def counted(text: str) -> int:
        seen.append(len(text))
        return words(text)

    cut_middle("word " * 200_000, 100, counted)
    assert sum(seen[1:]) < 100_000


PRINTED = [{"stdout": LONG, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
SHOT = {"type": "computer_screenshot", "image_url": "data:image/png;base64,aGk="}


@pytest.mark.parametrize(("kind", "output"), [("shell", PRINTED), ("computer", SHOT)])
def test_an_output_that_is_no_text_is_left_as_it_is(kind: str, output: object) -> None:
    item = {"type": f"{kind}_call_output", "call_id": "a", "output": output}
    messages = load([item], format="responses").messages
    assert least_tokens(messages, lambda m: 7 if m == messages[0] else 0, words) == 7


def test_what_is_written_otherwise_for_the_provider_must_fit_as_it_is_written() -> None:
    messages = load([tool(LONG)]).messages

    def twice(found: Sequence[Message]) -> tuple[Message, ...]:
        return (*found, *found)

    short = shorter(messages, 200, twice)
    assert short is not None
    assert words(short[0].text) <= 100
    assert least_tokens(messages, lambda m: words(m.text), words, render=twice) <= 200
