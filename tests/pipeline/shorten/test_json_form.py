"""What the short form of JSON keeps: keys with their values, ids of everything, trouble, what is missing."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from foveal.pipeline.shorten.short_form import short_form
from foveal.pipeline.tokens.count import tokenizer

count = tokenizer("o200k_base").count
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=20,
)


def made(value: object, share: float) -> str:
    text = json.dumps(value)
    found = short_form(text, int(count(text) * share), count)
    assert found is not None
    assert found.content == "json"
    return found.text


CANCELLED = {
    "reservation_id": "S61CZX",
    "user_id": "sophia_silva_7557",
    "flights": [
        {"origin": "LAX", "flight_number": f"HAT{n}", "date": "2024-05-23", "price": n}
        for n in range(228, 234)
    ],
    "passengers": [{"first_name": "Harper", "last_name": "Jackson", "dob": "1974-09-05"}],
    "name": {"first": "Sophia", "last": "Silva"},
    "insurance": "no",
    "status": "cancelled",
}


def test_the_plain_values_of_the_outermost_object_come_first_and_are_kept_first() -> None:
    values = "reservation_id: S61CZX, user_id: sophia_silva_7557, insurance: no, status: cancelled …\n"
    assert made(CANCELLED, 0.3).startswith(values)
    assert "status: cancelled" in made(CANCELLED, 0.15)
    assert "status: cancelled" in made({"result": CANCELLED}, 0.3)
    assert "status: cancelled" in made([CANCELLED], 0.3)


def test_every_row_can_be_read_alone_and_the_header_says_how_many_there_are() -> None:
    rows = [line for line in made(CANCELLED, 0.55).split("\n") if "HAT" in line and "…" not in line]
    header = f"flights ({len(rows)} of 6 shown) [origin | flight_number | date | price]"
    assert header in made(CANCELLED, 0.55)
    assert rows
    assert all(re.fullmatch(r"\[LAX \| HAT\d+ \| 2024-05-23 \| \d+]", row) for row in rows)
    assert "flights (6) [origin | " in made(CANCELLED, 0.95)


def test_a_short_object_is_one_line_and_so_is_the_only_object_of_an_array() -> None:
    lines = made(CANCELLED, 0.95).split("\n")
    assert "name (first: Sophia, last: Silva)" in lines
    assert "passengers[0] (first_name: Harper, last_name: Jackson, dob: 1974-09-05)" in lines


def test_no_line_is_a_lone_bracket_or_ends_with_a_comma() -> None:
    nested = [{"id": f"ord_{n}", "lines": [[n, {"a": [n, {}]}], "x"], "to": {}} for n in range(6)]
    for value in (CANCELLED, nested, {"deep": {"deeper": {"deepest": nested}}}):
        for share in (0.2, 0.4, 0.6, 0.8):
            for line in made(value, share).split("\n"):
                assert re.search(r"\w", line)
                assert not line.endswith((",", "{", "[", "("))


def test_an_object_that_lost_values_says_so() -> None:
    order = {
        "to": {f"key_{n}": "a few words" for n in range(30)},
        "name": {"first": "Ann", "bio": "word " * 60},
    }
    assert re.search(r"to \(\d+ of 30 keys shown\)\n  key_", made(order, 0.5))


def test_keys_and_values_stand_without_quotes() -> None:
    order = {
        "order_id": "ord_4711",
        "note": "a, b",
        "zip": "00123",
        "lines": [1.50, True, None],
        "x": "y and z " * 60,
    }
    text = made(order, 0.8)
    assert 'order_id: ord_4711, note: "a, b", zip: "00123"' in text
    assert "lines: [1.5, true, null]" in text


def test_alike_objects_become_a_table_that_names_its_keys_once() -> None:
    flights = [
        {"flight": f"HAT{n}", "from": "JFK", "prices": {"economy": n, "business": 2 * n}}
        for n in range(200, 205)
    ]
    text = made(flights, 0.8)
    assert (
        "5 elements [flight | from | prices.economy | prices.business]\n[HAT200 | JFK | 200 | 400]\n" in text
    )
    assert text.count("economy") == 1


def test_a_long_array_says_how_many_there_were_and_keeps_their_ids() -> None:
    ids = [f"usr_{300 + 37 * n}" for n in range(40)]
    people = [{"id": each, "bio": "likes long walks and quiet evenings " * 8} for each in ids]
    text = made(people, 0.15)
    assert re.match(r"\d+ of 40 elements shown\n- id: usr_300", text)
    assert re.search(r"\n\[… \d+ values not shown; names in them: id usr_", text)
    assert all(each in text for each in ids)


def test_ids_that_are_keys_are_kept() -> None:
    methods = {
        f"card_{n}": {"source": "credit card", "brand": "a brand with a long name"} for n in range(500, 520)
    }
    text = made({"methods": methods}, 0.4)
    assert all(f"card_{n}" in text for n in range(500, 520))


def test_trouble_is_kept_before_plain_values() -> None:
    steps: list[object] = [{"step": n, "state": ["fine"]} for n in range(60)]
    steps[41] = {"step": 41, "state": ["failed: disk full"]}
    assert "failed: disk full" in made(steps, 0.1)


def test_a_number_far_from_the_others_is_kept() -> None:
    rows = [{"host": "web", "ms": 20 + n % 3, "ok": True} for n in range(80)]
    rows[33]["ms"] = 9000
    assert "web | 9000 | true" in made(rows, 0.1)


def test_numbers_stay_as_they_were_spelled() -> None:
    text = f'{{"price": 10.50, "big": 1e400, "n": -0, "text": "{"word " * 100}"}}'
    found = short_form(text, 60, count)
    assert found is not None
    assert "price: 10.50, big: 1e400, n: -0" in found.text


def test_long_strings_are_shortened_and_keep_their_names() -> None:
    body = (
        "Nothing to see in this sentence at all. " * 20
        + "Deployed 3f2a9c1 to prod."
        + " More of the same." * 20
    )
    text = made({"title": "Release", "body": body}, 0.3)
    assert "title: Release" in text
    assert "3f2a9c1" in text


def test_json_lines_read_as_one_array() -> None:
    text = "\n".join(json.dumps({"id": f"evt_{n}", "kind": "click", "page": "home"}) for n in range(700, 720))
    found = short_form(text, count(text) // 2, count)
    assert found is not None
    assert found.text.startswith("20 elements [id | kind | page]\n[evt_700 | click | home]\n")


@given(values.filter(lambda value: isinstance(value, dict | list)), st.integers(1, 120))
def test_any_json_has_a_short_form_within_its_room(value: object, room: int) -> None:
    found = short_form(json.dumps(value), room, count)
    assert found is None or 0 < found.tokens <= room


def products(n: int, **more: object) -> list[dict[str, object]]:
    found: list[dict[str, object]] = [
        {"price": 5 + i % 9, "id": i, "sku": f"SKU-{i:05}", "status": "ok", "note": "", "tags": ["a", "b"]}
        | more
        for i in range(n)
    ]
    found[77] |= {"status": "failed", "note": "error: warehouse refused, code WH-409"}
    return found


def element(text: str, part: str) -> str:
    return next(line for line in text.splitlines() if part in line)


def test_objects_with_short_arrays_in_them_are_rows() -> None:
    text = made({"page": 1, "items": products(900)}, 0.03)
    assert "[price | id | sku | status | note | tags]" in text
    assert '| 77 | SKU-00077 | failed | "error: warehouse refused, code WH-409" | ["a", "b"]]' in text


def test_a_short_object_with_keys_of_its_own_is_kept_whole() -> None:
    items = products(900)
    items[77]["retry"] = True
    line = element(made(items, 0.03), "WH-409")
    assert line.startswith("- id: 77, price: 10, sku: SKU-00077, status: failed, ")
    assert "retry: true" in line


def test_part_of_an_object_begins_with_the_value_that_identifies_it() -> None:
    items = products(90, text="a long text about nothing in particular " * 12, more={"deep": {"x": [1, {}]}})
    text = made({"page": 1, "items": items}, 0.1)
    assert all(line.startswith("  - id: ") for line in text.splitlines() if line.startswith("  - "))


def test_a_long_object_with_trouble_has_all_of_its_plain_values() -> None:
    items = products(200, text="a long text about nothing in particular " * 12, more={"deep": {"x": [1, {}]}})
    line = element(made({"page": 1, "items": items}, 0.02), "WH-409")
    assert line.startswith("  - id: 77, price: 10, sku: SKU-00077, status: failed, note: ")


def test_consecutive_ids_are_listed_as_a_range() -> None:
    text = made({"page": 1, "items": products(900)}, 0.05)
    footer = text.splitlines()[-1]
    assert re.search(r"sku SKU-\d+–SKU-\d+", footer)
    assert len(footer) < 200


def test_rows_of_both_ends_of_a_long_array_are_shown() -> None:
    text = made(products(900), 0.1)
    assert all(f"SKU-{n:05} |" in text for n in (0, 1, 2, 897, 898, 899))
