"""The operations of layers, categories and levels. Read the test names: they are the spec."""

from __future__ import annotations

from typing import Any

import pytest

from foveal.errors import BudgetError, InputError
from foveal.operations import fifth, openscroll, penguin
from foveal.operations.registry import Registry

JSON = dict[str, Any]
PLANS = [
    each
    for each in (*openscroll.OPERATIONS, *penguin.OPERATIONS, *fifth.OPERATIONS)
    if not each.name.startswith("history_")
]
REGISTRY = Registry(PLANS)
TALK: JSON = {
    "total_budget": 12_000,
    "conversation_message_count": 30,
    "conversation_total_tokens": 9_000,
    "user_message_tokens": 120,
    "detected_topic_count": 2,
    "detected_entity_count": 3,
    "has_active_conversation": True,
    "knowledge_depth": "standard",
    "prioritize_history": False,
}
BUDGETS: JSON = {
    "SYSTEM": {"max": 100},
    "CONTEXT": {"max": 350, "current": 380},
    "DIALOG": {"max": 500, "current": 100},
    "SYSTEM_OUTPUT": {"max": 50},
}


def run(name: str, request: JSON) -> JSON:
    return REGISTRY.run(name, request)


def said(role: str, tokens: int, **more: Any) -> JSON:
    return {"role": role, "content": "words", "tokens": tokens, **more}


def called(tokens: int) -> list[JSON]:
    call = {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    asks = {"role": "assistant", "content": None, "tool_calls": [call], "tokens": 5}
    return [asks, {"role": "tool", "tool_call_id": "a", "content": "x", "tokens": tokens}]


SESSION = [said("system", 50), said("user", 200), *called(200), said("assistant", 200), said("user", 100)]


def test_layers_are_negotiated_and_summed_up() -> None:
    found = run("layers_negotiate", TALK)
    assert list(found["allocation_summary"].values()) == [240, 360, 2378, 1102, 2400, 1200, 4200, 120]
    assert (found["total_allocated"], found["short_by"]) == (12_000, 0)
    assert found["layers"]["L2_topic"] == {
        "layer": "L2_topic",
        "min_tokens": 300,
        "ideal_tokens": 1123,
        "max_tokens": 3000,
        "priority": 85,
        "elasticity": 0.6,
        "allocated": 2378,
    }


def test_available_bundles_cap_their_layers_and_the_rest_stays_short() -> None:
    known = dict.fromkeys(["topic", "entity", "conversation", "jit", "history"], 100)
    found = run("layers_negotiate", TALK | {"available_bundles": known})
    most_of_identity_and_preferences = 500 + 800
    assert found["allocation_summary"]["topics"] == 100
    assert found["short_by"] == 12_000 - 120 - 500 - most_of_identity_and_preferences


def test_a_user_message_that_cannot_fit_is_an_error_with_both_numbers() -> None:
    with pytest.raises(BudgetError, match=r"11,999 tokens and the identity needs 150"):
        run("layers_negotiate", TALK | {"user_message_tokens": 11_999})


def test_a_session_is_analyzed_by_category() -> None:
    found = run("session_analyze", {"messages": SESSION, "max_tokens": 1_000})
    held = {
        name: (each["messages"], each["tokens"], each["over"]) for name, each in found["categories"].items()
    }
    assert held == {
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


def test_shares_can_be_given_and_must_make_sense() -> None:
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


def test_levels_have_budget_use_and_what_to_compress() -> None:
    entries = [
        {"role": "system", "content": "rules", "tokens": 100},
        {"role": "assistant", "content": "long ago", "tokens": 50, "created_at": "2025-01-31T09:00:00Z"},
        {"role": "user", "content": "go on", "tokens": 10},
    ]
    found = run("levels_plan", {"entries": entries, "total": 16_000, "now": "2025-01-31T09:30:00Z"})
    assert found["levels"]["working"] == {"budget": 8_000, "used": 60, "entries": 2}
    assert [(each["index"], each["because"]) for each in found["compress"]] == [
        (1, "30 minutes old, its level allows 5")
    ]


@pytest.mark.parametrize("kind", [{}, {"type": "chat_history_user"}, {"type": "current_user_prompt"}])
def test_the_users_question_is_the_task_and_is_not_compressed_for_what_was_retrieved(kind: JSON) -> None:
    question = {"role": "user", "content": "why does auth.js fail", "tokens": 900, **kind}
    document = {
        "role": "user",
        "content": "why auth.js does fail",
        "tokens": 100,
        "type": "rag_document_chunk",
    }
    request = {"entries": [question, document, document], "total": 1_250}
    assert [each["index"] for each in run("levels_plan", request)["compress"]] == [1]
    off_task = run("levels_plan", request | {"task": "bake bread"})
    assert [each["index"] for each in off_task["compress"]] == [1, 2]


def test_entries_are_scored_by_part() -> None:
    entries = [{"content": "fix auth.js", "timestamp": 540, "important": True}, {"content": "auth.js"}]
    found = run("entries_score", {"entries": entries, "task": "fix auth.js", "now": 600})
    assert found["scores"][0] == pytest.approx(0.75)
    assert set(found["parts"][0]) == {"recency", "references", "relevance", "explicit"}


@pytest.mark.parametrize(
    ("name", "request_", "field"),
    [
        ("layers_negotiate", TALK | {"knowledge_depth": "abyssal"}, "`knowledge_depth`"),
        ("layers_negotiate", TALK | {"available_bundles": {"attic": 1}}, "`available_bundles.attic`"),
        ("session_trim", {"messages": [said("user", -1)]}, r"messages\[0\]: `tokens`"),
        ("session_trim", {"messages": [], "budget": 1}, "`budget`"),
        ("budget_borrow", {"budgets": BUDGETS, "from": "DIALOG", "to": "ATTIC", "amount": 1}, "`to`"),
        ("budget_borrow", {"budgets": {}, "from": "DIALOG", "to": "CONTEXT", "amount": 1}, "`from`"),
        ("budget_rebalance", {"budgets": {"DIALOG": {"min": 2, "max": 1}}}, "`budgets.DIALOG`"),
        ("levels_plan", {"entries": [{"content": "x", "timestamp": "never"}]}, "`entries.0.timestamp`"),
        ("entries_score", {"entries": [{"content": "x", "colour": 1}], "task": ""}, "`entries.0.colour`"),
    ],
)
def test_a_bad_request_names_the_field(name: str, request_: JSON, field: str) -> None:
    with pytest.raises(InputError, match=field):
        run(name, request_)


@pytest.mark.parametrize("operation", PLANS, ids=lambda operation: operation.name)
def test_every_operation_has_a_schema(operation: Any) -> None:
    assert REGISTRY.schema(operation.name)["request"]["properties"]
