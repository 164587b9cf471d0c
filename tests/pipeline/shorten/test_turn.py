"""What shortening a turn promises: it fits, and only the words of results and messages change."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from foveal.model import Message
from foveal.pipeline.shorten.turn import shorten_turn
from foveal.pipeline.summarize.notes import RESULT_END, RESULT_MARK, result_note
from foveal.pipeline.tokens.count import tokenizer
from foveal.wire import load, note

count = tokenizer("o200k_base").count
LONG = "\n".join(f"Order ord_{n} went out to customer cus_{n} in the morning." for n in range(100, 200))
CALL = {"id": "a", "type": "function", "function": {"name": "orders", "arguments": '{"day": "2024-05-01"}'}}
THINKING = {"type": "thinking", "thinking": LONG, "signature": "c2lnbmVk"}


written = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=400)


def turn(*, said: str = "Looking.", result: str = LONG) -> tuple[Message, ...]:
    asked = {"role": "assistant", "content": said, "tool_calls": [CALL]}
    return load([asked, {"role": "tool", "tool_call_id": "a", "content": result}]).messages


def price(message: Message) -> int:
    return 4 + count(message.text)


def cut_to(messages: Sequence[Message], room: int) -> tuple[Message, ...] | None:
    return shorten_turn(messages, room, price=price, render=tuple, count=count)


def test_a_turn_that_fits_is_left_as_it_is() -> None:
    assert cut_to(turn(), 10_000) == turn()


def test_results_become_short_and_keep_their_call() -> None:
    made = cut_to(turn(), 300)
    assert made is not None
    assert made[0] == turn()[0]
    assert made[1].results[0].call_id == "a"
    assert "not shown" in made[1].text


def test_a_quoted_result_is_shortened_within_its_marks() -> None:
    made = cut_to([note(result_note(LONG, tool="orders"), "openai")], 300)
    assert made is not None
    lines = made[0].text.split("\n")
    assert lines[:2] == [RESULT_MARK, "From tool orders:"]
    assert lines[-1] == RESULT_END
    assert "not shown" in made[0].text


def test_words_are_shortened_only_when_results_are_not_enough() -> None:
    words = turn(said=LONG, result=LONG)
    some, more = cut_to(words, 2_200), cut_to(words, 300)
    assert some is not None
    assert more is not None
    assert some[0] == words[0] != more[0]


def test_a_call_is_never_touched() -> None:
    made = cut_to(turn(said=LONG), 200)
    assert made is not None
    assert made[0].calls == turn()[0].calls


def test_signed_thinking_is_never_touched() -> None:
    messages = load([{"role": "assistant", "content": [THINKING, {"type": "text", "text": LONG}]}]).messages
    made = cut_to(messages, price(messages[0]) - 500)
    assert made is not None
    assert made[0].parts[0] == messages[0].parts[0]
    assert cut_to(messages, 200) is None


def test_a_system_prompt_is_never_touched() -> None:
    assert cut_to(load([{"role": "system", "content": LONG}]).messages, 100) is None


@given(written, written, st.integers(0, 300))
def test_a_shortened_turn_never_exceeds_its_room(said: str, result: str, room: int) -> None:
    made = cut_to(turn(said=said, result=result), room)
    assert made is None or sum(map(price, made)) <= room


@given(st.lists(st.integers(0, 2_000), min_size=1, max_size=4), st.integers(60, 2_000))
def test_a_turn_with_many_results_fits_when_each_has_a_few_tokens(sizes: list[int], room: int) -> None:
    messages = tuple(turn(result=LONG[:size])[1] for size in sizes)
    made = cut_to(messages, max(room, 24 * len(sizes)))
    assert made is not None
    assert all(message.text or not size for message, size in zip(made, sizes, strict=True))
