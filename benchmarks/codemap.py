"""Measure how exactly codebase maps of real source trees fit their tokens.

This repository and two installed packages, 500, 1 000 and 4 000 tokens, with tasks and without. A map may
never be over its budget, must use nine tenths of it or be complete, and must show every symbol that the task
names.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import re
import sys
import time
from pathlib import Path
from typing import Any

from foveal.pipeline.tokens.count import tokenizer
from foveal.sources.code import codebase_map
from foveal.sources.code.survey import survey
from foveal.sources.workspace.workspace import Workspace

SIZES, LEAST = (500, 1_000, 4_000), 0.9
WHOLE = 10_000_000
DRAWN = 100
COUNT = tokenizer("o200k_base").count
TASKS = {
    "foveal": {
        "": (),
        "make `codebase_map` faster; Workspace.scan is slow": ("def codebase_map(", "def scan("),
        "InputError should name the file; see src/foveal/wire": ("class InputError",),
        "Session.build drops a pinned message, as `recent` does": ("class Session", "def build("),
    },
    "httpx": {
        "": (),
        "add retries to HTTPTransport and Client.send": ("class HTTPTransport", "class Client", "def send("),
        "URL.join loses the query, see _urls.py": ("class URL", "def join("),
        "encode_multipart_data blocks on large files": ("def encode_multipart_data(",),
    },
    "hypothesis": {
        "": (),
        "why is Shrinker slow on lists()?": ("class Shrinker", "def lists("),
        "ConjectureData.draw_integer ignores its bounds": ("class ConjectureData", "def draw_integer("),
        "let `settings` take a deadline of None, check_type too": ("class settings", "def check_type("),
    },
}
"""For each tree: a task, and the symbols it names as the map shows them."""


def root(tree: str) -> Path | None:
    if tree == "foveal":
        return Path(__file__).parents[1]
    found = importlib.util.find_spec(tree)
    return Path(found.origin).parent if found is not None and found.origin else None


def measured(tree: str, workspace: Workspace) -> list[dict[str, Any]]:
    rows = []
    for task, named in TASKS[tree].items():
        for size in SIZES:
            start = time.perf_counter()
            text = codebase_map(workspace, tokens=size, count=COUNT, task=task)
            took = time.perf_counter() - start
            used = COUNT(text)
            missing = [symbol for symbol in named if symbol not in text]
            whole = used < LEAST * size and text == codebase_map(workspace, tokens=WHOLE, count=COUNT)
            rows.append({"tree": tree, "task": task, "tokens": size, "used": used, "share": used / size})
            rows[-1] |= {"named": len(named), "missing": missing, "whole": whole, "seconds": round(took, 3)}
    return rows


def absent(workspace: Workspace) -> list[str]:
    """Of so many symbols of the tree, drawn at random, those that the smallest map for each leaves out."""
    graph, _ = survey(workspace).ranked("", ())
    names = sorted({each.name for each in graph.definitions if len(each.name) > 1})
    drawn = random.Random(5).sample(names, min(DRAWN, len(names)))
    maps = {
        name: codebase_map(workspace, tokens=SIZES[0], count=COUNT, task=f"Fix `{name}`") for name in drawn
    }
    return [name for name, text in maps.items() if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


def good(row: dict[str, Any]) -> bool:
    full = row["whole"] or row["share"] >= LEAST
    return full and row["used"] <= row["tokens"] and not row["missing"]


def shown(row: dict[str, Any]) -> str:
    used = f"{row['used']:>5} of {row['tokens']:>5}  {row['share']:>6.1%}"
    named = f"{row['named'] - len(row['missing'])} of {row['named']} named"
    return f"{row['tree']:<11}{used}  {named:<14}{row['seconds']:>7.2f} s  {row['task'] or '(no task)'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    rows, left_out = [], {}
    for tree in TASKS:
        place = root(tree)
        if place is None:
            print(f"{tree} is not installed: not measured")
            continue
        workspace = Workspace(place)
        rows += measured(tree, workspace)
        left_out[tree] = absent(workspace)
    bad = sum(not good(row) for row in rows)
    print("\n".join(map(shown, rows)))
    print(f"{len(rows)} maps, {bad} of them over, too empty or without a symbol that the task names")
    print(
        f"of {DRAWN} symbols drawn from each tree, named in a task: {left_out} left out of {SIZES[0]} tokens"
    )
    if options.json:
        figures = {"maps": rows, "bad": bad, "drawn": DRAWN, "left_out": left_out}
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    return int(bool(bad or any(left_out.values())))


if __name__ == "__main__":
    sys.exit(main())
