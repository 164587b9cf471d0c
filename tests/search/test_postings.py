"""What keyword scores promise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.search.postings import Postings

texts = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), min_size=1, max_size=12)


def postings(*documents: str) -> Postings:
    made = Postings()
    for document in documents:
        made.append(document.split())
    return made


def scores(made: Postings, query: str) -> list[float]:
    return made.scores(made.known(query.split()), saturation=1.2, length=0.75).tolist()


def test_who_has_no_term_of_the_question_scores_nothing() -> None:
    assert scores(postings("a b", "c d"), "a")[1] == 0


def test_a_rare_term_says_more_than_a_common_one() -> None:
    found = scores(postings("rare x", "common x", "common y", "common z"), "rare common")
    assert found[0] > found[1]


def test_more_of_the_same_says_less_and_less() -> None:
    once, twice, thrice, _ = scores(postings("a x y", "a a x", "a a a", "z z z"), "a")
    assert twice - once > thrice - twice > 0


def test_a_short_document_needs_less_than_a_long_one() -> None:
    short, long = scores(postings("a", "a b c d e f g"), "a")
    assert short > long


def test_a_term_that_is_asked_twice_counts_once() -> None:
    made = postings("a b", "b c")
    assert scores(made, "a a") == scores(made, "a")


def test_nothing_asked_is_nothing_found() -> None:
    assert scores(postings("a", "b"), "unknown") == [0, 0]


def test_the_rarest_terms_that_lead_to_others_come_first() -> None:
    made = postings("a b c", "a b", "a")
    assert made.rarest(made.known(["a", "b", "c"]), 5) == made.known(["b", "a"])


@given(texts)
def test_an_index_that_grew_is_one_that_was_made_at_once(documents: list[list[str]]) -> None:
    grown = Postings()
    for document in documents:
        grown.append(document)
        grown.scores(grown.known("abc"), saturation=1.2, length=0.75)
    whole = postings(*map(" ".join, documents))
    assert scores(grown, "a b c") == pytest.approx(scores(whole, "a b c"))
