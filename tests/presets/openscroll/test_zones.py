"""How key messages are scored."""

from __future__ import annotations

import math

import pytest

from foveal.model import Role
from foveal.pipeline.summarize.values import Passage
from foveal.pipeline.summarize.voices import Utterance
from foveal.presets.openscroll.zones import KeyMessageNumbers, key_messages
from foveal.window import Score


def scored(text: str, role: Role = "assistant") -> Score:
    """The score of a message in the middle of three."""
    return key_messages([message("first"), message(text, role), message("last")])[1]


def message(text: str, role: Role = "assistant") -> Utterance:
    passage = Passage(first=0, last=0, role=role, text=text, digest="")
    return Utterance(seq=0, role=role, passages=(passage,), tokens=1)


def test_a_score_is_the_sum_of_eight_parts() -> None:
    score = scored("Which error? We decided:\n```\nfix()\n```", "user")
    assert score.parts == {
        "recency": pytest.approx(20 / 3),
        "substance": pytest.approx(5 * math.log2(7 + 1)),
        "code": 15,
        "questions": 5,
        "decisions": 10,
        "problems": 10,
        "user": 5,
        "edge": 0,
    }
    assert score.total == pytest.approx(20 / 3 + 15 + 15 + 5 + 10 + 10 + 5)


def test_the_first_and_the_last_score_15_more() -> None:
    edges = [score.parts["edge"] for score in key_messages([message("a"), message("b"), message("c")])]
    assert edges == [15, 0, 15]


def test_substance_questions_and_problems_have_a_cap_and_decisions_have_none() -> None:
    parts = scored("? bug crash issue problem answer " * 40).parts
    assert (parts["substance"], parts["questions"], parts["problems"]) == (25, 15, 15)
    assert parts["decisions"] == 400


def test_only_a_pair_of_fences_is_a_block_of_code() -> None:
    assert [scored("```" * fences).parts["code"] for fences in range(5)] == [0, 0, 15, 15, 30]


@pytest.mark.parametrize("phrase", ["Let's go with", "we’ll use", "Agreed", "RESOLVED"])
def test_a_decision_is_a_whole_phrase_in_any_case_and_with_any_apostrophe(phrase: str) -> None:
    assert scored(f"{phrase} it").parts["decisions"] == 10
    assert scored("finally, unresolved answers").parts["decisions"] == 0


def test_every_number_can_be_changed() -> None:
    numbers = KeyMessageNumbers(recency=0, substance=0, edge=0, decision=1, decisions="so be it")
    (score,) = key_messages([message("So be it.")], numbers)
    assert score.total == 1
