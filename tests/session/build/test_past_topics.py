"""Which past topic a window of `fifth` retrieves: the mentioned one with its answer, and no other."""

from __future__ import annotations

import pytest

from foveal import Foveal, Session
from foveal.window import Retrieved

TOPICS = ("printer", "garden", "invoice", "holiday", "database", "coffee machine", "alarm", "newsletter")


@pytest.fixture
def talk(fov: Foveal) -> Session:
    """One exchange for each topic, all in similar words, and eight about the slides."""
    session = fov.session("talk", model="gpt-5", preset="fifth")
    session.add("user", "Take the minutes of this meeting, please.")
    for topic in TOPICS:
        session.add("user", f"Let us talk about the {topic} now: what did the team find out this week?")
        session.add("assistant", f"The team found that the {topic} needs a new plan, which nobody pays for.")
    for page in range(12):
        session.add("user", f"Now the slides, page {page}: which font and which colour do we use on it?")
        session.add("assistant", f"On page {page} of the slides we use the font Inter and blue {page}.")
    return session


def asked(session: Session, question: str) -> tuple[Retrieved, ...]:
    session.add("user", question)
    return session.build(budget=900).manifest.retrieved


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What did the team find out about the garden?", "garden"),
        ("What did the team find out about the coffee machine this week?", "coffee machine"),
        ("Remember the newsletter?", "newsletter"),
        ("And the printers?", "printer"),
    ],
)
def test_a_topic_is_retrieved_with_its_answer_and_no_other_topic_is(
    talk: Session, question: str, topic: str
) -> None:
    request = 1 + 2 * TOPICS.index(topic)
    assert [(each.first, each.last) for each in asked(talk, question)] == [(request, request + 1)]


def test_a_topic_that_was_never_discussed_retrieves_nothing(talk: Session) -> None:
    assert asked(talk, "What about the elevator?") == ()
