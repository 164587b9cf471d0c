"""The operations of the memory levels: `levels_plan` and `entries_score`."""

from __future__ import annotations

import re
from typing import Any

import pytest

from foveal.errors import InputError
from foveal.operations import run

JSON = dict[str, Any]


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
        ("levels_plan", {"entries": [{"content": "x", "timestamp": "never"}]}, "`entries[0].timestamp`"),
        ("entries_score", {"entries": [{"content": "x", "colour": 1}], "task": ""}, "`entries[0].colour`"),
    ],
)
def test_an_invalid_request_is_rejected_by_field(name: str, request_: JSON, field: str) -> None:
    with pytest.raises(InputError, match=re.escape(field)):
        run(name, request_)
