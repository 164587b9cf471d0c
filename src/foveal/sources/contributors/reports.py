"""A workspace in → how its tests went: JUnit reports, pytest's last failures, coverage of working files.

A report with a document type or an entity in it is not parsed: what it expands to nobody can bound.

A workspace in → what analysers found in its code, told in SARIF: in working files first, then by level.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from foveal.sources.contributor import (
    STATIC_ANALYSIS,
    TEST_RESULTS,
    ContextRequest,
    Offer,
    lines_within,
    part,
    too_small,
)
from foveal.sources.working_set import Surroundings, surroundings
from foveal.sources.workspace.reports import COVERAGE, is_junit, is_sarif, reports
from foveal.sources.workspace.values import Refusal
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


def results(request: ContextRequest, *, around: Surroundings | None = None) -> Iterator[Offer | Contributed]:
    """One offer for each kind of report that is there; failures come first."""
    around = around or surroundings(request)
    found = [*_junit(request), *_last_failed(request), *_coverage(request, around)]
    for path, touched_at, lines in found:
        room = part(request, TEST_RESULTS) // len(found)
        if text := lines_within(lines, room, request.count):
            yield Offer(text=text, type=TEST_RESULTS, source_path=path, touched_at=touched_at)
        else:
            yield too_small(TEST_RESULTS, path, characters=sum(map(len, lines)), room=room)


Report = tuple[str, float | None, Sequence[str]]
"""Where it is from, when it was written, and its lines."""


def _junit(request: ContextRequest) -> Iterator[Report]:
    found = [row for row in reports(request.workspace) if is_junit(row[0])]
    for path, touched_at in sorted(found, key=lambda row: -row[1])[:REPORTS]:
        root = _parsed(request, path)
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


def _last_failed(request: ContextRequest) -> Iterator[Report]:
    text = request.workspace.text(LAST_FAILED, ignored=True)
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict) and found:
        yield LAST_FAILED, None, ["Failed when pytest last ran them:", *islice(map(str, found), FAILURES)]


def _coverage(request: ContextRequest, around: Surroundings) -> Iterator[Report]:
    """The share of lines that tests run, and the working files with the smallest."""
    root = _parsed(request, COVERAGE)
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


def _parsed(request: ContextRequest, path: str) -> Element | None:
    """The root of an XML file; None where there is none, or it is none."""
    from xml.etree.ElementTree import ParseError, fromstring

    text = request.workspace.text(path, ignored=True)
    if text is None:
        return None
    if "<!doctype" in (lowered := text.lower()) or "<!entity" in lowered:
        why = "has a document type or an entity in it, and is not parsed"
        request.workspace.refuse(Refusal(path=path, why=why))
        return None
    try:
        return fromstring(text)  # noqa: S314 — without a document type there is nothing to expand
    except (ParseError, ValueError):
        return None


SARIF_REPORTS = 5
"""Files that are read, the newest."""
FINDINGS = 5_000
"""Of one file."""
FINDING_WIDEST = 200
_GRAVITY = {"error": 0, "warning": 1, "note": 2, "none": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing an analyser says about a line."""

    level: str
    path: str
    line: int
    rule: str
    message: str


def analysis(request: ContextRequest, *, around: Surroundings | None = None) -> Iterator[Offer | Contributed]:
    """One offer for each report."""
    around = around or surroundings(request)
    every = dict(chain(reports(request.workspace), ((seen.path, seen.touched_at) for seen in around.files)))
    known = [row for row in every.items() if is_sarif(row[0])]
    for path, touched_at in sorted(known, key=lambda row: (-row[1], row[0]))[:SARIF_REPORTS]:
        text = request.workspace.text(path, ignored=True) or ""
        found = list(islice(_findings(text, request.workspace.root.as_posix()), FINDINGS))
        room = part(request, STATIC_ANALYSIS) // min(SARIF_REPORTS, len(known))
        lines = _told(found, around.paths)
        if found and (text := lines_within(lines, room, request.count)):
            yield Offer(text=text, type=STATIC_ANALYSIS, source_path=path, touched_at=touched_at)
        elif found:
            yield too_small(STATIC_ANALYSIS, path, characters=sum(map(len, lines)), room=room)


def _told(found: Sequence[Finding], working: frozenset[str]) -> list[str]:
    """A line for each finding, those in working files first, then by gravity."""
    counts = {level: sum(each.level == level for each in found) for level in _GRAVITY}
    said = ", ".join(f"{count:,} of level {level}" for level, count in counts.items() if count)
    order = sorted(found, key=lambda each: (each.path not in working, _GRAVITY[each.level]))
    return [
        f"{len(found):,} findings: {said}",
        *(f"{e.level} {e.path}:{e.line} {e.rule}: {e.message}"[:FINDING_WIDEST] for e in order),
    ]


def _findings(text: str, root: str) -> Iterator[Finding]:
    """Every result of every run; what is not as SARIF has it is passed over."""
    try:
        report = json.loads(text or "null")
    except (ValueError, RecursionError):
        return
    for run in _list(_of(report, "runs")):
        for result in _list(_of(run, "results")):
            physical = _of(_first(_of(result, "locations")), "physicalLocation")
            level = _of(result, "level")
            line = _of(_of(physical, "region"), "startLine")
            yield Finding(
                level=level if level in _GRAVITY else "warning",
                path=_path(_text(_of(_of(physical, "artifactLocation"), "uri")), root),
                line=line if isinstance(line, int) else 0,
                rule=_text(_of(result, "ruleId")),
                message=" ".join(_text(_of(_of(result, "message"), "text"))[: 2 * FINDING_WIDEST].split()),
            )


def _path(uri: str, root: str) -> str:
    """A place as analysers write it, below the root where it is there.

    >>> _path("src/my%20app.py", "/work"), _path("file:/work/app.py", "/work")
    ('src/my app.py', 'app.py')
    """
    from urllib.parse import unquote

    plain = unquote(uri[:1_000].removeprefix("file:").removeprefix("//"))
    return plain.removeprefix(f"{root}/").removeprefix("./")


def _of(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, Mapping) else None


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _first(value: object) -> object:
    return next(iter(_list(value)), None)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
