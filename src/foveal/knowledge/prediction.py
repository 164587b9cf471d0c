"""Predict what a user will do next from where they are in a client, the most probable first.

Six signals, in this order; among equal probabilities the earlier signal comes first:

1. They continue the active conversation: 0.85. An unknown conversation is not predicted.
2. They open another visible conversation: 0.30 each, the first three that are not the active one.
3. They turn to a topic whose peak hour it is: 0.2 of its importance, three topics of importance 0.4 or more.
4. They turn to a topic of the last 48 hours: 0.15 of its importance, the first five by streak and importance.
   A topic that an earlier signal named, or the active conversation's first topic, is skipped, not replaced.
5. They ask about an entity of the last 72 hours: 0.1 of its importance, the five most important.
6. They do research: among their last five paths (of at least three) are a notebook and a chat. Then every
   prediction also requires deep knowledge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from foveal.knowledge.values import Prediction, Presence, Thing

MOST = 8
CONTINUES, OPENS = 0.85, 0.30
TIMELY, RECENT, NAMED = 0.2, 0.15, 0.1
"""Shares of a thing's importance."""
IMPORTANT = 0.4
VISIBLE, AT_THIS_HOUR, LATELY, ENTITIES = 3, 3, 5, 5
TOPIC_SECONDS, ENTITY_SECONDS = 48 * 3600.0, 72 * 3600.0
PATHS_FEWEST, PATHS = 3, 5
DEEP = "deep_knowledge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A stored conversation, and what it is about."""

    id: str
    topics: tuple[str, ...] = ()
    """Slugs, the main topic first."""


def predict(
    presence: Presence,
    *,
    topics: Sequence[Thing],
    entities: Sequence[Thing],
    conversations: Iterable[Conversation],
    now: float,
) -> tuple[Prediction, ...]:
    """The eight most probable interactions.

    >>> here = Presence(active_conversation="fix-auth")
    >>> known = [Conversation(id="fix-auth", topics=("password-hashing",))]
    >>> [(each.probability, each.topic_slug) for each in predict(
    ...     here, topics=[], entities=[], conversations=known, now=0.0)]
    [(0.85, 'password-hashing')]
    """
    made = [*_continued(presence, conversations), *_visible(presence)]
    made += _timely(topics, _hour(presence, now))
    listed = {each.topic_slug for each in made}
    made += (each for each in _recent(topics, now) if each.topic_slug not in listed)
    made += _named(entities, now)
    if _researches(presence.navigation_history):
        made = [replace(each, required_bundles=(*each.required_bundles, DEEP)) for each in made]
    return tuple(sorted(made, key=lambda each: -each.probability)[:MOST])


def _continued(presence: Presence, conversations: Iterable[Conversation]) -> Iterator[Prediction]:
    for each in conversations:
        if each.id == presence.active_conversation:
            yield Prediction(
                type="continue_conversation",
                conversation_id=each.id,
                topic_slug=each.topics[0] if each.topics else "",
                probability=CONTINUES,
                required_bundles=("conversation", "topic"),
            )
            return


def _visible(presence: Presence) -> Iterator[Prediction]:
    others = dict.fromkeys(presence.visible_conversations)
    others.pop(presence.active_conversation, None)
    for each in list(others)[:VISIBLE]:
        yield Prediction(
            type="continue_conversation",
            conversation_id=each,
            probability=OPENS,
            required_bundles=("conversation",),
        )


def _timely(topics: Iterable[Thing], hour: int) -> Iterator[Prediction]:
    fitting = (each for each in topics if each.peak_hour == hour and each.importance >= IMPORTANT)
    for each in sorted(fitting, key=lambda each: -each.importance)[:AT_THIS_HOUR]:
        yield _on(each, TIMELY)


def _recent(topics: Iterable[Thing], now: float) -> Iterator[Prediction]:
    lately = (each for each in topics if each.last_engaged >= now - TOPIC_SECONDS)
    for each in sorted(lately, key=lambda each: (-each.streak, -each.importance))[:LATELY]:
        yield _on(each, RECENT)


def _on(topic: Thing, share: float) -> Prediction:
    return Prediction(
        type="new_on_topic",
        topic_slug=topic.slug,
        probability=share * topic.importance,
        required_bundles=("topic",),
    )


def _named(entities: Iterable[Thing], now: float) -> Iterator[Prediction]:
    lately = (each for each in entities if each.last_mentioned >= now - ENTITY_SECONDS)
    for each in sorted(lately, key=lambda each: -each.importance)[:ENTITIES]:
        yield Prediction(
            type="entity_related",
            entity_id=each.id,
            probability=NAMED * each.importance,
            required_bundles=("entity",),
        )


def _researches(paths: Sequence[str]) -> bool:
    last = paths[-PATHS:]
    researched = any("/notebook" in path for path in last) and any("/chat" in path for path in last)
    return len(paths) >= PATHS_FEWEST and researched


def _hour(presence: Presence, now: float) -> int:
    """The user's local hour, or else the hour of `now` in UTC."""
    return int(now // 3600 % 24) if presence.local_hour is None else presence.local_hour
