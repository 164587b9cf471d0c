"""Offer what tests and analysers reported: JUnit results, pytest's last failures, coverage, SARIF findings.

An XML report with a document type or an entity is not parsed: nothing bounds what it expands to. What does
not have the form of its format is skipped.
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
    room_for,
    too_small,
)
from foveal.sources.working_set import WorkingSet, find_working_set
from foveal.sources.workspace.report_files import COVERAGE, is_junit, is_sarif, reports
from foveal.sources.workspace.values import Refusal
from foveal.window import Contributed

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LAST_FAILED = ".pytest_cache/v/cache/lastfailed"
REPORTS = 5
"""Reports of one kind that are read, the newest."""
FAILURES = 50
"""Failed tests of one report."""
FINDINGS = 5_000
"""Findings of one report."""
WIDEST = 200
"""Characters of the line for one failure or finding."""
LEAST_COVERED = 10
"""Working files whose coverage is shown, the lowest."""
_SEVERITY = {"error": 0, "warning": 1, "note": 2, "none": 3}

Report = tuple[str, float | None, Sequence[str]]
"""The path of a report, when it was written, and the lines to show."""


def results(
    request: ContextRequest, *, working_set: WorkingSet | None = None
) -> Iterator[Offer | Contributed]:
    """One offer for each test report; failures come first."""
    working_set = working_set or find_working_set(request)
    found = [*_junit(request), *_last_failed(request), *_coverage(request, working_set)]
    for report in found:
        yield _offer(request, TEST_RESULTS, report, room_for(request, TEST_RESULTS) // len(found))


def analysis(
    request: ContextRequest, *, working_set: WorkingSet | None = None
) -> Iterator[Offer | Contributed]:
    """One offer for each SARIF report; findings in working files come first."""
    working_set = working_set or find_working_set(request)
    files = ((file.path, file.touched_at) for file in working_set.files)
    known = [row for row in dict(chain(reports(request.workspace), files)).items() if is_sarif(row[0])]
    room = room_for(request, STATIC_ANALYSIS) // min(REPORTS, max(1, len(known)))
    for path, touched_at in sorted(known, key=lambda row: (-row[1], row[0]))[:REPORTS]:
        text = request.workspace.text(path, ignored=True) or ""
        found = list(islice(_findings(text, request.workspace.root.as_posix()), FINDINGS))
        if found:
            lines = _finding_lines(found, working_set.paths)
            yield _offer(request, STATIC_ANALYSIS, (path, touched_at, lines), room)


def _offer(request: ContextRequest, type: str, report: Report, room: int) -> Offer | Contributed:
    path, touched_at, lines = report
    if text := lines_within(lines, room, request.count):
        return Offer(text=text, type=type, source_path=path, touched_at=touched_at)
    return too_small(type, path, characters=sum(map(len, lines)), room=room)


def _junit(request: ContextRequest) -> Iterator[Report]:
    found = [row for row in reports(request.workspace) if is_junit(row[0])]
    for path, touched_at in sorted(found, key=lambda row: -row[1])[:REPORTS]:
        root = _parse_xml(request, path)
        if root is not None and (lines := list(_junit_lines(root))):
            yield path, touched_at, lines


def _junit_lines(root: Element) -> Iterator[str]:
    """The totals of a JUnit report, then each failure with the first line of its message."""
    cases = list(root.iter("testcase"))
    failed = [(case, failure) for case in cases for failure in case if failure.tag in ("failure", "error")]
    skipped = sum(case.find("skipped") is not None for case in cases)
    if cases:
        yield f"{len(failed):,} failed, {skipped:,} skipped, of {len(cases):,} tests"
    for case, failure in failed[:FAILURES]:
        name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
        yield f"FAILED {name}: {_first_line(failure.get('message') or failure.text or '')}"[:WIDEST]


def _first_line(message: str) -> str:
    return next((line.strip() for line in message[: 10 * WIDEST].splitlines() if line.strip()), "")


def _last_failed(request: ContextRequest) -> Iterator[Report]:
    text = request.workspace.text(LAST_FAILED, ignored=True)
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict) and found:
        yield LAST_FAILED, None, ["Failed when pytest last ran them:", *islice(map(str, found), FAILURES)]


def _coverage(request: ContextRequest, working_set: WorkingSet) -> Iterator[Report]:
    """The share of lines that tests run, and the working files with the smallest share."""
    root = _parse_xml(request, COVERAGE)
    if root is None or root.tag != "coverage":
        return
    rates = {(each.get("filename") or "").replace("\\", "/"): _rate(each) for each in root.iter("class")}
    covered = [
        (rate, path)
        for path, rate in rates.items()
        if path and any(f"/{working}".endswith(f"/{path}") for working in working_set.paths)
    ]
    lines = [f"{rate:.0%} of the lines of {path} are tested" for rate, path in sorted(covered)]
    yield COVERAGE, None, [f"Tests run {_rate(root):.0%} of all lines", *lines[:LEAST_COVERED]]


def _rate(element: Element) -> float:
    try:
        return min(1.0, max(0.0, float(element.get("line-rate") or 0)))
    except ValueError:
        return 0.0


def _parse_xml(request: ContextRequest, path: str) -> Element | None:
    """The root of an XML file; None where the file is missing or is not XML."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What an analyser found in one line."""

    level: str
    path: str
    line: int
    rule: str
    message: str


def _finding_lines(found: Sequence[Finding], working: frozenset[str]) -> list[str]:
    """A line for each finding, those in working files first, then by severity."""
    counts = {level: sum(each.level == level for each in found) for level in _SEVERITY}
    totals = ", ".join(f"{count:,} of level {level}" for level, count in counts.items() if count)
    order = sorted(found, key=lambda each: (each.path not in working, _SEVERITY[each.level]))
    return [
        f"{len(found):,} findings: {totals}",
        *(f"{e.level} {e.path}:{e.line} {e.rule}: {e.message}"[:WIDEST] for e in order),
    ]


def _findings(text: str, root: str) -> Iterator[Finding]:
    """Every result of every run of a SARIF report."""
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
                level=level if level in _SEVERITY else "warning",
                path=_path(_text(_of(_of(physical, "artifactLocation"), "uri")), root),
                line=line if isinstance(line, int) else 0,
                rule=_text(_of(result, "ruleId")),
                message=" ".join(_text(_of(_of(result, "message"), "text"))[: 2 * WIDEST].split()),
            )


def _path(uri: str, root: str) -> str:
    """The path of a URI, relative to the root where it is below it.

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
