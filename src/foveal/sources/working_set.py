"""What contributors are asked in → the files that are being worked on, looked up once for all.

Explicit ones come first: open in the editor, defining what the task names, or named in the task or the
conversation. Then those whose bare name is a word of the task, then what differs from the last commit, then
what was touched within a day and clearly after most of the others: in a fresh checkout all is new, and
nothing is news.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from foveal.pipeline.shorten.content_type import content_type
from foveal.sources.contributor import ContextRequest
from foveal.sources.contributors.docs import document
from foveal.sources.mentions import Mentions, called, meant, mentions
from foveal.sources.workspace.reports import is_report
from foveal.sources.workspace.repository import Change, Repository, changes, repository
from foveal.sources.workspace.values import FileInfo

NOTHING: Mapping[str, Sequence[int]] = MappingProxyType({})
TOUCHED = 8
"""Files that are taken for no other reason than their time."""
LATELY = 86_400.0
"""Seconds."""
AFTER_MOST = 600.0
"""Seconds after the middle one: those of one checkout lie closer together."""
DEFINING = 4
"""Files that are taken because they define what the task names."""
CALLED = 4
"""Files that are taken because a word of the task is their name."""
LOOKED_AT, WIDEST = 8_000, 2_000
"""Characters of a text that show what it is, and of a line that people write."""
LONG, MOSTLY = 30, 0.8
"""Lines of a list at least, and the share of them that is one word."""
DATA = frozenset({"json", "table", "log"})
MOST = 40
"""Files that somebody works on at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Working:
    """One file that is being worked on."""

    seen: FileInfo
    change: Change | None = None
    """What it differs in from the last commit."""
    lines: tuple[int, ...] = ()
    """Lines of it that are spoken of."""
    defining: tuple[int, ...] = ()
    """Lines of it that define what the task names."""
    explicit: bool = False
    """Open, named, or defining what the task names."""
    called: bool = False
    """Its name without its ending is a word of the task, which may be chance."""

    @property
    def wanted(self) -> bool:
        return self.explicit or self.called


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """A workspace at one moment."""

    files: Sequence[FileInfo]
    mentioned: Mentions
    repository: Repository | None
    refused: str
    """Why there is no repository though there is one."""
    changes: tuple[Change, ...]
    working: tuple[Working, ...]

    @property
    def paths(self) -> frozenset[str]:
        """Of the files that are being worked on."""
        return frozenset(each.seen.path for each in self.working)


def surroundings(
    request: ContextRequest,
    *,
    files: Sequence[FileInfo] | None = None,
    mentioned: Mentions | None = None,
    defined: Mapping[str, Sequence[int]] = NOTHING,
) -> Surroundings:
    """Look around once; `files` and `mentioned`, where somebody looked at these already.

    `defined`: files that define what the task names, with the lines that do.
    """
    files = request.workspace.scan() if files is None else files
    mentioned = mentioned or mentions(request)
    found = repository(request.workspace.root)
    known = found if isinstance(found, Repository) else None
    changed = changes(known, request.workspace, files) if known else ()
    lines = _lines(mentioned, meant(mentioned, request.workspace.root, files))
    by_path = {change.path: change for change in changed}
    explicit = (*request.active_files, *list(defined)[:DEFINING])
    worded = called(mentioned, files)[:CALLED]
    chosen = dict.fromkeys(_chosen(request, explicit, files, (*lines, *worded), by_path))
    return Surroundings(
        files=files,
        mentioned=mentioned,
        repository=known,
        refused=found if isinstance(found, str) else "",
        changes=changed,
        working=tuple(
            Working(
                seen=seen,
                change=by_path.get(seen.path),
                lines=tuple(lines.get(seen, ())),
                defining=tuple(defined.get(seen.path, ())),
                explicit=seen in lines or seen.path in explicit,
                called=seen in worded,
            )
            for seen in list(chosen)[:MOST]
        ),
    )


def _lines(mentioned: Mentions, files: Mapping[str, Sequence[FileInfo]]) -> dict[FileInfo, list[int]]:
    """The mentioned files, the last spoken of first, with the lines of each that are."""
    found: dict[FileInfo, list[int]] = {}
    for path, line in mentioned.files:
        for seen in files.get(path, ()):
            found.setdefault(seen, []).extend([line] if line else [])
    return found


def _chosen(
    request: ContextRequest,
    explicit: Sequence[str],
    files: Sequence[FileInfo],
    spoken_of: Sequence[FileInfo],
    changed: dict[str, Change],
) -> Iterator[FileInfo]:
    for path in explicit:
        if (seen := request.workspace.seen(path)) is not None:
            yield seen
    yield from spoken_of
    # A report is news, not work: others tell what it says.
    yield from (change.seen for path, change in changed.items() if change.seen and not is_report(path))
    # The project's document is shown as such; that it is new does not make it work.
    shown = document(request.workspace)
    told = {shown[0].path} if shown else set()
    late = [s for s in _late(files, request.now) if s.path not in told and not is_report(s.path)]
    yield from (s for s in late[:TOUCHED] if not is_data(request.workspace.text(s.path) or ""))


def _late(files: Sequence[FileInfo], now: float) -> list[FileInfo]:
    """Files touched within a day and clearly after most, the newest first."""
    newest = sorted(files, key=lambda seen: (-seen.touched_at, seen.path))
    most = newest[len(newest) // 2].touched_at + AFTER_MOST if newest else 0.0
    return [seen for seen in newest if seen.touched_at > most and now - seen.touched_at < LATELY]


def is_data(text: str) -> bool:
    """Whether a text is a list or a table rather than something people write.

    >>> is_data("com\\nnet\\norg\\n" * 20), is_data("def open(door):\\n    turn(door)\\n" * 20)
    (True, False)
    """
    head = text[:LOOKED_AT]
    lines = [line.strip() for line in head.splitlines() if line.strip()]
    if content_type(head) in DATA or max(map(len, lines), default=0) > WIDEST:
        return True
    return len(lines) >= LONG and sum(" " not in line for line in lines) >= MOSTLY * len(lines)
