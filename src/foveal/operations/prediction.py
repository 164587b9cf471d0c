"""`interactions_predict`: what a user will probably do next, and which knowledge that needs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from foveal.knowledge.prediction import Conversation, predict
from foveal.knowledge.values import Prediction, PredictionType, Presence, Thing
from foveal.operations.registry import Operation, Shape, Time
from foveal.operations.spellings import DesignShape, in_our_names
from foveal.validation import LARGEST, Few, Series
from foveal.wire.times import seconds

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
Importance = Annotated[float, Field(strict=True, ge=0, le=1)]
Hour = Annotated[int, Field(strict=True, ge=0, le=23)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PresenceRequest(Presence):
    """Where a user is in a client."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 — pydantic's name and type

    visible_conversations: Series[str] = ()
    navigation_history: Series[str] = ()
    local_hour: Annotated[Hour | None, Field(description="By default the hour of `now` in UTC.")] = None
    session_start: Time | None = None
    idle_since: Time | None = None


PRESENCE_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "active_conversation_id": "active_conversation",
        "visible_conversation_ids": "visible_conversations",
        "active_notebook_id": "active_notebook",
        "active_persona_id": "active_persona",
        "last_navigation_path": "last_path",
        "session_started_at": "session_start",
    }
)
"""The design's names of the presence's fields, in snake_case."""


def _presence(given: Any) -> Any:
    """The presence in our names and shapes: nothing for null, paths for visits, the hour for a time."""
    known = {"local_time", *(field.name for field in fields(PresenceRequest))}
    found = in_our_names(given, known, PRESENCE_NAMES)
    if not isinstance(found, dict):
        return found
    found = {name: value for name, value in found.items() if value is not None}
    if "local_time" in found:
        found.setdefault("local_hour", _hour_of(found.pop("local_time")))
    if isinstance(visits := found.get("navigation_history"), list):
        found["navigation_history"] = [
            visit.get("path") if isinstance(visit, Mapping) else visit for visit in visits
        ]
    return found


def _hour_of(time: object) -> int:
    """The hour of a time: of a text as it is written, whatever its time zone; of a number in UTC."""
    moment = seconds(time)
    if moment is None:
        raise ValueError("`local_time` is no time: give an ISO 8601 text, or omit it for `local_hour`")
    return datetime.fromisoformat(time).hour if isinstance(time, str) else int(moment // 3600) % 24


def _conversation(given: Any) -> Any:
    """A conversation in our shape: the design's links to topics as their slugs."""
    if not isinstance(given, Mapping) or "topicLinks" not in given:
        return given
    links = given["topicLinks"]
    slugs = [_slug(link) for link in links] if isinstance(links, list) else links
    return {**{name: value for name, value in given.items() if name != "topicLinks"}, "topics": slugs}


def _slug(link: Any) -> Any:
    topic = link.get("topic", link) if isinstance(link, Mapping) else link
    return topic.get("slug") if isinstance(topic, Mapping) else topic


class TopicRequest(DesignShape):
    DESIGN_NAMES: ClassVar = {
        "importance_score": "importance",
        "engagement_streak": "streak",
        "last_engaged_at": "last_engaged",
    }

    slug: str
    importance: Importance
    peak_hour: Hour | None = None
    streak: int = Field(default=0, strict=True, ge=0, le=LARGEST)
    last_engaged: Time | None = None


class EntityRequest(DesignShape):
    DESIGN_NAMES: ClassVar = {"importance_score": "importance", "last_mentioned_at": "last_mentioned"}

    id: str
    importance: Importance
    last_mentioned: Time | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRequest(Conversation):
    """A stored conversation, and what it is about."""

    topics: Series[str] = ()
    """Slugs, the main topic first."""


class PredictRequest(DesignShape):
    presence: Annotated[PresenceRequest, BeforeValidator(_presence), Few]
    topics: Series[TopicRequest] = ()
    entities: Series[EntityRequest] = ()
    conversations: Series[Annotated[ConversationRequest, BeforeValidator(_conversation), Few]] = ()
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
