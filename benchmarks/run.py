"""Run every benchmark beside this file, one after the other → `results/NAME.json` each.

    python benchmarks/run.py [NAME …]

A benchmark is a script that prints a table and takes `--json FILE`. One that cannot run here (a peer or its
data is missing) says why and exits 0 without a file. The quick ones come first, those that take an hour last.
One that fails stops nobody; the first to fail decides the exit code. `make docs` then brings the README up to
date.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"
LAST = ("recall_handles", "recall", "presets", "peers", "ablation", "tune")
"""These take longest, in this order."""


def main(names: list[str]) -> int:
    RESULTS.mkdir(exist_ok=True)
    told, codes = [], []
    for script in sorted(filter(_is_script, HERE.glob("*.py")), key=_when):
        if names and script.stem not in names:
            continue
        print(f"\n== {script.stem}", flush=True)
        start = time.monotonic()
        command = [sys.executable, str(script), "--json", str(RESULTS / f"{script.stem}.json")]
        codes.append(subprocess.run(command, check=False).returncode)
        end = "" if codes[-1] == 0 else f"   exit {codes[-1]}"
        told.append(f"{script.stem:16}{time.monotonic() - start:>8.0f} s{end}")
    print("\n== took\n" + "\n".join(told))
    return next(filter(None, codes), 0)


def _when(script: Path) -> tuple[int, str]:
    return (LAST.index(script.stem) + 1 if script.stem in LAST else 0, script.stem)


def _is_script(path: Path) -> bool:
    return path.name != "run.py" and "__main__" in path.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
