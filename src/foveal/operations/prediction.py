"""`interactions_predict`: what a user will probably do next, and which knowledge that needs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from foveal.knowledge.prediction import Conversation, predict
from foveal.knowledge.values import Prediction, PredictionType, Presence, Thing
from foveal.operations.registry import Operation, Shape, Time
from foveal.validation import Few, Series

NEVER = -math.inf
NO_HOUR = 24
"""The hour when the request has no time at all: no topic has its peak then."""
_UNKNOWN = Thing(
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PresenceRequest(Presence):
    """Where a user is in a client."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 — pydantic's name and type

    visible_conversations: Series[str] = ()
    navigation_history: Series[str] = ()
    local_hour: Annotated[Hour | None, Field(description="By default the hour of `now` in UTC.")] = None
    session_start: Time | None = None
    idle_since: Time | None = None


class TopicRequest(Shape):
    slug: str
    importance: Importance
    peak_hour: Hour | None = None
    streak: int = Field(default=0, ge=0)
    last_engaged: Time | None = None


class EntityRequest(Shape):
    id: str
    importance: Importance
    last_mentioned: Time | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRequest(Conversation):
    """A stored conversation, and what it is about."""

    topics: Series[str] = ()
    """Slugs, the main topic first."""


class PredictRequest(Shape):
    presence: Annotated[PresenceRequest, Few]
    topics: Series[TopicRequest] = ()
    entities: Series[EntityRequest] = ()
    conversations: Series[Annotated[ConversationRequest, Few]] = ()
    now: Time | None = Field(default=None, description="By default the latest time in the request.")


class PredictionResult(Shape):
    type: PredictionType
    conversation_id: str | None = None
    topic_slug: str | None = None
    entity_id: str | None = None
    probability: float
    required_bundles: tuple[str, ...]


class PredictResult(Shape):
    predictions: tuple[PredictionResult, ...]


def _predict(request: PredictRequest) -> PredictResult:
    now = _latest(request) if request.now is None else request.now
    presence: Presence = request.presence
    if now is None and presence.local_hour is None:
        presence = replace(presence, local_hour=NO_HOUR)
    predictions = predict(
        presence,
        topics=[_topic(each) for each in request.topics],
        entities=[_entity(each) for each in request.entities],
        conversations=request.conversations,
        now=0.0 if now is None else now,
    )
    return PredictResult(predictions=tuple(map(_result, predictions)))


def _latest(request: PredictRequest) -> float | None:
    engaged = [each.last_engaged for each in request.topics]
    mentioned = [each.last_mentioned for each in request.entities]
    times = (*engaged, *mentioned, request.presence.idle_since)
    return max((each for each in times if each is not None), default=None)


def _topic(topic: TopicRequest) -> Thing:
    return replace(
        _UNKNOWN,
        kind="topic",
        slug=topic.slug,
        importance=topic.importance,
        peak_hour=-1 if topic.peak_hour is None else topic.peak_hour,
        streak=topic.streak,
        last_engaged=NEVER if topic.last_engaged is None else topic.last_engaged,
    )


def _entity(entity: EntityRequest) -> Thing:
    mentioned = NEVER if entity.last_mentioned is None else entity.last_mentioned
    return replace(_UNKNOWN, id=entity.id, importance=entity.importance, last_mentioned=mentioned)


def _result(prediction: Prediction) -> PredictionResult:
    return PredictionResult(
        type=prediction.type,
        conversation_id=prediction.conversation_id or None,
        topic_slug=prediction.topic_slug or None,
        entity_id=prediction.entity_id or None,
        probability=prediction.probability,
        required_bundles=prediction.required_bundles,
    )


OPERATIONS = (
    Operation("interactions_predict", "Tell from where a user is what they will probably do next.", _predict),
)
