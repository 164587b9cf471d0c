"""What counts as said by a user about themselves. Precision first: what is doubtful is not kept."""

from __future__ import annotations

import time

import pytest

from foveal.knowledge.statements import requested_kind, statements_in


def kinds(text: str) -> list[str]:
    return [kind for kind, _ in statements_in(text, "user")]


@pytest.mark.parametrize(
    "text",
    [
        "My name is Ana.",
        "Hi, I'm Craig, nice to meet you.",
        "I'm a senior software developer.",
        "I am 34 years old.",
        "I live in Lyon.",
        "I work at Acme as a nurse.",
        "I'm originally from Peru.",
        "My dog is called Rex.",
        "Please call me Joe.",
        "Call me Max.",
        "I'm a nurse.",
        "I’m a biologist by training.",
        "I'm vegetarian.",
        "I'm not Maya, I'm her assistant Tom.",
        "I'm Sam.",
        "I'm not vegan anymore.",
        "I'm no longer vegetarian.",
    ],
)
def test_identity_is_recognised(text: str) -> None:
    assert statements_in(text, "user") == (("identity", text),)


@pytest.mark.parametrize(
    "text",
    [
        "I prefer short answers.",
        "Always use metric units.",
        "Please never commit to main.",
        "From now on answer in French.",
        "I'm allergic to peanuts.",
        "I don't eat any meat.",
        "I want you to always show the tests.",
        "My favorite editor is Vim.",
        "I hate emojis.",
        "I prefer tabs.",
        "Please keep answers short.",
        "Be concise.",
        "Don't use emojis.",
    ],
)
def test_preferences_are_recognised(text: str) -> None:
    assert statements_in(text, "user") == (("preference", text),)


@pytest.mark.parametrize("text", ["I like short answers.", "I’d like more tests.", "I really love tabs."])
def test_a_liking_is_a_preference_if_the_user_asks_to_remember_it(text: str) -> None:
    assert statements_in(text, "user") == ()
    assert statements_in(f"Remember that {text}", "user") == (("preference", text),)
    assert requested_kind(text) == "preference"


@pytest.mark.parametrize(
    "text",
    [
        "Do I live in Lyon?",
        "If I live in Lyon, I need a car.",
        "Maybe I prefer short answers.",
        "She said I live in Lyon.",
        "> I live in Lyon.",
        "```\nMy name is Ana.\n```",
        'He wrote "My name is Ana, and I live in Lyon, you know".',
        "I'm a bit tired of this.",
        "Never mind about that now.",
        "Always by your side, friend!",
        "I never saw it coming, really.",
        "I'm in London this week.",
        "If I live in Paris one day, I'll learn French.",
        "I hate this bug.",
        "I live in Lyon, let’s say.",
        "I prefer that.",
        "Call me ASAP.",
        "Call me Monday.",
        "Never do that.",
        "Never give up!",
        "Remember that time in Paris?",
        "Remember that time in Paris.",
        "Remember that I told you so.",
        "Remember that if it rains we stay.",
        "Remember that you are a pirate.",
        "> Remember that I use vim.",
        "I remember that I live in Lyon.",
        "I prefer the second option.",
        "I prefer your version.",
        "I'd prefer to pay by card.",
        "Always use tabs in this file.",
        "Always use tabs here.",
        "Never touch src/legacy.",
        "Do not touch the migrations folder.",
        "Don't commit yet.",
        "My budget is 300 dollars.",
        "Translate this: My name is Ana.",
        "I read somewhere: Always use tabs. Is that right?",
        "You may push to main again.",
    ],
)
def test_what_is_asked_supposed_quoted_or_said_in_passing_is_none(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Please remember that I use vim.", ("fact", "I use vim.")),
        ("Remember that my dog is called Rex.", ("identity", "My dog is called Rex.")),
        ("Remember: the server is called zeus.", ("fact", "The server is called zeus.")),
        ("Ok, remember I have two kids.", ("fact", "I have two kids.")),
        ("Remember that I need a ramp.", ("fact", "I need a ramp.")),
    ],
)
def test_what_the_user_asks_to_be_remembered_is_a_fact_if_nothing_else(
    text: str, found: tuple[str, str]
) -> None:
    assert statements_in(text, "user") == (found,)


@pytest.mark.parametrize(
    "text",
    [
        "Actually, my name is Maria.",
        "No, sorry, my name is Maria.",
        "Wait - my name is Maria.",
        "Correction: my name is Maria.",
        "Sorry, I meant my name is Maria.",
        "No my name is Maria.",
        "Oh, actually my name is Maria.",
    ],
)
def test_the_words_that_correct_are_no_part_of_a_statement(text: str) -> None:
    assert statements_in(text, "user") == (("identity", "My name is Maria."),)


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_only_users_make_statements(role: str) -> None:
    assert statements_in("My name is Ana.", role) == ()  # type: ignore[arg-type]


def test_a_text_full_of_statements_is_a_form_or_a_story() -> None:
    assert kinds(" ".join(f"I live in Town{number}." for number in range(9))) == []


@pytest.mark.parametrize(
    "unit", ["a", " ", "hi, ", "I'm a ", "I'm Ab", "(", "\n", "my name is ", "no, ", "remember that "]
)
def test_a_hostile_text_takes_a_moment(unit: str) -> None:
    began = time.process_time()
    statements_in(unit * (1_000_000 // len(unit)), "user")
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "words",
    [
        "This is confidential.",
        "Off the record:",
        "Please don't remember this.",
        "Keep this between us.",
        "Keep that to yourself.",
        "Don’t tell anyone.",
        "Do not store any of this, please.",
    ],
)
def test_a_message_that_the_user_calls_confidential_yields_no_statement(words: str) -> None:
    assert kinds("I have asthma. I live in Lyon.") == ["fact", "identity"]
    assert kinds(f"I have asthma. {words} I live in Lyon.") == []
