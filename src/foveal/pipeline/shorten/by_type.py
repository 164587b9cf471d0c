"""Split a text into scored pieces, by the type of its content: one section for each type but JSON."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from foveal.pipeline.shorten.content_type import MAX_LINES, delimiter
from foveal.pipeline.shorten.outliers import outliers
from foveal.pipeline.shorten.outline import (
    BULK,
    GAP,
    MAX_PIECE,
    PROBLEM,
    Outline,
    Piece,
    end_score,
    failed,
    in_lines,
    in_numbered_lines,
    join_short_lines,
    split_lines,
    split_long,
    spread_order,
)
from foveal.pipeline.signals import names_in

NEARBY = 2
"""Lines on each side of a mentioned name or a problem that gain from it."""

# Code: definitions, imports and what is near a mentioned name score the most.

_NUMBERED = re.compile(r"\s{0,12}(\d{1,7})(→|\t|\s?\|)(.*)", re.DOTALL)
_DEFINITION = re.compile(
    r"\s*(?:export |default |pub(?:\([a-z]+\))? |public |private |protected |static |final |abstract )*"
    r"(?:async )?(?:def|class|func|function|fn|type|struct|interface|enum|impl|trait|module|namespace|record)"
    r"\s+\S|(?:const|var|let|static)\s+\w|#define\s|\s*@\w|#{1,6} "
)
_IMPORT = re.compile(r"\s*(?:import|from|use|require|package|#include|using)\b")
_DEFINES, _TOP_LEVEL, _IMPORTS, _CODE_PROBLEM, _NEAR_MENTION, _PLAIN_CODE = 2.0, 0.5, 0.4, 0.5, 5.0, 0.1


def code_outline(text: str, *, mentioned: frozenset[str]) -> Outline:
    """Every line is a piece. Line numbers before the lines (`cat -n`) stay, without their padding."""
    lines = [_unpadded(line) for line in split_lines(text)]
    names = [names_in(code) for _, code in lines]
    near = _near([not mentioned.isdisjoint(found) for found in names])
    pieces = tuple(
        Piece(text=number + code, score=_code_score(code) + _NEAR_MENTION * close, names=found)
        for (number, code), found, close in zip(lines, names, near, strict=True)
    )
    numbered = all(number for number, _ in lines[:2])
    return Outline(pieces=pieces, unit="lines", write=in_numbered_lines if numbered else in_lines)


def _unpadded(line: str) -> tuple[str, str]:
    found = _NUMBERED.fullmatch(line)
    return (f"{found[1]}{found[2].strip(' ')}", found[3]) if found else ("", line)


def _near(hits: Sequence[bool]) -> list[bool]:
    """Which lines are hits, or near one."""
    near = [False] * len(hits)
    for at, hit in enumerate(hits):
        if hit:
            start, stop = max(0, at - NEARBY), min(len(hits), at + NEARBY + 1)
            near[start:stop] = [True] * (stop - start)
    return near


def _code_score(code: str) -> float:
    if not any(map(str.isalnum, code)):
        return 0.0
    if _DEFINITION.match(code):
        return _DEFINES + _TOP_LEVEL * (not code[:1].isspace())
    if _IMPORT.match(code):
        return _IMPORTS
    return _PLAIN_CODE + _CODE_PROBLEM * (PROBLEM.search(code) is not None)


# Diffs: changed lines before the lines around them.

_FILE_HEADER, _HUNK_HEADER, _CHANGED, _UNCHANGED, _OUTSIDE_HUNKS = 3.0, 0.5, 1.0, 0.05, 0.5


def diff_outline(text: str) -> Outline:
    """Every line is a piece under its hunk, every hunk under its file."""
    pieces: list[Piece] = []
    file = hunk = -1
    lines = split_lines(text)
    for at, (line, following) in enumerate(zip(lines, [*lines[1:], ""], strict=True)):
        # A `---` after `diff` belongs to its header; without the `+++` it is a removed line.
        in_header = file >= 0 > hunk
        starts_file = line.startswith("--- ") and following.startswith("+++ ") and not in_header
        if line.startswith("diff ") or starts_file:
            score, parent = _FILE_HEADER, -1
            file, hunk = at, -1
        elif line.startswith("@@"):
            score, parent = _HUNK_HEADER, file
            hunk = at
        elif hunk < 0:
            score, parent = 0.0 if line.startswith(("--- ", "+++ ")) else _OUTSIDE_HUNKS, file
        else:
            score, parent = _CHANGED if line[0] in "+-" else _UNCHANGED, hunk
        pieces.append(Piece(text=line, score=score, parent=parent, names=names_in(line)))
    return Outline(pieces=tuple(pieces), unit="lines", write=in_lines)


# Logs: problems and the lines around them, the first line and the last.

SIMILAR = 3
"""Lines that differ only in numbers are folded from this many on."""
_VARIES = re.compile(r"0x[0-9a-fA-F]+|\b(?=[a-f]*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,})*\b|\d+")
_TIME = re.compile(
    r"(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?(?![\w:])"
)
_MEASURE = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[nuµm]?s|min|h|%|[KMGT]?i?B)|[+-]?\d+\.\d+")
_FIRST_LINES, _LAST_LINES = 3, 3
_LOG_END, _LOG_PROBLEM, _NEAR_PROBLEM, _NEAR_END, _PLAIN_LOG = 3.0, 3.0, 0.8, 1.0, 0.1


def log_outline(text: str) -> Outline:
    """Every line is a piece; of lines that differ only in numbers, the first says how many there are."""
    lines = split_lines(text)
    similar: dict[str, dict[str, list[int]]] = {}
    for at, line in enumerate(lines):
        shape = _VARIES.sub("0", _TIME.sub("0", line))
        similar.setdefault(shape, {}).setdefault(line, []).append(at)
    alike: dict[int, list[list[int]]] = {}
    for by_text in similar.values():
        same = list(by_text.values())
        many = sum(map(len, same)) >= SIMILAR
        groups = [same] if many else [[[at]] for each in same for at in each]
        alike |= {group[0][0]: group for group in groups}
    scores = _log_scores(lines, alike)
    found = [piece for group in alike.values() for piece in _log_pieces(lines, scores, group)]
    pieces = tuple(piece for _, piece in sorted(found, key=lambda each: each[0]))
    return Outline(pieces=pieces, unit="lines", write=in_lines)


def _log_pieces(
    lines: Sequence[str], scores: Sequence[float], group: Sequence[Sequence[int]]
) -> Iterator[tuple[int, Piece]]:
    """The pieces for similar lines, with their places: the first for all, then samples of the others."""
    total = sum(map(len, group))
    names = [lasting_names(lines[same[0]]) for same in group]
    if total > BULK:
        times = Counter(name for each in names for name in each)
        names[1:] = [tuple(name for name in each if times[name] > 1) for each in names[1:]]
    first = group[0][0]
    text = f"{lines[first]} ×{total}" if total > 1 else lines[first]
    yield first, Piece(text=text, score=scores[first], units=len(group[0]), names=names[0])
    others = len(group) - 1
    for nth, at in enumerate(spread_order(others)):
        place = group[others - at][0]  # from the last on
        sample = float(_PLAIN_LOG / (1 + nth) ** 0.5)
        score = scores[place] if scores[place] > _PLAIN_LOG else sample
        yield (
            place,
            Piece(
                text=lines[place],
                score=score,
                units=len(group[others - at]),
                names=names[others - at],
                bulk=True,
            ),
        )


def _log_scores(lines: Sequence[str], alike: Collection[int]) -> list[float]:
    """The scores of the lines; what repeats an earlier line is no problem of its own."""
    problems = [at in alike and PROBLEM.search(line) is not None for at, line in enumerate(lines)]
    scores = [_NEAR_PROBLEM if close else _PLAIN_LOG for close in _near(problems)]
    last = len(lines) - 1
    for at, problem in enumerate(problems):
        if problem:
            scores[at] = _LOG_PROBLEM + failed(lines[at])
        elif at in (0, last):
            scores[at] = _LOG_END
        elif at < _FIRST_LINES or at > last - _LAST_LINES:
            scores[at] = _NEAR_END
    return scores


def lasting_names(text: str) -> tuple[str, ...]:
    """The names in a line of output, without parts of timestamps and measurements.

    >>> lasting_names("2025-03-01T08:00:01.001Z worker-1 handled ord_7919 in 31ms")
    ('worker-1', 'ord_7919')
    """
    return tuple(name for name in names_in(_TIME.sub(" ", text)) if not _MEASURE.fullmatch(name))


# Prose: decisions, results, errors, the first sentence and the last.

_SENTENCE = re.compile(r"(?<=[.!?。！？])[\"')\]]?\s+(?=[A-Z0-9\"'(\[#*`-])")
_KEY = re.compile(
    r"\b(?:decid\w+|decision|chose|agreed|instead|must|should|never|always|because|root cause|fix(?:ed)?"
    r"|solved|result\w*|conclu\w+|found|confirmed|verified|done|passed|created|added|removed|changed|updated"
    r"|total|summary|important|note|todo|next)\b",
    re.IGNORECASE,
)
_FIRST_SENTENCE, _LAST_SENTENCE, _HEADING, _KEY_SENTENCE, _PLAIN_SENTENCE = 2.0, 1.5, 1.0, 1.5, 0.2


def prose_outline(text: str) -> Outline:
    """Every sentence is a piece, short ones joined with the next."""
    split = (part for line in text.splitlines() for part in _SENTENCE.split(line.rstrip()))
    sentences = (sentence for sentence in split if sentence.strip())
    texts = list(join_short_lines([part for sentence in sentences for part in split_long(sentence)]))
    pieces = tuple(
        Piece(
            text=sentence,
            score=_sentence_score(sentence, first=at == 0, last=at == len(texts) - 1),
            names=names_in(sentence),
            units=sentence.count("\n") + 1,
        )
        for at, sentence in enumerate(texts)
    )
    return Outline(pieces=pieces, unit="sentences", write=in_lines)


def _sentence_score(text: str, *, first: bool, last: bool) -> float:
    score = _FIRST_SENTENCE if first else _LAST_SENTENCE if last else _PLAIN_SENTENCE
    if PROBLEM.search(text) or _KEY.search(text):
        score += _KEY_SENTENCE
    return score + _HEADING * text.startswith("#") + failed(text)


# Search results: each file once, with the number of its matches.

_MATCH = re.compile(r"(?=[^\s:,;|]{0,200}[A-Za-z])([^\s:,;|]{1,200}?)([:-])(\d{1,7})\2(.*)", re.DOTALL)
_MATCHED_FILE, _MATCHED_LINE, _UNMATCHED_LINE = 1.5, 0.2, 0.3


def search_outline(text: str) -> Outline:
    """Every match is a piece under its file; a line without a match is a piece of its own."""
    by_file: dict[str, list[str]] = {}
    pieces: list[Piece] = []
    for line in split_lines(text):
        if found := _MATCH.fullmatch(line):
            by_file.setdefault(found[1], []).append(f"{found[3]}:{found[4]}")
        else:
            pieces.append(Piece(text=line, score=_UNMATCHED_LINE, names=names_in(line)))
    for path, matches in by_file.items():
        parent = len(pieces)
        many = f" ({len(matches)} matches)" if len(matches) > 1 else ""
        pieces.append(Piece(text=f"{path}{many}", score=_MATCHED_FILE, units=0, names=names_in(path)))
        pieces += [
            Piece(text=match, score=_MATCHED_LINE, parent=parent, names=names_in(match)) for match in matches
        ]
    return Outline(pieces=tuple(pieces), unit="lines", write=in_numbered_lines)


# Tables: the header, rows that stand out, then rows of both ends.

_PADDING = re.compile(r"(?<=\S) {3,}")
_RULER = re.compile(r"[\s|:+=─━-]+")
_BETWEEN = re.compile(r" {2,}|\t")
MAX_CELL = 60
"""Characters of a cell in a long row."""
MAX_ROW = 1_000
"""Characters of one piece of a row."""
_HEADER_ROW, _STANDS_OUT, _ROW_PROBLEM, _PLAIN_ROW = 3.0, 10.0, 2.0, 0.8


def table_outline(text: str) -> Outline:
    """Every row is a piece under the header. Padding and ruler lines are left out."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not _RULER.fullmatch(line)]
    mark = delimiter(lines[:MAX_LINES])
    rows = [_cells(line, mark) for line in lines]
    unusual = outliers([{str(at): cell for at, cell in enumerate(row)} for row in rows[1:]])
    total = len(rows) - 1
    pieces: list[Piece] = []
    for at, (line, row) in enumerate(zip(lines, rows, strict=True)):
        score = _row_score(line, end_score(at - 1, total), unusual.get(at - 1, 0)) if at else _HEADER_ROW
        first = len(pieces)
        names = lasting_names("\n".join(row))  # of each cell
        for part in _row_parts(line, row, mark):
            pieces.append(
                Piece(
                    text=part,
                    score=score,
                    parent=0 if pieces else -1,
                    units=len(pieces) == first,
                    names=tuple(name for name in names if name in part),
                    bulk=total > BULK and at > 0,
                )
            )
    return Outline(pieces=tuple(pieces), unit="rows", write=in_lines)


