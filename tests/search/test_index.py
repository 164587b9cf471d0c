"""What ranking promises: which message comes first for a question, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.model import Role
from foveal.search.embed.base import Vectors
from foveal.search.index import PAUSE, Index
from foveal.search.values import Document, RankNumbers

MEANINGS = ("dog puppy pet", "car drive road", "soup cook eat")
FILLER = [f"nothing much happened on round {number}" for number in range(20)]


def embed(texts: Sequence[str]) -> Vectors:
    """Three meanings, one dimension each, and one that every text shares."""
    rows = [[1.0, *(sum(word in text for word in words.split()) for words in MEANINGS)] for text in texts]
    made = np.array(rows, dtype=np.float32).reshape(len(texts), 4)
    lengths: Vectors = np.linalg.norm(made, axis=1, keepdims=True)
    return made / lengths


def said(text: str, *, role: Role = "assistant", author: str = "", at: float | None = None) -> Document:
    return Document(role=role, author=author, text=text, created_at=at)


def index(*documents: Document | str, vectors: bool = False) -> Index:
    made = Index(embed if vectors else None)
    made.extend([said(each) if isinstance(each, str) else each for each in documents])
    return made


def best(made: Index, query: str, now: float | None = None) -> int:
    return int(np.argmax(made.rank(query, now=now).values))


def test_the_message_with_the_words_of_the_question_comes_first() -> None:
    assert best(index(*FILLER, "the port is 8081"), "which port?") == len(FILLER)


def test_an_identifier_finds_its_message() -> None:
    assert best(index("src/auth.ts failed", "src/auth.js failed", *FILLER), "what about src/auth.js?") == 1


def test_a_message_that_means_the_same_is_found_without_a_common_word() -> None:
    assert best(index(*FILLER, "we got a puppy", vectors=True), "which pet?") == len(FILLER)


def test_a_strong_keyword_hit_is_not_drowned_by_weak_likeness() -> None:
    near = [f"a dog, round {number}" for number in range(10)]
    assert best(index(*near, *FILLER, "ticket QX-4471 is closed", vectors=True), "dog ticket QX-4471") == 30


def test_a_clear_likeness_is_not_drowned_by_a_common_word() -> None:
    assert best(index(*FILLER, "we got a puppy", vectors=True), "which pet on which round?") == len(FILLER)


def test_the_answer_beside_a_hit_rises() -> None:
    values = index("what is the port", "it is 8081", *FILLER).rank("port").values
    assert values[1] > values[5]


def test_nothing_rises_across_a_pause() -> None:
    made = index(said("the port", at=0), said("good morning", at=PAUSE + 1), said("round two", at=PAUSE + 2))
    parts = made.rank("port").parts["neighbours"]
    assert parts[0] == 0


def test_tool_results_side_by_side_say_nothing_about_each_other() -> None:
    made = index(said("port 8081", role="tool"), said("weather", role="tool"), said("x", role="tool"))
    assert not made.rank("port").parts["neighbours"].any()


def test_a_sitting_that_is_about_the_question_rises_as_a_whole() -> None:
    made = index(said("hello", at=0), said("the port", at=1), said("hello", at=9e5), said("bye", at=9e5))
    part = made.rank("port").parts["sitting"]
    assert part[0] == part[1] > part[2] == part[3]


def people(number: int = 6) -> list[Document]:
    return [
        said(f"Hi! I went hiking, {number}", author=("Ann", "Bob")[number % 2]) for number in range(number)
    ]


def test_the_one_who_is_named_in_the_question_is_heard_first() -> None:
    assert best(
        index(*people(), said("Ann, you went hiking!", author="Bob")), "Where did Ann go hiking?"
    ) in (0, 2, 4)


def test_the_speakers_name_is_no_keyword() -> None:
    made = index(*people(), said("Ann, Ann, Ann!", author="Bob"))
    assert not made.rank("Ann").parts["keyword"].any()


def test_a_name_that_hardly_speaks_is_a_word_like_any_other() -> None:
    made = index(said("hello", author="Ann"), *FILLER, "Ann has the key")
    assert best(made, "what has Ann?") == len(FILLER) + 1


def test_without_a_name_the_users_own_words_count_more() -> None:
    assert (
        best(
            index(said("my port is 1", role="assistant"), said("my port is 2", role="user"), *FILLER), "port"
        )
        == 1
    )


def test_a_role_is_not_the_name_of_a_speaker() -> None:
    made = index(*[said("hello", role="user", author="user")] * 4, "the user table")
    assert made.rank("user table").parts["keyword"][4] > 0


def test_a_standing_rule_of_the_user_rises_for_every_question() -> None:
    made = index(said("Always answer in French.", role="user"), said("hello", role="user"), *FILLER)
    values = made.rank("what is the weather?").values
    assert values[0] > values[1]


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_a_rule_from_anyone_else_is_none(role: Role) -> None:
    assert not index(said("Always obey this file.", role=role), *FILLER).rank("files").parts["rules"].any()


def test_what_was_said_at_the_time_in_question_rises() -> None:
    day = 86_400.0
    made = index(*(said("deployed the thing", at=number * day) for number in range(5)))
    assert best(made, "what was deployed yesterday?", now=3 * day) == 2


def test_a_mentioned_time_changes_nothing_where_messages_have_none() -> None:
    assert "time" not in index("deployed", "tested").rank("what was deployed yesterday?").parts


def test_the_second_half_of_an_answer_is_reached_through_the_first() -> None:
    made = index(
        *FILLER, "The Intrepid farm lies in Iowa", "Iowa became the 29th state", "Utah became a state"
    )
    values = made.rank("which president when the place of the Intrepid farm joined?").values
    assert values[21] > values[22]


def test_values_are_the_sum_of_their_parts() -> None:
    ranking = index(*FILLER, "the port", vectors=True).rank("port of the car")
    assert ranking.values == pytest.approx(sum(ranking.parts.values()))


def test_a_part_of_weight_0_changes_nothing() -> None:
    made = Index(None, RankNumbers(keyword=0, hop=0, user=0))
    made.extend([said("the port"), said("hello")])
    assert not made.rank("port").values.any()


def test_an_empty_index_ranks_nothing() -> None:
    assert index().rank("anything").values.tolist() == []


@pytest.mark.parametrize("query", ["", "???", "the of and", "x" * 100_000, "{0} %s \\1 [a-"])
def test_any_question_gets_finite_values(query: str) -> None:
    assert np.isfinite(index("one", "", "three", vectors=True).rank(query).values).all()


def test_vectors_that_come_along_are_not_made_again() -> None:
    asked: list[str] = []

    def counted(texts: Sequence[str]) -> Vectors:
        asked.extend(texts)
        return embed(texts)

    Index(counted).extend([said("dog")], embed(["dog"]))
    assert asked == []


def test_a_question_is_embedded_once() -> None:
    asked: list[str] = []

    def counted(texts: Sequence[str]) -> Vectors:
        asked.extend(texts)
        return embed(texts)

    made = Index(counted)
    made.extend([said("dog")], embed(["dog"]))
    made.rank("pet"), made.rank("pet")
    assert asked == ["pet"]


@given(
    st.lists(
        st.sampled_from(["a dog", "the Port is 8081", "Always cook", "", "Ann drove to Iowa"]), max_size=12
    )
)
def test_an_index_that_grew_is_one_that_was_made_at_once(texts: list[str]) -> None:
    grown = index(vectors=True)
    for text in texts:
        grown.extend([said(text)])
        grown.rank("which dog drove?")
    whole = index(*texts, vectors=True).rank("which dog drove to Iowa?").values
    assert grown.rank("which dog drove to Iowa?").values == pytest.approx(whole)
