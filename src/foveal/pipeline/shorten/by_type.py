"""Code in → its lines as pieces; definitions, imports and what is mentioned are worth the most.

Line numbers that stand before the lines (`cat -n`) stay, without their padding.

A diff in → files, hunks and lines as pieces; changed lines before the lines around them.

A log in → its lines as pieces, alike ones folded; trouble and what stands around it is worth the most.

Running text in → its sentences as pieces; decisions, results, errors and the ends are worth the most.

Search results in → matches as pieces under their files, each file named once with its count.

A table in → its rows as pieces under its header; the first and the last rows are worth the most.

A stack trace in → its frames as pieces, repeated ones folded; what was raised first, then own frames.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from foveal.pipeline.shorten.outline import (
    PROBLEM,
    Outline,
    Piece,
    in_lines,
    in_numbered_lines,
    join_short_lines,
    split_lines,
    split_long,
)
from foveal.pipeline.signals import MAX_NAMES, names_in

CODE_DEFINED, CODE_OUTER, CODE_IMPORTED, CODE_TROUBLED, CODE_AROUND, CODE_PLAIN = 2.0, 0.5, 0.4, 0.5, 5.0, 0.1
CODE_NEAR = 2
"""Lines on each side of a mentioned name."""
_NUMBERED = re.compile(r"\s{0,12}(\d{1,7})(→|\t|\s?\|)(.*)", re.DOTALL)
_DEFINITION = re.compile(
    r"\s*(?:export |default |pub(?:\([a-z]+\))? |public |private |protected |static |final |abstract )*"
    r"(?:async )?(?:def|class|func|function|fn|type|struct|interface|enum|impl|trait|module|namespace|record)"
    r"\s+\S|(?:const|var|let|static)\s+\w|#define\s|\s*@\w|#{1,6} "
)
_IMPORT = re.compile(r"\s*(?:import|from|use|require|package|#include|using)\b")


def code_outline(text: str, *, mentioned: frozenset[str]) -> Outline:
    """Every line a piece; brackets alone are left to the gaps."""
    lines = [_unpadded(line) for line in split_lines(text)]
    names = [names_in(code) for _, code in lines]
    near = _near_mentions([not mentioned.isdisjoint(found) for found in names])
    pieces = tuple(
        Piece(text=number + code, worth=_code_worth(code) + CODE_AROUND * close, names=found)
        for (number, code), found, close in zip(lines, names, near, strict=True)
    )
    numbered = all(number for number, _ in lines[:CODE_NEAR])
    return Outline(pieces=pieces, unit="lines", write=in_numbered_lines if numbered else in_lines)


def _unpadded(line: str) -> tuple[str, str]:
    found = _NUMBERED.fullmatch(line)
    return (f"{found[1]}{found[2].strip(' ')}", found[3]) if found else ("", line)


def _near_mentions(hits: Sequence[bool]) -> list[bool]:
    near = [False] * len(hits)
    for place, hit in enumerate(hits):
        if hit:
            for at in range(max(0, place - CODE_NEAR), min(len(hits), place + CODE_NEAR + 1)):
                near[at] = True
    return near


def _code_worth(code: str) -> float:
    if not any(map(str.isalnum, code)):
        return 0.0
    if _DEFINITION.match(code):
        return CODE_DEFINED + CODE_OUTER * (not code[:1].isspace())
    if _IMPORT.match(code):
        return CODE_IMPORTED
    return CODE_PLAIN + CODE_TROUBLED * (PROBLEM.search(code) is not None)


DIFF_FILE, DIFF_HUNK, DIFF_CHANGED, DIFF_AROUND, DIFF_OUTSIDE = 3.0, 0.5, 1.0, 0.05, 0.5


def diff_outline(text: str) -> Outline:
    """Every line a piece under its hunk, every hunk under its file."""
    pieces: list[Piece] = []
    file = hunk = -1
    lines = split_lines(text)
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        place = len(pieces)
        # A `---` after `diff` belongs to its header; without the `+++` it is a removed line.
        headed = file >= 0 > hunk
        bare = line.startswith("--- ") and following.startswith("+++ ") and not headed
        if line.startswith("diff ") or bare:
            pieces.append(Piece(text=line, worth=DIFF_FILE, names=names_in(line)))
            file, hunk = place, -1
        elif line.startswith("@@"):
            pieces.append(Piece(text=line, worth=DIFF_HUNK, under=file, names=names_in(line)))
            hunk = place
        elif hunk < 0:
            worth = 0.0 if line.startswith(("--- ", "+++ ")) else DIFF_OUTSIDE
            pieces.append(Piece(text=line, worth=worth, under=file, names=names_in(line)))
        else:
            worth = DIFF_CHANGED if line[0] in "+-" else DIFF_AROUND
            pieces.append(Piece(text=line, worth=worth, under=hunk, names=names_in(line)))
    return Outline(pieces=tuple(pieces), unit="lines", write=in_lines)


LOG_ENDS, LOG_TROUBLED, LOG_AROUND, LOG_PLAIN = 3.0, 3.0, 0.8, 0.1
LOG_NEAR = 2
"""Lines on each side of trouble."""
LOG_ALIKE = 3
"""Lines that differ in numbers only are folded from this many on."""
_VARIES = re.compile(r"0x[0-9a-fA-F]+|\b(?=[a-f]*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,})*\b|\d+")


def log_outline(text: str) -> Outline:
    """Every line a piece; of lines that differ in their numbers alone the first stands for all."""
    lines = split_lines(text)
    worths = _log_worths(lines)
    alike: dict[str, list[int]] = {}
    for place, line in enumerate(lines):
        alike.setdefault(_VARIES.sub("0", line), []).append(place)
    groups = [part for places in alike.values() for part in _parted(places)]
    pieces = tuple(_log_piece(lines, worths, places) for places in sorted(groups))
    return Outline(pieces=pieces, unit="lines", write=in_lines)


def _parted(places: list[int]) -> list[list[int]]:
    return [places] if len(places) >= LOG_ALIKE else [[place] for place in places]


def _log_piece(lines: Sequence[str], worths: Sequence[float], places: Sequence[int]) -> Piece:
    text, names = lines[places[0]], names_in(lines[places[0]])
    others = islice(dict.fromkeys(n for place in places[1:] for n in names_in(lines[place])), MAX_NAMES)
    return Piece(
        text=f"{text} ×{len(places)}" if len(places) > 1 else text,
        worth=max(worths[place] for place in places),
        units=len(places),
        names=names,
        folded=tuple(name for name in others if name not in names),
    )


def _log_worths(lines: Sequence[str]) -> list[float]:
    worths = [LOG_PLAIN] * len(lines)
    for place, line in enumerate(lines):
        if place in (0, len(lines) - 1):
            worths[place] = max(worths[place], LOG_ENDS)
        if PROBLEM.search(line):
            for near in range(max(0, place - LOG_NEAR), min(len(lines), place + LOG_NEAR + 1)):
                worths[near] = max(worths[near], LOG_AROUND)
            worths[place] = LOG_TROUBLED
    return worths


PROSE_HEAD, PROSE_TAIL, PROSE_HEADING, PROSE_KEY, PROSE_PLAIN = 2.0, 1.5, 1.0, 1.5, 0.2
_SENTENCE = re.compile(r"(?<=[.!?。！？])[\"')\]]?\s+(?=[A-Z0-9\"'(\[#*`-])")
_KEY = re.compile(
    r"\b(?:decid\w+|decision|chose|agreed|instead|must|should|never|always|because|root cause|fix(?:ed)?"
    r"|solved|result\w*|conclu\w+|found|confirmed|verified|done|passed|created|added|removed|changed|updated"
    r"|total|summary|important|note|todo|next)\b",
    re.IGNORECASE,
)


def prose_outline(text: str) -> Outline:
    """Every sentence a piece, short ones with the next."""
    sentences = (
        said for line in text.splitlines() for said in _SENTENCE.split(line.rstrip()) if said.strip()
    )
    texts = list(join_short_lines([part for said in sentences for part in split_long(said)]))
    last = len(texts) - 1
    pieces = tuple(
        Piece(
            text=said,
            worth=_sentence_worth(said, place, last),
            names=names_in(said),
            units=said.count("\n") + 1,
        )
        for place, said in enumerate(texts)
    )
    return Outline(pieces=pieces, unit="sentences", write=in_lines)


def _sentence_worth(text: str, place: int, last: int) -> float:
    worth = PROSE_HEAD if place == 0 else PROSE_TAIL if place == last else PROSE_PLAIN
    if PROBLEM.search(text) or _KEY.search(text):
        worth += PROSE_KEY
    return worth + PROSE_HEADING * text.startswith("#")


SEARCH_FILE, SEARCH_MATCH, SEARCH_OTHER = 1.5, 0.2, 0.3
_MATCH = re.compile(r"(?=[^\s:]{0,200}[A-Za-z])([^\s:]{1,200}?)([:-])(\d{1,7})\2(.*)", re.DOTALL)


def search_outline(text: str) -> Outline:
    """Every match a piece under its file; a line that is no match stands for itself."""
    by_file: dict[str, list[str]] = {}
    lone: list[str] = []
    for line in split_lines(text):
        found = _MATCH.fullmatch(line)
        if found:
            by_file.setdefault(found[1], []).append(f"{found[3]}:{found[4]}")
        else:
            lone.append(line)
    pieces = [Piece(text=line, worth=SEARCH_OTHER, names=names_in(line)) for line in lone]
    for path, matches in by_file.items():
        place = len(pieces)
        many = f" ({len(matches)} matches)" if len(matches) > 1 else ""
        pieces.append(Piece(text=f"{path}{many}", worth=SEARCH_FILE, units=0, names=names_in(path)))
        pieces += [
            Piece(text=match, worth=SEARCH_MATCH, under=place, names=names_in(match)) for match in matches
        ]
    return Outline(pieces=tuple(pieces), unit="lines", write=in_numbered_lines)


TABLE_HEADER, TABLE_ENDS, TABLE_TROUBLED, TABLE_PLAIN = 3.0, 0.8, 1.0, 0.2
TABLE_FIRST, TABLE_LAST = 3, 2
_PADDING = re.compile(r"(?<=\S) {3,}")
_RULE = re.compile(r"[\s|:+=─━-]+")


def table_outline(text: str) -> Outline:
    """Every row a piece. Padding and rules go: they say nothing."""
    lines = [_PADDING.sub("  ", line) for line in split_lines(text) if not _RULE.fullmatch(line)]
    last = len(lines) - 1
    pieces = []
    for place, line in enumerate(lines):
        ends = 0 < place <= TABLE_FIRST or place > last - TABLE_LAST
        worth = TABLE_HEADER if place == 0 else TABLE_ENDS if ends else TABLE_PLAIN
        worth += TABLE_TROUBLED * (PROBLEM.search(line) is not None)
        pieces.append(Piece(text=line, worth=worth, under=0 if place else -1, names=names_in(line)))
    return Outline(pieces=tuple(pieces), unit="rows", write=in_lines)


TRACE_RAISED, TRACE_OWN, TRACE_FOREIGN, TRACE_OTHER = 8.0, 1.5, 0.2, 0.3
_FRAME = re.compile(r'\s+File "[^"]+", line \d+|\s+at \S|\s+\S+\.\w{1,5}:\d+')
_PLACE = re.compile(r"\s+\S+\.\w{1,5}:\d+")
"""Below the function it is in, as Go and Rust write it; other languages write the source below the place."""
_ADDRESSES = re.compile(r"\((?:\{?(?:0x[0-9a-f]+|\.\.\.)\??\}?(?:, )?)+\)| \+0x[0-9a-f]+")
_FOREIGN = re.compile(
    r"site-packages|dist-packages|node_modules|lib/python|/usr/|<frozen|<string>|node:|java\.|javax\.|sun\."
    r"|/pkg/mod/|/libexec/|/installs/|/src/(?:runtime|testing)/|\.cargo/|rustc/"
)
_RAISED = re.compile(
    r"(?:[\w.$]+(?:Error|Exception|Warning|Failure|Interrupt)\b|panic: |Caused by|thread '.*' panicked)"
)


def trace_outline(text: str) -> Outline:
    """Every frame a piece, its line of source with it. Addresses in memory say nothing to anybody."""
    frames = Counter(_frames([_ADDRESSES.sub("", line) for line in split_lines(text)]))
    pieces = tuple(
        Piece(
            text=f"{frame} ×{times}" if times > 1 else frame,
            worth=_frame_worth(frame),
            units=times,
            names=names_in(frame),
        )
        for frame, times in frames.items()
    )
    return Outline(pieces=pieces, unit="lines and frames", write=in_lines)


def _frames(lines: list[str]) -> Iterator[str]:
    layout = ""
    for line in lines:
        if layout and (_PLACE.match(line) if not _FRAME.match(layout) else _is_source(line)):
            yield f"{layout}\n{line}"
            layout = ""
            continue
        if layout:
            yield layout
        layout = line
    if layout:
        yield layout


def _is_source(line: str) -> bool:
    return line[:1].isspace() and not _FRAME.match(line)


def _frame_worth(frame: str) -> float:
    if _RAISED.match(frame):
        return TRACE_RAISED
    if _FRAME.match(frame) or "\n" in frame:
        return TRACE_FOREIGN if _FOREIGN.search(frame) else TRACE_OWN
    return TRACE_OTHER + TRACE_OWN * (PROBLEM.search(frame) is not None)
