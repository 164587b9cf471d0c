"""Find the files that the user is working on, once for all contributors.

Explicit ones come first: open in the editor, defining what the task names, or named in the task or the
conversation. Then files whose bare name is a word of the task, then what differs from the last commit, then
what was touched within a day and clearly later than most other files: in a fresh checkout every file is new,
and that says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from foveal.pipeline.shorten.content_type import content_type
from foveal.sources.contributor import ContextRequest
from foveal.sources.contributors.docs import CAPS, document
from foveal.sources.mentions import Mentions, files_named_by_word, match_files, mentions
from foveal.sources.workspace.report_files import is_report
from foveal.sources.workspace.repository import Change, Repository, changes, open_repository
from foveal.sources.workspace.values import FileInfo

NOTHING: Mapping[str, Sequence[int]] = MappingProxyType({})
TOUCHED = 8
"""Files that are included only because they were touched recently."""
RECENT = 86_400.0
"""Seconds."""
AFTER_MOST = 600.0
"""Seconds after the median file: the files of one checkout lie closer together."""
DEFINING = 4
"""Files that are included because they define what the task names."""
NAMED_BY_WORD = 4
"""Files that are included because a word of the task is their name."""
HEAD, WIDEST = 8_000, 2_000
"""Characters of a text that show what it is, and of the longest line that people write."""
LONG, MOSTLY = 30, 0.8
"""The least number of lines of a list, and the share of them that is one word."""
DATA = frozenset({"json", "table", "log"})
MOST = 40
"""Files in a working set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingFile:
    """One file that is being worked on."""

    file: FileInfo
    change: Change | None = None
    """How it differs from the last commit."""
    lines: tuple[int, ...] = ()
    """The lines that are mentioned."""
    defining: tuple[int, ...] = ()
    """The lines that define what the task names."""
    explicit: bool = False
    """Open, named, or defining what the task names."""
    named_by_word: bool = False
    """Its name without its ending is a word of the task, which may be chance."""

    @property
    def requested(self) -> bool:
        return self.explicit or self.named_by_word


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingSet:
    """The files being worked on, and what was found out about the workspace on the way."""

    files: Sequence[FileInfo]
    """All files of the workspace."""
    mentioned: Mentions
    repository: Repository | None
    refused: str
    """Why the repository is not used, where there is one; else empty."""
    changes: tuple[Change, ...]
    working: tuple[WorkingFile, ...]

    @property
    def paths(self) -> frozenset[str]:
        """The paths of the files being worked on."""
        return frozenset(each.file.path for each in self.working)


def find_working_set(
    request: ContextRequest,
    *,
    files: Sequence[FileInfo] | None = None,
    mentioned: Mentions | None = None,
    defined: Mapping[str, Sequence[int]] = NOTHING,
    project_docs: Mapping[str, int] = CAPS,
) -> WorkingSet:
    """Find the working set; `files` and `mentioned` where the caller has them already.

    `defined`: the files that define what the task names, with the lines that do.
    """
    files = request.workspace.scan() if files is None else files
    mentioned = mentioned or mentions(request)
    found = open_repository(request.workspace.root)
    repository = found if isinstance(found, Repository) else None
    changed = changes(repository, request.workspace, files) if repository else ()
    lines = _mentioned_lines(mentioned, match_files(mentioned, request.workspace.root, files))
    by_path = {change.path: change for change in changed}
    explicit = (*request.active_files, *list(defined)[:DEFINING])
    # The project's document has a contributor of its own; being new does not make it a working file.
    docs = document(request.workspace, project_docs)
    docs_path = docs[0].path if docs else None
    recent = [f for f in _recent(files, request.now) if f.path != docs_path and not is_report(f.path)]
    by_word = files_named_by_word(mentioned, files)[:NAMED_BY_WORD]
    chosen = dict.fromkeys(_choose(request, explicit, recent, (*lines, *by_word), by_path))
    return WorkingSet(
        files=files,
        mentioned=mentioned,
        repository=repository,
        refused=found if isinstance(found, str) else "",
        changes=changed,
        working=tuple(
            WorkingFile(
                file=file,
                change=by_path.get(file.path),
                lines=tuple(lines.get(file, ())),
                defining=tuple(defined.get(file.path, ())),
                explicit=file in lines or file.path in explicit,
                named_by_word=file in by_word,
            )
            for file in list(chosen)[:MOST]
        ),
    )


def _mentioned_lines(
    mentioned: Mentions, files: Mapping[str, Sequence[FileInfo]]
) -> dict[FileInfo, list[int]]:
    """The mentioned files, mentioned last first, with the lines of each that are mentioned."""
    found: dict[FileInfo, list[int]] = {}
    for path, line in mentioned.files:
        for file in files.get(path, ()):
            found.setdefault(file, []).extend([line] if line else [])
    return found


def _choose(
    request: ContextRequest,
    explicit: Sequence[str],
    recent: Sequence[FileInfo],
    mentioned: Sequence[FileInfo],
    changed: Mapping[str, Change],
) -> Iterator[FileInfo]:
    workspace = request.workspace
    for path in explicit:
        if (file := workspace.info(path)) is not None:
            yield file
    yield from mentioned
    # A report is a result of the work, and has a contributor of its own.
    yield from (change.file for path, change in changed.items() if change.file and not is_report(path))
    yield from (file for file in recent[:TOUCHED] if not is_data(workspace.text(file.path) or ""))


def _recent(files: Sequence[FileInfo], now: float) -> list[FileInfo]:
    """Files touched within a day and clearly later than most, newest first."""
    newest = sorted(files, key=lambda file: (-file.touched_at, file.path))
    earliest = newest[len(newest) // 2].touched_at + AFTER_MOST if newest else 0.0
    return [file for file in newest if file.touched_at > earliest and now - file.touched_at < RECENT]


def is_data(text: str) -> bool:
    """Whether a text is a list or a table rather than something that people write.

    >>> is_data("com\\nnet\\norg\\n" * 20), is_data("def open(door):\\n    turn(door)\\n" * 20)
    (True, False)
    """
    head = text[:HEAD]
    lines = [line.strip() for line in head.splitlines() if line.strip()]
    if content_type(head) in DATA or max(map(len, lines), default=0) > WIDEST:
        return True
    return len(lines) >= LONG and sum(" " not in line for line in lines) >= MOSTLY * len(lines)
