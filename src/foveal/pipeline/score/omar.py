"""Every number of the `omar` preset, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from foveal.pipeline.density import DENSITIES
from foveal.pipeline.kinds import KINDS


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
