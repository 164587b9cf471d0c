"""The rules of plain `{role, content}` messages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from foveal.wire.judge import common, openai
from foveal.wire.judge.common import JSON, Rule


def orphan_result(request: JSON) -> bool:
    """Only a result that names its call can lack it."""
    named = [message for message in openai.messages_of(request) if not _anonymous(message)]
    return common.orphaned(openai.steps({"messages": named}))


def _anonymous(message: JSON) -> bool:
    return message.get("role") in ("tool", "function") and not message.get("tool_call_id")


def duplicate_call_id(request: JSON) -> bool:
    """Calls may lack ids; only those that have one must differ."""
    named = [_with_identified_calls(message) for message in openai.messages_of(request)]
    return openai.duplicate_call_id({"messages": named})


def _with_identified_calls(message: JSON) -> JSON:
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    return {**message, "tool_calls": [call for call in calls if not isinstance(call, dict) or call.get("id")]}


def malformed_call(request: JSON) -> bool:
    """Calls may lack ids."""
    found = [message.get("tool_calls") or [] for message in openai.messages_of(request)]
    return any(not isinstance(c, list) or not all(isinstance(call, dict) for call in c) for c in found)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "empty_request": openai.empty_request,
        "unknown_role": openai.unknown_role,
        "orphan_result": orphan_result,
        "null_content": openai.null_content,
        "bad_content": openai.bad_content,
        "empty_content": openai.empty_content,
        "duplicate_call_id": duplicate_call_id,
        "malformed_call": malformed_call,
        "misplaced_call": openai.misplaced_call,
        "ends_with_assistant": openai.ends_with_assistant,
    }
)
