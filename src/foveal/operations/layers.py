"""`layers_negotiate`: a situation in → what each of the eight layers asked for and got."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from foveal.operations.registry import Operation, Shape
from foveal.pipeline.plan import layers
from foveal.pipeline.plan.layers import Layer, OpenscrollNumbers, Situation, negotiate

SUMMARY = {
    "identity": layers.IDENTITY,
    "global_prefs": layers.PREFERENCES,
    "topics": layers.TOPIC,
    "entities": layers.ENTITY,
    "conversation": layers.ARC,
    "jit": layers.RETRIEVAL,
    "history": layers.HISTORY,
    "user_message": layers.USER,
}


class Bundles(Shape):
    """Tokens there are to show; what is not given is not known."""

    identity: int | None = Field(default=None, ge=0)
    global_prefs: int | None = Field(default=None, ge=0)
    topic: int | None = Field(default=None, ge=0)
    entity: int | None = Field(default=None, ge=0)
    conversation: int | None = Field(default=None, ge=0)
    jit: int | None = Field(default=None, ge=0)
    history: int | None = Field(default=None, ge=0)


class NegotiateRequest(Shape):
    total_budget: int = Field(default=OpenscrollNumbers().total, gt=0)
    conversation_message_count: int = Field(ge=0)
    conversation_total_tokens: int = Field(ge=0)
    user_message_tokens: int = Field(ge=0)
    detected_topic_count: int = Field(ge=0)
    detected_entity_count: int = Field(ge=0)
    has_active_conversation: bool
    knowledge_depth: Literal["minimal", "standard", "deep"]
    prioritize_history: bool
    available_bundles: Bundles = Bundles()


class LayerResult(Shape):
    layer: str
    min_tokens: int
    ideal_tokens: int
    max_tokens: int
    priority: int | float
    elasticity: float
    allocated: int


class Summary(Shape):
    identity: int
    global_prefs: int
    topics: int
    entities: int
    conversation: int
    jit: int
    history: int
    user_message: int


class NegotiateResult(Shape):
    layers: dict[str, LayerResult]
    total_available: int
    total_allocated: int
    total_used: int = Field(description="Nothing is allocated beyond what is known to be there: all of it.")
    short_by: int = Field(description="Available less allocated.")
    allocation_summary: Summary


def _negotiate(request: NegotiateRequest) -> NegotiateResult:
    got = negotiate(
        Situation(
            total=request.total_budget,
            messages=request.conversation_message_count,
            history_tokens=request.conversation_total_tokens,
            user_tokens=request.user_message_tokens,
            topics=request.detected_topic_count,
            entities=request.detected_entity_count,
            active=request.has_active_conversation,
            depth=request.knowledge_depth,
            prioritize_history=request.prioritize_history,
            available=request.available_bundles.model_dump(exclude_none=True),
        )
    )
    allocated = {layer.name: layer.allocated for layer in got}
    total = sum(allocated.values())
    return NegotiateResult(
        layers={layer.name: _result(layer) for layer in got},
        total_available=request.total_budget,
        total_allocated=total,
        total_used=total,
        short_by=request.total_budget - total,
        allocation_summary=Summary(**{name: allocated[layer] for name, layer in SUMMARY.items()}),
    )


def _result(layer: Layer) -> LayerResult:
    return LayerResult(
        layer=layer.name,
        min_tokens=layer.minimum,
        ideal_tokens=layer.ideal,
        max_tokens=layer.maximum,
        priority=layer.priority,
        elasticity=layer.elasticity,
        allocated=layer.allocated,
    )


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="layers_negotiate",
        about="Share a budget among eight layers.",
        request=NegotiateRequest,
        result=NegotiateResult,
        run=_negotiate,
    ),
)
