"""Measure how much of a tool result its short form keeps, compared with head and tail of the same size.

    python benchmarks/short_forms.py [--json FILE] [--sample N]

Every tool result of more than 200 tokens in the recorded sessions is shortened to 50%, 25% and 10% of its
tokens, both ways. Three shares, by content type: *names*, of its identifiers and JSON values; *needed*, of
the facts that a later call of the session used and that were first read in this result; *in context*, of
those, the ones that are still next to at least two of the words they were next to.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foveal.pipeline.shorten.content_type import content_type
from foveal.pipeline.shorten.short_form import short_form
from foveal.pipeline.shorten.turn import cut_middle
from foveal.pipeline.signals import identifiers
from foveal.pipeline.tokens.count import tokenizer
from harness import ABSENT, trajectories

SHARES = (0.5, 0.25, 0.1)
LEAST = 200
_GUTTER = re.compile(r"(?m)^\s*\d+(?:→|\t)")
_PLACE = re.compile(r"(?m)^([^\s:]+)[:-]\d+[:-]")
"""Numbers of lines are no names, whichever way they are kept."""
count = tokenizer("o200k_base").count


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One tool result, and the facts that later calls took from it."""

    text: str
    tokens: int
    needed: tuple[str, ...]


def results(record: dict[str, Any]) -> Iterator[Result]:
    """The long tool results of a session."""
    from trajbench.recall import facts_of_call, finder, message_text

    messages = record["messages"]
    texts = [message_text(message) for message in messages]
    needed: dict[int, list[str]] = defaultdict(list)
    known: set[str] = set()
    for turn, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            for fact in sorted(facts_of_call(call["function"]["arguments"]) - known):
                known.add(fact)
                seen = (at for at in range(turn) if fact in texts[at] and finder(fact).search(texts[at]))
                needed[next(seen, -1)].append(fact)
    for at, message in enumerate(messages):
        if message["role"] == "tool" and len(texts[at]) > LEAST and (tokens := count(texts[at])) > LEAST:
            yield Result(text=texts[at], tokens=tokens, needed=tuple(needed[at]))


def names(text: str) -> set[str]:
    """What a reader could ask for by name: identifiers, and the values of JSON."""
    found = set(identifiers(_PLACE.sub(r"\1 ", _GUTTER.sub("", text))))
    try:
        waiting = [json.loads(text)]
    except ValueError:
        return found
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
        elif isinstance(value, str | int | float) and not isinstance(value, bool) and len(str(value)) < 80:
            found.add(str(value))
    return {name for name in found if name}


def in_context(fact: str, text: str, shorter: str) -> bool:
    """The benchmark's own rule."""
    from trajbench.recall import finder, neighbours

    pattern = finder(fact)
    there = [neighbours(text, m.start(), m.end(), fact) for m in pattern.finditer(text)][:20]
    here = [neighbours(shorter, m.start(), m.end(), fact) for m in pattern.finditer(shorter)][:50]
    return any(len(a & b) >= min(2, len(a)) for a in there for b in here)


def measured(result: Result, shorter: str) -> dict[str, tuple[int, int]]:
    """Of each measure: how many are kept, of how many."""
    from trajbench.recall import finder

    known = names(result.text)
    return {
        "names": (sum(name in shorter for name in known), len(known)),
        "needed": (sum(bool(finder(f).search(shorter)) for f in result.needed), len(result.needed)),
        "in context": (sum(in_context(f, result.text, shorter) for f in result.needed), len(result.needed)),
    }


def figures(sample: int) -> dict[str, Any]:
    """By content type and share: each measure for both ways."""
    from trajbench.data import load

    sums: dict[tuple[str, float, str, str], list[int]] = defaultdict(lambda: [0, 0])
    sizes: dict[str, list[int]] = defaultdict(list)
    seconds: dict[str, float] = defaultdict(float)
    every = [result for record in load() for result in results(record)]
    for result in every[:: max(1, len(every) // sample)] if sample else every:
        kind = content_type(result.text)
        for group in (kind, "all"):
            sizes[group].append(result.tokens)
        for share in SHARES:
            room = int(result.tokens * share)
            start = time.process_time()
            made = short_form(result.text, room, count)
            middle = time.process_time()
            plain = cut_middle(result.text, room, count)
            seconds["short"] += middle - start
            seconds["cut"] += time.process_time() - middle
            for way, shorter in (("short", made.text if made else ""), ("cut", plain)):
                assert count(shorter) <= room or way == "cut"
                for measure, (kept, total) in measured(result, shorter).items():
                    for group in (kind, "all"):
                        entry = sums[group, share, measure, way]
                        entry[0] += kept
                        entry[1] += total
    return {"sizes": sizes, "sums": sums, "seconds": seconds}


def table(found: dict[str, Any]) -> dict[str, Any]:
    """The same as shares."""
    rows: dict[str, Any] = {}
    for kind, sizes in sorted(found["sizes"].items()):
        rows[kind] = {"results": len(sizes), "tokens": sum(sizes)}
        for share in SHARES:
            rows[kind][f"{share:.0%}"] = {
                measure: {way: _ratio(found["sums"][kind, share, measure, way]) for way in ("short", "cut")}
                for measure in ("names", "needed", "in context")
            }
    return rows


def _ratio(entry: list[int]) -> float | None:
    return round(entry[0] / entry[1], 3) if entry[1] else None


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--json", type=Path, help="write the figures to this file")
    options.add_argument("--sample", type=int, default=0, help="about as many results, evenly taken; 0: all")
    asked = options.parse_args()
    if not trajectories():
        print(ABSENT)
        return 0
    found = figures(asked.sample)
    rows = table(found)
    print(f"{'':18}{'':6}{'names':>16}{'needed':>16}{'in context':>16}   (short form, head and tail)")
    for kind, row in rows.items():
        print(f"{kind}: {row['results']:,} results, {row['tokens']:,} tokens")
        for share in SHARES:
            cells = row[f"{share:.0%}"].values()
            print(
                f"{'':18}{share:>6.0%}"
                + "".join(f"{_cell(c['short']):>9}{_cell(c['cut']):>7}" for c in cells)
            )
    print("processor seconds: " + ", ".join(f"{way} {spent:.1f}" for way, spent in found["seconds"].items()))
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


if __name__ == "__main__":
    sys.exit(main())
