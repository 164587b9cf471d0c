"""Every regular expression takes linear time on any text."""

from __future__ import annotations

import os
import re

import pytest

from house.patterns import Found, collected
from house.pump import slowest

LIMITED = {
    "sources/workspace/gitignore.py": "paths have at most 4,096 characters, rules a limited number of steps",
}
"""Files whose patterns see only text of a bounded length, and what bounds it."""
SQUARES = (
    (r"\s+$", "search"), (r"\w+@", "search"), (r"(?::\w+)*$", "sub"), (r"(?:a+)+b", "match"),
    (r"<!--.*?-->", "finditer"), (r"“[^”]{20,}”", "findall"),
    (r"[A-Za-z]+[a-z0-9][A-Z][A-Za-z0-9]*", "fullmatch"), (r"(?m)^\s*a", "search"),
)  # fmt: skip
LINES = (
    (r"(?<!\s)\s++$", "search"),
    (r"\w{1,40}@", "search"),
    (r"[^<]*<", "match"),
    (r"<[^<>]*>", "finditer"),
)


@pytest.fixture(scope="module")
def all_patterns() -> tuple[list[Found], list[str]]:
    return collected()


@pytest.fixture(scope="module")
def patterns(all_patterns: tuple[list[Found], list[str]]) -> list[Found]:
    return [found for found in all_patterns[0] if found.file not in LIMITED]


def test_every_pattern_of_the_source_is_known(all_patterns: tuple[list[Found], list[str]]) -> None:
    assert all_patterns[1] == []


@pytest.mark.parametrize(("pattern", "method"), SQUARES)
def test_a_pattern_that_is_not_linear_is_found(pattern: str, method: str) -> None:
    assert slowest(re.compile(pattern), [method], size=2_000)


@pytest.mark.parametrize(("pattern", "method"), LINES)
def test_a_linear_pattern_passes(pattern: str, method: str) -> None:
    assert slowest(re.compile(pattern), [method], size=2_000) is None


def test_every_pattern_is_linear_on_texts_made_from_itself(patterns: list[Found]) -> None:
    """On a few texts for each; `test_every_pattern_is_linear_on_all_texts` tries all of them."""
    assert len(patterns) > 500
    found = {
        str(each): slowest(each.pattern, each.methods, most=4, size=2_000, ends=["!"]) for each in patterns
    }
    assert {name: str(slow) for name, slow in found.items() if slow} == {}


@pytest.mark.soak
@pytest.mark.skipif(os.environ.get("FOVEAL_SOAK") != "1", reason="`make soak` tries all texts")
def test_every_pattern_is_linear_on_all_texts(patterns: list[Found]) -> None:
    found = {str(each): slowest(each.pattern, each.methods) for each in patterns}
    assert {name: str(slow) for name, slow in found.items() if slow} == {}
