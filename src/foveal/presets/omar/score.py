"""Every number of the `omar` preset, in one place.

Items in → base + recency + rag + business for each: the priority of the `omar` preset.

Metadata in → what the business fields of a piece are worth, field by field.

Five fields count: `revenue_impact`, `urgency`, `client_tier`, `deal_status`, `relationship_stage`. Names and
values may be spelled in snake_case or camelCase; a value that no table knows is worth nothing.

Metadata in → how well a retrieved piece matched, 0 to 1.

A text in → an estimate of its tokens from the density of its kind of content.

Characters per token differ: prose about business is denser in characters than code. Where an exact
counter is at hand it is used instead.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from foveal.pipeline.kinds import KINDS
from foveal.pipeline.values import Item, Scene
from foveal.presets.recency import DAY, age, exponential, linear
from foveal.window import Score

__all__ = ["OmarNumbers", "flags", "priorities", "recency"]


def relevance(metadata: Mapping[str, object]) -> float:
    """`rag_match_metadata.relevance`, held between 0 and 1; 0 where there is none.

    >>> relevance({"rag_match_metadata": {"relevance": 1.7}})
    1.0
    """
    match = metadata.get("rag_match_metadata")
    found = match.get("relevance") if isinstance(match, Mapping) else None
    if not isinstance(found, int | float) or isinstance(found, bool):
        return 0.0
    return float(min(1, found)) if found > 0 else 0.0


Content = Literal["business", "code", "general"]

DENSITIES: Mapping[str, float] = {"business": 4.2, "code": 3.5, "general": 3.8}
"""Characters per token."""

_FIELD = re.compile(
    r"\b(?:revenue_?impact|urgency|client_?tier|deal_?status|relationship_?stage)\b[\"']?\s?[:=]",
    re.IGNORECASE,
)
_ENDS_OF_CODE = ("{", "}", ";", ":", "(", "[", ",")


def estimate(text: str, density: float) -> int:
    """Tokens at so many characters each, rounded up.

    >>> estimate("a" * 39, 3.8)
    11
    """
    return math.ceil(len(text) / density)


def content_of(text: str) -> Content:
    """Business when the text states a business field, code by its fences or line ends, else general."""
    if _FIELD.search(text):
        return "business"
    if "```" in text:
        return "code"
    lines = [line for line in map(str.rstrip, text.splitlines()) if line]
    ends = sum(line.endswith(_ENDS_OF_CODE) for line in lines)
    return "code" if lines and ends * 3 >= len(lines) else "general"


def _base() -> dict[str, float]:
    return {kind: place.priority for kind, place in KINDS.items()}


def _urgency() -> dict[str, float]:
    return {"critical": 25, "high": 15, "medium": 5, "low": 0}


def _client_tier() -> dict[str, float]:
    return {"enterprise": 12, "mid_market": 8, "small_business": 4, "startup": 2}


def _deal_status() -> dict[str, float]:
    return {"negotiation": 18, "proposal": 12, "qualified": 8, "prospecting": 4, "closed": 1}


def _relationship_stage() -> dict[str, float]:
    return {"mature": 15, "established": 10, "developing": 6, "initial": 3}


def _usual_caps() -> dict[str, float]:
    return {
        "overall": 32_000,
        "history": 8_000,
        "business_data": 8_000,
        "client_data": 6_000,
        "rag_results": 4_000,
        "system_prompt": 2_000,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class OmarNumbers:
    """What a piece is worth, and how the budget is spent."""

    base: Mapping[str, float] = field(default_factory=_base)
    """Priority by kind, before any boost."""

    prefer_recent: bool = True
    recency: str = "linear"
    """`linear` or `exponential`."""
    most_linear: float = 20.0
    most_exponential: float = 15.0
    decay: float = 0.05
    """Per day."""
    business_decay: float = 0.02
    """Per day, for content with a business field."""

    most_rag: float = 20.0
    most_business: float = 20.0
    most_revenue: float = 20.0
    revenue_scale: float = 10_000.0
    """Revenue for one point."""
    urgency: Mapping[str, float] = field(default_factory=_urgency)
    client_tier: Mapping[str, float] = field(default_factory=_client_tier)
    deal_status: Mapping[str, float] = field(default_factory=_deal_status)
    relationship_stage: Mapping[str, float] = field(default_factory=_relationship_stage)

    high_revenue: float = 10_000.0
    """From here on a piece is flagged `high_business_relevance`."""
    long: int = 500
    """Above this a piece is flagged `requires_summarization`."""
    densities: Mapping[str, float] = field(default_factory=lambda: dict(DENSITIES))
    """Characters per token, where nobody counted."""

    reserve: int = 2_000
    """Set aside for the system prompt."""
    group_caps: Mapping[str, float] = field(default_factory=dict)
    """The caps in force: none unless somebody asks."""
    usual_caps: Mapping[str, float] = field(default_factory=_usual_caps)
    """What a cap is when it is asked for without a number."""
    prefer_higher_priority: bool = True
    allow_partial_fill: bool = True
    solver: str = "greedy"
    """`greedy` or `exact`."""
    exact_steps: int = 1_000_000
    """How much work the exact solver may take on."""


FIELDS = ("revenue_impact", "urgency", "client_tier", "deal_status", "relationship_stage")
_SPELLINGS = {field: (field, re.sub(r"_(\w)", lambda m: m[1].upper(), field)) for field in FIELDS}
_MOST_REVENUE = 1e18
"""An integer may be too large for a float."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def business_fields(metadata: Mapping[str, object]) -> dict[str, object]:
    """The business fields that are there, under their snake_case names.

    >>> business_fields({"clientTier": "midMarket", "urgency": None})
    {'client_tier': 'midMarket'}
    """
    if not metadata:
        return {}
    return {
        field: metadata[name]
        for field, names in _SPELLINGS.items()
        for name in reversed(names)
        if metadata.get(name) is not None
    }


