"""Penguin's context window manager as its design describes it, run on this repository itself.

Four categories borrow from each other, contributors earn their place by weight and salience, and what is
over is trimmed in a fixed order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from commands import CommandLine
from foveal import Foveal, operations
from workspaces import installed

REPOSITORY = Path(__file__).parents[3]
TASK = "why does borrow() in pipeline/material/categories.py refuse to lend from SYSTEM?"
WEIGHTS = {"WORKING_FILES": 0.4, "RETRIEVAL": 0.25, "CODEBASE_MAP": 0.2, "PROJECT_DOCS": 0.15, "CUSTOM": 0.1}
BUDGETS = {"SYSTEM": 15_000, "CONTEXT": 52_500, "DIALOG": 75_000, "SYSTEM_OUTPUT": 7_500}


def test_the_context_of_a_repository_has_a_contributor_named_on_the_command_line(shell: CommandLine) -> None:
    shell.fill({"role": "user", "content": TASK}, session="borrowing")
    shell.fill(
        {"role": "assistant", "content": "SYSTEM must not lend: borrow() in categories.py refuses it."},
        session="earlier",
    )
    done = shell.process(
        "--session", "borrowing", "context", "--workspace", str(REPOSITORY), "--budget", "60000",
        "--contributor", "weather", "--json", PYTHONPATH=installed(shell.folder / "site"),
    )  # fmt: skip
    found = done.json
    best = {each["type"]: each for each in reversed(found["contributors"])}
    assert {name: best[name]["weight"] for name in WEIGHTS} == WEIGHTS
    assert all(0 <= each["salience"] <= 1 for each in found["contributors"])
    assert [best[name]["chosen"] for name in WEIGHTS] == [True] * len(WEIGHTS)
    assert best["WORKING_FILES"]["source"] == "src/foveal/pipeline/material/categories.py"
    assert best["PROJECT_DOCS"]["source"] == "README.md"
    assert best["RETRIEVAL"]["source"].startswith("earlier/")
    assert "def borrow(" in found["text"]
    assert "## [CUSTOM] weather\nRain" in found["text"]
    ranks = [each["weight"] * each["salience"] for each in found["contributors"] if each["chosen"]]
    assert ranks == sorted(ranks, reverse=True)
    context = next(each for each in found["categories"] if each["name"] == "CONTEXT")
    assert context["current"] == found["tokens"] <= context["max"] == 21_000 + context["borrowed"]


def test_a_window_has_that_context_beside_the_conversation(shell: CommandLine) -> None:
    shell.fill({"role": "user", "content": TASK})
    done = shell.process(
        "build", "--preset", "penguin", "--workspace", str(REPOSITORY), "--budget", "60000",
        "--contributor", "weather", "--json", PYTHONPATH=installed(shell.folder / "site"),
    )  # fmt: skip
    window = done.json
    assert window["tokens"] <= 60_000
    assert window["messages"][-1]["content"] == TASK
    assert "def borrow(" in window["messages"][0]["content"]
    shown = {each["type"] for each in window["manifest"]["contributed"] if each["verdict"] == "kept"}
    assert {"WORKING_FILES", "CODEBASE_MAP", "PROJECT_DOCS", "CUSTOM"} <= shown
    assert {slot["name"] for slot in window["manifest"]["slots"]} == BUDGETS.keys()


def test_150_000_tokens_have_the_categories_of_the_design() -> None:
    found = operations.run("session_analyze", {"messages": []})
    assert (found["max_tokens"], {name: each["max"] for name, each in found["categories"].items()}) == (
        150_000,
        BUDGETS,
    )


def test_context_borrows_the_six_thousand_tokens_that_it_lacks_from_dialog() -> None:
    budgets = {
        "CONTEXT": {"max_tokens": 52_500, "current_tokens": 58_500},
        "DIALOG": {"max_tokens": 75_000, "current_tokens": 45_000},
    }
    found = operations.run("budget_rebalance", {"budgets": budgets})
    assert found["moves"] == [{"from": "DIALOG", "to": "CONTEXT", "amount": 6_000}]
    assert found["budgets"]["DIALOG"]["max"] == 69_000
    request = {"budgets": budgets | {"SYSTEM": {"max_tokens": 15_000}}, "to": "CONTEXT", "amount": 1}
    assert not operations.run("budget_borrow", request | {"from": "SYSTEM"})["done"]


def said(tokens: int, category: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": "x", "tokens": tokens, "metadata": {"category": category}}


def test_what_is_over_is_trimmed_output_first_then_dialog_then_context_never_system() -> None:
    messages = [
        said(100, "SYSTEM", "system"),
        said(200, "CONTEXT"),
        said(200, "DIALOG"),
        said(50, "SYSTEM_OUTPUT", "assistant"),
        said(10, "DIALOG"),
    ]
    for most, left in ((560, 5), (511, 4), (480, 3), (300, 2)):
        found = operations.run("session_process", {"messages": messages, "max_tokens": most})
        kept = [messages.index(each) for each in found["messages"]]
        assert len(kept) == left
        assert {0, 4} <= {*kept}


def test_messages_of_other_sessions_are_retrieved_without_a_workspace(tmp_path: Path) -> None:
    with Foveal(tmp_path / "penguin.db", embedder="none") as fov:
        fov.session("earlier").add("assistant", "The refund service rejects vouchers from before 2024.")
        session = fov.session("work", model="gpt-5", preset="penguin")
        session.add("user", "Why does the refund service reject vouchers?")
        window = session.build(budget=4_000)
        (piece,) = window.manifest.contributed
        assert (piece.type, piece.weight, piece.verdict) == ("RETRIEVAL", 0.25, "kept")
