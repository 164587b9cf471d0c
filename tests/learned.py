"""Sessions in which later calls need what a tool, or the user, said many messages ago."""

from __future__ import annotations

import json
import random
from typing import Any, Literal

Message = dict[str, Any]
Source = Literal["tool", "user"]

BUDGET = 700


def session(seed: int, source: Source, steps: int = 24) -> list[Message]:
    """`source` mentions a code in each step; from the seventh on, a call uses that of six steps ago."""
    chance = random.Random(seed)
    codes = [f"KEY-{chance.randrange(10_000, 99_999)}" for _ in range(steps)]
    messages: list[Message] = [{"role": "system", "content": "You settle cases."}]
    for n, code in enumerate(codes):
        words = " ".join(chance.choice(("amber", "birch", "cedar", "delta", "ember")) for _ in range(20))
        told = {"tool": f"{words} the record is {code} {words}", "user": f"Please note {code}: {words}"}
        asked = told["user"] if source == "user" else f"Please go on: {words}"
        used = {"record": codes[n - 6]} if n >= 6 else {"topic": "start"}
        call = {"id": f"c{n}", "type": "function",
                "function": {"name": "settle", "arguments": json.dumps(used)}}  # fmt: skip
        messages += [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": told["tool"] if source == "tool" else words},
            {"role": "assistant", "content": f"Settled. {words}"},
        ]
    return messages