def _row_score(line: str, near_end: float, alike: int) -> float:
    """The score of a row, of which `alike` stand out in the same way."""
    words = line.replace("_", " ")
    score = _PLAIN_ROW * near_end + _ROW_PROBLEM * (PROBLEM.search(words) is not None) + failed(words)
    return score + (_STANDS_OUT * (1 + 1 / alike) if alike else 0.0)


def _cells(line: str, mark: str) -> list[str]:
    if not mark:
        return _BETWEEN.split(line.strip())
    if '"' in line and len(line) <= csv.field_size_limit():
        return next(csv.reader([line], delimiter=mark), [])
    return [cell.strip() for cell in line.split(mark)]


def _row_parts(line: str, row: Sequence[str], mark: str) -> Iterator[str]:
    """A row in one part: in a long one, long cells are shortened."""
    text = _PADDING.sub("  ", line)
    if len(text) > MAX_PIECE:
        short = (f"{cell[:MAX_CELL].rstrip()}{GAP}" if len(cell) > MAX_CELL else cell for cell in row)
        text = (mark or "  ").join(short)
    yield from split_long(text, longest=MAX_ROW)


# Stack traces: what was raised, then frames of the user's own code.

_FRAME = re.compile(r'\s+File "[^"]+", line \d+|\s+at \S|\s+\S+\.\w{1,5}:\d+')
_LOCATION = re.compile(r"\s+\S+\.\w{1,5}:\d+")
"""Below its function, as Go and Rust write it; other languages write the source below the location."""
_ADDRESSES = re.compile(r"\((?:\{?(?:0x[0-9a-f]+|\.\.\.)\??\}?(?:, )?)+\)| \+0x[0-9a-f]+")
_FOREIGN = re.compile(
    r"site-packages|dist-packages|node_modules|lib/python|/usr/|<frozen|<string>|node:|java\.|javax\.|sun\."
    r"|/pkg/mod/|/libexec/|/installs/|/src/(?:runtime|testing)/|\.cargo/|rustc/"
)
_RAISED = re.compile(
    r"(?:[\w.$]+(?:Error|Exception|Warning|Failure|Interrupt)\b|panic: |Caused by|thread '.*' panicked)"
)
_RAISED_LINE, _OWN_FRAME, _FOREIGN_FRAME, _OTHER_LINE = 8.0, 1.5, 0.2, 0.3


