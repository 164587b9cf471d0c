"""Measure the start-up of `import foveal`, of its first use and of `foveal --version`.

Every run is a new process, the kinds in turn, so that a busy moment affects all of them alike. The figures
are medians in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

KINDS = {
    "bare interpreter": "pass",
    "import json": "import json",
    "import foveal": "import foveal",
    "foveal.fit": "import foveal; foveal.fit",
    "foveal.Foveal": "import foveal; foveal.Foveal",
    "foveal --version": "from foveal.cli import main; import sys; sys.argv[1:] = ['--version']; main()",
}


def milliseconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1000


def measure(runs: int) -> dict[str, float]:
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for _ in range(runs):
        for kind, code in KINDS.items():
            times[kind].append(milliseconds(code))
    return {kind: round(statistics.median(each), 1) for kind, each in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    figures = measure(options.runs)
    for kind, median in figures.items():
        print(f"{kind:<18}{median:>8.1f} ms")
    own = figures["import foveal"] - figures["bare interpreter"]
    print(f"foveal itself: {own:.1f} ms over the bare interpreter; medians of {options.runs} runs")
    if options.json:
        options.json.write_text(json.dumps({"runs": options.runs, "median_ms": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
