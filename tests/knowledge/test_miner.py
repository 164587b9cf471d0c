"""What mining promises: names of things, each once, and nothing that names nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.knowledge.miner import Miner
from foveal.model import Role
from foveal.store import Mention

CHAT = (
    "the and of to in is it was for on with that this we you they have had not but so very much about all "
    * 20
)
"""Enough plain words for a conversation to be one in English."""


def mined(*texts: str, role: Role = "user", known_text: str = "") -> dict[str, Mention]:
    """By name, the things of a conversation of these texts."""
    miner = Miner(known_text=known_text)
    for number, text in enumerate((CHAT, *texts)):
        miner.read(f"m{number}", text, role)
    return {thing.name: thing for things in miner.found().values() for thing in things}


def names(*texts: str, role: Role = "user") -> set[str]:
    return set(mined(*texts, role=role))


@pytest.mark.parametrize(
    ("text", "name", "type"),
    [
        ("I had lunch with my sister Maria today.", "Maria", "person"),
        ("We asked Dr. Okafor about it.", "Okafor", "person"),
        ("We adopted a dog named Rex.", "Rex", "pet"),
        ("They moved to Lisbon in spring.", "Lisbon", "place"),
        ("We are reading a novel called Middlemarch now.", "Middlemarch", "work"),
        ("The bug is in src/auth/login.py, I think.", "src/auth/login.py", "file"),
        ("See https://www.postgresql.org/docs for it.", "postgresql.org", "site"),
    ],
)
def test_one_mention_is_enough_where_the_words_around_it_show_it(text: str, name: str, type: str) -> None:
    found = mined(text)
    assert name in found
    assert found[name].type == type


def test_a_name_within_a_sentence_of_the_user_is_one() -> None:
    assert names("we went with Karlie last summer") == {"Karlie"}


def test_a_name_that_only_the_model_says_must_be_said_twice() -> None:
    assert names("you could try Todoist for that", role="assistant") == set()
    assert names("you could try Todoist", "so try Todoist", role="assistant") == {"Todoist"}


def test_the_first_word_of_a_sentence_is_no_name() -> None:
    assert names("Running is fun. Absolutely. Great!", "Running again. Absolutely!") == set()


def test_a_word_that_is_also_written_small_is_no_name() -> None:
    assert names("I like the Change here", "one more change", "the Change again", "a change") == set()


def test_days_months_greetings_and_nationalities_are_no_names() -> None:
    assert names("on Monday in October we said Hello to a Canadian, Thanks", "on Monday in October") == set()


def test_code_is_an_entity_when_it_is_mentioned_again() -> None:
    assert names("fix `parse_line` now", "is `parse_line()` done?") == {"parse_line"}


def test_headings_titles_and_tables_name_nothing() -> None:
    assert (
        names("# Weekly Planning Overview\n| Alpha | Beta |\nCheck Your Calendar First\n**Main Point**: go")
        == set()
    )


def test_code_blocks_and_quoted_text_name_nothing() -> None:
    assert names("look:\n```\nclass Zebra: near Zanzibar\n```\n> we met Quentin in Oslo") == set()


def test_only_what_users_and_models_typed_is_read() -> None:
    assert names("my sister Maria", role="tool") == names("my sister Maria", role="system") == set()


def test_a_possessive_is_the_same_name() -> None:
    assert names("we saw Maria's house", "we saw Maria there") == {"Maria"}


def test_spellings_of_one_name_are_one_thing() -> None:
    found = mined("we use PostgreSQL here", "we use Postgresql there", "with PostgreSQL again")
    assert [thing.slug for thing in found.values()] == ["postgresql"]


def test_a_long_name_misspelled_by_one_letter_is_the_same() -> None:
    assert names("we met Montserrat there", "with Montserrat again", "near Montserat too") == {"Montserrat"}


def test_a_first_name_is_its_person() -> None:
    assert names("my friend Maria Gonzalez came", "then Maria left") == {"Maria Gonzalez"}


def test_a_short_name_is_its_person() -> None:
    assert names("Hey Melanie, so", "Hey Melanie, again", "thanks Mel, so", "so Mel, then") == {"Melanie"}


def test_a_first_name_of_two_people_stays_its_own() -> None:
    said = ("my friend Maria Gonzalez came", "my boss Maria Silva left", "then Maria called")
    assert names(*said) == {"Maria Gonzalez", "Maria Silva", "Maria"}


def test_the_name_of_a_file_is_its_path() -> None:
    assert names("see src/auth/login.py for it", "login.py is broken") == {"src/auth/login.py"}


def test_frequent_phrases_are_topics() -> None:
    found = mined(*["so the dance studio is open, and the dance is fun"] * 3)
    assert [(thing.kind, thing.slug) for thing in found.values()] == [("topic", "dance-studio")]


def test_a_topic_of_the_model_alone_is_none() -> None:
    assert names(*["so the dance studio is open, and the dance is fun"] * 3, role="assistant") == set()


def test_what_a_prompt_says_is_not_found_again() -> None:
    assert mined("my sister Maria lives in Lisbon", known_text="The user's sister is Maria.").keys() == {
        "Lisbon"
    }


def test_a_later_text_changes_what_an_earlier_one_named() -> None:
    miner = Miner()
    miner.read("m1", f"{CHAT} so my friend Maria came", "user")
    assert [thing.slug for thing in miner.found()["m1"]] == ["maria"]
    miner.read("m2", "that is my friend Maria Gonzalez", "user")
    assert {key: [thing.slug for thing in found] for key, found in miner.found().items()} == {
        "m1": ["maria-gonzalez"],
        "m2": ["maria-gonzalez"],
    }


def test_unchanged_texts_are_not_returned_again() -> None:
    miner = Miner()
    miner.read("m1", "my friend Maria came", "user")
    miner.found()
    miner.read("m2", "we had tea", "user")
    assert miner.found() == {"m2": ()}


def test_a_known_thing_is_found_at_its_first_mention() -> None:
    known = Mention(kind="entity", slug="todoist", name="Todoist", type="tool")
    miner = Miner(already=[known])
    miner.read("m9", "open Todoist again", "assistant")
    assert miner.found() == {"m9": (known,)}


def test_another_language_has_other_uses_of_capitals() -> None:
    said = "Gestern haben wir mit der Katze und dem Hund im Garten das Essen gegessen"
    miner = Miner()
    miner.read("m1", said, "user")
    assert miner.found() == {"m1": ()}


SAID = st.lists(
    st.lists(
        st.sampled_from(
            [
                *(
                    "my friend",
                    "the",
                    "we",
                    "saw",
                    "Maria",
                    "Maria Gonzalez",
                    "Mar",
                    "maria",
                    "Gonzalez",
                    "`a_b`",
                ),
                *(
                    "src/a.py",
                    "a.py",
                    "Lisbon",
                    "moved to",
                    "dance studio",
                    "dance",
                    ".",
                    ",",
                    "PostgreSQL",
                    "\n",
                ),
            ]
        ),
        max_size=12,
    ).map(" ".join),
    max_size=8,
)


@given(SAID)
def test_things_are_the_same_whether_found_after_each_text_or_at_the_end(texts: list[str]) -> None:
    often, once = Miner(), Miner()
    seen: dict[str, set[str]] = {}
    for number, text in enumerate(texts):
        once.read(str(number), text, "user")
        often.read(str(number), text, "user")
        seen |= {key: {thing.slug for thing in found} for key, found in often.found().items()}
    assert seen == {key: {thing.slug for thing in found} for key, found in once.found().items()}


@given(SAID)
def test_no_conversation_has_a_thing_twice(texts: list[str]) -> None:
    miner = Miner()
    for number, text in enumerate((CHAT, *texts)):
        miner.read(str(number), text, "user")
    found = {thing for things in miner.found().values() for thing in things}
    assert len({thing.slug.replace("-", "").removesuffix("s") for thing in found}) == len(found)


@pytest.mark.parametrize(
    "unit", ["a", "A", " ", "(", "`", "Ab ", "the ", "**", "a/", "\n", "Ab-", "[", "x.py "]
)
def test_a_hostile_text_is_read_in_a_moment(unit: str) -> None:
    began = time.process_time()
    miner = Miner()
    miner.read("m1", unit * (1_000_000 // len(unit)), "user")
    miner.found()
    assert time.process_time() - began < 5
