"""Operations of the `openscroll` preset: negotiate layers, compact a history, summarize its course."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, Field, StrictBool

from foveal.knowledge.values import Depth
from foveal.operations.messages import counted, text_counter
from foveal.operations.registry import Objects, Operation, Shape
from foveal.operations.spellings import DesignShape
from foveal.pipeline.summarize.extract import extractive_summary
from foveal.pipeline.summarize.records import EchoDetector
from foveal.pipeline.summarize.values import Answer, Ask, Summary
from foveal.pipeline.summarize.voices import Utterance, read_message
from foveal.presets.openscroll.arc import Arc, Style, arc, arc_text
from foveal.presets.openscroll.layers import TOTAL, LayerBudget, OpenscrollNumbers, Situation, negotiate
from foveal.presets.openscroll.strategies import Compacted, Coverage, Strategy, compact, strategy_for
from foveal.presets.openscroll.zones import Count, KeyMessageNumbers, Piece, verbatim_line
from foveal.validation import LARGEST

ARC_BUDGET = 1_000
"""Tokens of an arc if the request has no budget."""
SEPARATOR = "\n\n"
Number = Annotated[int, Field(strict=True, ge=0, le=LARGEST)]


class Bundles(DesignShape):
    """Tokens that each layer could show; a layer that is not given is unknown."""

    identity: Number | None = None
    global_prefs: Number | None = None
    topic: Number | None = None
    entity: Number | None = None
    conversation: Number | None = None
    jit: Number | None = None
    history: Number | None = None


def _from_pairs(bundles: object) -> object:
    """A map written as a list of pairs, which is how JavaScript programs turn a `Map` into JSON."""
    if not isinstance(bundles, list):
        return bundles
    if not all(isinstance(each, list) and len(each) == 2 and isinstance(each[0], str) for each in bundles):
        raise ValueError("give an object, or a list of pairs of a name and its tokens")
    return dict(bundles)


class NegotiateRequest(DesignShape):
    total_budget: int = Field(default=TOTAL, strict=True, gt=0, le=LARGEST)
    conversation_message_count: Number
    conversation_total_tokens: Number
    user_message_tokens: Number
    detected_topic_count: Number
    detected_entity_count: Number
    has_active_conversation: StrictBool
    knowledge_depth: Depth
    prioritize_history: StrictBool
    available_bundles: Annotated[Bundles, BeforeValidator(_from_pairs)] = Bundles()


class AllocationSummary(Shape):
    """Tokens by layer, in the order of the layers."""

    identity: int
    global_prefs: int
    topics: int
    entities: int
    conversation: int
    jit: int
    history: int
    user_message: int


class NegotiateResult(Shape):
    layers: dict[str, LayerBudget]
    total_available: int
    total_allocated: int
    total_used: int = Field(description="Nothing is allocated beyond what is known to be there: all of it.")
    short_by: int = Field(description="Available less allocated.")
    allocation_summary: AllocationSummary


def _negotiate(request: NegotiateRequest, numbers: OpenscrollNumbers) -> NegotiateResult:
    budgets = negotiate(
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
        ),
        numbers,
    )
    allocated = [budget.allocated for budget in budgets]
    total = sum(allocated)
    summary = dict(zip(AllocationSummary.model_fields, allocated, strict=True))
    return NegotiateResult(
        layers={budget.layer: budget for budget in budgets},
        total_available=request.total_budget,
        total_allocated=total,
        total_used=total,
        short_by=request.total_budget - total,
        allocation_summary=AllocationSummary(**summary),
    )


def _hyphenated(strategy: object) -> object:
    """`multi_level` as `multi-level`."""
    return strategy.replace("_", "-") if isinstance(strategy, str) else strategy


class CompactRequest(DesignShape):
    messages: Objects = Field(description="Messages in any provider's format.")
    l4_budget: int = Field(strict=True, ge=0, le=LARGEST, description="Tokens for the arc.")
    l6_budget: int = Field(strict=True, ge=0, le=LARGEST, description="Tokens for the messages.")
    strategy: Annotated[Strategy | None, BeforeValidator(_hyphenated)] = Field(
        default=None, description="By default from the ratio of the messages' tokens to `l6_budget`."
    )


class CompactResult(Shape):
    strategy: Strategy
    l4_arc: str
    l6_messages: str
    l4_token_count: int
    l6_token_count: int
    coverage: Coverage


class ArcRequest(DesignShape):
    messages: Objects = Field(description="Messages in any provider's format.")
    budget: int = Field(
        default=ARC_BUDGET, strict=True, ge=0, le=LARGEST, description="Tokens of all of it together."
    )
    style: Style = "dense"


def _compact(request: CompactRequest, numbers: OpenscrollNumbers) -> CompactResult:
    count = text_counter()
    compacted, text = _compact_into_text(
        _messages(request.messages, count), request, count, numbers=numbers.key_messages
    )
    arc = arc_text(compacted.arc)
    return CompactResult(
        strategy=compacted.strategy,
        l4_arc=arc,
        l6_messages=text,
        l4_token_count=count(arc),
        l6_token_count=count(text),
        coverage=compacted.coverage,
    )


def _compact_into_text(
    said: Sequence[Utterance], request: CompactRequest, count: Count, *, numbers: KeyMessageNumbers
) -> tuple[Compacted, str]:
    """Compact until the joined text, separators included, costs at most `l6_budget`."""
    budget = request.l6_budget
    strategy: Strategy = request.strategy or strategy_for(sum(each.tokens for each in said), budget)
    room, answer = budget, _cached(partial(extractive_summary, count=count))
    while True:
        compacted = compact(
            said,
            l4_budget=request.l4_budget,
            l6_budget=room,
            strategy=strategy,
            answer=answer,
            count=count,
            numbers=numbers,
        )
        text = _joined(compacted.pieces, said)
        over = count(text) - budget
        if over <= 0 or not room:
            return compacted, text
        room, strategy = max(0, room - over), "windowed" if strategy == "full" else strategy


def _joined(pieces: Sequence[Piece], said: Sequence[Utterance]) -> str:
    """The pieces as one text, each under its label."""
    by_seq = {each.seq: at for at, each in enumerate(said)}
    parts: list[str] = []
    for piece in pieces:
        parts += [piece.label] if piece.label else []
        if piece.detail == "full":
            parts += map(verbatim_line, said[by_seq[piece.first] : by_seq[piece.last] + 1])
        elif piece.text:
            parts.append(piece.text)
    return SEPARATOR.join(parts)


def _messages(history: Objects, count: Count) -> list[Utterance]:
    """The messages as compaction sees them, counted as lines of one text."""
    found = counted(history)
    starts = {turn.start for turn in found.turns}
    heard = EchoDetector()
    said = (read_message(message, seq, heard) for seq, message in enumerate(found.messages))
    return [
        replace(each, tokens=count(verbatim_line(each) + SEPARATOR), opens=each.seq in starts)
        for each in said
    ]


def _cached(answer: Answer) -> Answer:
    """Answer each ask once."""
    summaries: dict[str, Summary] = {}

    def cached(ask: Ask) -> Summary:
        key = ask.key
        if key not in summaries:
            summaries[key] = answer(ask)
        return summaries[key]

    return cached


def _arc(request: ArcRequest) -> Arc:
    count = text_counter()
    return arc(_messages(request.messages, count), request.budget, request.style, count)


OPERATIONS = (
    Operation("layers_negotiate", "Share a budget among eight layers.", _negotiate),
    Operation(
        "history_compact",
        "Make a history fit: summaries, key exchanges, the newest verbatim.",
        _compact,
    ),
    Operation(
        "history_arc",
        "How a conversation got here: decisions, open questions, focus, topics.",
        _arc,
    ),
)
