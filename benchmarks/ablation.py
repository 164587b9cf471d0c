"""Measure what each part of the preset `foveal` earns, in recall and money, by switching it off.

    python benchmarks/ablation.py [--json FILE] [--only ROW …] [--most N] [--length N]

A part that earns nothing should be removed. Most parts are switched off by a number, the others by replacing
one function with a plain one. The file is written after every row; a row that it already has from this commit
is not measured again. `--most` limits the recordings of a domain, `--length` the messages of a session.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import judge
import measure
from foveal.pipeline.values import Rates
from foveal.presets.foveal import digest, select
from foveal.session.build import build

NEVER = 1e9
SESSIONS = ("coding-1000@32k", "airline-1000@16k")
WINDOW = "sliding window"
METHOD = (
    "Each row is the preset with one part switched off; columns as in `peers.py`, bills against the sliding "
    "window's on the same sessions. Less than a point of recall means little: some 700 facts a budget."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Without:
    """How a part is switched off."""

    numbers: Mapping[str, Any] = field(default_factory=dict)
    """Of the preset."""
    swaps: tuple[tuple[Any, str, object], ...] = ()
    """Modules, names in them, and what the name means instead."""


def _worth(**numbers: float) -> Without:
    return Without(numbers={"worth": numbers})


ROWS: Mapping[str, Without] = {
    "nothing": Without(),
    "note": Without(swaps=((select, "_write_note", lambda *_: (None, digest.Digest())),)),
    "cost model": Without(swaps=((build, "rates", lambda *_: Rates()),)),
    "retrieval": Without(numbers={"asked_for_share": 0.0}),
    "weights of names": Without(swaps=((digest, "weight", lambda name: 1.0),)),  # noqa: ARG005
    "landmarks": _worth(asked=0.0, failed=0.0),
    "gists": Without(numbers={"gist_share": 0.0}),
    "landmarks and gists": Without(numbers={"gist_share": 0.0, "worth": {"asked": 0.0, "failed": 0.0}}),
    "names used in calls": _worth(used=1.0),
    "bent price": _worth(bent=1.0),
    "newest turns whole": Without(numbers={"near_share": 0.0}),
    "newest question whole": Without(numbers={"asked_share": 0.0}),
    "fading": _worth(faded=1.0),
    "reach": Without(numbers={"reach": NEVER}),
    "room for one turn more": Without(numbers={"marks": {"few": NEVER}}),
    "landmarks: asked": _worth(asked=0.0),
    "landmarks: failed": _worth(failed=0.0),
    "holding still": Without(
        numbers={"marks": {"slack": NEVER}}, swaps=((select, "_keep_layout", lambda _: None),)
    ),
}
"""By the part that is off; the one that takes longest comes last."""


def system(without: Without) -> measure.Make:
    return type("Ablated", (measure.Layout,), {"numbers": {"foveal": without.numbers}})


def measured(asked: argparse.Namespace) -> dict[str, Any]:
    runs = measure.prepared(asked.most, length=asked.length, names=SESSIONS)
    file = measure.File(asked, runs, METHOD)
    if WINDOW not in file.found:
        window = measure.cost(judge.window(runs.source), runs)
        file.found[WINDOW] = {name: row["bill"] for name, row in window.items()}
    for name, without in ROWS.items():
        if not file.wants(name, measure.commit()):
            continue
        make = system(without)
        with ExitStack() as stack:
            for swap in without.swaps:
                stack.enter_context(measure.swapped(*swap))
            row = {"quality": measure.quality(make, runs), "cost": measure.cost(make, runs)}
        file.rows[name] = {"of": measure.commit(), **row}
        file.save()
    return file.found


def table(found: Mapping[str, Any]) -> Iterator[str]:
    """At most 80 columns, shares in percent."""
    sessions = list(found[WINDOW])
    heads = "".join(f"{name.partition('-')[0]:>12}" for name in sessions)
    yield f"{found['sample']['source']:24}{'25%':>16}{'50%':>16}{heads}"
    yield f"{'without':24}{'rec  str mark':>16}{'rec  str mark':>16}" + "   bill  rec" * len(sessions)
    for name, row in found["rows"].items():
        shares = "".join(
            f"{_percent(part['recall']):>6}{_percent(part['strict'])}{_percent(measure.marks(part))}"
            for part in row["quality"].values()
        )
        bills = "".join(
            f"{row['cost'][each]['bill'] / found[WINDOW][each]:>7.3f}{_percent(row['cost'][each]['recall'])}"
            for each in sessions
        )
        yield f"{name:24}{shares}{bills}"


def _percent(share: float | None) -> str:
    if share is None:
        return "    –"
    return "  100" if share == 1 else f"{100 * share:5.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    print("\n".join(table(measured(measure.options(parser)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
