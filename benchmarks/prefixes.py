"""Check on recorded agent runs that windows of `foveal` never break the prefix that a provider has cached.

    python benchmarks/prefixes.py [--only DOMAIN] [--format F] [--most N] [--json FILE]

Every turn of every recording, in every format, at 25% and 50% of its tokens, in one session that is closed
and reopened half-way. A window must begin with the previous one, cache markers aside, unless its manifest
reports a refocus; it must break no rule of its provider (our judges; the harness's own where it has one) and
be within its budget, counted again. Results in the file are replaced row by row, so that the whole can run in
pieces.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import foveal
from foveal import wire
from foveal.model import Format
from foveal.window import Window
from harness import ABSENT, trajectories

FRACTIONS = (0.25, 0.5)
FORMATS: tuple[Format, ...] = get_args(Format)
DOMAINS = ("airline", "coding", "shell", "swe")
MODEL, COUNTER = "claude-sonnet-4-5", "o200k_base"
RESULTS = Path(__file__).parent / "results" / "prefixes.json"
COLUMNS = ("windows", "held", "refocused", "reopened", "refused", "broken", "invalid", "over")


class Watched:
    """A session of one recording, and what its windows were like."""

    def __init__(self, place: Path, format: Format, budget: int) -> None:
        self.place, self.format, self.budget = place / "store.db", format, budget
        self.found: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.before: Window | None = None
        self.layout: dict[str, Any] = {}
        self.open()

    def open(self) -> None:
        self.fov = foveal.Foveal(self.place, embedder="none", counter=COUNTER)
        self.session = self.fov.session("bench", model=MODEL, preset="foveal")

    def reopen(self) -> None:
        self.fov.close()
        self.open()
        self.found["reopened"] += 1

    def turn(self, messages: list[dict[str, Any]]) -> None:
        """Take in what is new and judge the window of that moment."""
        self.session.extend(messages, format="openai")
        try:
            window = self.session.build(budget=self.budget, format=self.format)
        except foveal.BudgetError:  # the newest turn alone is too large
            self.found["refused"] += 1
            return
        before, self.layout = self.layout, layout_of(window) or self.layout
        refocused = self.layout != before
        self.found.update({"windows": 1, "refocused": refocused, "held": not refocused})
        self.found["broken"] += not refocused and not (self.before and begins(window, self.before))
        self._judge(window)
        self.before = window

    def _judge(self, window: Window) -> None:
        request = window.request
        wrong = {*wire.check(request, self.format), *harnessed(request, self.format)}
        self.errors.update(wrong)
        self.found["invalid"] += bool(wrong)
        tokens = foveal.count_tokens(request, model=MODEL, counter=COUNTER, format=self.format)
        self.found["over"] += max(tokens, window.tokens) > self.budget


def layout_of(window: Window) -> dict[str, Any]:
    """The layout that a window made; what came back since is no part of it, but appended."""
    found: dict[str, Any] = json.loads(window.manifest.record.get("layout", "{}"))
    return {key: value for key, value in found.items() if key not in ("brought", "task")}


def begins(window: Window, before: Window) -> bool:
    """Whether a request begins with the one before, as their provider reads them."""
    texts = [(each.tools_json, each.system_json, *each.pieces) for each in (before, window)]
    pairs = zip(*texts, strict=False)
    return len(texts[0]) <= len(texts[1]) and all(old == new or bare(old) == bare(new) for old, new in pairs)


def bare(text: str) -> Any:
    """A message, a system prompt or tools without cache markers."""
    value = json.loads(text or "null")
    request = {"messages": [value]} if isinstance(value, dict) else {"system": value}
    return wire.without_markers(request)


def harnessed(request: dict[str, Any], format: Format) -> list[str]:
    """What the harness's own validator finds, in the formats that it knows."""
    from trajbench import validity

    if format == "openai":
        return [f"harness: {each}" for each in validity.check_openai(request["messages"])]
    if format == "anthropic":
        plain = wire.without_markers(request)
        found = validity.check_anthropic(plain.get("system", ""), plain["messages"])
        return [f"harness: {each}" for each in found]
    return []


def played(record: dict[str, Any], fraction: float, format: Format) -> tuple[Counter[str], Counter[str]]:
    from trajbench.quality import Case

    class NoFacts:
        """Windows are judged here, not what they recall."""

    case = Case(record["id"], record["messages"], fraction=fraction, index=NoFacts())
    with TemporaryDirectory() as place:
        watched = Watched(Path(place), format, case.budget)
        taken = 0
        for number, at in enumerate(case.turns):
            if number == len(case.turns) // 2:
                watched.reopen()
            watched.turn(case.messages[taken:at])
            taken = at
        watched.fov.close()
    return watched.found, watched.errors


def measure(
    domain: str, format: Format, most: int | None, tell: Callable[[str], object] = lambda _: None
) -> dict[str, Any]:
    """One row: every recording of a domain in one format, at every fraction."""
    from trajbench.data import load

    found: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    records = load("dev", domain)[:most]
    for number, record in enumerate(records, start=1):
        for fraction in FRACTIONS:
            figures, wrong = played(record, fraction, format)
            found += figures
            errors += wrong
        tell(f"{domain} {format} {number}/{len(records)}: {dict(found)}")
    return {"recordings": len(records), **{name: found[name] for name in COLUMNS}, "faults": dict(errors)}


def rows(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    def tell(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    for domain in (options.only,) if options.only else DOMAINS:
        for format in (options.format,) if options.format else FORMATS:
            yield f"{domain}/{format}", measure(domain, format, options.most, tell)


def shown(figures: dict[str, Any]) -> None:
    print(f"{'':20}" + "".join(f"{name:>11}" for name in COLUMNS))
    total: Counter[str] = Counter()
    for name, row in figures.items():
        total.update({column: row[column] for column in COLUMNS})
        print(f"{name:20}" + "".join(f"{row[column]:>11,}" for column in COLUMNS))
    print(f"{'in all':20}" + "".join(f"{total[column]:>11,}" for column in COLUMNS))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=DOMAINS)
    parser.add_argument("--format", choices=FORMATS)
    parser.add_argument("--most", type=int, help="so many recordings of a domain")
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not trajectories():
        print(ABSENT)
        return 0
    figures: dict[str, Any] = json.loads(options.json.read_text()) if options.json.exists() else {}
    for name, row in rows(options):
        figures = dict(sorted({**figures, name: row}.items()))
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    shown(figures)
    return int(any(row[bad] for row in figures.values() for bad in ("broken", "invalid", "over")))


if __name__ == "__main__":
    sys.exit(main())
