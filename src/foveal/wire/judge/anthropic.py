"""The rules of Anthropic messages, one function each.

The API states them in its errors: "tool_use ids were found without tool_result blocks immediately after",
"each tool_result block must have a corresponding tool_use block in the previous message", "tool_result
blocks must come first", "text content blocks must be non-empty", "first message must use the user role",
"a maximum of 4 blocks with cache_control may be provided", "cache_control cannot be set for empty text
blocks"; and in its reference: thinking blocks cannot be marked, longer-lived markers come first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType

from foveal.wire.judge import common
from foveal.wire.judge.common import JSON, Rule, blocks
from foveal.wire.markers import MARKER, can_be_marked, marked_blocks

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_MAX_MARKERS = 4


def messages_of(request: JSON) -> list[JSON]:
    return request.get("messages") or []


def _ids(message: JSON, kind: str) -> list[str]:
    key = "id" if kind == "tool_use" else "tool_use_id"
    return [str(block.get(key)) for block in blocks(message.get("content")) if block.get("type") == kind]


def _calls(request: JSON) -> Iterator[JSON]:
    for message in messages_of(request):
        yield from (block for block in blocks(message.get("content")) if block.get("type") == "tool_use")


def empty_request(request: JSON) -> bool:
    return not messages_of(request)


def unknown_role(request: JSON) -> bool:
    roles = [message.get("role") for message in messages_of(request)]
    return any(role not in ("user", "assistant", "system") for role in roles)


def first_not_user(request: JSON) -> bool:
    return messages_of(request)[0].get("role") != "user"


def empty_content(request: JSON) -> bool:
    return any(not message.get("content") for message in messages_of(request))


def bad_content(request: JSON) -> bool:
    contents = [message.get("content") for message in messages_of(request)]
    if any(common.bad_content(content, null=False) for content in (*contents, request.get("system") or "")):
        return True
    return any(common.bad_content(result.get("content")) for result in _results(request))


def _results(request: JSON) -> list[JSON]:
    found = [block for message in messages_of(request) for block in blocks(message.get("content"))]
    return [block for block in found if block.get("type") == "tool_result"]


def empty_text_block(request: JSON) -> bool:
    system = request.get("system")
    inside = [blocks(message.get("content")) for message in messages_of(request)]
    printed = [content for result in _results(request) if isinstance(content := result.get("content"), list)]
    found = [block for content in (*inside, blocks(system) if system else []) for block in content]
    found += [block for content in printed for block in blocks(content)]
    return any(block.get("type") == "text" and common.blank(block.get("text")) for block in found)


def orphan_result(request: JSON) -> bool:
    before = [{}, *messages_of(request)]
    return any(set(_ids(m, "tool_result")) - set(_ids(p, "tool_use")) for p, m in pairwise(before))


def unanswered_call(request: JSON) -> bool:
    after = [*messages_of(request), {}]
    return any(set(_ids(m, "tool_use")) - set(_ids(n, "tool_result")) for m, n in pairwise(after))


def duplicate_call_id(request: JSON) -> bool:
    return any(common.has_duplicates(_ids(message, "tool_use")) for message in messages_of(request))


def duplicate_result(request: JSON) -> bool:
    return any(common.has_duplicates(_ids(message, "tool_result")) for message in messages_of(request))


def results_not_first(request: JSON) -> bool:
    for message in messages_of(request):
        others = [block.get("type") != "tool_result" for block in blocks(message.get("content"))]
        if not all(others) and others != sorted(others):
            return True
    return False


def misplaced_call(request: JSON) -> bool:
    return any(_ids(m, "tool_use") for m in messages_of(request) if m.get("role") != "assistant")


def misplaced_result(request: JSON) -> bool:
    return any(_ids(m, "tool_result") for m in messages_of(request) if m.get("role") != "user")


def bad_function_name(request: JSON) -> bool:
    return any(not common.is_name(call.get("name"), _NAME) for call in _calls(request))


def bad_call_id(request: JSON) -> bool:
    return any(not common.is_name(call.get("id"), _ID) for call in _calls(request))


def arguments_not_object(request: JSON) -> bool:
    return any(not isinstance(call.get("input"), dict) for call in _calls(request))


def _marked(request: JSON) -> list[JSON]:
    parts = (request.get("tools"), request.get("system"), messages_of(request))
    return [block for part in parts for block in marked_blocks(part)]


def too_many_markers(request: JSON) -> bool:
    return len(_marked(request)) > _MAX_MARKERS


def misplaced_marker(request: JSON) -> bool:
    return not all(map(can_be_marked, _marked(request)))


def short_marker_first(request: JSON) -> bool:
    long = [isinstance(mark := block[MARKER], dict) and mark.get("ttl") == "1h" for block in _marked(request)]
    return long != sorted(long, reverse=True)


def ends_with_assistant(request: JSON) -> bool:
    return messages_of(request)[-1].get("role") == "assistant"


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.__name__: rule
        for rule in (
            empty_request,
            unknown_role,
            first_not_user,
            bad_content,
            empty_content,
            empty_text_block,
            orphan_result,
            unanswered_call,
            duplicate_call_id,
            duplicate_result,
            results_not_first,
            misplaced_call,
            misplaced_result,
            bad_function_name,
            bad_call_id,
            arguments_not_object,
            too_many_markers,
            misplaced_marker,
            short_marker_first,
            ends_with_assistant,
        )
    }
)
