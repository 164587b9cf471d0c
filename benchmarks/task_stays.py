"""Count the windows of recorded agent runs that lose the task to a large tool result: there must be none.

Every recording × format × preset, through `fit` and through a session, with one inserted tool result of 10 KB
to 1 MB in one of ten content types, in turn. The newest user message must be in the window verbatim, and so
must the first request, if both and the newest unit leave it its share of the room. A build that is refused
although the system prompt and the newest unit fit is counted too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import cycle, product
from multiprocessing import Pool
from pathlib import Path
from typing import Any, get_args

import foveal
from foveal import presets
from foveal.errors import BudgetError
from foveal.model import Format
from harness import ABSENT, trajectories

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from outputs import TYPES, output

SIZES = (10_000, 100_000, 1_000_000)
BUDGETS = (4_000, 16_000)
SHARE = 0.2
"""Of the budget: up to this size a first request must be verbatim; the rest is for the system prompt."""
NOTICE = re.compile(r"\s*(?:<[a-z]+[-_]|\[Request interrupted|Caveat: The messages below)")


def inserted(messages: list[Any], type: str, size: int) -> list[Any]:
    """The recording up to its middle, and a call with a large result after it."""
    cut = len(messages) // 2
    while cut < len(messages) and messages[cut]["role"] == "tool":
        cut += 1
    call = {"id": "big", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    return [
        *messages[:cut],
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "big", "content": output(type, size)},
    ]


def expected(messages: list[Any], budget: int) -> Iterator[str]:
    """The texts that must be in the window: the newest words of the user, and the first request."""
    calls = any(message.get("tool_calls") for message in messages[:-2])
    said = [m["content"] for m in messages if m["role"] == "user" and isinstance(m["content"], str)]
    words = [text for text in said if text.strip() and not NOTICE.match(text)]
    if not words:
        return
    yield words[-1] if calls else words[0]  # without calls, the later ones are output
    if foveal.count_tokens([{"role": "user", "content": words[0]}]) <= SHARE * budget:
        yield words[0]


def windows(messages: list[Any], budget: int, format: Format, preset: str) -> Iterator[Any]:
    if format == "openai":
        yield foveal.fit(messages, model="gpt-5", budget=budget, preset=preset)
    with foveal.Foveal(":memory:", embedder="none") as fov:
        session = fov.session(model="gpt-5", preset=preset)
        session.extend(messages, format="openai")
        yield session.build(budget=budget, format=format)


Job = tuple[list[Any], Format, str, tuple[int, str, int]]


def measure(most: int | None) -> Counter[str]:
    found: Counter[str] = Counter()
    with Pool(os.cpu_count()) as pool:
        for counted in pool.imap_unordered(judged, jobs(most), chunksize=8):
            found += counted
    return found


def jobs(most: int | None) -> Iterator[Job]:
    from trajbench.data import load

    records = load("dev")
    sizes = cycle(product(SIZES, TYPES, BUDGETS))
    for record in records if most is None else records[:: max(1, len(records) // most)]:
        for format, preset in product(get_args(Format), sorted(presets.PRESETS)):
            yield record["messages"], format, preset, next(sizes)


def judged(job: Job) -> Counter[str]:
    recorded, format, preset, (size, type, budget) = job
    messages = inserted(recorded, type, size)
    system = foveal.count_tokens([m for m in messages if m["role"] == "system"])
    found: Counter[str] = Counter()
    try:
        for window in windows(messages, budget + system, format, preset):
            found["windows"] += 1
            sent = json.dumps(window.request, ensure_ascii=False)
            lost = [t for t in expected(messages, budget) if written(t) not in sent]
            found["lost"] += bool(lost) and not window.manifest.warnings
            found["cut with a warning"] += bool(window.manifest.warnings)
            found[f"lost under {preset}"] += bool(lost) and not window.manifest.warnings
    except BudgetError:
        found["refused"] += 1
    return found


def written(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--most", type=int, help="recordings, evenly chosen; all by default")
    options = parser.parse_args()
    if not trajectories():
        print(ABSENT)
        return 0
    found = measure(options.most)
    for name in sorted(found):
        print(f"{name:24} {found[name]:,}")
    if options.json:
        figures = {name: found[name] for name in ("windows", "lost", "refused", "cut with a warning")}
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return int(bool(found["lost"] or found["refused"]))


if __name__ == "__main__":
    sys.exit(main())
