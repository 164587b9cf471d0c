"""A workspace in → the reports that tests and analysers left in it, with their times; ignored ones too.

Reports are made and not kept. Names only, in a bounded number, through no link; the files are read through
the workspace.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from itertools import islice

from foveal.sources.workspace.safe_open import folder
from foveal.sources.workspace.workspace import Workspace

FOLDERS = ("test-results", "reports")
COVERAGE = "coverage.xml"
MOST = 5_000
"""Entries that are looked at in the root, and below each of the folders."""
DEEPEST = 4


def reports(workspace: Workspace) -> list[tuple[str, float]]:
    """Paths of the reports in the root and below the folders, and when each was written."""
    root = str(workspace.root)
    found = [*_files(root, "", deepest=0), *(row for name in FOLDERS for row in _files(root, name))]
    return [(path, touched_at) for path, touched_at in found if is_report(path)]


def is_report(path: str) -> bool:
    """Whether somebody reads what the file says, and nobody the file.

    >>> [is_report(path) for path in ("junit-1.xml", "reports/a.xml", "x.SARIF", "coverage.xml", "pom.xml")]
    [True, True, True, True, False]
    """
    return path == COVERAGE or is_junit(path) or is_sarif(path)


def is_junit(path: str) -> bool:
    place, _, name = path.lower().rpartition("/")
    ours = place.partition("/")[0] in FOLDERS or (not place and name.startswith("junit"))
    return ours and name.endswith(".xml")


def is_sarif(path: str) -> bool:
    return path.lower().endswith((".sarif", ".sarif.json"))


def _files(root: str, top: str, *, deepest: int = DEEPEST) -> Iterator[tuple[str, float]]:
    """The files below a folder, those near it first; nothing where there is no such folder."""
    waiting, left = deque([top]), MOST
    while waiting and left > 0:
        path = waiting.popleft()
        prefix = f"{path}/" if path else ""
        try:
            with folder(root, path) as place, os.scandir(place) as listing:
                entries = sorted(islice(listing, left), key=lambda entry: entry.name)
                left -= len(entries)
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        yield prefix + entry.name, entry.stat(follow_symlinks=False).st_mtime
                    elif entry.is_dir(follow_symlinks=False) and path.count("/") < deepest:
                        waiting.append(prefix + entry.name)
        except OSError:
            continue
