"""The operations of the categories: `session_*` and `budget_*`. The test names are the specification."""

from __future__ import annotations

from typing import Any

import pytest

from foveal.errors import InputError
from foveal.operations import run

JSON = dict[str, Any]
BUDGETS: JSON = {
    "SYSTEM": {"max": 100},
    "CONTEXT": {"max": 350, "current": 380},
    "DIALOG": {"max": 500, "current": 100},
    "SYSTEM_OUTPUT": {"max": 50},
}


def said(role: str, tokens: int, **more: Any) -> JSON:
    return {"role": role, "content": "words", "tokens": tokens, **more}


def called(tokens: int) -> list[JSON]:
    call = {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    asks = {"role": "assistant", "content": None, "tool_calls": [call], "tokens": 5}
    return [asks, {"role": "tool", "tool_call_id": "a", "content": "x", "tokens": tokens}]


SESSION = [said("system", 50), said("user", 200), *called(200), said("assistant", 200), said("user", 100)]


def test_a_session_is_analyzed_by_category() -> None:
    found = run("session_analyze", {"messages": SESSION, "max_tokens": 1_000})
    use = {
        name: (each["messages"], each["tokens"], each["over"]) for name, each in found["categories"].items()
    }
    assert use == {
        "SYSTEM": (1, 50, False),
        "CONTEXT": (0, 0, False),
        "DIALOG": (4, 505, True),
        "SYSTEM_OUTPUT": (1, 200, True),
    }
    assert (found["total_tokens"], found["over"], found["categories"]["CONTEXT"]["available"]) == (
        755,
        False,
        350,
    )


def test_types_and_metadata_say_the_category_and_tokens_are_counted_when_not_given() -> None:
    messages = [
        {"role": "user", "content": "a document", "type": "rag_document_chunk"},
        {"role": "user", "content": "rules", "metadata": {"category": "SYSTEM"}},
    ]
    found = run("session_analyze", {"messages": messages})["categories"]
    assert [found[name]["messages"] for name in ("CONTEXT", "SYSTEM")] == [1, 1]
    assert found["CONTEXT"]["tokens"] > 0


def test_trimming_brings_every_category_to_its_maximum_turns_whole() -> None:
    found = run("session_trim", {"messages": SESSION, "max_tokens": 1_000})
    assert found["messages"] == [SESSION[0], SESSION[1], SESSION[4], SESSION[5]]
    assert [(each["index"], each["category"]) for each in found["trimmed"]] == [
        (2, "DIALOG"),
        (3, "SYSTEM_OUTPUT"),
    ]
    assert found["report"]["total_tokens"] == 550


def test_processing_rebalances_and_leaves_alone_what_fits() -> None:
    found = run("session_process", {"messages": SESSION, "max_tokens": 1_000})
    assert (found["messages"], found["trimmed"]) == (SESSION, [])
    assert found["report"]["categories"]["CONTEXT"]["lent"] == 155


def test_processing_trims_when_the_total_is_over() -> None:
    found = run("session_process", {"messages": SESSION, "max_tokens": 400})
    assert found["messages"] == [SESSION[0], SESSION[4], SESSION[5]]


def test_system_the_newest_user_message_and_the_open_turn_are_never_trimmed() -> None:
    session = [said("system", 900), said("user", 900), *called(900)]
    found = run("session_trim", {"messages": session, "max_tokens": 100})
    assert (found["messages"], found["report"]["over"]) == (session, True)


def test_what_was_retrieved_is_not_the_newest_user_message() -> None:
    document = said("user", 100, type="rag_document_chunk")
    session = [said("user", 50), said("assistant", 50), said("user", 600), document]
    found = run("session_trim", {"messages": session, "max_tokens": 1_000})
    assert session[2] in found["messages"]
    assert [each["index"] for each in found["trimmed"]] == [0, 1]


def test_shares_can_be_given_and_add_up_to_at_most_1() -> None:
    shares = {"DIALOG": 0.4, "SYSTEM_OUTPUT": 0.15}
    found = run("session_analyze", {"messages": [], "max_tokens": 1_000, "shares": shares})
    assert [each["max"] for each in found["categories"].values()] == [100, 350, 400, 150]
    with pytest.raises(InputError, match="`shares`"):
        run("session_analyze", {"messages": [], "shares": {"DIALOG": 0.9}})


def test_borrowing_says_whether_it_happened() -> None:
    request = {"budgets": BUDGETS, "from": "DIALOG", "to": "CONTEXT", "amount": 400}
    found = run("budget_borrow", request)
    assert found["done"]
    assert found["budgets"]["CONTEXT"] == {"min": 0, "max": 750, "current": 380, "borrowed": 400, "lent": 0}
    assert not run("budget_borrow", request | {"amount": 401})["done"]
    assert not run("budget_borrow", request | {"from": "SYSTEM"})["done"]


def test_rebalancing_lists_its_moves() -> None:
    found = run("budget_rebalance", {"budgets": BUDGETS})
    assert found["moves"] == [{"from": "DIALOG", "to": "CONTEXT", "amount": 30}]
    assert found["budgets"]["DIALOG"]["lent"] == 30


def test_what_one_operation_gives_another_takes() -> None:
    budgets = run("budget_rebalance", {"budgets": BUDGETS})["budgets"]
    assert run("budget_report", {"budgets": budgets})["categories"]["CONTEXT"]["borrowed"] == 30


def test_the_report_says_of_each_contributor_whether_and_why() -> None:
    files = {"type": "WORKING_FILES", "source_path": "a.py", "salience": 0.5, "tokens": 100}
    docs = {"type": "PROJECT_DOCS", "salience": 1.0, "tokens": 900}
    found = run("budget_report", {"budgets": BUDGETS, "contributors": [docs, files]})["contributors"]
    assert [(each["weight"], each["chosen"]) for each in found] == [(0.15, False), (0.4, True)]
    assert found[1]["because"] == "weight 0.40 x salience 0.50, 100 tokens, 130 borrowed from DIALOG"


@pytest.mark.parametrize(
    ("name", "request_", "field"),
    [
        ("session_trim", {"messages": [said("user", -1)]}, r"messages\[0\]: `tokens`"),
        ("session_trim", {"messages": [], "budget": 1}, "`budget`"),
        ("budget_borrow", {"budgets": BUDGETS, "from": "DIALOG", "to": "ATTIC", "amount": 1}, "`to`"),
        ("budget_borrow", {"budgets": {}, "from": "DIALOG", "to": "CONTEXT", "amount": 1}, "`from`"),
        ("budget_rebalance", {"budgets": {"DIALOG": {"min": 2, "max": 1}}}, "`budgets.DIALOG`"),
    ],
)
def test_an_invalid_request_is_rejected_by_field(name: str, request_: JSON, field: str) -> None:
    with pytest.raises(InputError, match=field):
        run(name, request_)
