"""Measure the first and second assembly of a workspace of 10 000 files, compared with parsing it.

The files are generated, the same ones every time, in eight languages: most of a few dozen lines, every
hundredth of a few thousand, in folders up to six deep; with git ignore rules and folders that are not walked.
The baseline reads each file and parses it with the same parser, one after the other, and does nothing else.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from foveal.sources.assemble import assemble_smart_context
from foveal.sources.code.languages import language_of
from foveal.sources.code.symbols import symbols
from foveal.sources.workspace.workspace import Workspace

FILES = 10_000
SLOWEST_FIRST, FASTEST_SECOND = 3.0, 20.0
NAMED = "reconcile_invoice_4712"
TASK = f"Why does `{NAMED}` in billing charge twice? See also Ledger40.settle."
PARTS = ("billing", "ledger", "search", "mail", "users", "reports", "queue", "storage", "audit", "gateway")

# For each ending: how a file begins, and one definition of it; `@n` is a number, `@m` another one.
LANGUAGES = {
    "py": (
        "from typing import Any",
        """
class Ledger@n:
    def settle(self, amount: int) -> int:
        total = reconcile_invoice_@m(amount)
        return total + self.rate


def reconcile_invoice_@n(amount: int) -> int:
    # what was booked before is not booked again
    return Ledger@m().settle(amount) if amount else 0
""",
    ),
    "js": (
        'import { client } from "./client";',
        """
export function loadPage@n(id, options) {
  const page = loadPage@m(id, { ...options, depth: @n });
  return page.items.filter((item) => item.id !== id);
}
""",
    ),
    "ts": (
        'import { Item } from "./items";',
        """
export interface Row@n { id: string; next: Row@m | null }

export class Table@n {
  find(id: string): Row@n | undefined {
    return this.rows.get(id);
  }
}
""",
    ),
    "go": (
        "package store",
        """
type Bucket@n struct {
	Name string
	Next *Bucket@m
}

func (b *Bucket@n) Put(key string) error {
	return b.Next.Put(key)
}
""",
    ),
    "rs": (
        "use std::collections::HashMap;",
        """
pub struct Shard@n { pub items: HashMap<String, u64> }

impl Shard@n {
    pub fn weigh(&self, key: &str) -> u64 {
        *self.items.get(key).unwrap_or(&@m)
    }
}
""",
    ),
    "java": (
        "package org.example.mail;",
        """
class Envelope@n {
  private Envelope@m inner;

  int weight(int stamps) {
    return inner == null ? stamps : inner.weight(stamps + 1);
  }
}
""",
    ),
    "c": (
        '#include "queue.h"',
        """
struct cell_@n { int used; struct cell_@m *next; };

int cell_push_@n(struct cell_@n *cell, int value) {
  if (!cell) return -1;
  return cell_push_@m(cell->next, value);
}
""",
    ),
    "rb": (
        'require "set"',
        """
class Report@n
  def lines(since)
    Report@m.new.lines(since).reject(&:empty?)
  end
end
""",
    ),
}


def made(root: Path) -> None:
    """The workspace, on disk."""
    for number in range(FILES):
        path = root / _path(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(_pieces(number)), encoding="utf-8")
    (root / "README.md").write_text("# Billing\n\nCharges once.\n", encoding="utf-8")
    (root / ".gitignore").write_text("*.log\n/build/\n__pycache__/\n*.min.js\n!keep.log\n", encoding="utf-8")
    for folder in ("node_modules/left", "build/out", ".venv/lib"):
        (root / folder).mkdir(parents=True)
        for number in range(200):
            (root / folder / f"{number}.js").write_text("let ignored = 1;\n", encoding="utf-8")


def _path(number: int) -> str:
    endings = list(LANGUAGES)
    folder = number // 10
    folders = [PARTS[(folder // step) % len(PARTS)] for step in (1, 10, 100, 7, 3)[: 1 + folder % 5]]
    return "/".join(["src", *folders, f"file_{number}.{endings[number % len(endings)]}"])


def _pieces(number: int) -> Iterator[str]:
    head, piece = LANGUAGES[_path(number).rpartition(".")[2]]
    yield head + "\n"
    for place in range(250 if number % 100 == 0 else 2 + number % 7):
        other = (7 * number + 31 * place) % FILES
        yield piece.replace("@n", str(number + place)).replace("@m", str(other))


def read_and_parsed(root: Path) -> int:
    """Every file once, one after the other: what no first look can do without."""
    found = 0
    for path in sorted(root.glob("src/**/*.*")):
        language = language_of(path.name)
        assert language
        found += len(symbols(path.read_text(encoding="utf-8"), language).definitions)
    return found


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measured(root: Path) -> dict[str, float]:
    yardstick = _timed(lambda: read_and_parsed(root))
    workspace = Workspace(root)
    texts: list[str] = []
    steps: list[int] = []

    def assembly(progress: Callable[[int, int], None] | None = None) -> None:
        texts.append(assemble_smart_context(workspace, task=TASK, progress=progress).text)

    first = _timed(lambda: assembly(lambda done, _: steps.append(done)))
    second = min(_timed(assembly) for _ in range(5))
    assert len(set(texts)) == 1
    assert NAMED in texts[0]
    return {
        "files": FILES,
        "bytes": sum(path.stat().st_size for path in root.glob("src/**/*.*")),
        "read_and_parse_seconds": yardstick,
        "first_seconds": first,
        "first_over_read_and_parse": first / yardstick,
        "steps_of_progress": len(steps),
        "second_seconds": second,
        "first_over_second": first / second,
        "scan_seconds": min(_timed(workspace.scan) for _ in range(5)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made(Path(folder))
        found = measured(Path(folder))
    slower, faster = found["first_over_read_and_parse"], found["first_over_second"]
    print(f"{FILES:,} files, {found['bytes'] / 1e6:.0f} MB: ", end="")
    print(f"read and parsed once in {found['read_and_parse_seconds']:.1f} s")
    print(f"first assembly, {found['steps_of_progress']:,} steps of progress: ", end="")
    print(f"{found['first_seconds']:.1f} s, {slower:.2f}× of that; limit {SLOWEST_FIRST:.0f}×")
    print(f"second assembly, a scan being {1000 * found['scan_seconds']:.0f} ms of it: ", end="")
    print(f"{1000 * found['second_seconds']:.0f} ms, {faster:.0f}× faster; limit {FASTEST_SECOND:.0f}×")
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")
    return int(slower > SLOWEST_FIRST or faster < FASTEST_SECOND or not found["steps_of_progress"])


if __name__ == "__main__":
    sys.exit(main())
