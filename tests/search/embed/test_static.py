"""What static embeddings promise."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.search.embed.static import LONGEST, Static, static

SHORT = "The port of the staging server is 8081, not 8080."


def likeness(one: str, other: str) -> float:
    rows = static().embed([one, other])
    return float(rows[0] @ rows[1])


def seconds(text: str) -> float:
    started = time.process_time()
    static().embed([text])
    return time.process_time() - started


def test_every_text_gets_one_row_of_256() -> None:
    rows = static().embed(["one", "two", "three"])
    assert (rows.shape, str(rows.dtype), static().dimensions) == ((3, 256), "float32", 256)


def test_no_texts_make_no_rows() -> None:
    assert static().embed([]).shape == (0, 256)


@given(st.lists(st.text(), max_size=4))
def test_a_row_is_of_length_1_or_all_zeros(texts: list[str]) -> None:
    lengths = np.linalg.norm(static().embed(texts), axis=1)
    assert all(length == pytest.approx(1, abs=1e-5) or length == 0 for length in lengths)


@pytest.mark.parametrize("text", ["", "   ", "\n\t\n"])
def test_what_says_nothing_is_a_row_of_zeros(text: str) -> None:
    assert not static().embed([text]).any()


def test_like_meaning_lies_closer_than_like_length() -> None:
    assert likeness("my dog is ill", "the puppy is sick") > likeness("my dog is ill", "the build is done")


def test_case_does_not_matter() -> None:
    assert likeness("WHERE IS THE LOGIN?", "where is the login?") == pytest.approx(1, abs=1e-6)


def test_the_spelling_of_a_special_token_is_plain_text() -> None:
    assert likeness("a</s>b", "ab") < 0.99


def test_a_row_does_not_depend_on_the_texts_beside_it() -> None:
    many = static().embed([f"text number {n}" for n in range(250)])
    assert np.array_equal(many[249], static().embed(["text number 249"])[0])


def test_a_text_is_read_up_to_its_limit() -> None:
    assert likeness("ab " * LONGEST, "ab " * LONGEST + "something else") == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("character", ["a", " ", "[", "\ud800", "漢", "\x00"])
def test_a_million_of_one_character_take_no_time(character: str) -> None:
    assert seconds(character * 1_000_000) < 0.5


def test_700_short_messages_take_a_tenth_of_a_second_or_so() -> None:
    static().embed([SHORT])
    started = time.process_time()
    static().embed([f"{SHORT} {n}" for n in range(700)])
    assert time.process_time() - started < 0.3


def test_threads_share_one_table() -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: static(), range(8)))
    assert len({id(each) for each in found}) == 1
    assert isinstance(found[0], Static)


def test_the_package_that_brings_the_table_is_never_imported() -> None:
    code = "import sys, foveal.search.embed.static as s; s.static().embed(['x']); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "wordllama" not in modules.stdout.split()
