"""Score chunks by base priority, recency, retrieval match and business fields.

The business fields of a chunk's metadata are `revenue_impact`, `urgency`, `client_tier`, `deal_status` and
`relationship_stage`. Names and values may be in snake_case or camelCase; unknown values add nothing.

Tokens that were not counted are estimated from the density of the content: business prose has more characters
per token than code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from foveal.pipeline.kinds import KINDS
from foveal.pipeline.values import Item, Scene
from foveal.presets.recency_curves import DAY, age, exponential, linear
from foveal.window import Score

Content = Literal["business", "code", "general"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OmarNumbers:
    """The settings of scores and of selection."""

    base: Mapping[str, float] = field(
        default_factory=lambda: {name: kind.priority for name, kind in KINDS.items()}
    )
    """Priority by kind, before any boost."""

    prefer_recent: bool = True
    """Whether the age of a chunk adds to its priority."""
    recency: str = "linear"
    """The shape of that boost: `linear` or `exponential`."""
    most_linear: float = 20.0
    """The linear boost of a new chunk; it loses one point per day."""
    most_exponential: float = 15.0
    """The exponential boost of a new chunk."""
    decay: float = 0.05
    """The rate at which the exponential boost decays per day."""
    business_decay: float = 0.02
    """The same rate for chunks with a business field."""

    most_rag: float = 20.0
    """The boost of a retrieved chunk of relevance 1; less relevance adds less in proportion."""
    most_business: float = 20.0
    """The most that all business fields of a chunk add together."""
    most_revenue: float = 20.0
    """The most that the revenue of a chunk adds."""
    revenue_scale: float = 10_000.0
    """Revenue that adds one point."""
    urgency: Mapping[str, float] = field(
        default_factory=lambda: {"critical": 25, "high": 15, "medium": 5, "low": 0}
    )
    """Points by `metadata.urgency`."""
    client_tier: Mapping[str, float] = field(
        default_factory=lambda: {"enterprise": 12, "mid_market": 8, "small_business": 4, "startup": 2}
    )
    """Points by `metadata.client_tier`."""
    deal_status: Mapping[str, float] = field(
        default_factory=lambda: {
            "negotiation": 18,
            "proposal": 12,
            "qualified": 8,
            "prospecting": 4,
            "closed": 1,
        }
    )
    """Points by `metadata.deal_status`."""
    relationship_stage: Mapping[str, float] = field(
        default_factory=lambda: {"mature": 15, "established": 10, "developing": 6, "initial": 3}
    )
    """Points by `metadata.relationship_stage`."""

    high_revenue: float = 10_000.0
    """Revenue from which on a chunk is flagged `high_business_relevance`."""
    long: int = 500
    """Tokens above which a chunk is flagged `requires_summarization`."""
    densities: Mapping[str, float] = field(
        default_factory=lambda: {"business": 4.2, "code": 3.5, "general": 3.8}
    )
    """Characters per token, for the chunks of operations that were not counted."""

    reserve: int = 2_000
    """Tokens that operations set aside for the system prompt; windows set aside what it needs."""
    group_caps: Mapping[str, float] = field(default_factory=dict)
    """Tokens that the chunks of a group may have together, by group; none is capped by default."""
    prefer_higher_priority: bool = True
    """Whether priority decides first; otherwise the newest chunks come first."""
    allow_partial_fill: bool = True
    """Whether selection goes on after the first chunk that does not fit."""
    solver: str = "greedy"
    """How chunks are selected: `greedy`, or `exact` for the highest total priority there is."""
    exact_steps: int = 1_000_000
    """The work that the exact solver may do; beyond it, it raises an error."""


USUAL_CAPS: Mapping[str, int] = MappingProxyType(
    {
        "overall": 32_000,
        "history": 8_000,
        "business_data": 8_000,
        "client_data": 6_000,
        "rag_results": 4_000,
        "system_prompt": 2_000,
    }
)
"""The groups that can be capped, and the cap of each that a request names without a number."""
FIELDS = ("revenue_impact", "urgency", "client_tier", "deal_status", "relationship_stage")
_SPELLINGS = {field: (field, re.sub(r"_(\w)", lambda m: m[1].upper(), field)) for field in FIELDS}
_MOST_REVENUE = 1e18
"""An integer may be too large for a float."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def business_fields(metadata: Mapping[str, object]) -> dict[str, object]:
    """The business fields of the metadata, under their snake_case names.

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
    """The metadata, with missing business fields taken from the request's context."""
    own = business_fields(metadata)
    missing = {key: value for key, value in business_fields(context).items() if key not in own}
    return {**metadata, **missing} if missing else metadata


