"""Write the table and the method under "Measured" in the README from `benchmarks/results`.

Only the text between the markers is replaced. A benchmark without a result has no row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "results"
OURS = "foveal"
WINDOW, EVICTION = "sliding window", "reference: block eviction"
PEERS = {
    "langchain trim (exact, any start)": "langchain `trim_messages`",
    "langchain summarization": "langchain summarization",
    "strands sliding window": "strands",
    "llamaindex memory": "llama-index",
}
"""Libraries to compare with, besides the plain sliding window, where they were measured."""
BM25 = {
    "recall": "bm25 .647 / .731 / .790 / .835, same harness",
    "recall_minilm": "bm25 + MiniLM .704 / .791 / .856 / .897",
}
"""Recorded by the authors of the harness."""
METHOD = """\
Method: `make bench` on two cores of Linux. The recorded runs are public agent trajectories, the development
half of 254, at 25% and 50% of their tokens; no model runs. A fact is a value in the next tool call that the
agent had read earlier; it is kept if it occurs in a valid window within the budget next to two words of its
original surroundings (strictly: four). Handover is the mean share of requests, actions, outcomes, sources
of values and state of the work that can be read from the window. Bills count 0.1 per token that repeats the
previous request and 1.25 for the rest. The summarizer's model is a stub that mentions no fact. Evidence is
the mean over LoCoMo, BEAM, MuSiQue and HotpotQA (half of each), with no window over budget; the figures of
the peers there are the harness's own. Speeds are ratios of processor time, with both sides in one process.
The contribution of each part of the preset is in [`ablation.json`](benchmarks/results/ablation.json),
versions and commits are in [`peers.json`](benchmarks/results/peers.json).
"""


def page() -> str:
    """The README with an up-to-date table and method."""
    text = PAGE.read_text(encoding="utf-8")
    for name, made in {"measured": table(), "method": METHOD}.items():
        start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
        before, _, rest = text.partition(start)
        text = f"{before}{start}{made}{end}{rest.partition(end)[2]}"
    return text


def table() -> str:
    rows = [*_kept(), *_bills(), *_growth(), *_validity(), *_evidence(), *_tested()]
    lines = [f"| {what} | {figure} | {against} |" for what, figure, against in rows]
    return "\n".join(["| what | figure | against |", "|---|---|---|", *lines, ""])


Row = tuple[str, str, str]


def _kept() -> Iterator[Row]:
    """Facts kept of recorded runs and what a successor can read, compared with the peers."""
    rows = _result("peers").get("rows", {})
    if OURS not in rows:
        return
    peers = {WINDOW: WINDOW, **PEERS}
    share = "at 25% / 50% of the tokens"
    for key, what in {
        "recall": f"facts the next call needs, kept {share}",
        "strict": "the same, strictly",
    }.items():
        found = {name: _pair(rows[name], key) for name in (OURS, *peers) if name in rows}
        shown = list(peers) if key == "recall" else [WINDOW]
        yield what, found[OURS], ", ".join(f"{peers[name]} {found[name]}" for name in shown if name in found)
    if handover := _result("handover"):
        ours, window = (
            " / ".join(f"{handover[name][at]['handover']:.0f}%" for at in ("25", "50"))
            for name in (OURS, WINDOW)
        )
        yield f"handover: what a successor can read {share}", ours, f"{WINDOW} {window}"
    if windows := _result("persistence").get("windows", {}):
        kept, share = windows["kept"], "a quarter of the tokens"
        yield (
            f"short rules and facts of the user, verbatim at {share}",
            kept["all"],
            "planted in old messages",
        )


def _bills() -> Iterator[Row]:
    rows = _result("peers").get("rows", {})
    if OURS not in rows or WINDOW not in rows:
        return
    for session, name in {
        "coding-1000@32k": "1 000 messages of coding, window 32k",
        "airline-1000@16k": "1 000 of airline service, 16k",
    }.items():
        ours, window = (rows[name]["cost"][session] for name in (OURS, WINDOW))
        eviction = rows.get(EVICTION, rows[OURS])["cost"][session]
        against = f"the sliding window's 1, block eviction's {eviction['bill'] / window['bill']:.2f}"
        kept = f"facts kept {_percent(ours['recall'])} against {_percent(window['recall'])} and"
        yield (
            f"bill for {name}",
            f"{ours['bill'] / window['bill']:.2f}",
            (f"{against}; {kept} {_percent(eviction['recall'])}"),
        )


def _growth() -> Iterator[Row]:
    found = _result("growth")
    row = found.get("presets", {}).get(OURS, found)
    if not row:
        return
    yield "append + build at 20 000 messages, against 1 000", f"{row['growth']:.2f}×", "limit 1.35×"
    if row["faster"]:
        peer = "langchain `trim_messages`, exact counter, same run"
        yield "append + build at 20 000 messages", f"{row['faster']:.0f}× faster", peer


def _validity() -> Iterator[Row]:
    found = _result("validity").values()
    if not found:
        return
    wrong = ("invalid_openai", "invalid_anthropic", "over_budget", "errors")
    turns = f"{sum(row['turns'] for row in found):,}".replace(",", " ")
    what = f"refused or over-budget requests in {turns} windows of recorded runs"
    bad = sum(row[name] for row in found for name in wrong)
    yield what, str(bad), "the harness's own validators, OpenAI and Anthropic form"


def _evidence() -> Iterator[Row]:
    rows = {
        "recall": "evidence found by `focus` in 1k / 2k / 4k / 8k tokens, no model",
        "recall_minilm": "the same with a MiniLM folder as the embedder",
    }
    for name, what in rows.items():
        if found := _result(name):
            shares = (found[size]["macro"] for size in ("1000", "2000", "4000", "8000"))
            yield what, " / ".join(f"{share:.3f}".removeprefix("0") for share in shares), BM25[name]


def _tested() -> Sequence[Row]:
    """Results of the tests."""
    return (
        ("o200k counts equal to tiktoken's", "all", "prose, code, JSON, CJK, emoji, 1 000 random strings"),
        ("acknowledged messages lost in 200 × `kill -9`", "0", "`make soak`"),
    )


def _pair(row: Mapping[str, Any], key: str) -> str:
    return " / ".join(_percent(row["quality"][share][key]) for share in ("25%", "50%"))


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _result(name: str) -> dict[str, Any]:
    file = RESULTS / f"{name}.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
