"""What the short form of a table keeps: the header, whole rows, those that stand out, both ends."""

from __future__ import annotations

import pytest

from foveal.pipeline.shorten.short_form import short_form
from foveal.pipeline.tokens.count import tokenizer

count = tokenizer("o200k_base").count
HEADER = "id,date,customer,amount,status"
ROWS = [
    f"{n},2025-01-{1 + n % 28:02},cust{n * 37 % 900},{n * 31 % 9999 / 100},{'held' if n == 4001 else 'ok'}"
    for n in range(6_000)
]
FAILED = "2900,2025-01-17,cust200,899.0,REFUND_ERROR"


def shown(rows: list[str], room: int, header: str = HEADER) -> list[str]:
    found = short_form("\n".join([header, *rows]), room, count)
    assert found is not None
    assert found.content == "table"
    assert found.tokens <= room
    return [line.removesuffix(" …") for line in found.text.splitlines() if line != "…"]


@pytest.mark.parametrize("room", [150, 1_000, 4_000])
def test_the_header_and_whole_rows_are_kept(room: int) -> None:
    first, *rows, footer = shown(ROWS, room)
    assert first == HEADER
    assert rows
    assert set(rows) <= set(ROWS)
    assert footer.startswith("[… ")


@pytest.mark.parametrize("room", [150, 1_000, 4_000])
def test_the_one_row_with_an_error_is_kept(room: int) -> None:
    assert FAILED in shown([*ROWS[:2900], FAILED, *ROWS[2901:]], room)


def test_a_value_unlike_the_others_in_its_column_is_kept() -> None:
    assert ROWS[4001] in shown(ROWS, 150)


def test_a_number_far_from_the_others_in_its_column_is_kept() -> None:
    far = "1500,2025-01-17,cust200,98000.5,ok"
    assert far in shown([*ROWS[:1500], far, *ROWS[1501:]], 150)


def test_rows_of_both_ends_follow() -> None:
    lines = shown(ROWS, 1_000)
    assert set(ROWS[:5]) <= set(lines)
    assert set(ROWS[-5:]) <= set(lines)


def test_a_column_in_which_all_values_differ_has_no_unusual_ones() -> None:
    lines = shown([f"{n},cust{n * n},x{n * 7}y,ok" for n in range(500)], 300, "id,customer,token,status")
    assert lines[1:4] == ["0,cust0,x0y,ok", "1,cust1,x7y,ok", "2,cust4,x14y,ok"]


def test_names_of_which_most_do_not_fit_are_not_listed() -> None:
    assert shown(ROWS, 1_000)[-1].endswith(" rows not shown]")


def test_a_long_cell_is_shortened_and_the_other_cells_of_its_row_are_kept() -> None:
    rows = [f"{n},a{n},ok" for n in range(200)]
    rows[77] = f"77,{'one of many words ' * 60},failed"
    line = next(line for line in shown(rows, 200, "id,text,status") if line.startswith("77,"))
    assert line.startswith("77,one of many words")
    assert line.endswith("…,failed")


def test_a_quoted_comma_does_not_end_a_cell() -> None:
    rows = [f'{n},"Smith, Ann",ok' for n in range(400)]
    rows[222] = '222,"Smith, Ann",lost'
    assert rows[222] in shown(rows, 100, "id,name,status")


def test_parts_of_dates_are_not_listed_as_names() -> None:
    rows = [f"{n},2025-01-{1 + n % 28:02},x{n},ok" for n in range(400)]
    footer = shown(rows, 250, "id,date,token,status")[-1]
    assert "2025-01-09–2025-01-28, x10–x39" in footer
    assert " 01-" not in footer