def business_parts(fields: Mapping[str, object], numbers: OmarNumbers) -> dict[str, float]:
    """The boost of each field, before the cap on their sum."""
    tables = {
        "urgency": numbers.urgency,
        "client_tier": numbers.client_tier,
        "deal_status": numbers.deal_status,
        "relationship_stage": numbers.relationship_stage,
    }
    by_revenue = min(numbers.most_revenue, revenue(fields) / numbers.revenue_scale)
    return {"revenue_impact": by_revenue} | {
        field: float(table.get(snake(fields.get(field)), 0.0)) for field, table in tables.items()
    }


def business(fields: Mapping[str, object], numbers: OmarNumbers) -> float:
    """The sum of the business boosts, capped."""
    if not fields:
        return 0.0
    return min(numbers.most_business, sum(business_parts(fields, numbers).values()))


def revenue(fields: Mapping[str, object]) -> float:
    """The revenue impact; 0 if it is not a number, or negative."""
    found = fields.get("revenue_impact")
    if not isinstance(found, int | float) or isinstance(found, bool):
        return 0.0
    return float(min(found, _MOST_REVENUE)) if found > 0 else 0.0


def snake(value: object) -> str:
    """A value in snake_case, as in the tables; empty if it is not a text.

    >>> snake("midMarket"), snake("Enterprise"), snake(3)
    ('mid_market', 'enterprise', '')
    """
    return _HUMP.sub("_", value).lower() if isinstance(value, str) else ""


def relevance(metadata: Mapping[str, object]) -> float:
    """`rag_match_metadata.relevance`, clamped to 0..1; 0 if there is none.

    >>> relevance({"rag_match_metadata": {"relevance": 1.7}})
    1.0
    """
    match = metadata.get("rag_match_metadata")
    found = match.get("relevance") if isinstance(match, Mapping) else None
    if not isinstance(found, int | float) or isinstance(found, bool):
        return 0.0
    return float(min(1, found)) if found > 0 else 0.0


DEFAULT = OmarNumbers()


def priorities(items: Sequence[Item], scene: Scene, numbers: OmarNumbers = DEFAULT) -> list[Score]:
    """One score per item; its parts are `base`, `recency`, `rag` and `business`.

    A priority of the item itself replaces that of its kind.

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
    """The boost for recency; in the exponential shape, business content decays more slowly."""
    if timestamp is None or not numbers.prefer_recent:
        return 0.0
    days = age(timestamp, now) / DAY
    if numbers.recency == "exponential":
        rate = numbers.business_decay if business else numbers.decay
        return exponential(days, most=numbers.most_exponential, rate=rate)
    return linear(days, most=numbers.most_linear)


def flags(tokens: int, metadata: Mapping[str, object], numbers: OmarNumbers = DEFAULT) -> tuple[str, ...]:
    """The flags of an allocation."""
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


_FIELD = re.compile(
    r"\b(?:revenue_?impact|urgency|client_?tier|deal_?status|relationship_?stage)\b[\"']?\s?[:=]",
    re.IGNORECASE,
)
_CODE_ENDINGS = ("{", "}", ";", ":", "(", "[", ",")


def estimate(text: str, density: float) -> int:
    """The tokens of a text at `density` characters each, rounded up.

    >>> estimate("a" * 39, 3.8)
    11
    """
    return math.ceil(len(text) / density)


def content_of(text: str) -> Content:
    """Business if the text states a business field, code by its fences or line endings, else general."""
    if _FIELD.search(text):
        return "business"
    if "```" in text:
        return "code"
    lines = [line for line in map(str.rstrip, text.splitlines()) if line]
    ends = sum(line.endswith(_CODE_ENDINGS) for line in lines)
    return "code" if lines and ends * 3 >= len(lines) else "general"
