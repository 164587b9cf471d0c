"""An example request for every operation, as its schema shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Request = Mapping[str, Any]
NOW = "2026-03-02T09:30:00Z"

_MESSAGES = [
    {"role": "system", "content": "You fix bugs. Never edit the tests."},
    {"role": "user", "content": "The login fails with an error since Tuesday. What changed?"},
    {"role": "assistant", "content": "The session store moved to Redis. Decision: we keep Redis 7."},
    {"role": "user", "content": "Which port does it use?"},
    {"role": "assistant", "content": "Redis listens on port 6380. Should the old store be deleted?"},
    {"role": "user", "content": "Not yet. Fix the login first."},
]
_CHUNKS = [
    {
        "id": "rules",
        "content": "Answer in one paragraph.",
        "type": "system_prompt",
        "tokens": 6,
        "timestamp": "2026-03-01T08:00:00Z",
    },
    {
        "id": "renewal",
        "content": "Globex renews its contract in May; the draft is with their lawyers.",
        "type": "rag_document_chunk",
        "tokens": 60,
        "timestamp": "2026-02-27T08:00:00Z",
        "metadata": {"revenue_impact": 50_000, "urgency": "high", "client_tier": "enterprise"},
    },
    {
        "id": "handbook",
        "content": "Invoices are sent on the first working day of a month.",
        "type": "rag_generic_chunk",
        "tokens": 70,
        "metadata": {"rag_match_metadata": {"relevance": 0.4}},
    },
    {
        "id": "question",
        "content": "What is open with Globex?",
        "type": "current_user_prompt",
        "tokens": 7,
        "timestamp": "2026-03-02T09:00:00Z",
    },
]
_ALLOCATIONS = [
    {"chunk_id": "question", "tokens": 7, "priority": 210.0, "chunk_type": "current_user_prompt"},
    {"chunk_id": "renewal", "tokens": 60, "priority": 157.0, "chunk_type": "rag_document_chunk"},
    {"chunk_id": "handbook", "tokens": 70, "priority": 108.0, "chunk_type": "rag_generic_chunk"},
]
_BUDGETS = {
    "SYSTEM": {"max": 1_000, "current": 400},
    "CONTEXT": {"max": 3_500, "current": 1_200},
    "DIALOG": {"max": 5_000, "current": 5_600},
    "SYSTEM_OUTPUT": {"max": 500, "current": 300},
}
_ENTRIES = [
    {"id": "m1", "role": "system", "content": "You fix bugs.", "timestamp": "2026-03-02T09:00:00Z"},
    {
        "id": "m2",
        "content": "The printer on floor 2 is offline.",
        "timestamp": "2026-03-02T09:10:00Z",
        "important": True,
    },
    {
        "id": "m3",
        "role": "assistant",
        "content": "Its queue was full. I restarted the spooler.",
        "timestamp": "2026-03-02T09:20:00Z",
    },
    {"id": "m4", "content": "Which printers are affected?", "timestamp": NOW},
]
_OPTIMIZE: Request = {"chunks": _CHUNKS, "available_tokens": 2_100, "user_id": "ada", "now": NOW}
_FIT: Request = {"allocations": _ALLOCATIONS, "available_tokens": 100, "constraints": {"reserve_tokens": 0}}
_OF_CHUNK: Request = {"chunk": _CHUNKS[1], "now": NOW}
_TEXT: Request = {"text": "Globex renews its contract in May."}
_HISTORY: Request = {"messages": _MESSAGES}

EXAMPLES: Mapping[str, Request] = {
    "budget_borrow": {"budgets": _BUDGETS, "from": "CONTEXT", "to": "DIALOG", "amount": 600},
    "budget_rebalance": {"budgets": _BUDGETS},
    "budget_report": {
        "budgets": _BUDGETS,
        "contributors": [
            {"type": "WORKING_FILES", "source_path": "auth.py", "salience": 0.9, "tokens": 900},
            {"type": "PROJECT_DOCS", "source_path": "README.md", "salience": 0.3, "tokens": 300},
        ],
    },
    "context_allocate_budget": _FIT,
    "context_allocation_to_chunk": {"allocation": _ALLOCATIONS[1], "chunks": _CHUNKS},
    "context_build_business": _OPTIMIZE,
    "context_build_llm": _OPTIMIZE,
    "context_build_rag": _OPTIMIZE,
    "context_calculate_business_boost": _OF_CHUNK,
    "context_calculate_metrics": {"allocations": _ALLOCATIONS},
    "context_calculate_rag_boost": {"chunk": _CHUNKS[2]},
    "context_calculate_recency_boost": _OF_CHUNK,
    "context_chunk_to_allocation": _OF_CHUNK,
    "context_compare_allocations": {"a": _ALLOCATIONS[0], "b": _ALLOCATIONS[1]},
    "context_detect_conflicts": _FIT,
    "context_estimate_business": _TEXT,
    "context_estimate_code": {"text": "def settle(invoice):\n    return invoice.paid\n"},
    "context_estimate_general": _TEXT,
    "context_estimate_tokens": _TEXT,
    "context_filter_allocated": _FIT,
    "context_filter_dropped": _FIT,
    "context_optimize": _OPTIMIZE,
    "context_prioritize": {"chunks": _CHUNKS, "now": NOW},
    "context_resolve_budget": _FIT,
    "entries_score": {"entries": _ENTRIES, "task": "printers that are offline", "now": NOW},
    "history_arc": _HISTORY,
    "history_auto_manage": {**_HISTORY, "model": "gpt-5"},
    "history_compact": {**_HISTORY, "l4_budget": 60, "l6_budget": 60},
    "history_prune": {**_HISTORY, "max_tokens": 60},
    "history_score": _HISTORY,
    "history_stats": {**_HISTORY, "model": "gpt-5"},
    "history_summarize": {**_HISTORY, "keep": 2},
    "interactions_predict": {
        "presence": {
            "active_conversation": "kitchen",
            "visible_conversations": ["holiday"],
            "local_hour": 20,
        },
        "topics": [{"slug": "sourdough", "importance": 0.8, "peak_hour": 20}],
        "entities": [{"id": "anna", "importance": 0.6, "last_mentioned": "2026-03-01T19:00:00Z"}],
        "conversations": [{"id": "kitchen", "topics": ["sourdough"]}, {"id": "holiday"}],
        "now": "2026-03-02T20:15:00Z",
    },
    "layers_negotiate": {
        "total_budget": 12_000,
        "conversation_message_count": 48,
        "conversation_total_tokens": 9_000,
        "user_message_tokens": 40,
        "detected_topic_count": 1,
        "detected_entity_count": 2,
        "has_active_conversation": True,
        "knowledge_depth": "standard",
        "prioritize_history": True,
    },
    "levels_plan": {"entries": _ENTRIES, "total": 200, "now": NOW},
    "session_analyze": {**_HISTORY, "max_tokens": 200},
    "session_process": {**_HISTORY, "max_tokens": 70},
    "session_trim": {**_HISTORY, "max_tokens": 70},
    "tokens_count": {"text": "Fix the bug in auth.js", "model": "gpt-5"},
    "window_fit": {**_HISTORY, "budget": 60, "preset": "reploid"},
}
"""By name of the operation."""
