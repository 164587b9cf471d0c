"""The reference pages keep up with the code: the map, the errors, the command line."""

from __future__ import annotations

import inspect
import re
import runpy

import pytest

from foveal import errors
from house.tree import DOCS, ROOT, modules


def test_the_map_names_every_module_and_no_other() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w/]+\.py)` \|", page, re.MULTILINE)) == set(modules())


def test_every_error_has_its_heading_and_every_heading_its_error() -> None:
    page = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    classes = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert set(re.findall(r"^#+ (\w+Error)$", page, re.MULTILINE)) == classes


@pytest.mark.parametrize("script", ["modules", "reference"])
def test_a_page_made_from_the_code_says_what_the_code_says(script: str) -> None:
    made = runpy.run_path(str(ROOT / "scripts" / f"{script}.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "run `make docs`"
