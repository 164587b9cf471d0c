"""A workspace in → how its tests went: JUnit reports, pytest's last failures, coverage of working files.

A report with a document type or an entity in it is not parsed: what it expands to nobody can bound.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from foveal.sources.listing import COVERAGE, is_junit, reports
from foveal.sources.parts import lines_within, part, too_small
from foveal.sources.seen import Refusal
from foveal.sources.surroundings import Surroundings, surroundings
from foveal.sources.values import TEST_RESULTS, Look, Offer
from foveal.window import Contributed

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LAST_FAILED = ".pytest_cache/v/cache/lastfailed"
REPORTS = 5
"""JUnit files that are read, the newest."""
FAILURES = 50
WIDEST = 200
"""Characters of a message's head."""
LEAST_COVERED = 10


def results(look: Look, *, around: Surroundings | None = None) -> Iterator[Offer | Contributed]:
    """One offer for each kind of report that is there; failures come first."""
    around = around or surroundings(look)
    found = [*_junit(look), *_last_failed(look), *_coverage(look, around)]
    for path, touched_at, lines in found:
        room = part(look, TEST_RESULTS) // len(found)
        if text := lines_within(lines, room, look.count):
            yield Offer(text=text, type=TEST_RESULTS, source_path=path, touched_at=touched_at)
        else:
            yield too_small(TEST_RESULTS, path, characters=sum(map(len, lines)), room=room)


Report = tuple[str, float | None, Sequence[str]]
"""Where it is from, when it was written, and its lines."""


def _junit(look: Look) -> Iterator[Report]:
    found = [row for row in reports(look.workspace) if is_junit(row[0])]
    for path, touched_at in sorted(found, key=lambda row: -row[1])[:REPORTS]:
        root = _parsed(look, path)
        if root is not None and (lines := list(_cases(root))):
            yield path, touched_at, lines


def _cases(root: Element) -> Iterator[str]:
    """What a JUnit report says: the sum, then each failure with the head of its message."""
    cases = list(root.iter("testcase"))
    failed = [(case, fault) for case in cases for fault in case if fault.tag in ("failure", "error")]
    skipped = sum(case.find("skipped") is not None for case in cases)
    if cases:
        yield f"{len(failed):,} failed, {skipped:,} skipped, of {len(cases):,} tests"
    for case, fault in failed[:FAILURES]:
        name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
        yield f"FAILED {name}: {_head(fault.get('message') or fault.text or '')}"[:WIDEST]


def _head(message: str) -> str:
    return next((line.strip() for line in message[: 10 * WIDEST].splitlines() if line.strip()), "")


def _last_failed(look: Look) -> Iterator[Report]:
    text = look.workspace.text(LAST_FAILED, ignored=True)
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict) and found:
        yield LAST_FAILED, None, ["Failed when pytest last ran them:", *islice(map(str, found), FAILURES)]


def _coverage(look: Look, around: Surroundings) -> Iterator[Report]:
    """The share of lines that tests run, and the working files with the smallest."""
    root = _parsed(look, COVERAGE)
    if root is None or root.tag != "coverage":
        return
    rates = {(each.get("filename") or "").replace("\\", "/"): _rate(each) for each in root.iter("class")}
    touched = [
        (rate, path)
        for path, rate in rates.items()
        if path and any(f"/{working}".endswith(f"/{path}") for working in around.paths)
    ]
    lines = [f"{rate:.0%} of the lines of {path} are tested" for rate, path in sorted(touched)]
    yield COVERAGE, None, [f"Tests run {_rate(root):.0%} of all lines", *lines[:LEAST_COVERED]]


def _rate(element: Element) -> float:
    try:
        return min(1.0, max(0.0, float(element.get("line-rate") or 0)))
    except ValueError:
        return 0.0


def _parsed(look: Look, path: str) -> Element | None:
    """The root of an XML file; None where there is none, or it is none."""
    from xml.etree.ElementTree import ParseError, fromstring

    text = look.workspace.text(path, ignored=True)
    if text is None:
        return None
    if "<!doctype" in (lowered := text.lower()) or "<!entity" in lowered:
        why = "has a document type or an entity in it, and is not parsed"
        look.workspace.refuse(Refusal(path=path, why=why))
        return None
    try:
        return fromstring(text)  # noqa: S314 — without a document type there is nothing to expand
    except (ParseError, ValueError):
        return None
