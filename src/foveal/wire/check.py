"""A dumped request → the names of the provider's rules it breaks; an empty list means it is accepted."""

from __future__ import annotations

from typing import Any

from foveal.model import Format
from foveal.wire.formats import codec_of


def check(request: dict[str, Any], format: Format) -> list[str]:
    """Judge a whole request body. `ends_with_assistant` is a finding of its own: some models take it.

    >>> check({"messages": [{"role": "user", "content": "hello"}]}, "openai")
    []
    >>> check({"messages": [{"role": "tool", "tool_call_id": "c1", "content": "4"}]}, "openai")
    ['orphan_result']
    """
    from foveal.wire.judge.tables import TABLES  # a window is built without its judges

    rules = TABLES[codec_of(format).format]
    if "empty_request" in rules and rules["empty_request"](request):
        return ["empty_request"]
    return [name for name, broken in rules.items() if broken(request)]
