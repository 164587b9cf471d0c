"""What a text is found by."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.search.terms import LONGEST, terms


def test_forms_of_a_word_meet_in_its_stem() -> None:
    assert terms("hiking").all == terms("hiked").all == terms("HIKES").all


def test_words_that_say_nothing_are_dropped() -> None:
    assert terms("what did they do, didn't they?").all == []


def test_an_identifier_is_found_by_its_words_and_whole() -> None:
    assert {"auth", "src/auth.js", "auth.js"} <= set(terms("see src/auth.js").all)


def test_a_number_that_is_a_word_counts_once() -> None:
    assert terms("port 8081").all.count("8081") == 1


def test_names_are_what_is_written_with_a_capital_and_long_numbers() -> None:
    assert terms("In 1846 they went to Iowa with 12 others").names == {"1846", "iowa"}


def test_a_capital_does_not_make_a_name_of_a_word_that_says_nothing() -> None:
    assert terms("The When And").names == frozenset()


def test_scripts_without_spaces_are_found_by_their_characters() -> None:
    assert set(terms("東京").all) <= set(terms("東京は首都").all)


@pytest.mark.parametrize("unit", ["a", " ", "[", "A b", "a.", "a/", "1,", "'"])
def test_time_is_linear_on_any_input(unit: str) -> None:
    def seconds(size: int) -> float:
        started = time.process_time()
        terms(unit * (size // len(unit)))
        return time.process_time() - started

    seconds(1_000)
    assert seconds(400_000) < 40 * (seconds(40_000) + 0.005)


@given(st.text())
def test_every_text_has_terms_of_bounded_length_or_identifiers(text: str) -> None:
    found = terms(text)
    assert all(found.all)
    assert all(len(name) <= LONGEST for name in found.names)
