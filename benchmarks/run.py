"""Run every benchmark beside this file, one after the other → `results/NAME.json` each.

A benchmark is a script that prints a table and takes `--json FILE`. One that cannot run here (a peer or its
data is missing) says why and exits 0 without a file. The first to fail decides the exit code; all are run.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"


def main(names: list[str]) -> int:
    RESULTS.mkdir(exist_ok=True)
    scripts = sorted(path for path in HERE.glob("*.py") if path.name != "run.py" and _is_script(path))
    codes = []
    for script in scripts:
        if names and script.stem not in names:
            continue
        print(f"\n== {script.stem}", flush=True)
        command = [sys.executable, str(script), "--json", str(RESULTS / f"{script.stem}.json")]
        codes.append(subprocess.run(command, check=False).returncode)
    return next(filter(None, codes), 0)


def _is_script(path: Path) -> bool:
    return "__main__" in path.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
