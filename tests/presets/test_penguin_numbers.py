"""Every number of `penguin` has an effect."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

import foveal
from foveal import ConfigError, Foveal
from foveal.pipeline.material.categories import PenguinNumbers
from foveal.presets.numbers import Numbers, listed, overridden
from foveal.sources.assemble import assemble_smart_context
from foveal.sources.contributor import ContextRequest, Offer
from workspaces import write

OTHER: dict[str, dict[str, float]] = {
    "shares": {"SYSTEM": 0.05, "CONTEXT": 0.05, "DIALOG": 0.10, "SYSTEM_OUTPUT": 0.01},
    "minimums": {"CONTEXT": 400, "DIALOG": 350, "SYSTEM_OUTPUT": 40},
    "weights": {
        "WORKING_FILES": 0.9,
        "RETRIEVAL": 0.9,
        "CODEBASE_MAP": 0.9,
        "PROJECT_DOCS": 0.9,
        "GIT": 0.9,
        "TEST_RESULTS": 0.9,
        "STATIC_ANALYSIS": 0.9,
        "CUSTOM": 0.9,
    },
    "project_docs": {"PENGUIN.md": 20, "AGENTS.md": 20, "CLAUDE.md": 20, "README.md": 20},
}
ENTRIES = [(table, name) for table, entries in OTHER.items() for name in entries]
TALK = [
    {"role": "system", "content": "You fix bugs."},
    *({"role": ("user", "assistant")[n % 2], "content": f"turn {n} " * 12} for n in range(20)),
    {"role": "user", "content": "And now?"},
]


def penguin(table: str, name: str, value: float) -> PenguinNumbers:
    found: Numbers = overridden(PenguinNumbers(), {table: {name: value}}, "a test")
    assert isinstance(found, PenguinNumbers)
    return found


def test_no_number_is_missing_here() -> None:
    known = {number.key for number in listed("penguin", [])} | {f"minimums.{n}" for n in OTHER["minimums"]}
    assert {f"{table}.{name}" for table, name in ENTRIES} == known - {"minimums"}
    assert OTHER.keys() == {field.name for field in fields(PenguinNumbers)}


@pytest.mark.parametrize("name", OTHER["shares"])
def test_another_share_gives_a_window_other_categories(name: str) -> None:
    def slots(numbers: dict[str, object]) -> object:
        window = foveal.fit(TALK, budget=600, preset="penguin", numbers={"penguin": numbers})
        return window.manifest.slots

    assert slots({"shares": {name: OTHER["shares"][name]}}) != slots({})


@pytest.mark.parametrize("name", OTHER["minimums"])
def test_a_minimum_is_what_a_category_does_not_lend(name: str) -> None:
    output = {"role": "assistant", "content": "result " * 60, "metadata": {"category": "SYSTEM_OUTPUT"}}
    said = [{"role": "user", "content": "word " * 500}]
    over = [*said, TALK[-1]] if name != "DIALOG" else [output, *TALK[-1:]]

    def lent(numbers: dict[str, object]) -> object:
        window = foveal.fit(over, budget=900, preset="penguin", numbers={"penguin": numbers})
        return [(slot.name, slot.floor, slot.borrowed) for slot in window.manifest.slots]

    assert lent({"minimums": {name: OTHER["minimums"][name]}}) != lent({})


@pytest.mark.parametrize("name", OTHER["weights"])
def test_another_weight_ranks_what_a_type_offers_higher(tmp_path: Path, name: str) -> None:
    def rank(numbers: PenguinNumbers) -> int:
        def offer(_request: ContextRequest) -> list[Offer]:
            higher = [
                Offer(text=f"better {n}", source_path=f"{n}", weight=0.5, salience=1.0) for n in range(3)
            ]
            return [*higher, Offer(text="ours", type=name, source_path="ours", salience=1.0)]

        found = assemble_smart_context(tmp_path, task="x", contributors=[offer], numbers=numbers)
        return [each.source for each in found.contributed].index("ours")

    assert rank(penguin("weights", name, OTHER["weights"][name])) < rank(PenguinNumbers())


@pytest.mark.parametrize("name", OTHER["project_docs"])
def test_another_cap_cuts_a_document_earlier(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: "\n\n".join(f"paragraph {n}" for n in range(1_000))})

    def tokens(numbers: PenguinNumbers) -> int:
        found = assemble_smart_context(tmp_path, task="x", numbers=numbers)
        return next(each.tokens for each in found.contributed if each.type == "PROJECT_DOCS")

    assert tokens(penguin("project_docs", name, OTHER["project_docs"][name])) < 60 < tokens(PenguinNumbers())


def test_a_table_of_documents_is_the_whole_list_in_its_order(tmp_path: Path) -> None:
    write(tmp_path, {name: f"I am {name}" for name in ("README.md", "HOUSE.md", "docs/RULES.md")})
    table = {"project_docs": {"docs/RULES.md": 300, "HOUSE.md": 200}}
    with Foveal(":memory:", numbers={"penguin": table}) as fov:
        session = fov.session("house", preset="penguin")
        session.add("user", "Which rules are there?")
        window = session.build(budget=4_000, workspace=tmp_path)
        docs = [each.source for each in window.manifest.contributed if each.type == "PROJECT_DOCS"]
        assert docs == ["docs/RULES.md"]


def test_no_documents_are_none(tmp_path: Path) -> None:
    write(tmp_path, {"README.md": "Read me."})
    none = overridden(PenguinNumbers(), {"project_docs": {}}, "a test")
    found = assemble_smart_context(tmp_path, task="x", numbers=none)
    assert "PROJECT_DOCS" not in {each.type for each in found.contributed}


@pytest.mark.parametrize(
    ("docs", "what"),
    [
        ({"README.md": 0}, "`project_docs.README.md` is 0"),
        ({"README.md": 2.5}, "`project_docs.README.md` is 2.5"),
        ({"": 5}, "`project_docs.` would never match"),
        (["README.md"], "`project_docs` is ['README.md']"),
    ],
)
def test_a_cap_is_a_number_of_tokens_for_a_file(docs: object, what: str) -> None:
    with pytest.raises(ConfigError) as failure:
        overridden(PenguinNumbers(), {"project_docs": docs}, "foveal.toml")
    assert what in failure.value.what
