"""Generate agent runs from a seed, for machines without the recorded runs.

A coding agent fixes one ticket after the other: it searches, reads long files, is corrected by its user, sees
tests fail, decides, and much later needs a path, a port or a ticket that was mentioned once. The same seed
makes the same run. Figures measured on these runs show that something works, not how well.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

Message = dict[str, Any]

SYSTEM = "You are a coding agent. Mend the ticket you are given, run the tests, then release the fix."
PARTS = ("billing", "ledger", "search", "mail", "users", "reports", "queue", "storage", "audit", "gateway")
VERBS = ("settle", "parse", "render", "merge", "retry", "encode", "publish", "rotate", "expire", "verify")
NOISE = ("value", "total", "index", "state", "entry", "limit", "cursor", "buffer", "offset", "result")
RUNS = {"short": 6, "long": 40}
"""Tickets of a run."""


def recordings(count: int, *, size: str = "short") -> list[dict[str, Any]]:
    """So many runs, as recordings are kept: an id and messages in OpenAI chat form."""
    return [{"id": f"generated-{n}", "messages": run(n, RUNS[size])} for n in range(count)]


def run(seed: int, tickets: int) -> list[Message]:
    """One run. It ends before an answer of the model, so that its last window is judged too."""
    chance = random.Random(seed)
    messages: list[Message] = [{"role": "system", "content": SYSTEM}]
    opened: list[dict[str, str]] = []
    for number in range(tickets):
        opened.append(_ticket(chance))
        messages += _work(opened[-1], chance, f"{seed}_{number}")
        if number % 3 == 2:
            messages += _release(chance.choice(opened[:-1]), f"{seed}_{number}")
    return [*messages, {"role": "user", "content": "Thanks. What is left?"}, _said("Nothing is left.")]


def _ticket(chance: random.Random) -> dict[str, str]:
    part, verb = chance.choice(PARTS), chance.choice(VERBS)
    return {
        "ticket": f"BUG-{chance.randrange(1000, 9999)}",
        "path": f"src/{part}/{verb}_{chance.randrange(100)}.py",
        "name": f"{verb}_{part}_{chance.randrange(100)}",
        "port": str(chance.randrange(2000, 9999)),
        "commit": f"{chance.getrandbits(40):010x}",
    }


def _work(case: dict[str, str], chance: random.Random, id: str) -> Iterator[Message]:
    ticket, path, name = case["ticket"], case["path"], case["name"]
    yield _asked(f"Mend {ticket}: {name} fails on the staging server at port {case['port']}.")
    yield from _call(f"search_{id}", "search", {"text": name}, _listing(case, chance))
    yield from _call(f"read_{id}", "read", {"path": path}, _file(name, chance))
    yield _said(f"The total is read before it is written. I decided to lock the ledger in {name}.")
    yield _asked(f"No, never lock there. Retry in {name} instead, three times at most.")
    yield from _call(f"edit_{id}", "edit", {"path": path, "name": name}, f"edited {path}: 1 change in {name}")
    failure = (
        f"error: test_{name} failed in tests/test_{name}.py line {chance.randrange(20, 400)}: total is 0"
    )
    yield from _call(f"test_{id}", "test", {"path": f"tests/test_{name}.py"}, failure)
    yield from _call(f"again_{id}", "edit", {"path": path, "name": name}, f"edited {path}: 2 changes")
    done = f"12 passed. The fix of {ticket} was stored as commit {case['commit']} on branch main."
    yield from _call(f"store_{id}", "store", {"ticket": ticket}, done)
    yield _said(f"{ticket} is mended.")


def _release(case: dict[str, str], id: str) -> Iterator[Message]:
    """Needs what was mentioned some tickets ago, without repeating it."""
    yield _asked(f"Now release the fix of {case['ticket']} to its staging server.")
    arguments = {"commit": case["commit"], "port": case["port"], "path": case["path"]}
    yield from _call(f"release_{id}", "release", arguments, "released")
    yield _said("It is released.")


def _listing(case: dict[str, str], chance: random.Random) -> str:
    others = [f"src/{chance.choice(PARTS)}/{chance.choice(VERBS)}.py: mentions the word" for _ in range(12)]
    others.insert(chance.randrange(12), f"{case['path']}: defines the function {case['name']} and two others")
    return "\n".join(others)


def _file(name: str, chance: random.Random) -> str:
    lines = [f"    {chance.choice(NOISE)} = {chance.choice(NOISE)} + {n % 10}" for n in range(90)]
    lines.insert(chance.randrange(90), f"    total = {name}(entry)")
    return "\n".join([f"def {name}(entry):", *lines])


def _asked(text: str) -> Message:
    return {"role": "user", "content": text}


def _said(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _call(id: str, tool: str, arguments: dict[str, str], answer: str) -> Iterator[Message]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    called = [{"id": id, "type": "function", "function": function}]
    yield {"role": "assistant", "content": None, "tool_calls": called}
    yield {"role": "tool", "tool_call_id": id, "content": answer}
