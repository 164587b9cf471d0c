"""Operations take the fields as their designs spell them, with the values that these have there."""

from __future__ import annotations

import re
from typing import Any

import pytest

from foveal import operations
from foveal.errors import InputError

JSON = dict[str, Any]
SITUATION: JSON = operations.example("layers_negotiate")
TALK = [
    {"role": "user", "parts": [{"text": "Which database do we take?"}]},
    {"role": "assistant", "parts": [{"text": "We'll use SQLite for it."}]},
    {"role": "user", "parts": ["Good."]},
]
NOON = 1_750_075_200.0
PRESENCE: JSON = {
    "activeConversationId": "c1",
    "visibleConversationIds": ["c1", "c2"],
    "activeNotebookId": None,
    "activePersonaId": None,
    "lastNavigationPath": "/chat/c1",
    "navigationHistory": [
        {"path": "/notebook/1", "at": "2025-06-16T11:00:00Z"},
        {"path": "/chat/c1"},
        {"path": "/chat/c2"},
    ],
    "localTime": "2025-06-16T09:30:00+09:00",
    "sessionStartedAt": "2025-06-16T00:00:00Z",
    "idleSince": None,
}
KNOWLEDGE: JSON = {
    "topics": [
        {
            "slug": "bread",
            "importanceScore": 0.8,
            "peakHour": 9,
            "engagementStreak": 3,
            "lastEngagedAt": NOON,
        },
    ],
    "entities": [{"id": "e1", "importanceScore": 0.5, "lastMentionedAt": NOON}],
    "conversations": [{"id": "c1", "topicLinks": [{"topic": {"slug": "yeast"}}]}],
    "now": NOON,
}
OURS: JSON = {
    "presence": {
        "active_conversation": "c1",
        "visible_conversations": ["c1", "c2"],
        "last_path": "/chat/c1",
        "navigation_history": ["/notebook/1", "/chat/c1", "/chat/c2"],
        "local_hour": 9,
        "session_start": "2025-06-16T00:00:00Z",
    },
    "topics": [{"slug": "bread", "importance": 0.8, "peak_hour": 9, "streak": 3, "last_engaged": NOON}],
    "entities": [{"id": "e1", "importance": 0.5, "last_mentioned": NOON}],
    "conversations": [{"id": "c1", "topics": ["yeast"]}],
    "now": NOON,
}


def camel(value: Any) -> Any:
    """The value with all names in camelCase."""
    if isinstance(value, dict):
        names = {key: re.sub("_([a-z])", lambda found: found[1].upper(), key) for key in value}
        return {names[key]: camel(each) for key, each in value.items()}
    return [camel(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "name",
    [
        "layers_negotiate",
        "history_compact",
        "history_arc",
        "interactions_predict",
        "session_analyze",
        "session_trim",
        "session_process",
        "budget_borrow",
        "budget_rebalance",
        "budget_report",
    ],
)
def test_every_field_may_be_in_camel_case(name: str) -> None:
    example = operations.example(name)
    assert operations.run(name, camel(example)) == operations.run(name, example)


def test_a_situation_is_negotiated_as_the_design_states_it() -> None:
    given = {
        "totalBudget": 12_000,
        "conversationMessageCount": 30,
        "conversationTotalTokens": 9_000,
        "userMessageTokens": 120,
        "detectedTopicCount": 2,
        "detectedEntityCount": 3,
        "hasActiveConversation": True,
        "knowledgeDepth": "standard",
        "prioritizeHistory": False,
        "availableBundles": [["topic", 900], ["globalPrefs", 80]],
    }
    found = operations.run("layers_negotiate", given)
    assert found["allocation_summary"]["topics"] == 900
    assert found["allocation_summary"]["global_prefs"] == 80


def test_presence_topics_entities_and_conversations_are_read_as_in_the_design() -> None:
    found = operations.run("interactions_predict", {"presence": PRESENCE, **KNOWLEDGE})
    assert found == operations.run("interactions_predict", OURS)
    assert [each["type"] for each in found["predictions"]] == [
        "continue_conversation",
        "continue_conversation",
        "new_on_topic",
        "entity_related",
    ]
    assert found["predictions"][0]["topic_slug"] == "yeast"
    assert "deep_knowledge" in found["predictions"][0]["required_bundles"]


@pytest.mark.parametrize(("time", "hour"), [("2025-06-16T09:30:00-07:00", 9), (NOON, 12), (1_000 * NOON, 12)])
def test_a_local_time_is_the_hour_on_its_own_clock(time: object, hour: int) -> None:
    topic = {"slug": "bread", "importance": 0.8, "peakHour": hour}
    found = operations.run("interactions_predict", {"presence": {"localTime": time}, "topics": [topic]})
    assert [each["topic_slug"] for each in found["predictions"]] == ["bread"]


def test_an_assistants_message_in_parts_is_the_assistants() -> None:
    arc = operations.run("history_arc", {"messages": TALK})["arc"]
    assert arc.splitlines() == [
        "user: Which database do we take?",
        "assistant: We'll use SQLite for it.",
        "user: Good.",
    ]
    found = operations.run("session_analyze", {"messages": TALK, "maxTokens": 500})
    assert found["categories"]["DIALOG"]["messages"] == 3


def test_contributors_are_described_as_in_the_design() -> None:
    budgets = {"CONTEXT": {"min_tokens": 0, "max_tokens": 100, "current_tokens": 20}}
    ours = {"type": "RETRIEVAL", "source_path": "hits", "salience": 0.5, "tokens": 3}
    theirs = {"type": "RETRIEVAL", "source_path": "hits", "salience_score": 0.5, "content": "one two three"}
    found = operations.run("budget_report", {"budgets": budgets, "contributors": [theirs]})
    assert found == operations.run("budget_report", {"budgets": budgets, "contributors": [ours]})
    counted = operations.run(
        "budget_report", {"budgets": budgets, "contributors": [theirs | {"token_count": 7}]}
    )
    assert counted["contributors"][0]["tokens"] == 7


@pytest.mark.parametrize(
    ("name", "request_", "what"),
    [
        ("layers_negotiate", SITUATION | {"totalBudgets": 5}, "`totalBudgets`"),
        (
            "layers_negotiate",
            SITUATION | {"totalBudget": 5},
            "`total_budget` is given twice, once as `totalBudget`",
        ),
        ("layers_negotiate", SITUATION | {"availableBundles": [["topic"]]}, "a list of pairs"),
        ("interactions_predict", {"presence": {"activeConversation_Id": "c1"}}, "activeConversation_Id"),
        ("interactions_predict", {"presence": {"localTime": "noon"}}, "`local_time` is no time"),
        ("interactions_predict", {"presence": {"local_hour": 30}}, "`presence.local_hour` is more than 23"),
        (
            "budget_report",
            {"budgets": {}, "contributors": [{"salience": 0.5}]},
            "give its `tokens`, or its `content`",
        ),
    ],
)
def test_any_other_name_or_value_is_an_error_that_names_it(name: str, request_: JSON, what: str) -> None:
    with pytest.raises(InputError) as failure:
        operations.run(name, request_)
    assert what in failure.value.what
