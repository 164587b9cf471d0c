"""What counts as a rule, a preference, a fact or a correction of the user, and which of them still hold."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.pipeline.summarize.rules import MOST, Rule, rules_in, standing, supersedes
from foveal.pipeline.summarize.statements import statement

PLANTED = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "planted_rules.py"))
STATED = [text for texts in PLANTED["STATED"].values() for text in texts]
WORDS = st.lists(
    st.sampled_from(
        [*STATED, "Use tabs", "not", "never", "I'm", "\n", "> ", "```", '"', "if", ".", "é", "\x00"]
    )
)


def texts(text: str) -> list[str]:
    return [rule.text for rule in rules_in(text, 0)]


def held(*said: str) -> list[str]:
    return [
        rule.text for rule in standing([rule for at, each in enumerate(said) for rule in rules_in(each, at)])
    ]


def test_there_are_forty_kinds_of_at_least_four_phrasings() -> None:
    assert len(PLANTED["STATED"]) == 40
    assert all(len(set(phrasings)) >= 4 for phrasings in PLANTED["STATED"].values())


@pytest.mark.parametrize("text", STATED)
def test_a_short_statement_is_found_and_holds(text: str) -> None:
    assert held(text) == [text]


@pytest.mark.parametrize("text", PLANTED["PASSING"])
def test_a_remark_of_the_moment_is_none(text: str) -> None:
    assert texts(text) == []


@pytest.mark.parametrize(("earlier", "later"), PLANTED["CORRECTED"])
def test_of_two_that_contradict_each_other_the_later_holds(earlier: str, later: str) -> None:
    assert held(earlier, later) == [later]


@pytest.mark.parametrize(("earlier", "later"), PLANTED["CORRECTED"])
def test_a_correction_wins_however_much_was_said_in_between(earlier: str, later: str) -> None:
    between = [f"The service of team {number} runs on port {9000 + number}." for number in range(100)]
    found = held(earlier, *between, later)
    assert found[-1] == later
    assert earlier not in found


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("Do not touch the migrations folder.", "Do not touch the vendor folder."),
        ("I'm allergic to peanuts.", "I'm allergic to shellfish."),
        ("Never push to main.", "Never print the API key."),
        ("My sister's name is Ana.", "My brother's name is Paul."),
        ("This is for ticket FOV-2231.", "I'm working on issue #4417."),
        ("The reservation ID is XEHM4B.", "The reservation ID is 59XX6W."),
        ("My name is Maximilian.", "Call me Max."),
        ("Always run the tests before you commit.", "Never commit to main."),
    ],
)
def test_what_says_something_else_holds_too(one: str, another: str) -> None:
    assert held(one, another) == [one, another]


def test_each_holds_once_as_last_said() -> None:
    said = [*rules_in("Never push to main.", 2), *rules_in("Please, never push to main!", 9)]
    assert [rule.seq for rule in standing(said)] == [9]


def test_a_permission_matters_only_where_it_ends_a_rule() -> None:
    assert held("You may touch the migrations folder now.") == []


@pytest.mark.parametrize(
    "text",
    [
        "> Never use eval.",
        "```\nNever use eval.\n```",
        "<output>\nNever use eval.\n</output>",
        "The page says:\nNever use eval.",
        "-----Original message-----\nNever use eval.",
        'He wrote "Never use eval in the parser, please" on the wall.',
        "[Request interrupted by user] Never use eval.",
        "This session is being continued from a previous conversation. Never use eval.",
        "Never use " + "eval " * 80,
    ],
)
def test_what_is_pasted_or_quoted_or_written_by_a_program_or_long_is_none(text: str) -> None:
    assert texts(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Do not touch the migrations folder.", "rule"),
        ("I prefer aisle seats.", "preference"),
        ("I'm vegetarian.", "fact"),
        ("Actually use spaces, not tabs.", "correction"),
        ("I'm not Maya, I'm her assistant Tom.", "correction"),
    ],
)
def test_a_rule_has_a_kind(text: str, kind: str) -> None:
    assert [rule.kind for rule in rules_in(text, 0)] == [kind]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Fix the login. Do not touch the tests! Ok?", ["Do not touch the tests!"]),
        ("Fix the login, and don't touch the tests.", ["Fix the login, and don't touch the tests."]),
        ("- Fix the login\n- Never use eval", ["Never use eval"]),
        ("Please never use\neval in here. Thanks.", ["Please never use\neval in here."]),
        ("If the tests fail, never push.", ["If the tests fail, never push."]),
        ("Could you please call me Sam?", ["Could you please call me Sam?"]),
        ("**Important:** don't add packages.", ["**Important:** don't add packages."]),
        ("Remember that the key is in the safe.", ["Remember that the key is in the safe."]),
    ],
)
def test_a_rule_is_the_whole_sentence_verbatim(text: str, found: list[str]) -> None:
    assert texts(text) == found


def test_a_message_yields_its_strongest_rules_in_order() -> None:
    many = [f"Never use tool {number}." for number in range(20)]
    weak = "Make sure it looks nice."
    assert texts(" ".join([weak, *many])) == many[:MOST]


def test_the_ends_of_a_long_message_are_read() -> None:
    text = f"Never use eval.\n{'The log goes on. ' * 2_000}\nCall me Sam."
    assert texts(text) == ["Never use eval.", "Call me Sam."]


@pytest.mark.parametrize(
    "text", ["Always use tabs in this file.", "Never touch src/legacy.", "Don't commit yet."]
)
def test_what_is_about_one_place_or_occasion_is_a_rule_but_says_nothing_about_the_user(text: str) -> None:
    stated = statement(text)
    assert stated
    assert stated.about == ""


@given(WORDS.map(" ".join) | st.text(max_size=300))
def test_a_rule_is_always_a_part_of_the_text(text: str) -> None:
    found = rules_in(text, 3)
    assert all(rule.text in text and rule.text == rule.text.strip() and rule.seq == 3 for rule in found)
    assert set(standing(found)) <= set(found)


@given(st.lists(st.sampled_from(STATED) | st.text(min_size=1, max_size=40), max_size=12))
def test_what_holds_is_in_order_and_no_later_rule_supersedes_it(said: list[str]) -> None:
    found = standing([Rule(seq=at, text=text, kind="rule") for at, text in enumerate(said)])
    assert [rule.seq for rule in found] == sorted({rule.seq for rule in found})
    assert not any(supersedes(b.text, a.text) for at, a in enumerate(found) for b in found[at + 1 :])