def supplied(metadata: Mapping[str, object], context: Mapping[str, object]) -> Mapping[str, object]:
    """The metadata with the business fields it lacks taken from the context of the request."""
    own = business_fields(metadata)
    lacking = {key: value for key, value in business_fields(context).items() if key not in own}
    return {**metadata, **lacking} if lacking else metadata


def business_parts(fields: Mapping[str, object], numbers: OmarNumbers) -> dict[str, float]:
    """The boost of each field, before the cap on their sum."""
    tables = {
        "urgency": numbers.urgency,
        "client_tier": numbers.client_tier,
        "deal_status": numbers.deal_status,
        "relationship_stage": numbers.relationship_stage,
    }
    worth = min(numbers.most_revenue, revenue(fields) / numbers.revenue_scale)
    return {"revenue_impact": worth} | {
        field: float(table.get(snake(fields.get(field)), 0.0)) for field, table in tables.items()
    }


def business(fields: Mapping[str, object], numbers: OmarNumbers) -> float:
    """The sum of the parts, capped."""
    if not fields:
        return 0.0
    return min(numbers.most_business, sum(business_parts(fields, numbers).values()))


def revenue(fields: Mapping[str, object]) -> float:
    """The revenue at stake; 0 where it is no number, or a loss."""
    found = fields.get("revenue_impact")
    if not isinstance(found, int | float) or isinstance(found, bool):
        return 0.0
    return float(min(found, _MOST_REVENUE)) if found > 0 else 0.0


def snake(value: object) -> str:
    """A value as the tables spell it.

    >>> snake("midMarket"), snake("Enterprise"), snake(3)
    ('mid_market', 'enterprise', '')
    """
    return _HUMP.sub("_", value).lower() if isinstance(value, str) else ""


DEFAULT = OmarNumbers()


def priorities(items: Sequence[Item], scene: Scene, numbers: OmarNumbers = DEFAULT) -> list[Score]:
    """One score per item; its parts are `base`, `recency`, `rag` and `business`.

    A priority that came with the item stands in place of its kind's.

    >>> match = {"rag_match_metadata": {"relevance": 0.5}}
    >>> chunk = Item(index=0, id="a", role="user", kind="rag_document_chunk", text="", tokens=1,
    ...              timestamp=0.0, metadata=match)
    >>> priorities([chunk], Scene(now=10 * 86_400))[0].parts
    {'base': 120.0, 'recency': 10.0, 'rag': 10.0, 'business': 0.0}
    """
    return [_priority(item, scene.now, numbers) for item in items]


def _priority(item: Item, now: float, numbers: OmarNumbers) -> Score:
    fields = business_fields(item.metadata)
    parts = {
        "base": float(numbers.base[item.kind] if item.priority is None else item.priority),
        "recency": recency(item.timestamp, now, numbers, business=bool(fields)),
        "rag": numbers.most_rag * relevance(item.metadata),
        "business": business(fields, numbers),
    }
    return Score(total=sum(parts.values()), parts=parts)


def recency(timestamp: float | None, now: float, numbers: OmarNumbers, *, business: bool) -> float:
    """What the age is worth; what the business needs grows old more slowly in the exponential shape."""
    if timestamp is None or not numbers.prefer_recent:
        return 0.0
    days = age(timestamp, now) / DAY
    if numbers.recency == "exponential":
        rate = numbers.business_decay if business else numbers.decay
        return exponential(days, most=numbers.most_exponential, rate=rate)
    return linear(days, most=numbers.most_linear)


def flags(tokens: int, metadata: Mapping[str, object], numbers: OmarNumbers = DEFAULT) -> tuple[str, ...]:
    """What a reader of the allocation should notice."""
    fields = business_fields(metadata)
    raised = {
        "high_business_relevance": revenue(fields) >= numbers.high_revenue,
        "urgent": snake(fields.get("urgency")) in ("critical", "urgent"),
        "requires_summarization": tokens > numbers.long,
    }
    return tuple(name for name, up in raised.items() if up)


def mean_scores(scores: Sequence[Score]) -> dict[str, float]:
    """Mean priority and boosts, by the names of the metrics; 0 if there are no scores."""
    count = len(scores) or 1
    return {
        "prioritization_score": math.fsum(score.total for score in scores) / count,
        "business_relevance_boost": math.fsum(score.parts["business"] for score in scores) / count,
        "recency_boost": math.fsum(score.parts["recency"] for score in scores) / count,
    }
