"""Find the reports that tests and analysers left in a workspace.

Git usually ignores reports, so they are listed here apart from the walk: names only, a bounded number of
them, following no link. Their content is read through the workspace.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from itertools import islice

from foveal.sources.workspace.safe_open import open_folder
from foveal.sources.workspace.workspace import Workspace

FOLDERS = ("test-results", "reports")
COVERAGE = "coverage.xml"
MOST = 5_000
"""Entries visited in the root, and below each of the folders."""
DEEPEST = 4


def reports(workspace: Workspace) -> list[tuple[str, float]]:
    """The paths of the reports in the root and below the folders, and when each was written."""
    root = str(workspace.root)
    found = [*_files(root, "", deepest=0), *(row for name in FOLDERS for row in _files(root, name))]
    return [(path, touched_at) for path, touched_at in found if is_report(path)]


def is_report(path: str) -> bool:
    """Whether a file is a report, shown by the contributor for reports rather than as a file.

    >>> [is_report(path) for path in ("junit-1.xml", "reports/a.xml", "x.SARIF", "coverage.xml", "pom.xml")]
    [True, True, True, True, False]
    """
    return path == COVERAGE or is_junit(path) or is_sarif(path)


def is_junit(path: str) -> bool:
    folder, _, name = path.lower().rpartition("/")
    expected = folder.partition("/")[0] in FOLDERS or (not folder and name.startswith("junit"))
    return expected and name.endswith(".xml")


def is_sarif(path: str) -> bool:
    return path.lower().endswith((".sarif", ".sarif.json"))


def _files(root: str, top: str, *, deepest: int = DEEPEST) -> Iterator[tuple[str, float]]:
    """The files below a folder, nearest first; none where there is no such folder."""
    waiting, left = deque([top]), MOST
    while waiting and left > 0:
        path = waiting.popleft()
        prefix = f"{path}/" if path else ""
        try:
            with open_folder(root, path) as folder, os.scandir(folder) as listing:
                entries = sorted(islice(listing, left), key=lambda entry: entry.name)
                left -= len(entries)
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        yield prefix + entry.name, entry.stat(follow_symlinks=False).st_mtime
                    elif entry.is_dir(follow_symlinks=False) and path.count("/") < deepest:
                        waiting.append(prefix + entry.name)
        except OSError:
            continue
