"""A workspace in → what analysers found in its code, told in SARIF: in working files first, then by level."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from foveal.sources.listing import is_sarif, reports
from foveal.sources.parts import lines_within, part, too_small
from foveal.sources.surroundings import Surroundings, surroundings
from foveal.sources.values import STATIC_ANALYSIS, Look, Offer
from foveal.window import Contributed

REPORTS = 5
"""Files that are read, the newest."""
FINDINGS = 5_000
"""Of one file."""
WIDEST = 200
_GRAVITY = {"error": 0, "warning": 1, "note": 2, "none": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing an analyser says about a line."""

    level: str
    path: str
    line: int
    rule: str
    message: str


def analysis(look: Look, *, around: Surroundings | None = None) -> Iterator[Offer | Contributed]:
    """One offer for each report."""
    around = around or surroundings(look)
    every = dict(chain(reports(look.workspace), ((seen.path, seen.touched_at) for seen in around.files)))
    known = [row for row in every.items() if is_sarif(row[0])]
    for path, touched_at in sorted(known, key=lambda row: (-row[1], row[0]))[:REPORTS]:
        text = look.workspace.text(path, ignored=True) or ""
        found = list(islice(_findings(text, look.workspace.root.as_posix()), FINDINGS))
        room = part(look, STATIC_ANALYSIS) // min(REPORTS, len(known))
        lines = _told(found, around.paths)
        if found and (text := lines_within(lines, room, look.count)):
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
        *(f"{e.level} {e.path}:{e.line} {e.rule}: {e.message}"[:WIDEST] for e in order),
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
                message=" ".join(_text(_of(_of(result, "message"), "text"))[: 2 * WIDEST].split()),
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
