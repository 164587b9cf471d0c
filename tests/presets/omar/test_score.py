"""What a piece is worth to `omar`: base, recency, match and business, number for number."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal.model import Kind, Role
from foveal.pipeline.values import Item, Scene
from foveal.presets.omar.score import (
    FIELDS,
    OmarNumbers,
    business,
    business_fields,
    business_parts,
    flags,
    priorities,
    relevance,
    supplied,
)
from foveal.presets.recency_curves import by_position, per_minute
from foveal.window import Score

DAY = 86_400
NOW = 1_000 * DAY
NUMBERS = OmarNumbers()


def item(kind: Kind = "rag_document_chunk", *, days: float | None = None, **fields: Any) -> Item:
    stamp = None if days is None else NOW - days * DAY
    return Item(index=0, id="a", role="user", kind=kind, text="", tokens=1, timestamp=stamp, **fields)


def score(piece: Item, **numbers: Any) -> Score:
    return priorities([piece], Scene(now=NOW), OmarNumbers(**numbers))[0]


def test_a_ten_day_old_document_that_matches_by_half_has_120_and_10_and_10() -> None:
    found = score(item(days=10, metadata={"rag_match_metadata": {"relevance": 0.5}}))
    assert found.total == 140
    assert found.parts == {"base": 120, "recency": 10, "rag": 10, "business": 0}


def test_revenue_150_000_critical_enterprise_is_capped_at_20() -> None:
    fields = {"revenue_impact": 150_000, "urgency": "critical", "client_tier": "enterprise"}
    assert score(item(metadata=fields)).parts["business"] == 20
    assert sum(business_parts(fields, NUMBERS).values()) == 15 + 25 + 12


def test_a_priority_given_with_the_piece_replaces_the_base() -> None:
    assert score(item(days=10, priority=7)).parts == {"base": 7, "recency": 10, "rag": 0, "business": 0}


@pytest.mark.parametrize(("days", "boost"), [(None, 0), (0, 20), (-3, 20), (4.5, 15.5), (20, 0), (400, 0)])
def test_linear_recency_loses_a_point_a_day(days: float | None, boost: float) -> None:
    assert score(item(days=days)).parts["recency"] == boost


def test_exponential_recency_decays_more_slowly_for_business_content() -> None:
    plain = score(item(days=10), recency="exponential").parts["recency"]
    business = score(item(days=10, metadata={"dealStatus": "closed"}), recency="exponential").parts["recency"]
    assert (plain, business) == (15 * math.exp(-0.5), 15 * math.exp(-0.2))


def test_recency_can_be_turned_off() -> None:
    assert score(item(days=0), prefer_recent=False).parts["recency"] == 0


@pytest.mark.parametrize(
    ("said", "clamped"), [(0.5, 0.5), (7, 1), (-1, 0), (None, 0), ("1", 0), (True, 0), (10**400, 1)]
)
def test_relevance_is_clamped_to_0_and_1(said: object, clamped: float) -> None:
    assert relevance({"rag_match_metadata": {"relevance": said}}) == clamped


def test_no_match_is_worth_nothing() -> None:
    assert (relevance({}), relevance({"rag_match_metadata": "yes"})) == (0, 0)


@pytest.mark.parametrize(
    ("fields", "boost"),
    [
        ({"revenue_impact": 25_000}, 2.5),
        ({"revenue_impact": 10**400}, 20),
        ({"revenue_impact": -5}, 0),
        ({"revenue_impact": "much"}, 0),
        ({"urgency": "high"}, 15),
        ({"urgency": "urgent"}, 0),
        ({"clientTier": "midMarket"}, 8),
        ({"client_tier": "small_business"}, 4),
        ({"deal_status": "negotiation"}, 18),
        ({"relationshipStage": "developing"}, 6),
        ({"deal_status": "unheard of"}, 0),
        ({"urgency": "medium", "client_tier": "startup", "relationship_stage": "initial"}, 10),
        ({}, 0),
    ],
)
def test_each_business_field_has_its_table(fields: dict[str, object], boost: float) -> None:
    assert business(business_fields(fields), NUMBERS) == boost


def test_snake_case_wins_where_both_spellings_are_there() -> None:
    assert business_fields({"client_tier": "startup", "clientTier": "enterprise"}) == {
        "client_tier": "startup"
    }


def test_the_context_of_the_request_supplies_only_the_fields_that_lack() -> None:
    context = {"urgency": "low", "clientTier": "enterprise", "color": "red"}
    assert supplied({"urgency": "critical"}, context) == {"urgency": "critical", "client_tier": "enterprise"}


def test_flags_name_what_stands_out() -> None:
    assert flags(501, {"revenueImpact": 10_000, "urgency": "urgent"}) == (
        "high_business_relevance",
        "urgent",
        "requires_summarization",
    )
    assert flags(500, {"revenue_impact": 9_999, "urgency": "high"}) == ()


def test_recency_per_minute_halves_after_one() -> None:
    assert [per_minute(minutes) for minutes in (0, 1, 3)] == [1, 0.5, 0.25]


def test_recency_by_position_counts_over_what_is_not_system() -> None:
    roles: list[Role] = ["system", "user", "assistant", "user", "assistant", "user"]
    assert by_position(roles, most=40) == [40, 0, 8, 16, 24, 40]
    assert by_position([], most=40) == []


def test_the_numbers_are_plain_data() -> None:
    assert all(isinstance(value, int | float | str | dict) for value in asdict(NUMBERS).values())


@settings(max_examples=300)
@given(
    st.one_of(st.none(), st.floats(-1e4, 1e4)),
    st.dictionaries(
        st.sampled_from(FIELDS), st.one_of(st.floats(), st.integers(), st.text(max_size=9), st.none())
    ),
    st.one_of(st.floats(), st.integers(), st.none()),
)
def test_every_boost_stays_between_0_and_20(
    days: float | None, fields: dict[str, Any], match: object
) -> None:
    found = score(item(days=days, metadata={**fields, "rag_match_metadata": {"relevance": match}}))
    assert all(0 <= found.parts[part] <= 20 for part in ("recency", "rag", "business"))
    assert found.total == sum(found.parts.values())
