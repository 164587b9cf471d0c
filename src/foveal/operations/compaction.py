"""`history_compact` and `history_arc`: messages in → the history made to fit as one text, and its thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from pydantic import Field

from foveal import catalog
from foveal.operations.counted import counted, meter
from foveal.operations.registry import Operation, Shape
from foveal.pipeline.compact.arc import arc, arc_text
from foveal.pipeline.compact.extract import extractive
from foveal.pipeline.compact.records import Overheard
from foveal.pipeline.compact.strategies import Compacted, Strategy, compact, strategy_for
from foveal.pipeline.compact.values import Answer, Ask, Summary
from foveal.pipeline.compact.voices import Said, said_by
from foveal.pipeline.compact.zones import Count, Piece, verbatim_line

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


def fitted(said: Sequence[Said], request: CompactRequest, count: Count) -> tuple[Compacted, str]:
    """The history as one text that costs at most `l6_budget`, whatever joining its pieces adds."""
    budget = request.l6_budget
    strategy: Strategy = request.strategy or strategy_for(sum(each.tokens for each in said), budget)
    room, answer = budget, _once(partial(extractive, count=count))
    while True:
        done = compact(
            said, l4_budget=request.l4_budget, l6_budget=room, strategy=strategy, answer=answer, count=count
        )
        text = one_text(done.pieces, said)
        over = count(text) - budget
        if over <= 0 or not room:
            return done, text
        room, strategy = max(0, room - over), "windowed" if strategy == "full" else strategy


def one_text(pieces: Sequence[Piece], said: Sequence[Said]) -> str:
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


def spoken(history: Objects, count: Count) -> list[Said]:
    """The messages as compaction sees them, priced as lines of one text."""
    found = counted(history)
    starts = {turn.start for turn in found.turns}
    heard = Overheard()
    said = (said_by(message, seq, heard) for seq, message in enumerate(found.messages))
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
