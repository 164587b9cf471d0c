"""Compare Foveal's presets with other libraries on the same runs: facts and landmarks kept, cost, errors.

    python benchmarks/peers.py [--json FILE] [--only "foveal" "sliding window"] [--most N] [--length N]

The peers are those the harness ships, each using its own library (`peers.txt`); one that is not installed is
listed with the reason. A row that the file already has, a preset's from this commit, a peer's from these
versions, is not measured again. `--most` limits the recordings of a domain, `--length` the messages of a
session.
"""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import judge
import measure
from foveal.presets import PRESETS

OURS = tuple(sorted(PRESETS, key=lambda name: (name != "foveal", name)))
LIBRARIES = {
    "langchain trim": "langchain-core",
    "langchain": "langchain",
    "llamaindex": "llama-index-core",
    "openai-agents": "openai-agents",
    "strands": "strands-agents",
    "headroom": "headroom-ai",
}
"""By how a peer's name begins; the others are the harness's own."""
TOO_SLOW = {"llamaindex buffer": "recounts the whole history for each message it drops"}
WINDOW = "sliding window"
METHOD = (
    "Agent runs (of the recorded ones the half for development) at 25% and 50% of their tokens, long "
    "sessions at a fixed budget; no model runs. Recall: needed values of the next tool call that stand in"
    " a valid window within budget beside two words of their surroundings (strict: four). Landmarks: "
    "messages of the user, failures and decisions whose first line is in the last window, mean of the "
    "three. Bill: input tokens, a prefix that repeats at 0.1 and the rest at 1.25, against the sliding "
    "window's in the same run. Invalid: refusals of the request in OpenAI's form and in Anthropic's, "
    "added up."
)


def ours(preset: str) -> measure.Make:
    return type("Ours", (measure.Layout,), {"chosen": preset})


def systems(source: str) -> Iterator[tuple[str, measure.Make]]:
    """Every system by name, ours first."""
    yield from ((name, ours(name)) for name in OURS)
    if source == "generated":
        yield from {WINDOW: judge.Newest, "block eviction": lambda: judge.Newest(low=0.6)}.items()
        return
    import systems as shipped

    for name in shipped.NAMES:
        if name != "project" and name not in TOO_SLOW:
            yield name, partial(shipped.make, name)


def reason(make: measure.Make) -> str:
    """Why a system cannot be measured here; empty where it can."""
    try:
        make()
    except ImportError as error:
        return f"not installed: {error}"
    return ""


def origin(name: str) -> str:
    """What a row was measured on: a commit of ours, or a version of a library."""
    if name in PRESETS:
        return measure.commit()
    library = next((each for start, each in LIBRARIES.items() if name.startswith(start)), "")
    return f"{library} {measure.installed(library)}" if library else "the harness"


def measured(asked: argparse.Namespace) -> dict[str, Any]:
    """Every row that is asked for; the file is written after each, so that a stopped run goes on."""
    runs = measure.prepared(asked.most, length=asked.length)
    file = measure.File(asked, runs, METHOD)
    missing = dict(TOO_SLOW) if runs.source == "recorded" else {}
    for name, make in systems(runs.source):
        if why := reason(make):
            missing |= {} if name in file.rows else {name: why}
        elif file.wants(name, origin(name)):
            row = {"quality": measure.quality(make, runs), "cost": measure.cost(make, runs)}
            file.rows[name] = {"of": origin(name), **row}
        file.found["left out"] = missing
        file.save()
    return file.found


def table(found: Mapping[str, Any]) -> Iterator[str]:
    """At most 80 columns: shares in percent, bills as a multiple of the sliding window's."""
    rows = dict(sorted(found["rows"].items(), key=_best_first))
    sessions = [name for name in next(iter(rows.values()))["cost"] if "-200@" not in name]
    heads = "".join(f"{name.partition('-')[0]:>15}" for name in sessions)
    yield f"{found['sample']['source'] + ' runs':24}{'25%':>13}{'50%':>13}{heads}"
    yield f"{'':24}{' rec str mark' * 2}" + "   bill rec hit" * len(sessions)
    for name, row in rows.items():
        shares = "".join(
            f"{_percent(part['recall'])}{_percent(part['strict'])}{_percent(measure.marks(part)):>5}"
            for part in row["quality"].values()
        )
        yield f"{name[:24]:24}{shares}" + "".join(_cost(rows, row, each) for each in sessions)
        wrong = {each: count for each, count in totals(row).items() if count and each != "turns"}
        if wrong:
            shown = ", ".join(f"{count:,} {each}" for each, count in wrong.items())
            yield f"  of {totals(row)['turns']:,} requests {shown}"
    for name, why in found["left out"].items():
        yield f"{name[:24]:24} {why}"[:80]


def _best_first(named: tuple[str, Mapping[str, Any]]) -> tuple[bool, float]:
    """Ours, then the others, each by what is kept where least fits."""
    name, row = named
    return name not in PRESETS, -(next(iter(row["quality"].values()))["recall"] or 0.0)


def totals(row: Mapping[str, Any]) -> dict[str, int]:
    parts = (*row["quality"].values(), *row["cost"].values())
    return {name: sum(part[name] for part in parts) for name in measure.WRONG}


def _cost(rows: Mapping[str, Any], row: Mapping[str, Any], session: str) -> str:
    part = row["cost"][session]
    against = rows.get(WINDOW, row)["cost"][session]["bill"]
    return f"{part['bill'] / against:>7.2f}{_percent(part['recall'])}{_percent(part['prefix hit'])}"


def _percent(share: float | None) -> str:
    return "   –" if share is None else f"{100 * share:4.0f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    asked = measure.options(parser)
    logging.disable(logging.CRITICAL)  # peers talk
    warnings.simplefilter("ignore")
    found = measured(asked)
    print("\n".join(table(found)))
    return int(any(measure.bad(row) for name, row in found["rows"].items() if name in PRESETS))


if __name__ == "__main__":
    sys.exit(main())
