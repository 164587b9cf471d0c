"""Metadata in → what the business fields of a piece are worth, field by field.

Five fields count: `revenue_impact`, `urgency`, `client_tier`, `deal_status`, `relationship_stage`. Names and
values may be spelled in snake_case or camelCase; a value that no table knows is worth nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from foveal.pipeline.score.omar import OmarNumbers

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
