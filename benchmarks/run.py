"""Run every benchmark in this folder, one after the other, and write `results/NAME.json` for each.

    python benchmarks/run.py [NAME …]

A benchmark is a script that prints a table and takes `--json FILE`. One that cannot run here (a peer or its
data is missing) says why and exits 0 without a file. The quick ones come first, those that take an hour last.
A failure does not stop the others; the first one decides the exit code. `make docs` then updates the README.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"
LAST = ("recall_handles", "recall", "presets", "peers", "ablation", "tune")
"""The slowest ones, in this order."""


def main(names: list[str]) -> int:
    RESULTS.mkdir(exist_ok=True)
    times, codes = [], []
    for script in sorted(filter(_is_script, HERE.glob("*.py")), key=_order):
        if names and script.stem not in names:
            continue
        print(f"\n== {script.stem}", flush=True)
        start = time.monotonic()
        command = [sys.executable, str(script), "--json", str(RESULTS / f"{script.stem}.json")]
        codes.append(subprocess.run(command, check=False).returncode)
        end = "" if codes[-1] == 0 else f"   exit {codes[-1]}"
        times.append(f"{script.stem:16}{time.monotonic() - start:>8.0f} s{end}")
    print("\n== took\n" + "\n".join(times))
    return next(filter(None, codes), 0)


def _order(script: Path) -> tuple[int, str]:
    return (LAST.index(script.stem) + 1 if script.stem in LAST else 0, script.stem)


def _is_script(path: Path) -> bool:
    return path.name != "run.py" and "__main__" in path.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
