"""Measure the processor time of each command, on a short and on a long session.

Every command runs in a process of its own, as a user runs it: its seconds are user and system time, and the
best of several runs counts. With `--before`, the same commands of another checkout run in turn with ours,
on copies of a store of the same messages:

    git worktree add /tmp/before COMMIT
    python benchmarks/commands.py --before /tmp/before
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parents[1]
SIZES = {"short": 23, "long": 1_150}
"""Tickets of a session: some 400 messages, and some 20,000."""
BUDGET = "8000"
NAMED, MEANT = "BUG port staging server", "gratitude remaining chores"
"""A query with words of the messages, and one with none: then meaning decides."""
COMMANDS = {
    "version": ["--version"],
    "add": ["add", "user", "And now?"],
    "build": ["build", "--budget", BUDGET],
    "stats": ["stats"],
    "explain": ["explain"],
    "search": ["search", NAMED],
    "search (meaning)": ["search", MEANT],
    "focus": ["focus", "Which port has the staging server?", "--budget", BUDGET],
    "why": ["why", "{id}"],
    "compare": ["compare", "--budget", BUDGET],
    "replay": ["replay", "--preset", "foveal", "--budget", BUDGET],
    "recall": ["recall", "{id}"],
    "sessions": ["sessions"],
    "context": ["context", "--task", "billing", "--workspace", ".", "--budget", BUDGET],
}
LONG = ("search", "search (meaning)", "why", "compare", "replay")
"""The commands that are measured on the long session too: those whose work grows with the session."""
RUNS = {"short": 2, "long": 1}
BACK = 390
"""Messages back to the one that is recalled and explained."""
MOST_SECONDS = 600.0


STORING = f"""
import sys
from foveal import Foveal
from generated_runs import run
with Foveal(sys.argv[1]) as fov:
    session = fov.session("default", model="gpt-4o")
    session.extend(run(1, int(sys.argv[2])))
    session.build(budget={BUDGET})
    print(session.entries()[-{BACK}].id)
"""
"""Writes a store with one session and one build; prints the id of a message that its window left out."""


def stored(checkout: Path, folder: Path, size: str) -> str:
    """The id of the message to recall in a store that the checkout itself wrote, as it can read it."""
    folder.mkdir()
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(checkout / "src"), str(HERE / "benchmarks")])
    }
    command = [sys.executable, "-c", STORING, str(folder / "foveal.db"), str(SIZES[size])]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def seconds(checkout: Path, store: Path, arguments: Sequence[str]) -> float:
    """The processor time of one command of a checkout, on a copy of the store."""
    with tempfile.TemporaryDirectory() as scratch:
        for file in store.iterdir():
            shutil.copy(file, scratch)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("FOVEAL_")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
        environment |= {"PYTHONPATH": str(checkout / "src"), "FOVEAL_STORE": f"{scratch}/foveal.db"}
        workspace = Path(scratch) / "workspace"
        workspace.mkdir()
        (workspace / "billing.py").write_text("def settle_billing() -> None: ...\n", encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "foveal.cli", *arguments],
            env=environment,
            cwd=workspace,
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=MOST_SECONDS,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(checkouts: Mapping[str, Path], size: str, only: Sequence[str]) -> dict[str, dict[str, float]]:
    """Processor seconds by command and checkout; the checkouts run in turn."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        stores = {of: Path(folder, of) for of in checkouts}
        ids = {of: stored(checkout, stores[of], size) for of, checkout in checkouts.items()}
        for name, command in COMMANDS.items():
            if (only and name not in only) or (size == "long" and name not in LONG):
                continue
            found[name] = {of: float("inf") for of in checkouts}
            for _ in range(RUNS[size]):
                for of, checkout in checkouts.items():
                    arguments = [part.format(id=ids[of]) for part in command]
                    found[name][of] = min(found[name][of], seconds(checkout, stores[of], arguments))
            shown = "  ".join(f"{of} {value:8.2f}" for of, value in found[name].items())
            print(f"{size:6} {name:18} {shown}", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--before", type=Path, help="a checkout to compare with")
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--only", nargs="*", default=[], choices=list(COMMANDS))
    options = parser.parse_args()
    checkouts = ({"before": options.before} if options.before else {}) | {"after": HERE}
    figures = {size: measured(checkouts, size, options.only) for size in options.sizes}
    if options.json:
        rounded = {
            size: {name: {of: round(value, 2) for of, value in row.items()} for name, row in rows.items()}
            for size, rows in figures.items()
        }
        options.json.write_text(json.dumps(rounded, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
