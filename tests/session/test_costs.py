"""What sending costs: read from the provider's cache, written to it, or neither, each at its price."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.catalog import ModelCard, Prices
from foveal.session.costs import dollars, predicted, priced
from foveal.window import Cost, Costs

ANTHROPIC = Prices(input=3.0, cache_read=0.3, cache_write=3.75)
CARD = ModelCard(id="m", cache_min=1_000)
COSTS = st.builds(
    Cost, tokens=st.integers(0, 9_999), dollars=st.none() | st.integers(0, 9).map(float), requests=st.just(1)
)


def both(managed: Cost, unmanaged: Cost) -> Costs:
    return Costs(managed=managed, unmanaged=unmanaged)


def test_what_repeats_is_read_and_the_rest_is_written() -> None:
    assert predicted(5_000, 4_000, CARD) == Cost(tokens=5_000, cached=4_000, written=1_000)


def test_a_beginning_that_is_too_short_for_the_cache_is_written_again() -> None:
    assert predicted(5_000, 999, CARD) == Cost(tokens=5_000, cached=0, written=5_000)


def test_a_request_that_is_too_short_for_the_cache_is_neither_read_nor_written() -> None:
    assert predicted(999, 999, CARD) == Cost(tokens=999)


def test_each_token_has_the_price_of_what_happened_to_it() -> None:
    cost = Cost(tokens=1_000_000, cached=600_000, written=300_000)
    assert dollars(cost, ANTHROPIC) == pytest.approx(0.6 * 0.3 + 0.3 * 3.75 + 0.1 * 3.0)


def test_a_cache_without_prices_of_its_own_costs_what_input_does() -> None:
    assert dollars(Cost(tokens=1_000_000, cached=600_000, written=300_000), Prices(input=3.0)) == 3.0


@pytest.mark.parametrize("prices", [None, Prices(), Prices(cache_read=0.3)])
def test_without_a_known_price_there_is_no_amount(prices: Prices | None) -> None:
    assert dollars(Cost(tokens=9), prices) is None


def test_prices_come_from_the_catalogue() -> None:
    found = priced(both(Cost(tokens=1_000_000), Cost(tokens=2_000_000)), "claude-sonnet-4-5", None)
    assert (found.managed.dollars, found.unmanaged.dollars, found.saved) == (3.0, 6.0, 3.0)


def test_what_is_saved_is_counted_in_dollars_where_they_are_known() -> None:
    assert both(Cost(tokens=10, dollars=1.0), Cost(tokens=20, dollars=4.0)).percent == 75
    assert both(Cost(tokens=10), Cost(tokens=20)).percent == 50
    assert both(Cost(tokens=0), Cost(tokens=0)).percent == 0


@given(st.lists(COSTS, min_size=1))
def test_a_sum_has_every_request_and_every_known_dollar(each: list[Cost]) -> None:
    total = sum(each[1:], start=each[0])
    assert (total.requests, total.tokens) == (len(each), sum(cost.tokens for cost in each))
    assert (total.dollars or 0) == sum(cost.dollars or 0 for cost in each)
    assert (total.dollars is None) == all(cost.dollars is None for cost in each)
