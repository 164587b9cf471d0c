"""What a task and a conversation refer to: names, paths and words, each with its emphasis."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.sources.code.focus import LONGEST, NEWEST, find_focus


def test_what_only_programs_spell_so_is_surely_a_name() -> None:
    assert find_focus("fix parse_all, readHTML and the lock", ()).certain == {"parse_all", "readHTML"}


@pytest.mark.parametrize("task", ["why does `lock` hang", "why does lock() hang", "why does Door.lock hang"])
def test_a_plain_word_is_surely_a_name_in_quotes_as_a_call_or_as_a_member(task: str) -> None:
    assert "lock" in find_focus(task, ()).certain


def test_a_word_that_says_nothing_is_a_name_in_quotes_and_an_apostrophe_is_no_quote() -> None:
    assert find_focus("don't touch `all` of it", ()).task_names == ("all", "don", "touch")


def test_certain_names_come_first() -> None:
    assert find_focus("make the lock of HTTPDoor faster", ()).task_names[0] == "HTTPDoor"


def test_parts_of_a_path_are_no_names() -> None:
    assert find_focus("look at src/lock/door.py and key.py", ()).task_names == ("look",)


@pytest.mark.parametrize("between", [".", "::", "#", "->"])
def test_a_member_is_found_with_what_it_belongs_to(between: str) -> None:
    assert find_focus(f"fix Door{between}open", ()).members == {("Door", "open")}


def test_the_task_is_louder_than_what_was_said_and_new_louder_than_old() -> None:
    names = find_focus("key_a", ["key_c", "key_b"]).names
    assert names["key_a"] > names["key_b"] > names["key_c"] > 0


def test_a_name_is_as_loud_as_its_loudest_mention() -> None:
    assert find_focus("key_a", ["key_a", "key_a"]).names["key_a"] == 1.0


def test_only_the_newest_texts_are_looked_at() -> None:
    names = find_focus("", [f"key_{number}" for number in range(NEWEST + 5)]).names
    assert len(names) == NEWEST
    assert "key_4" not in names


@given(st.text(), st.lists(st.text(), max_size=5))
def test_every_text_can_be_read(task: str, said: list[str]) -> None:
    found = find_focus(task, said)
    assert found.certain <= set(found.task_names) <= found.names.keys()


@pytest.mark.parametrize("piece", ["a", ".", "a.", "`", "A", "/", "a(", "_", "::", "Aa"])
def test_a_hostile_task_costs_no_more_than_its_first_characters(piece: str) -> None:
    start = time.process_time()
    find_focus(piece * (1_000_000 // len(piece)), [piece * LONGEST] * NEWEST)
    assert time.process_time() - start < 5
