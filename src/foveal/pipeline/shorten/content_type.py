"""Classify a text by the shape of its lines: JSON, log, code, diff, table, prose and others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from foveal.pipeline.shorten.json_form import parse_json

ContentType = Literal["json", "log", "code", "diff", "table", "search results", "stack trace", "prose"]

MAX_LINES = 400
"""Lines that are read of a long text."""
MAX_WIDTH = 400
"""Characters that are read of a line."""
REPEATED = 8
"""With at least this many lines, a text of which half are repetitions is a log."""

_NUMBERED = re.compile(r"\s{0,12}\d{1,7}(?:→|\t|\s?\|)")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_FRAME = re.compile(
    r'\s+File "[^"]+", line \d+|\s+at \S(?:(?>\S*?\()\S*?|\S*+\s.*?):\d'
    r"|\s+at [\w.$<>]+\(|\t\S+\.go:\d+|goroutine \d+ \["
)
_MATCH = re.compile(r"(?=[^\s:,;|]{0,200}[A-Za-z])[\w./@+-][^\s:,;|]{0,200}([:-])\d{1,7}\1")
_PATH = re.compile(r"(?:[\w.@~+-]*/)+[\w.@+-]*|[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,7}")
_STAMPED = re.compile(
    r"\W{0,2}(?:\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:)"
    r"|\W{0,2}(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b"
    r"|(?:=== RUN|=== PAUSE|=== CONT|\s*--- (?:PASS|FAIL|SKIP)|ok  \t|FAIL\t|PASS\b)"
)
_CODE = re.compile(
    r"\s*(?:def|class|func|function|fn|import|from \S+ import|package|return|if|for|while|switch|case|var|let"
    r"|const|type|struct|public|private|static|export|async|await|try|except|elif|else|end|#include|#define"
    r"|//|/\*|\*|@\w)(?:\W|$)|.*[;{}]\s*$|\s*[\])}]+[,;]?\s*$|\s*[\w.]+\s*(?::=|\+?=)\s|\s*[\w.]+\("
)
_QUOTED = re.compile(r'"[^"]*"')
_COLUMN_NAME = re.compile(r"[^\W\d][\w.#%()/ -]{0,60}")
_COLUMNS = re.compile(r"\S(?: {2,}|\t)\S")


def content_type(text: str) -> ContentType:
    """The type of the text; `prose` when its lines have no particular shape.

    >>> content_type('{"id": 7}'), content_type("diff --git a/x b/x\\n@@ -1 +1 @@\\n-a\\n+b")
    ('json', 'diff')
    """
    if parse_json(text) is not None:
        return "json"
    lines = [line[:MAX_WIDTH] for line in text[: MAX_LINES * MAX_WIDTH].splitlines() if line.strip()][
        :MAX_LINES
    ]
    if any(_HUNK.match(line) for line in lines):
        return "diff"
    if _has_header(lines):  # dates and ids in its rows look like timestamps, matches or line numbers
        return "table"
    if _share(_FRAME, lines) >= 0.2:
        return "stack trace"
    return _by_shares(lines)


def _by_shares(lines: Sequence[str]) -> ContentType:
    if len(lines) > 2 and _share(_NUMBERED, lines) >= 0.6:
        return "code"
    if _share(_STAMPED, lines) >= 0.3:  # before matches: the date of a line looks like a file and its line
        return "log"
    if len(lines) > 1 and (_are_matches(lines) or _share_of_full(_PATH, lines) >= 0.7):
        return "search results"
    if _is_table(lines):
        return "table"
    if len(lines) > 2 and _share(_CODE, lines) >= 0.4:
        return "code"
    repeated = len(lines) >= REPEATED and 2 * len(set(lines)) <= len(lines)
    return "log" if repeated else "prose"


def _are_matches(lines: Sequence[str]) -> bool:
    """Are most lines matches, or lines around one? Those have dashes, as many names have."""
    found = [match[1] for line in lines if (match := _MATCH.match(line))]
    return len(found) >= 0.5 * len(lines) and ":" in found


def _has_header(lines: Sequence[str]) -> bool:
    """Is the first line a list of column names, and do all others have as many cells?"""
    mark = delimiter(lines)
    if not mark or mark == "|":
        return False
    cells = [cell.strip(' "') for cell in lines[0].split(mark)]
    return len(set(cells)) == len(cells) and all(map(_COLUMN_NAME.fullmatch, cells))


def delimiter(lines: Sequence[str]) -> str:
    """The mark that separates the cells of most lines; empty if there is none."""
    return next((mark for mark in ",\t;|" if len(lines) > 2 and _even(lines, mark)), "")


def _is_table(lines: Sequence[str]) -> bool:
    """Do most lines have the same number of bars, commas or tabs, or columns separated by spaces?"""
    if len(lines) < 3:
        return False
    if sum(line.lstrip().startswith("|") for line in lines) >= 0.7 * len(lines):
        return True
    if sum(bool(_COLUMNS.search(line.strip())) for line in lines) >= 0.7 * len(lines):
        return True
    return bool(delimiter(lines))


def _even(lines: Sequence[str], mark: str) -> bool:
    each = [_QUOTED.sub("", line).count(mark) if '"' in line else line.count(mark) for line in lines]
    return each[0] >= 2 and sum(found == each[0] for found in each) >= 0.8 * len(each)


def _share(shape: re.Pattern[str], lines: Sequence[str]) -> float:
    return sum(bool(shape.match(line)) for line in lines) / len(lines) if lines else 0.0


def _share_of_full(shape: re.Pattern[str], lines: Sequence[str]) -> float:
    return sum(bool(shape.fullmatch(line.strip())) for line in lines) / len(lines) if lines else 0.0
