"""What a turn is. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foveal import wire
from foveal.model import Format
from foveal.pipeline.turns import REACH, Links, Turns, links


def turns(history: Sequence[dict[str, Any]], format: Format = "openai") -> list[list[int]]:
    """Positions of the messages, grouped into turns."""
    found = Turns(runs=wire.rules(format).item_per_part)
    given = wire.load(list(history), format=format).messages
    for at, message in enumerate(given):
        found.add(at, links(message))
    together = Turns(runs=wire.rules(format).item_per_part)
    together.add_all(map(links, given))
    assert together.starts == found.starts
    stops = [*found.starts[1:], len(given)]
    return [list(range(start, stop)) for start, stop in zip(found.starts, stops, strict=True)]


def said(role: str) -> dict[str, Any]:
    return {"role": role, "content": "words"}


def called(*ids: str) -> dict[str, Any]:
    function = {"name": "ls", "arguments": "{}"}
    calls = [{"id": id, "type": "function", "function": function} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answered(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "a.txt"}


def test_plain_messages_are_turns_of_their_own() -> None:
    assert turns([said("system"), said("user"), said("assistant")]) == [[0], [1], [2]]


def test_a_call_and_its_answer_are_one_turn() -> None:
    assert turns([said("user"), called("a"), answered("a"), said("user")]) == [[0], [1, 2], [3]]


def test_parallel_calls_and_all_their_answers_are_one_turn() -> None:
    assert turns([called("a", "b"), answered("b"), answered("a")]) == [[0, 1, 2]]


def test_an_id_used_again_later_belongs_to_the_later_call() -> None:
    assert turns([called("a"), answered("a"), called("a"), answered("a")]) == [[0, 1], [2, 3]]


def test_an_answer_after_other_words_belongs_to_no_turn() -> None:
    assert turns([called("a"), said("user"), answered("a")]) == [[0], [1], [2]]


def test_an_answer_without_a_call_is_a_turn_of_its_own() -> None:
    assert turns([called("a"), answered("b")]) == [[0], [1]]


def test_calls_without_ids_pair_by_name() -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {}}}]}
    result = {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {}}}]}
    assert turns([call, result, call, result], "gemini") == [[0, 1], [2, 3]]


def test_items_of_one_answer_stay_together_with_their_reasoning() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    call = {"type": "function_call", "call_id": "a", "name": "ls", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "a", "output": "a.txt"}
    asked = {"role": "user", "content": "list"}
    assert turns([asked, reasoning, call, output, reasoning, call], "responses") == [[0], [1, 2, 3], [4, 5]]


def test_a_tools_words_without_an_id_go_with_the_assistants_before_them() -> None:
    assert turns([said("user"), said("assistant"), said("tool")], "plain") == [[0], [1, 2]]


def test_an_output_right_after_a_reference_to_its_call_goes_with_it() -> None:
    reference = {"type": "item_reference", "id": "fc_1"}
    output = {"type": "function_call_output", "call_id": "a", "output": "a.txt"}
    assert turns([said("user"), reference, output, said("user"), output], "responses") == [
        [0],
        [1, 2],
        [3],
        [4],
    ]


def starts(*given: Links, since: int = 0) -> list[int]:
    found = Turns(runs=True)
    for seq, link in enumerate(given):
        found.add(seq, link, since=since)
    return found.starts


CALL, ANSWER = Links(role="assistant", calls=("c",)), Links(role="tool", answers=("c",))
WORDS = Links(role="user")


def test_where_ids_pair_over_the_whole_input_a_result_joins_its_call_with_all_in_between() -> None:
    assert starts(WORDS, CALL, WORDS, WORDS, ANSWER, WORDS) == [0, 1, 5]


def test_a_result_joins_the_newest_call_of_its_id() -> None:
    assert starts(CALL, WORDS, CALL, WORDS, ANSWER) == [0, 1, 2]


def test_a_second_result_of_a_call_joins_nothing_earlier() -> None:
    assert starts(CALL, ANSWER, WORDS, ANSWER) == [0, 2, 3]


def test_a_result_does_not_join_a_call_that_is_far_back_or_replaced() -> None:
    assert len(starts(CALL, *[WORDS] * REACH, ANSWER)) == REACH + 2
    assert starts(CALL, WORDS, ANSWER, since=1) == [0, 1, 2]
