"""Write the log of messages that a window does not show in full.

    [Log of messages 3–338, written from the conversation. Not a request; quoted text is data.]
    [3 user] Refresh fails for some users since release 4.2. Find out why.
    [4] read_file auth/session.py
        41  def rotate(self, token): …
    [28] run pytest -q tests/test_rotate.py → FAILED 1 of 14: test_two_tabs
    State: changed auth/session.py [30]; last run: pytest -q passed 214 [32]

Entries are in the order of the conversation and begin with the numbers of their messages. Everything quoted
is indented below the entry it comes from, so no text can pass for an entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from foveal.pipeline.shorten.outline import GAP
from foveal.pipeline.summarize.notes import speaker_name
from foveal.presets.foveal.log import LogEntry
from foveal.presets.foveal.outcomes import is_said
from foveal.presets.foveal.paths import Paths

INDENT = "    "
NAMED_EVERY = 2_000
"""Characters quoted from an entry after which it is named again."""
_FILE = re.compile(r"(?<![^\s\"'=])[\w.@:/+-]{0,200}[./][\w.@:/+-]{1,200}")
"""What the command of a check names: a file, a folder, a test."""
Numbers = Mapping[tuple[int, int], tuple[int, ...]]
"""By id of an entry, the numbers of its excerpts that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One entry of the log, or several that did the same and ended alike."""

    entries: tuple[LogEntry, ...]

    @property
    def last(self) -> LogEntry:
        return self.entries[-1]

    @property
    def acts(self) -> bool:
        """Whether it is about an action with an outcome, which is reported once."""
        action = self.last.action
        return action is not None and action.kind in ("change", "check")

    @property
    def says(self) -> bool:
        """Whether it is worth showing without an excerpt: an action, not words or a look."""
        action = self.last.action
        return action is not None and action.kind in ("change", "check", "other")


def log_lines(entries: Sequence[LogEntry], *, merged_until: int = -1) -> list[LogLine]:
    """The lines of a log: repeated actions in one line.

    The same action with the same result, again before the user speaks, is one line. Before the position
    `merged_until`, it is one line even if results differ in detail, however often the user spoke in between;
    a check of other files is another action.
    """
    lines: list[list[LogEntry]] = []
    known: dict[tuple[object, ...], int] = {}
    endings: dict[str, bool | None] = {}
    for entry in entries:
        if entry.voice == "user" and entry.seq >= merged_until:
            known.clear()
        action = entry.action
        if action is None or entry.outcome is None:
            lines.append([entry])
            continue
        seen = entry.excerpts.text if action.kind == "look" else ""
        detail = () if entry.seq < merged_until else (action.subject, action.change, entry.outcome.text, seen)
        files = tuple(_FILE.findall(action.subject)) if action.kind == "check" else ()
        key = (action.key, entry.outcome.ok, files, *detail)
        at = known.get(key)
        if at is not None and lines[at]:
            # The line moves to the latest of its entries: a later outcome is read later.
            lines.append([*lines[at], entry])
            lines[at] = []
        else:
            lines.append([entry])
        known[key] = len(lines) - 1
        if action.kind == "change":  # what was read of a file before it was changed is not read again after
            known = {each: where for each, where in known.items() if not _reads(lines[where], action.files)}
        if action.discards:  # an edit that was undone is not one with the edit that made it again
            known = {key: len(lines) - 1}
        if endings.setdefault(action.key, entry.outcome.ok) != entry.outcome.ok:
            # An action that ended differently in between begins a new line.
            known = {each: where for each, where in known.items() if each[0] != action.key or each == key}
            endings[action.key] = entry.outcome.ok
    return [LogLine(entries=tuple(line)) for line in lines if line]


def _reads(line: Sequence[LogEntry], files: Sequence[str]) -> bool:
    """Whether a line is about reading one of these files."""
    action = line[-1].action if line else None
    return action is not None and action.kind == "look" and not set(files).isdisjoint(action.files)


def head(line: LogLine, paths: Paths) -> str:
    """The first line of an entry, without what is quoted below it."""
    last, first = line.last, line.entries[0]
    where = f"{first.seq + 1}" if first.seq == last.seq else f"{first.seq + 1}–{last.seq + 1}"
    action, ended = last.action, last.outcome
    if action is None or ended is None:
        speaker = "attached" if last.voice == "tool" else speaker_name(last.voice, last.author)
        return f"[{where} {speaker}]"
    times = f" ×{len(line.entries)}" if len(line.entries) > 1 else ""
    shown = f"[{where}] {paths.shortened(action.title)}{times}"
    if action.kind in ("look", "other"):
        return f"{shown} → {ended.text}" if ended.text else shown
    if not action.change or not ended.ok:
        return f"{shown} → {ended.text}"
    differ = len({entry.action.change for entry in line.entries if entry.action}) > 1
    return f"{shown} → {ended.text}{', last: ' if differ else ': '}{action.change}"


def _repeats(row: str, entry: LogEntry) -> bool:
    """Whether a quoted line only repeats how a call failed."""
    action, ended = entry.action, entry.outcome
    if action is None or ended is None or ended.ok is not False:
        return False
    return is_said(row.removesuffix(f" {GAP}"), ended, action, end=-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLine:
    """A line of the note, and the messages it comes from."""

    text: str
    sources: tuple[int, ...] = ()


def written(lines: Iterable[LogLine], shown: Numbers, paths: Paths) -> Iterator[NoteLine]:
    """The lines of the note: each entry, and what is quoted from it; in a long quotation the entry again."""
    for line in lines:
        begins, since = head(line, paths), 0
        quotes = [
            (entry, entry.excerpts.shown(shown[entry.id])) for entry in line.entries if shown.get(entry.id)
        ]
        rows = list(
            {
                row: (entry.source, row)
                for entry, text in quotes
                for row in text.split("\n")
                if not _repeats(row, entry)
            }.values()
        )
        if line.last.action is None and rows:
            (source, row), rows = rows[0], rows[1:]
            cut = line.last.excerpts.omits_beginning(shown[line.last.id])
            label = f"{begins[:-1]} {GAP}]" if cut else begins
            yield NoteLine(text=f"{label} {row.strip()}", sources=(source,))
        else:
            yield NoteLine(text=begins, sources=tuple(dict.fromkeys(entry.seq for entry in line.entries)))
        for source, row in rows:
            if since > NAMED_EVERY and not line.acts:
                again = f"{begins} (continued)" if line.last.action else f"{begins[:-1]}, continued]"
                yield NoteLine(text=again, sources=(source,))
                since = 0
            since += len(row)
            yield NoteLine(text=INDENT + row, sources=(source,))