def trace_outline(text: str) -> Outline:
    """Every frame is a piece with its source line, repeated ones folded. Memory addresses are left out."""
    frames = Counter(_frames([_ADDRESSES.sub("", line) for line in split_lines(text)]))
    pieces = tuple(
        Piece(
            text=f"{frame} ×{times}" if times > 1 else frame,
            score=_frame_score(frame),
            units=times,
            names=names_in(frame),
        )
        for frame, times in frames.items()
    )
    return Outline(pieces=pieces, unit="lines and frames", write=in_lines)


def _frames(lines: list[str]) -> Iterator[str]:
    pending = ""
    for line in lines:
        if pending and (_LOCATION.match(line) if not _FRAME.match(pending) else _is_source(line)):
            yield f"{pending}\n{line}"
            pending = ""
            continue
        if pending:
            yield pending
        pending = line
    if pending:
        yield pending


def _is_source(line: str) -> bool:
    return line[:1].isspace() and not _FRAME.match(line)


def _frame_score(frame: str) -> float:
    if _RAISED.match(frame):
        return _RAISED_LINE
    if _FRAME.match(frame) or "\n" in frame:
        return _FOREIGN_FRAME if _FOREIGN.search(frame) else _OWN_FRAME
    return _OTHER_LINE + _OWN_FRAME * (PROBLEM.search(frame) is not None)
