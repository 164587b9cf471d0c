"""The rules of OpenAI chat completions, one function each.

The API states them in its errors: "messages with role 'tool' must be a response to a preceding message with
'tool_calls'", "an assistant message with 'tool_calls' must be followed by tool messages responding to each
'tool_call_id'", "expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from foveal.wire.formats.openai import ROLES
from foveal.wire.judge import common
from foveal.wire.judge.common import JSON, Rule, Step, blocks

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SYSTEM = ("system", "developer")


def messages_of(request: JSON) -> list[JSON]:
    return request.get("messages") or []


def empty_request(request: JSON) -> bool:
    return not messages_of(request)


def only_system(request: JSON) -> bool:
    return all(message.get("role") in _SYSTEM for message in messages_of(request))


def unknown_role(request: JSON) -> bool:
    return any(message.get("role") not in ROLES for message in messages_of(request))


def steps(request: JSON) -> list[Step]:
    return [Step(calls=_keys(message), answers=_answers(message)) for message in messages_of(request)]


def _keys(message: JSON) -> tuple[str, ...]:
    legacy = message.get("function_call")
    names = (f"~{legacy.get('name')}",) if isinstance(legacy, dict) else ()
    return (*names, *(str(call.get("id")) for call in _calls(message)))


def _calls(message: JSON) -> list[JSON]:
    found = message.get("tool_calls")
    return [call for call in found if isinstance(call, dict)] if isinstance(found, list) else []


def _answers(message: JSON) -> tuple[str, ...]:
    match message.get("role"):
        case "tool":
            return (str(message.get("tool_call_id")),)
        case "function":
            return (f"~{message.get('name')}",)
        case _:
            return ()


def orphan_result(request: JSON) -> bool:
    return common.orphaned(steps(request))


def unanswered_call(request: JSON) -> bool:
    return common.unanswered(steps(request))


def null_content(request: JSON) -> bool:
    return any(m.get("content") is None for m in messages_of(request) if m.get("role") != "assistant")


def bad_content(request: JSON) -> bool:
    return any(common.bad_content(message.get("content")) for message in messages_of(request))


def empty_content(request: JSON) -> bool:
    return any(map(_is_empty, messages_of(request)))


def _is_empty(message: JSON) -> bool:
    if message.get("role") in ("tool", "function"):
        return False  # a tool may print nothing
    if any(message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio")):
        return False
    found = blocks(message.get("content"))
    return all(block.get("type") == "text" and common.blank(block.get("text")) for block in found)


def empty_text_block(request: JSON) -> bool:
    listed = [m["content"] for m in messages_of(request) if isinstance(m.get("content"), list)]
    found = [block for content in listed for block in blocks(content)]
    return any(block.get("type") == "text" and not block.get("text") for block in found)


def empty_call_list(request: JSON) -> bool:
    return any("tool_calls" in m and not m["tool_calls"] for m in messages_of(request))


def duplicate_call_id(request: JSON) -> bool:
    # Recorded agents reuse an id in a later message; that is accepted.
    return any(common.has_duplicates(_keys(message)) for message in messages_of(request))


def _functions(request: JSON) -> Iterator[JSON]:
    for message in messages_of(request):
        if isinstance(legacy := message.get("function_call"), dict):
            yield legacy
        for call in _calls(message):
            yield call.get("function") or call.get("custom") or {}


def bad_function_name(request: JSON) -> bool:
    return any(not common.is_name(function.get("name"), _NAME) for function in _functions(request))


def arguments_not_json(request: JSON) -> bool:
    return any(not _is_callable(function) for function in _functions(request))


def _is_callable(function: JSON) -> bool:
    if "input" in function:
        return isinstance(function["input"], str)
    return common.is_json(function.get("arguments"))


def malformed_call(request: JSON) -> bool:
    return any(map(_is_malformed, messages_of(request)))


def _is_malformed(message: JSON) -> bool:
    found = message.get("tool_calls") or []
    if not isinstance(found, list) or not isinstance(message.get("function_call") or {}, dict):
        return True
    return any(not isinstance(c, dict) or "type" not in c or not common.is_id(c.get("id")) for c in found)


def misplaced_call(request: JSON) -> bool:
    others = [message for message in messages_of(request) if message.get("role") != "assistant"]
    return any(message.get("tool_calls") or message.get("function_call") for message in others)


def misnamed_result(request: JSON) -> bool:
    """A result goes by the id of its call or, in answer to `function_call`, by name."""
    keys = {"tool": "tool_call_id", "function": "name"}
    results = [(m, keys[m["role"]]) for m in messages_of(request) if m.get("role") in keys]
    return any(not common.is_id(message.get(key)) for message, key in results)


def ends_with_assistant(request: JSON) -> bool:
    return messages_of(request)[-1].get("role") == "assistant"


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.__name__: rule
        for rule in (
            empty_request,
            only_system,
            unknown_role,
            orphan_result,
            unanswered_call,
            null_content,
            bad_content,
            empty_content,
            empty_text_block,
            empty_call_list,
            duplicate_call_id,
            bad_function_name,
            arguments_not_json,
            malformed_call,
            misplaced_call,
            misnamed_result,
            ends_with_assistant,
        )
    }
)
