"""Measure how much of the evidence for questions a window of 1k to 8k tokens contains, and how fast.

The harness counts tokens itself, refuses windows over budget and accepts no claim that the text does not
support; bm25 is timed with every call. `--embedder FOLDER` ranks with a transformer instead of static
embeddings. `focus` gets the question and shows what answers it; `build` gets it as its task, and also shows
the newest turn of the history: where that alone is over the budget, there is no window and nothing is found.
`asked` and `asked_fit` get no task: the question is the newest message, and the window is what the next model
call would receive, from a session and from `fit`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import foveal

BENCH = Path(os.environ.get("FOVEAL_BENCH", Path(__file__).parents[2] / "shared" / "bench")) / "recall"
ABSENT = f"no recall harness at {BENCH}: name the folder that holds it with FOVEAL_BENCH"


ASKED = "gpt-4o"
"""The model of the windows in which the question is the newest message."""
SYSTEMS = {"build": "build_for", "asked": "build_asked", "asked_fit": "fit_asked"}
"""By key of the results, the functions below that are measured beside `build`."""


def build(history: list[dict[str, Any]], query: str, budget: int) -> list[dict[str, Any]]:
    """What the harness calls for every question; the history is the same object for all of a conversation."""
    window = _session(history).focus(query, budget=budget)
    return [
        {"content": message["content"], "ids": [message["id"]] if "id" in message else []}
        for message in window.messages
    ]


def build_for(history: list[dict[str, Any]], query: str, budget: int) -> list[dict[str, Any]]:
    """The same for a window of the preset `foveal`, made for the question as its task."""
    try:
        window = _session(history).build(task=query, budget=budget, preset="foveal")
    except foveal.BudgetError:
        return []
    return [{"content": message["content"]} for message in window.messages]


def build_asked(history: list[dict[str, Any]], query: str, budget: int) -> list[dict[str, Any]]:
    """The window of the next model call, if the question is the newest message and no task is given."""
    session = _session(history, _spoken)
    session.sync([*_opened["messages"], {"role": "user", "content": query}])
    return [{"content": message["content"]} for message in session.build(budget=budget).messages]


def fit_asked(history: list[dict[str, Any]], query: str, budget: int) -> list[dict[str, Any]]:
    """The same without a store."""
    messages = [*map(_spoken, history), {"role": "user", "content": query}]
    window = foveal.fit(messages, model=ASKED, budget=budget)
    return [{"content": message["content"]} for message in window.messages]


def _as_given(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if value}


def _spoken(item: dict[str, Any]) -> dict[str, Any]:
    """The item as an application has it: passages without a tool call are the user's."""
    role = item["role"] if item["role"] in ("user", "assistant") else "user"
    extra = {key: item[key] for key in ("name", "timestamp") if item.get(key)}
    return {"role": role, "content": item["content"], **extra}


def _session(
    history: list[dict[str, Any]], form: Callable[[dict[str, Any]], dict[str, Any]] = _as_given
) -> foveal.Session:
    if _opened.get("history") is not history:
        if "store" in _opened:
            _opened["store"].close()
        store = foveal.Foveal(":memory:", embedder=os.environ.get("RECALL_EMBEDDER", ""))
        session = store.session("recall", model=ASKED if form is _spoken else "")
        messages = [form(item) for item in history]
        session.extend(messages)
        store.settle(3_600)
        _opened.update(history=history, store=store, session=session, messages=messages)
    found: foveal.Session = _opened["session"]
    return found


_opened: dict[str, Any] = {}
"""The history that was asked about last, and the session that holds it."""


def measure(split: str, embedder: str, system: str = "build") -> dict[str, Any]:
    """Run the harness on a function above → recall, outputs over budget and time, by budget."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "run.py", "--split", split, "--systems", "project", "--out", out]
        adapter = {
            "RECALL_PROJECT": f"recall:{system}",
            "RECALL_EMBEDDER": embedder,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        paths = {"PYTHONPATH": str(Path(__file__).parent)}
        subprocess.run(command, cwd=BENCH, env=os.environ | adapter | paths, check=True)
        with gzip.open(Path(out) / split / "project.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
    budgets = sorted({row["budget"] for row in rows})
    return {str(budget): _summary([row for row in rows if row["budget"] == budget]) for budget in budgets}


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    names = sorted({row["dataset"] for row in rows})
    recall = {name: _mean(row["recall"] for row in rows if row["dataset"] == name) for name in names}
    warm = [row for row in rows if not row["cold"]]
    bm25 = statistics.median(row["reference_seconds"] for row in warm)
    return {
        "macro": _mean(recall.values()),
        **recall,
        "over_budget": sum(row["over_budget"] for row in rows),
        "times_bm25": round(statistics.median(row["seconds"] for row in warm) / bm25, 2),
    }


def _mean(values: Iterable[float]) -> float:
    return round(statistics.fmean(values), 4)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--embedder", default="", help="a model's folder; static embeddings by default")
    asked = parser.parse_args()
    if not (BENCH / "run.py").exists():
        print(ABSENT)
        return 0
    found = measure(asked.split, asked.embedder)
    # Windows ask no model for vectors: another embedder changes nothing there.
    systems = {} if asked.embedder else SYSTEMS
    built = {key: measure(asked.split, "", name) for key, name in systems.items()}
    if asked.json:
        asked.json.write_text(json.dumps({**found, **built}, indent=2) + "\n", encoding="utf-8")
    every = (*found.values(), *(row for rows in built.values() for row in rows.values()))
    return int(any(row["over_budget"] for row in every))


if __name__ == "__main__":
    sys.exit(main())
