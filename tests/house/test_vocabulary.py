"""The words of the glossary are used, and those it avoids are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from house.tree import DOCS, ROOT, SOURCE
from house.vocabulary import found


def test_no_avoided_word_is_in_code_or_pages() -> None:
    assert [str(place) for place in found([SOURCE, DOCS, ROOT / "README.md", ROOT / "CONTRIBUTING.md"])] == []


@pytest.mark.parametrize(
    "code",
    [
        "told = 1",
        "class StatsTold: ...",
        '"""What somebody wanted."""',
        "x = 1  # held back",
        'raise InputError("that makes no sense", remedy="x")',
        'option(help="a whole number")',
    ],
)
def test_an_avoided_word_is_found_wherever_people_read(code: str) -> None:
    place = ROOT / "sample.py"
    assert found_in(place, code)


def found_in(place: Path, code: str) -> list[object]:
    from house.vocabulary import in_code

    return list(in_code(place, code))
