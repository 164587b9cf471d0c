"""The rules of Gemini, one function each.

The API states them in its errors: "function call turn comes immediately after a user turn or after a function
response turn", "the number of function response parts is equal to the number of function call parts of the
function call turn", "function response turn comes immediately after a function call turn", "contents.parts
must not be empty", "please use a valid role: user, model".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from foveal.wire.formats.gemini import field
from foveal.wire.judge import common
from foveal.wire.judge.common import JSON, Rule

_NAME = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_INPUT = ("user", "function", "tool")


def contents_of(request: JSON) -> list[JSON]:
    return request.get("contents") or []


def _role(content: JSON) -> Any:
    return content.get("role", "user")


def _found(content: JSON, name: str) -> list[JSON]:
    parts = content.get("parts") or ()
    return [value for part in parts if isinstance(value := field(part, name), dict)]


def _calls(request: JSON) -> list[JSON]:
    return [call for content in contents_of(request) for call in _found(content, "functionCall")]


def empty_request(request: JSON) -> bool:
    return not contents_of(request)


def unknown_role(request: JSON) -> bool:
    return any(_role(content) not in (*_INPUT, "model") for content in contents_of(request))


def first_not_user(request: JSON) -> bool:
    return bool(_role(contents_of(request)[0]) != "user")


def empty_content(request: JSON) -> bool:
    return any(not content.get("parts") for content in contents_of(request))


def empty_text_part(request: JSON) -> bool:
    parts = [part for content in contents_of(request) for part in content.get("parts") or ()]
    return any(part.get("text") == "" and not field(part, "thoughtSignature") for part in parts)


def bad_content(request: JSON) -> bool:
    parts = [content.get("parts") for content in contents_of(request)]
    if not all(isinstance(found, list) for found in parts):
        return True
    each = [part for found in parts for part in found or ()]
    return any(not (isinstance(part, dict) and isinstance(part.get("text", ""), str)) for part in each)


def blank_system(request: JSON) -> bool:
    system = field(request, "systemInstruction")
    parts: list[JSON] = system.get("parts") or [] if isinstance(system, dict) else [{"text": system or "-"}]
    return all("text" in part and common.blank(part["text"]) for part in parts)


def orphan_result(request: JSON) -> bool:
    before = [{}, *contents_of(request)]
    return any(_names(c, "functionResponse") - _names(p, "functionCall") for p, c in pairwise(before))


def unanswered_call(request: JSON) -> bool:
    after = [*contents_of(request), {}]
    return any(_names(c, "functionCall") - _names(n, "functionResponse") for c, n in pairwise(after))


def _names(content: JSON, name: str) -> Counter[tuple[str, str]]:
    return Counter((str(found.get("id") or ""), str(found.get("name"))) for found in _found(content, name))


def call_out_of_place(request: JSON) -> bool:
    before = [{"role": "model"}, *contents_of(request)]
    return any(_found(c, "functionCall") and _role(p) not in _INPUT for p, c in pairwise(before))


def misplaced_call(request: JSON) -> bool:
    return any(_found(c, "functionCall") for c in contents_of(request) if _role(c) != "model")


def misplaced_result(request: JSON) -> bool:
    return any(_found(c, "functionResponse") for c in contents_of(request) if _role(c) == "model")


def bad_function_name(request: JSON) -> bool:
    return any(not common.is_name(call.get("name"), _NAME) for call in _calls(request))


def arguments_not_object(request: JSON) -> bool:
    return any(not isinstance(call.get("args", {}), dict) for call in _calls(request))


def response_not_object(request: JSON) -> bool:
    answers = [answer for content in contents_of(request) for answer in _found(content, "functionResponse")]
    return any(not isinstance(answer.get("response"), dict) for answer in answers)


def ends_with_assistant(request: JSON) -> bool:
    return bool(_role(contents_of(request)[-1]) == "model")


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.__name__: rule
        for rule in (
            empty_request,
            unknown_role,
            first_not_user,
            bad_content,
            blank_system,
            empty_content,
            empty_text_part,
            orphan_result,
            unanswered_call,
            call_out_of_place,
            misplaced_call,
            misplaced_result,
            bad_function_name,
            arguments_not_object,
            response_not_object,
            ends_with_assistant,
        )
    }
)
