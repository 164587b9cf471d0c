"""`layers_negotiate`: a situation in → what each of the eight layers asked for and got.

`history_compact` and `history_arc`: messages in → the history made to fit as one text, and its thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from pydantic import Field

from foveal import catalog
from foveal.operations.messages import counted, meter
from foveal.operations.registry import Operation, Shape
from foveal.pipeline.kinds import (
    ARC,
    ENTITY,
    IDENTITY,
    MESSAGE_HISTORY,
    PREFERENCES,
    RETRIEVAL,
    TOPIC,
    USER_MESSAGE,
)
from foveal.pipeline.summarize.extract import extractive_summary
from foveal.pipeline.summarize.records import EchoDetector
from foveal.pipeline.summarize.values import Answer, Ask, Summary
from foveal.pipeline.summarize.voices import Utterance, read_message
from foveal.presets.openscroll.arc import arc, arc_text
from foveal.presets.openscroll.layers import Layer, OpenscrollNumbers, Situation, negotiate
from foveal.presets.openscroll.strategies import Compacted, Strategy, compact, strategy_for
from foveal.presets.openscroll.zones import Count, Piece, verbatim_line

SUMMARY = {
    "identity": IDENTITY,
    "global_prefs": PREFERENCES,
    "topics": TOPIC,
    "entities": ENTITY,
    "conversation": ARC,
    "jit": RETRIEVAL,
    "history": MESSAGE_HISTORY,
    "user_message": USER_MESSAGE,
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


class AllocationSummary(Shape):
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
    allocation_summary: AllocationSummary


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
        allocation_summary=AllocationSummary(**{name: allocated[layer] for name, layer in SUMMARY.items()}),
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


ARC_BUDGET = 1_000
"""Tokens of an arc for which nobody gave a budget."""
BETWEEN = "\n\n"
Objects = list[dict[str, Any]]


class CompactRequest(Shape):
    messages: Objects = Field(description="Messages in any provider's format.")
    l4_budget: int = Field(ge=0, description="Tokens for the arc.")
    l6_budget: int = Field(ge=0, description="Tokens for the messages.")
    strategy: Literal["full", "windowed", "compacted", "multi-level"] | None = Field(
        default=None, description="By default from the ratio of the messages' tokens to `l6_budget`."
    )


class CoverageResult(Shape):
    total_messages: int
    full_messages: int
    trimmed_messages: int
    summarized_messages: int
    dropped_messages: int


class CompactResult(Shape):
    strategy: Literal["full", "windowed", "compacted", "multi-level"]
    l4_arc: str
    l6_messages: str
    l4_token_count: int
    l6_token_count: int
    coverage: CoverageResult


class ArcRequest(Shape):
    messages: Objects = Field(description="Messages in any provider's format.")
    budget: int = Field(default=ARC_BUDGET, ge=0, description="Tokens of all of it together.")
    style: Literal["light", "rich", "dense"] = "dense"


class ArcResult(Shape):
    arc: str
    open_questions: list[str]
    decisions: list[str]
    current_focus: str | None
    key_topics: list[str]


def _compact(request: CompactRequest) -> CompactResult:
    count = _counter()
    said = spoken(request.messages, count)
    done, text = fitted(said, request, count)
    thread, covered = arc_text(done.arc), done.coverage
    return CompactResult(
        strategy=done.strategy,
        l4_arc=thread,
        l6_messages=text,
        l4_token_count=count(thread),
        l6_token_count=count(text),
        coverage=CoverageResult(
            total_messages=covered.total,
            full_messages=covered.full,
            trimmed_messages=covered.trimmed,
            summarized_messages=covered.summarized,
            dropped_messages=covered.dropped,
        ),
    )


def fitted(said: Sequence[Utterance], request: CompactRequest, count: Count) -> tuple[Compacted, str]:
    """The history as one text that costs at most `l6_budget`, whatever joining its pieces adds."""
    budget = request.l6_budget
    strategy: Strategy = request.strategy or strategy_for(sum(each.tokens for each in said), budget)
    room, answer = budget, _once(partial(extractive_summary, count=count))
    while True:
        done = compact(
            said, l4_budget=request.l4_budget, l6_budget=room, strategy=strategy, answer=answer, count=count
        )
        text = one_text(done.pieces, said)
        over = count(text) - budget
        if over <= 0 or not room:
            return done, text
        room, strategy = max(0, room - over), "windowed" if strategy == "full" else strategy


def one_text(pieces: Sequence[Piece], said: Sequence[Utterance]) -> str:
    """The pieces under their labels, in order."""
    by_seq = {each.seq: at for at, each in enumerate(said)}
    parts: list[str] = []
    for piece in pieces:
        parts += [piece.label] if piece.label else []
        if piece.detail == "full":
            run = said[by_seq[piece.first] : by_seq[piece.last] + 1]
            parts += map(verbatim_line, run)
        elif piece.text:
            parts.append(piece.text)
    return BETWEEN.join(parts)


def spoken(history: Objects, count: Count) -> list[Utterance]:
    """The messages as compaction sees them, priced as lines of one text."""
    found = counted(history)
    starts = {turn.start for turn in found.turns}
    heard = EchoDetector()
    said = (read_message(message, seq, heard) for seq, message in enumerate(found.messages))
    return [
        replace(each, tokens=count(verbatim_line(each) + BETWEEN), opens=each.seq in starts) for each in said
    ]


def _counter() -> Count:
    return meter(catalog.find("").tokenizer, "plain", "").text


def _once(answer: Answer) -> Answer:
    """Ask for the same summary once."""
    known: dict[str, Summary] = {}

    def remembered(ask: Ask) -> Summary:
        key = ask.key
        if key not in known:
            known[key] = answer(ask)
        return known[key]

    return remembered


def _arc(request: ArcRequest) -> ArcResult:
    count = _counter()
    told = arc(spoken(request.messages, count), request.budget, request.style, count)
    return ArcResult(
        arc=told.arc,
        open_questions=list(told.open_questions),
        decisions=list(told.decisions),
        current_focus=told.current_focus,
        key_topics=list(told.key_topics),
    )


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="layers_negotiate",
        about="Share a budget among eight layers.",
        request=NegotiateRequest,
        result=NegotiateResult,
        run=_negotiate,
    ),
    Operation(
        name="history_compact",
        about="Make a history fit: summaries, key exchanges, the newest verbatim.",
        request=CompactRequest,
        result=CompactResult,
        run=_compact,
    ),
    Operation(
        name="history_arc",
        about="How a conversation got here: decisions, open questions, focus, topics.",
        request=ArcRequest,
        result=ArcResult,
        run=_arc,
    ),
)
