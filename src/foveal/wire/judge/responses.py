"""The rules of OpenAI Responses, one function each.

The API states them in its errors: "no tool call found for function call output with call_id", "no tool output
found for function call", "item of type 'reasoning' was provided without its required following item". Calls
and outputs pair by id over the whole input, an output after its call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType

from foveal.wire.formats.responses import CALLS, OUTPUTS, ROLES, continues, is_output, kind_of
from foveal.wire.judge import common
from foveal.wire.judge.common import JSON, Rule, blocks

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def items_of(request: JSON) -> list[JSON]:
    found = request.get("input")
    return [{"role": "user", "content": found}] if isinstance(found, str) else found or []


def _messages(request: JSON) -> list[JSON]:
    return [item for item in items_of(request) if kind_of(item) == "message"]


def empty_request(request: JSON) -> bool:
    return not items_of(request)


def only_system(request: JSON) -> bool:
    return all(item.get("role") in ("system", "developer") for item in items_of(request))


def unknown_role(request: JSON) -> bool:
    return any(message.get("role") not in ROLES for message in _messages(request))


def unknown_item(request: JSON) -> bool:
    return any(not kind_of(item) for item in items_of(request))


def bad_content(request: JSON) -> bool:
    return any(common.bad_content(message.get("content"), null=False) for message in _messages(request))


def empty_content(request: JSON) -> bool:
    return any(map(_is_empty, _messages(request)))


def _is_empty(message: JSON) -> bool:
    texts = ("input_text", "output_text", "text")
    found = blocks(message.get("content"))
    return all(block.get("type") in texts and common.blank(block.get("text")) for block in found)


def orphan_result(request: JSON) -> bool:
    if continues(request):
        return False  # its call may be stored on the server
    return "orphan" in _pairing(request)


def unanswered_call(request: JSON) -> bool:
    return "unanswered" in _pairing(request)


def _pairing(request: JSON) -> set[str]:
    return set(_walk(items_of(request)))


def _walk(items: list[JSON]) -> Iterator[str]:
    waiting: list[str] = []
    referred = False  # a referenced item may be a call
    for item in items:
        key = _call_key(item)
        referred = referred or kind_of(item) == "item_reference"
        if kind_of(item) in CALLS:
            waiting.append(key)
        elif kind_of(item) in OUTPUTS and key in waiting:
            waiting.remove(key)
        elif kind_of(item) in OUTPUTS and not referred:
            yield "orphan"
    if waiting:
        yield "unanswered"


def _call_key(item: JSON) -> str:
    """What pairs a call and its output; the local shell's output names its call in `id`."""
    return str(item.get("call_id") or item.get("id"))


def missing_call_id(request: JSON) -> bool:
    ids = [item.get("call_id") for item in items_of(request) if kind_of(item) in CALLS]
    answered = [item for item in items_of(request) if kind_of(item) in OUTPUTS]
    ids += [item.get("call_id") or item.get("id") for item in answered]
    return not all(map(common.is_id, ids))


def duplicate_call_id(request: JSON) -> bool:
    waiting: set[str] = set()
    for item in items_of(request):
        key, kind = _call_key(item), kind_of(item)
        if kind in CALLS and key in waiting:
            return True
        if kind in CALLS:
            waiting.add(key)
        elif kind in OUTPUTS:
            waiting.discard(key)
    return False


def _functions(request: JSON) -> list[JSON]:
    return [item for item in items_of(request) if kind_of(item) in ("function_call", "custom_tool_call")]


def bad_function_name(request: JSON) -> bool:
    return any(not common.is_name(call.get("name"), _NAME) for call in _functions(request))


def arguments_not_json(request: JSON) -> bool:
    return any(not _is_callable(call) for call in _functions(request))


def _is_callable(call: JSON) -> bool:
    if kind_of(call) == "custom_tool_call":
        return isinstance(call.get("input"), str)
    return common.is_json(call.get("arguments"))


def bad_output(request: JSON) -> bool:
    return not all(is_output(item) for item in items_of(request) if kind_of(item) in OUTPUTS)


def reasoning_without_item(request: JSON) -> bool:
    after = [*items_of(request), {"role": "user"}]
    return any(kind_of(item) == "reasoning" and not _follows(next_) for item, next_ in pairwise(after))


def _follows(item: JSON) -> bool:
    return item.get("role", "assistant") == "assistant" and kind_of(item) not in OUTPUTS


def ends_with_assistant(request: JSON) -> bool:
    return items_of(request)[-1].get("role") == "assistant"


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.__name__: rule
        for rule in (
            empty_request,
            only_system,
            unknown_role,
            unknown_item,
            bad_content,
            empty_content,
            orphan_result,
            unanswered_call,
            missing_call_id,
            duplicate_call_id,
            bad_function_name,
            arguments_not_json,
            bad_output,
            reasoning_without_item,
            ends_with_assistant,
        )
    }
)
