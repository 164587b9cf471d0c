"""JSON as lines that can be read alone: no value without its key, its object and its element."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.pipeline.shorten.json_lines import SHORT, WIDE, json_lines

FLIGHT = {
    "origin": "MIA",
    "flight_number": "HAT232",
    "departs": "17:00:00",
    "available_seats": {"basic_economy": 2, "economy": 16, "business": 10},
    "prices": {"basic_economy": 50, "economy": 162, "business": 498},
}
RESERVATION = {
    "reservation_id": "Z7GOZK",
    "user_id": "omar_davis_3817",
    "flights": [{"origin": "MCO", "flight_number": "HAT028", "price": 1859}],
    "passengers": [{"first_name": "Omar", "last_name": "Davis"}],
    "status": "cancelled",
}


def written(value: object) -> list[str]:
    return [line.text for line in json_lines(json.dumps(value))]


def test_the_plain_values_of_a_record_come_first_and_together() -> None:
    assert written(RESERVATION)[0] == "reservation_id Z7GOZK; user_id omar_davis_3817; status cancelled"


def test_an_object_whose_key_is_its_id_does_not_repeat_it() -> None:
    card = {"payment_methods": {"card_77": {"source": "card", "brand": "visa", "id": "card_77"}}}
    assert written(card) == ["payment_methods card_77: source card; brand visa"]


def test_an_element_begins_with_the_value_that_identifies_it() -> None:
    assert "flight_number HAT028; origin MCO; price 1859" in written(RESERVATION)


def test_an_element_without_an_id_is_preceded_by_the_key_of_its_list() -> None:
    assert "passengers: first_name Omar; last_name Davis" in written(RESERVATION)


def test_a_nested_object_stays_together_below_its_keys_and_its_element() -> None:
    assert written([FLIGHT]) == [
        "flight_number HAT232; origin MIA; departs 17:00:00",
        "available_seats of HAT232: basic_economy 2; economy 16; business 10",
        "prices of HAT232: basic_economy 50; economy 162; business 498",
    ]


def test_keys_that_lead_to_a_nested_object_are_repeated() -> None:
    methods = {"card_1": {"brand": "visa", "last_four": "2172"}, "gift_2": {"amount": 31, "source": "gift"}}
    assert written({"methods": methods}) == [
        "methods card_1: brand visa; last_four 2172",
        "methods gift_2: amount 31; source gift",
    ]


def test_an_element_in_an_element_says_which_one_it_belongs_to() -> None:
    order = {"order_id": "ord_1", "total": 12, "items": [{"name": "cup", "sku": "S1"}]}
    assert written([order])[1] == "items of ord_1: sku S1; name cup"


def test_a_long_element_is_named_again_in_its_next_line() -> None:
    fields = {f"field_{n}": "a few words" for n in range(8)}
    first, second = json_lines(json.dumps([{**fields, "id": "evt_5"}]))
    assert first.text.startswith("id evt_5; field_0 a few words; ")
    assert second.text.startswith("id evt_5: field_")
    assert (first.element, second.element) == ("", "evt_5")


@pytest.mark.parametrize(
    ("element", "begins"),
    [
        ({"title": "Old", "user_id": "u_1", "id": "7"}, "id 7"),
        ({"name": "Ann", "userId": "u_1"}, "userId u_1"),
        ({"city": "Rome", "zip_code": "00123"}, "zip_code 00123"),
        ({"size": 3, "path": "src/a.py"}, "path src/a.py"),
        ({"age": 40, "full_name": "Ann Lee"}, "full_name Ann Lee"),
        ({"city": "Rome", "km": 5}, "city Rome"),
        ({"id": "x" * 200, "km": 5}, "km 5"),
        ({"id": None, "km": 5}, "km 5"),
    ],
)
def test_an_id_names_an_element_before_a_name_and_that_before_its_first_value(
    element: dict[str, object], begins: str
) -> None:
    assert begins in written({"rows": [element]})[0]
    assert written([element])[0].startswith(begins)


def test_a_long_list_repeats_its_key_in_every_line() -> None:
    lines = written({"ids": [f"ord_{n}" for n in range(90)]})
    assert len(lines) > 3
    assert all(line.startswith("ids ord_") and line[-1].isdigit() for line in lines)
    assert ", ".join(line.removeprefix("ids ") for line in lines).split(", ")[-1] == "ord_89"


def test_a_line_of_one_or_two_words_is_joined_with_the_next() -> None:
    assert written({"status": "ok", "usage": {"tokens": 5}}) == ["status ok; usage: tokens 5"]


def test_numbers_stay_as_they_are_spelled() -> None:
    found = json_lines('{"price": 10.50, "big": 1e400, "n": -0}')
    assert [line.text for line in found] == ["price 10.50; big 1e400; n -0"]


@pytest.mark.parametrize("text", ["", "{", "[1, 2", '{"a": 1} trailing', "plain words"])
def test_what_is_not_json_has_no_lines(text: str) -> None:
    assert list(json_lines(text)) == []


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=20,
)


@given(values.filter(lambda value: isinstance(value, dict | list)))
def test_lines_are_single_and_short_where_their_values_are(value: object) -> None:
    for line in written(value):
        assert len(line.splitlines()) <= 1
        assert len(line) <= 4 * (WIDE + SHORT)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 900 + "1" + "}" * 900,
        "[" + '{"": ""},' * 30_000 + "1]",
        json.dumps([""] * 100_000),
        json.dumps(["-"] * 100_000 + [{}]),
        json.dumps({f"k{n}": {} for n in range(50_000)}),
        json.dumps({"k" * 100_000: [{"a": n} for n in range(5_000)]}),
    ],
    ids=["open", "deep", "empty keys", "empty texts", "dashes", "many keys", "long key"],
)
def test_any_json_is_written_in_little_time(text: str) -> None:
    start = time.process_time()
    assert all(len(line.text) < 600 for line in json_lines(text))
    assert time.process_time() - start < 4
