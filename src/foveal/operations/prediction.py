"""`interactions_predict`: where a user is in → what they will probably do next, and what that needs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from foveal.knowledge.prediction import Conversation, predict
from foveal.knowledge.values import Prediction, Presence, Thing
from foveal.operations.registry import Operation, Shape, Time

NEVER = -math.inf
NO_HOUR = 24
"""Nobody said what time it is: no topic has its peak now."""
_NOTHING = Thing(
    id="",
    kind="entity",
    slug="",
    name="",
    type="",
    importance=0.0,
    mentions=0,
    sessions=0,
    streak=0,
    peak_hour=-1,
    last_engaged=NEVER,
    last_mentioned=NEVER,
)
Importance = Annotated[float, Field(ge=0, le=1)]
Hour = Annotated[int, Field(ge=0, le=23)]


class PresenceShape(Shape):
    active_conversation: str = ""
    visible_conversations: tuple[str, ...] = ()
    active_notebook: str = ""
    active_persona: str = ""
    last_path: str = ""
    navigation_history: tuple[str, ...] = Field(default=(), description="Paths, oldest first.")
    local_hour: Hour | None = Field(default=None, description="Left out: the hour of `now` in UTC.")
    session_start: Time | None = None
    idle_since: Time | None = None


class TopicShape(Shape):
    slug: str
    importance: Importance
    peak_hour: Hour | None = None
    streak: int = Field(default=0, ge=0)
    last_engaged: Time | None = None


class EntityShape(Shape):
    id: str
    importance: Importance
    last_mentioned: Time | None = None


class ConversationShape(Shape):
    id: str
    topics: tuple[str, ...] = Field(default=(), description="Slugs, the main one first.")


class PredictRequest(Shape):
    presence: PresenceShape
    topics: tuple[TopicShape, ...] = ()
    entities: tuple[EntityShape, ...] = ()
    conversations: tuple[ConversationShape, ...] = ()
    now: Time | None = Field(default=None, description="Left out: the newest time that is told.")


class PredictionResult(Shape):
    type: Literal["continue_conversation", "new_on_topic", "entity_related"]
    conversation_id: str | None = None
    topic_slug: str | None = None
    entity_id: str | None = None
    probability: float
    required_bundles: tuple[str, ...]


class PredictResult(Shape):
    predictions: tuple[PredictionResult, ...]


def _predict(request: PredictRequest) -> PredictResult:
    now = _newest(request) if request.now is None else request.now
    presence = Presence(**request.presence.model_dump())
    if now is None and presence.local_hour is None:
        presence = replace(presence, local_hour=NO_HOUR)
    made = predict(
        presence,
        topics=[_topic(each) for each in request.topics],
        entities=[_entity(each) for each in request.entities],
        conversations=[Conversation(id=each.id, topics=each.topics) for each in request.conversations],
        now=0.0 if now is None else now,
    )
    return PredictResult(predictions=tuple(map(_result, made)))


def _newest(request: PredictRequest) -> float | None:
    engaged = [each.last_engaged for each in request.topics]
    mentioned = [each.last_mentioned for each in request.entities]
    times = (*engaged, *mentioned, request.presence.idle_since)
    return max((each for each in times if each is not None), default=None)


def _topic(told: TopicShape) -> Thing:
    hour = -1 if told.peak_hour is None else told.peak_hour
    last = NEVER if told.last_engaged is None else told.last_engaged
    return replace(
        _NOTHING,
        kind="topic",
        slug=told.slug,
        importance=told.importance,
        peak_hour=hour,
        streak=told.streak,
        last_engaged=last,
    )


def _entity(told: EntityShape) -> Thing:
    last = NEVER if told.last_mentioned is None else told.last_mentioned
    return replace(_NOTHING, id=told.id, importance=told.importance, last_mentioned=last)


def _result(made: Prediction) -> PredictionResult:
    return PredictionResult(
        type=made.type,
        conversation_id=made.conversation_id or None,
        topic_slug=made.topic_slug or None,
        entity_id=made.entity_id or None,
        probability=made.probability,
        required_bundles=made.required_bundles,
    )


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="interactions_predict",
        about="Tell from where a user is what they will probably do next.",
        request=PredictRequest,
        result=PredictResult,
        run=_predict,
    ),
)
