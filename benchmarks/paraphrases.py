"""Measure how often a search finds a message that says the same in other words.

`paraphrases.json` has questions and messages without a content word in common. All messages are stored in one
session, each among the others and among messages about other things; a question finds its message if that is
among the first five hits. Static embeddings, the default, are measured unless `--embedder` names another.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any

import foveal

DATA = Path(__file__).with_suffix(".json")
FIRST = 5
LEAST = 0.7
"""The share of the questions that must find their message."""


def load() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return data


def measure(data: dict[str, Any], embedder: str = "") -> dict[str, Any]:
    """Search for every question → the shares found, and the questions that found nothing right."""
    pairs = data["pairs"]
    texts = [text for pair in zip_longest([p["text"] for p in pairs], data["distractors"]) for text in pair]
    with foveal.Foveal(":memory:", embedder=embedder) as store:
        session = store.session("talk")
        session.extend([{"role": "user", "content": text} for text in texts if text])
        found = {p["query"]: session.search(p["query"], limit=FIRST) for p in pairs}
    right = {p["query"]: [hit.text for hit in found[p["query"]]].count(p["text"]) > 0 for p in pairs}
    return {
        "questions": len(pairs),
        "messages": len(pairs) + len(data["distractors"]),
        "found_in_first_five": round(sum(right.values()) / len(pairs), 3),
        "found_first": round(
            sum(bool(found[p["query"]]) and found[p["query"]][0].text == p["text"] for p in pairs)
            / len(pairs),
            3,
        ),
        "missed": [query for query, yes in right.items() if not yes],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--embedder", default="", help="a model's folder; static embeddings by default")
    asked = parser.parse_args()
    results = measure(load(), asked.embedder)
    text = json.dumps(results, indent=2, ensure_ascii=False) + "\n"
    print(text, end="")
    if asked.json:
        asked.json.write_text(text, encoding="utf-8")
    return int(results["found_in_first_five"] < LEAST)


if __name__ == "__main__":
    sys.exit(main())
