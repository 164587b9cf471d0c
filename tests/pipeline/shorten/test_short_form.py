"""What every short form promises: never over the room, nothing invented, what is left out is said."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.pipeline.shorten.short_form import short_form
from foveal.pipeline.signals import identifiers
from foveal.pipeline.tokens.count import tokenizer

count = tokenizer("o200k_base").count
lines = st.lists(st.text(max_size=30), max_size=20).map("\n".join)
numbers = st.lists(st.integers(100, 99_999), min_size=5, max_size=40)
named = numbers.map(lambda found: "\n".join(f"ord_{n} went out on day {n % 9} of the week" for n in found))
HOSTILE = {
    "one letter": "a" * 400_000,
    "spaces": " " * 400_000,
    "brackets": "[" * 400_000,
    "open objects": '{"a":' * 80_000,
    "dots": ". " * 200_000,
    "short lines": "a\n" * 200_000,
    "names": " ".join(f"id_{n}" for n in range(44_000)),
    "heads of files in a diff": "@@ -1 +1 @@\n" + "--- a/x\n" * 50_000,
    "numbers in an array": f"[{','.join(map(str, range(10_000, 54_000)))}]",
}


def names_of(text: str) -> set[str]:
    """The names in a short form, including those within a range."""
    ranges = re.findall(r"(ord_)?(\d+)–(?:ord_)?(\d+)", text)
    within = (f"{stem}{n}" for stem, first, last in ranges for n in range(int(first), int(last)))
    return set(identifiers(text)).union(within)


@given(lines | named, st.integers(0, 400))
def test_no_short_form_exceeds_its_room(text: str, room: int) -> None:
    made = short_form(text, room, count)
    assert made is None or made.tokens == count(made.text) <= room


@given(lines, st.integers(0, 50))
def test_what_fits_is_the_text_itself(text: str, spare: int) -> None:
    made = short_form(text, count(text) + spare, count)
    assert made is not None
    assert (made.text, made.fidelity) == (text, 1.0)


@given(lines | named, st.integers(0, 100))
def test_the_same_text_has_the_same_short_form(text: str, room: int) -> None:
    assert short_form(text, room, count) == short_form(text, room, count)


@given(lines | named, st.integers(0, 200))
def test_a_short_form_says_something_and_claims_less_than_everything(text: str, room: int) -> None:
    made = short_form(text, room, count)
    if made is not None and made.text != text:
        assert made.text.strip()
        assert 0 <= made.fidelity < 1


@given(named)
def test_half_the_tokens_keep_at_least_half_of_the_names(text: str) -> None:
    made = short_form(text, count(text) // 2 + 10, count)
    names = set(identifiers(text))
    assert made is not None
    assert 2 * len(names & names_of(made.text)) >= len(names)


@given(named, st.integers(20, 120))
def test_more_room_never_costs_more_than_a_few_names(text: str, room: int) -> None:
    smaller, larger = (short_form(text, tokens, count) for tokens in (room, room * 2))
    kept = [len(names_of(made.text)) if made else 0 for made in (smaller, larger)]
    assert kept[1] >= kept[0] - 2


def test_what_is_left_out_is_said_in_words_with_its_names() -> None:
    text = "\n".join(f"Step {n} of the plan made the order ord_{7 * n} ready to go." for n in range(100, 160))
    made = short_form(text, 200, count)
    assert made is not None
    assert "sentences not shown; names in them: " in made.text
    assert len(re.findall(r"ord_\d+", made.text)) >= 20


def test_a_mentioned_name_is_kept_before_all_others() -> None:
    text = "\n".join(f"The order ord_{n} was shipped to the customer on time." for n in range(100, 900))
    plain, asked = (short_form(text, 100, count, mentioned=m) for m in (frozenset(), frozenset({"ord_555"})))
    assert plain is not None
    assert asked is not None
    assert "order ord_555 was shipped" not in plain.text
    assert "order ord_555 was shipped" in asked.text


def test_nothing_meaningful_is_none() -> None:
    assert short_form("a word " * 300, 2, count) is None
    assert short_form(" " * 5_000, 3, count) is None


def test_special_characters_and_format_syntax_are_plain_text() -> None:
    text = "\n".join(f"{{0}} %s <|endoftext|> $HOME user_{n} said hello to everybody." for n in range(50))
    made = short_form(text, 100, count)
    assert made is not None
    assert "{0} %s <|endoftext|> $HOME" in made.text


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_text_four_times_as_long_takes_about_four_times_as_long(text: str) -> None:
    spent = []
    for part in (f"{text[: len(text) // 4]}{text[-1]}", text):
        start = time.process_time()
        short_form(part, 200, lambda words: len(words) // 4 + 1)
        spent.append(time.process_time() - start)
    assert spent[1] < 12 * spent[0] + 0.5
