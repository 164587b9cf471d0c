"""What is predicted from where a user is: the worked table, signal by signal, then all together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.knowledge.prediction import Conversation, predict
from foveal.knowledge.values import Prediction, Presence, Thing

HOUR = 3600.0
NOW = 20_000 * 24 * HOUR + 9 * HOUR
"""Nine o'clock in Greenwich."""
OLD = NOW - 400 * HOUR
RESEARCH = ("/home", "/notebook/7", "/chat/3")
THING = Thing(
    id="",
    kind="topic",
    slug="",
    name="",
    type="",
    importance=0.5,
    mentions=3,
    sessions=1,
    streak=0,
    peak_hour=3,
    last_engaged=OLD,
    last_mentioned=OLD,
)


def topic(
    slug: str, importance: float = 0.5, *, hour: int = 3, hours_ago: float = 400, streak: int = 0
) -> Thing:
    engaged = NOW - hours_ago * HOUR
    return replace(
        THING, slug=slug, importance=importance, peak_hour=hour, last_engaged=engaged, streak=streak
    )


def entity(id: str, importance: float = 0.5, *, hours_ago: float = 1) -> Thing:
    return replace(THING, kind="entity", id=id, importance=importance, last_mentioned=NOW - hours_ago * HOUR)


def made(
    presence: Presence | None = None, *, topics: tuple[Thing, ...] = (), entities: tuple[Thing, ...] = ()
) -> tuple[Prediction, ...]:
    known = [Conversation(id="a", topics=("jwt", "login")), Conversation(id="b")]
    return predict(presence or Presence(), topics=topics, entities=entities, conversations=known, now=NOW)


def ranked(predictions: tuple[Prediction, ...]) -> list[tuple[str, float]]:
    return [(p.conversation_id or p.topic_slug or p.entity_id, round(p.probability, 9)) for p in predictions]


def test_an_empty_presence_predicts_nothing() -> None:
    assert made() == ()


def test_the_active_conversation_goes_on() -> None:
    assert made(Presence(active_conversation="a")) == (
        Prediction(
            type="continue_conversation",
            conversation_id="a",
            topic_slug="jwt",
            probability=0.85,
            required_bundles=("conversation", "topic"),
        ),
    )


def test_an_unknown_active_conversation_predicts_nothing() -> None:
    assert made(Presence(active_conversation="gone")) == ()


def test_a_conversation_without_topics_has_no_topic_slug() -> None:
    assert made(Presence(active_conversation="b"))[0].topic_slug == ""


def test_the_first_three_other_visible_conversations_may_be_opened() -> None:
    here = Presence(active_conversation="a", visible_conversations=("x", "a", "x", "y", "z", "w"))
    assert ranked(made(here)) == [("a", 0.85), ("x", 0.3), ("y", 0.3), ("z", 0.3)]
    assert made(here)[1].required_bundles == ("conversation",)


def test_the_three_most_important_topics_of_this_hour_may_come() -> None:
    topics = tuple(
        topic(slug, weight, hour=9) for slug, weight in zip("abcde", (0.5, 0.9, 0.39, 0.4, 0.6), strict=True)
    )
    assert ranked(made(topics=topics)) == [("b", 0.18), ("e", 0.12), ("a", 0.1)]


def test_a_topic_of_importance_four_tenths_is_just_important_enough() -> None:
    assert ranked(made(topics=(topic("a", 0.4, hour=9),))) == [("a", 0.08)]


def test_the_user_s_own_hour_decides() -> None:
    assert ranked(made(Presence(local_hour=22), topics=(topic("late", hour=22), topic("early", hour=9)))) == [
        ("late", 0.1)
    ]


def test_five_topics_of_the_last_48_hours_by_streak_then_importance() -> None:
    topics = (
        topic("none", 0.9, hours_ago=48.1),
        topic("edge", 0.2, hours_ago=48, streak=9),
        *(topic(f"s{number}", 0.1 * number, hours_ago=1, streak=1) for number in range(1, 7)),
    )
    assert {slug for slug, _ in ranked(made(topics=topics))} == {"edge", "s6", "s5", "s4", "s3"}
    assert dict(ranked(made(topics=topics)))["s6"] == pytest.approx(0.09)


