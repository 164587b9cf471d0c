"""Check whether a provider accepts a request: one file per provider, one function per rule."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from foveal.model import Format
from foveal.wire.formats.registry import codec_of
from foveal.wire.judge import anthropic, gemini, openai, plain, responses
from foveal.wire.judge.common import Rule

RULES: Mapping[Format, Mapping[str, Rule]] = MappingProxyType(
    {
        "openai": openai.RULES,
        "responses": responses.RULES,
        "anthropic": anthropic.RULES,
        "gemini": gemini.RULES,
        "plain": plain.RULES,
    }
)


def check(request: dict[str, Any], format: Format) -> list[str]:
    """The names of the rules that a request body breaks; empty when the provider accepts it.

    `ends_with_assistant` is among them, although some models accept it.

    >>> check({"messages": [{"role": "user", "content": "hello"}]}, "openai")
    []
    >>> check({"messages": [{"role": "tool", "tool_call_id": "c1", "content": "4"}]}, "openai")
    ['orphan_result']
    """
    rules = RULES[codec_of(format).format]
    if "empty_request" in rules and rules["empty_request"](request):
        return ["empty_request"]
    return [name for name, broken in rules.items() if broken(request)]
