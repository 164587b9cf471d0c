"""Offer the state of the repository: branch, changes, who last changed mentioned lines, recent commits."""

from __future__ import annotations

from collections.abc import Iterator

from foveal.sources.contributor import GIT, ContextRequest, Offer, lines_within, room_for, too_small
from foveal.sources.working_set import WorkingSet, find_working_set
from foveal.sources.workspace.repository import Repository
from foveal.sources.workspace.safe_open import printable
from foveal.sources.workspace.values import Refusal
from foveal.window import Contributed

COMMITS = 10
BLAMED = 5
"""Mentioned lines whose last change is shown."""
CHANGED = 40
"""Changed files that are listed."""
_MARKS = {"changed": "M", "new": "A", "deleted": "D"}


def git(request: ContextRequest, *, working_set: WorkingSet | None = None) -> Iterator[Offer | Contributed]:
    """One offer, the most important lines first."""
    working_set = working_set or find_working_set(request)
    if working_set.refused:
        request.workspace.refuse(Refusal(path=".git", why=working_set.refused))
    if working_set.repository is None:
        return
    # A commit's subject can be very long, or contain control sequences for a terminal.
    lines = [printable(line) for line in _lines(working_set.repository, working_set)]
    room = room_for(request, GIT)
    if text := lines_within(lines, room, request.count):
        yield Offer(text=text, type=GIT, source_path=".git")
    else:
        yield too_small(GIT, ".git", characters=sum(map(len, lines)), room=room)


def _lines(repository: Repository, working_set: WorkingSet) -> Iterator[str]:
    yield f"Branch {repository.branch}" if repository.branch else f"No branch, at {repository.head[:10]}"
    changes = working_set.changes
    if changes:
        yield "Changed since the last commit:"
    for change in changes[:CHANGED]:
        yield f"{_MARKS[change.how]} {change.path}"
    if len(changes) > CHANGED:
        yield f"… {len(changes) - CHANGED:,} more"
    blamed = list(_blamed(repository, working_set))
    if blamed:
        yield "Mentioned lines, as they were last changed:"
    yield from blamed
    log = repository.run("log", "--no-show-signature", f"-n{COMMITS}", "--format=%h %as %s", repository.head)
    yield "Recent commits:"
    yield from (log or b"").decode("utf-8", "replace").split("\n")[:-1]


def _blamed(repository: Repository, working_set: WorkingSet) -> Iterator[str]:
    mentioned = [(each.file.path, line) for each in working_set.working for line in each.lines]
    for path, line in mentioned[:BLAMED]:
        porcelain = repository.run("blame", "--porcelain", f"-L{line},+1", repository.head, "--", path)
        if commit := _blame((porcelain or b"").decode("utf-8", "replace")):
            yield f"{path}:{line}: {commit}"


def _blame(porcelain: str) -> str:
    """The commit, author and subject of one blamed line.

    >>> _blame("c28094" + "0" * 34 + " 2 2 1\\nauthor Ann\\nsummary Fix login\\n\\tcode\\n")
    'c280940000 by Ann: Fix login'
    """
    id, _, rest = porcelain.partition(" ")
    fields = dict(line.split(" ", 1) for line in rest.splitlines() if " " in line and line[:1] != "\t")
    return f"{id[:10]} by {fields['author']}: {fields['summary']}" if "summary" in fields else ""
