"""What a reason promises: a sentence from a code and its numbers, and nothing that other columns show."""

from __future__ import annotations

from typing import get_args

import pytest

from foveal.pipeline.reasons import SENTENCES, Reason, no_room, retrieved
from foveal.window import ABSENT, FIXED, Code, Logged


@pytest.mark.parametrize(
    "code", sorted({*FIXED, *ABSENT, *get_args(Logged), "no_room", "low_value", "too_old"})
)
def test_every_code_has_a_sentence(code: Code) -> None:
    assert Reason(code=code).sentence == SENTENCES[code]


def test_too_little_room_is_not_low_value() -> None:
    short, low = (
        Reason(code="no_room", numbers={"missing": 82}),
        Reason(code="low_value", numbers={"cut": 0.4}),
    )
    assert short.sentence == "no room: 82 tokens short"
    assert low.sentence.startswith("low value: ")


def test_the_numbers_say_how_many_tokens_were_missing() -> None:
    assert no_room(needed=100, left=18).numbers == {"needed": 100, "left": 18, "missing": 82}


def test_what_a_table_shows_in_columns_is_left_out_of_the_brief_sentence() -> None:
    reason = no_room(needed=100, left=18, columns="importance 63.0")
    assert (reason.brief, reason.sentence.split(", ")[0]) == (
        "needed 100 tokens, 18 were left",
        "importance 63.0",
    )


def test_a_retrieved_message_names_the_one_it_is_relevant_to() -> None:
    assert "message 12," in retrieved(11).sentence