def test_a_recent_topic_that_is_listed_already_is_skipped_and_not_replaced() -> None:
    topics = (
        topic("jwt", 0.9, hours_ago=1, streak=5),
        topic("now", 0.8, hour=9, hours_ago=1, streak=4),
        *(topic(f"s{number}", 0.1, hours_ago=1, streak=3 - number) for number in range(4)),
    )
    found = ranked(made(Presence(active_conversation="a"), topics=topics))
    assert [slug for slug, _ in found] == ["a", "now", "s0", "s1", "s2"]


def test_five_entities_of_the_last_72_hours_by_importance() -> None:
    entities = (
        entity("old", 1.0, hours_ago=72.1),
        *(entity(f"e{n}", 0.1 * n, hours_ago=72) for n in range(1, 8)),
    )
    assert ranked(made(entities=entities)) == [
        ("e7", 0.07),
        ("e6", 0.06),
        ("e5", 0.05),
        ("e4", 0.04),
        ("e3", 0.03),
    ]


@pytest.mark.parametrize(
    ("paths", "deep"),
    [
        (RESEARCH, True),
        (("/notebook/7", "/chat/3"), False),
        (("/a", "/b", "/chat/3"), False),
        (("/notebook/7", "/chat/1", "/a", "/b", "/c", "/d"), False),
        (("/x", "/notebook/7", "/chat/1", "/a", "/b", "/c"), True),
    ],
)
def test_a_notebook_and_a_chat_among_the_last_five_paths_require_deep_knowledge(
    paths: tuple[str, ...], deep: bool
) -> None:
    found = made(Presence(active_conversation="a", navigation_history=paths), entities=(entity("e"),))
    assert [("deep_knowledge" in each.required_bundles) for each in found] == [deep, deep]
    assert found[0].required_bundles[:2] == ("conversation", "topic")


def test_all_signals_together_give_the_best_eight() -> None:
    here = Presence(
        active_conversation="a", visible_conversations=("x", "y", "z"), navigation_history=RESEARCH
    )
    topics = (topic("now", 1.0, hour=9), *(topic(f"t{n}", 0.5, hours_ago=1) for n in range(3)))
    found = made(here, topics=topics, entities=(entity("e", 0.9), entity("f", 0.7)))
    assert ranked(found) == [
        ("a", 0.85),
        ("x", 0.3),
        ("y", 0.3),
        ("z", 0.3),
        ("now", 0.2),
        ("e", 0.09),
        ("t0", 0.075),
        ("t1", 0.075),
    ]
    assert all("deep_knowledge" in each.required_bundles for each in found)


def test_of_equal_probabilities_the_earlier_signal_comes_first() -> None:
    topics = (topic("recent", 0.8, hours_ago=1), topic("now", 0.6, hour=9))
    assert ranked(made(topics=topics, entities=(entity("e", 1.0),))) == [
        ("now", 0.12),
        ("recent", 0.12),
        ("e", 0.1),
    ]


@given(st.lists(st.floats(0, 1), max_size=12), st.lists(st.text(max_size=3), max_size=6), st.booleans())
def test_there_are_never_more_than_eight_and_the_best_come_first(
    weights: list[float], visible: list[str], research: bool
) -> None:
    here = Presence(visible_conversations=tuple(visible), navigation_history=RESEARCH if research else ())
    topics = tuple(topic(f"t{n}", weight, hour=9, hours_ago=1) for n, weight in enumerate(weights))
    found = made(here, topics=topics, entities=tuple(entity(f"e{n}", w) for n, w in enumerate(weights)))
    assert len(found) <= 8
    assert [each.probability for each in found] == sorted((e.probability for e in found), reverse=True)
