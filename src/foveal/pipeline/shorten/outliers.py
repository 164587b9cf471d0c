"""Find the rows of a table that stand out by a rare value, or by a number far from the others.

The time is linear in the number of cells. Columns in which most values are rare, such as ids, have no unusual
values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

MIN_COLUMN = 8
"""Values that a column needs to have unusual ones."""
COMMON = 0.9
"""The share of a column that its common values have at least, if its other values are unusual."""
RARE = 0.01
"""The share of a column that a rare value has at most; in a short column it occurs once."""
FAR = 4.0
"""Times the mean distance from the mean."""
MANY_FAR = 0.05
"""The share of a column from which on numbers far from the mean are its distribution, not outliers."""
HUGE = 1e100
"""Larger numbers are not measurements."""
_NUMBER = re.compile(r"-?\d{1,100}(?:\.\d{1,100})?(?:[eE][+-]?\d{1,4})?")


def outliers(rows: Sequence[Mapping[str, str]]) -> dict[int, int]:
    """The rows that stand out, by index, with how many do so in the same way: the fewer, the more unusual."""
    columns: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        for key in row:
            columns.setdefault(key, []).append(at)
    found: dict[int, int] = {}
    for key, indexes in columns.items():
        cells = [rows[at][key] for at in indexes]
        if len(indexes) <= _rare(len(rows)) and len(rows) >= MIN_COLUMN:
            unusual = dict.fromkeys(range(len(cells)), len(cells))  # few rows have the column at all
        else:
            unusual = _rare_values(cells) | _far_numbers(cells)
        for nth, alike in unusual.items():
            found[indexes[nth]] = min(alike, found.get(indexes[nth], alike))
    return found


def _rare(total: int) -> int:
    return max(1, int(total * RARE))


def _rare_values(cells: Sequence[str]) -> dict[int, int]:
    times = Counter(cells)
    most = _rare(len(cells))
    common = sum(many for many in times.values() if many > most)
    if len(cells) < MIN_COLUMN or common < COMMON * len(cells):
        return {}
    return {at: times[cell] for at, cell in enumerate(cells) if times[cell] <= most}


def _far_numbers(cells: Sequence[str]) -> dict[int, int]:
    numbers = {at: float(cell) for at, cell in enumerate(cells) if _NUMBER.fullmatch(cell)}
    numbers = {at: number for at, number in numbers.items() if abs(number) < HUGE}
    if len(numbers) < MIN_COLUMN:
        return {}
    middle = sum(numbers.values()) / len(numbers)
    spread = sum(abs(number - middle) for number in numbers.values()) / len(numbers)
    far = [at for at, number in numbers.items() if abs(number - middle) > FAR * spread > 0]
    return dict.fromkeys(far, len(far)) if len(far) <= max(1, len(numbers) * MANY_FAR) else {}
