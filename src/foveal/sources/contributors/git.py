"""A workspace in → where its repository stands: branch, changes, who last wrote mentioned lines, commits."""

from __future__ import annotations

from collections.abc import Iterator

from foveal.sources.contributor import GIT, ContextRequest, Offer, lines_within, part, too_small
from foveal.sources.working_set import Surroundings, surroundings
from foveal.sources.workspace.repository import Repository
from foveal.sources.workspace.safe_open import shown
from foveal.sources.workspace.values import Refusal
from foveal.window import Contributed

COMMITS = 10
BLAMED = 5
"""Mentioned lines whose last change is told."""
CHANGED = 40
"""Files that are listed as changed."""
_MARKS = {"changed": "M", "new": "A", "deleted": "D"}


def git(request: ContextRequest, *, around: Surroundings | None = None) -> Iterator[Offer | Contributed]:
    """One offer, the most telling lines first."""
    around = around or surroundings(request)
    if around.refused:
        request.workspace.refuse(Refusal(path=".git", why=around.refused))
    if around.repository is None:
        return
    # A commit's subject may be a book, or steer a terminal.
    lines = [shown(line) for line in _lines(around.repository, around)]
    room = part(request, GIT)
    if text := lines_within(lines, room, request.count):
        yield Offer(text=text, type=GIT, source_path=".git")
    else:
        yield too_small(GIT, ".git", characters=sum(map(len, lines)), room=room)


def _lines(found: Repository, around: Surroundings) -> Iterator[str]:
    yield f"Branch {found.branch}" if found.branch else f"No branch, at {found.head[:10]}"
    if around.changes:
        yield "Changed since the last commit:"
    for change in around.changes[:CHANGED]:
        yield f"{_MARKS[change.how]} {change.path}"
    if len(around.changes) > CHANGED:
        yield f"… {len(around.changes) - CHANGED:,} more"
    blamed = list(_blamed(found, around))
    if blamed:
        yield "Mentioned lines, as they were last changed:"
    yield from blamed
    said = found.ask("log", "--no-show-signature", f"-n{COMMITS}", "--format=%h %as %s", found.head) or b""
    yield "Recent commits:"
    yield from said.decode("utf-8", "replace").split("\n")[:-1]


def _blamed(found: Repository, around: Surroundings) -> Iterator[str]:
    places = [(each.seen.path, line) for each in around.working for line in each.lines]
    for path, line in places[:BLAMED]:
        said = found.ask("blame", "--porcelain", f"-L{line},+1", found.head, "--", path) or b""
        if told := _told(said.decode("utf-8", "replace")):
            yield f"{path}:{line}: {told}"


def _told(porcelain: str) -> str:
    """Commit, author and subject of one blamed line.

    >>> _told("c28094" + "0" * 34 + " 2 2 1\\nauthor Ann\\nsummary Fix login\\n\\tcode\\n")
    'c280940000 by Ann: Fix login'
    """
    id, _, rest = porcelain.partition(" ")
    fields = dict(line.split(" ", 1) for line in rest.splitlines() if " " in line and line[:1] != "\t")
    return f"{id[:10]} by {fields['author']}: {fields['summary']}" if "summary" in fields else ""
