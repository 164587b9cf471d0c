"""Divide a text into excerpts that can be read on their own, each with the names in it.

An excerpt is a range of the text: whole sentences of what a person or a model said, whole lines of what a
tool returned, short ones joined with the next. A JSON result is first written as lines of keys and values,
one object after the other. Neighbouring excerpts are shown as one stretch, and a gap between two is marked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from foveal.pipeline.shorten.json_lines import json_lines
from foveal.pipeline.shorten.outline import GAP, MARKED_WORDS, PROBLEM
from foveal.pipeline.signals import names_in, weight
from foveal.pipeline.summarize.notes import quoted_material

Voice = Literal["user", "assistant", "tool"]
Landmark = Literal["", "asked", "said", "failed", "decided", "agreed"]
Span = tuple[int, int]

READABLE = 70
"""Characters below which a line of a result is joined with the next."""
SENTENCE = 100
"""Characters below which a sentence is joined with the next."""
LEAST = 40
"""Characters from which on a line is not joined with a long one."""
LONGEST = 300
"""Characters of one excerpt; a longer line is divided."""
BEGINNING = -1
"""In place of the numbers of excerpts: how the text begins."""
BEGINS = 80
"""Characters of that, up to the end of a word."""
SAID = 12
"""Stretches of a user's message that count as their own words."""
PROSE = 0.8
"""Of a stretch of prose: letters and spaces."""
MOST = 3_000
"""Excerpts of one text."""
READ = 60_000
"""Characters of a text that are divided at its beginning, and at its end."""
LOOKED_AT = 400
"""Characters of a result that are searched for an error: it is named at the start or at the very end."""
_REMINDER, _REMINDED = "<system-reminder>", "</system-reminder>"
_WORD = re.compile(r"\w+")
WORDS = 3
"""Words of a line that is quoted."""
_NUMBERED = re.compile(r"(?<!\s)\s*+\d{1,7}(?:→|\t|[-:|](?=\s))")
_HIT = re.compile(r"^(?:(?=[^\s:]{0,200}[./])[^\s:]{1,200}:)?\d{1,7}:(?!\d\d)", re.MULTILINE)
_BESIDE_HIT = re.compile(r"(?:(?=[^\s:]{0,200}[./])[^\s:]{1,200}-)?\d{1,7}-(?!\d\d-)")
"""A hit of a search with its line number, and a line that was printed around one; neither is a time."""
_WORDY = re.compile(r"\w{3}")
_DIGITS = re.compile(r"\b[0-9a-f]{8,64}\b|\d+")
_ERROR = re.compile(rf"{PROBLEM.pattern}|\w(?:Error|Exception)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\n\d\.)[\"')\]*]{0,3}\s+|(?<=[。！？])|\n")
"""Where a sentence ends; the number of a list item does not end one."""
_DECISION = re.compile(
    r"\b(?:decided|decision|instead|root cause|must|should not|found|turns out|because|conclusion|confirmed"
    r"|the (?:issue|problem|cause|fix|bug|reason|answer|plan|solution) (?:is|was)"
    r"|(?:I'll|I will|we'll|let's) (?:use|go with|keep|switch)|(?:now|all) (?:pass|work|done)\w*)\b",
    re.IGNORECASE,
)
_AGREED = re.compile(
    r"\bdecision: |\b(?:I|we)(?:'ve| have)? (?:decided|agreed|settled|chose)\b|\bsettled on\b", re.IGNORECASE
)
"""What settles a question in so many words; `_DECISION` also matches any conclusion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A range of a text."""

    start: int
    end: int
    names: tuple[str, ...]
    tokens: int
    """An estimate: its share of the tokens of the whole text."""
    landmark: Landmark = ""
    """Set if it begins a user's message or is in their own words, names a failure, or has a conclusion or a
    decision."""
    repeats: int = 1
    """Lines of the text that differ from it only in numbers and hashes, itself included."""
    nth: int = 1
    """Which of these it is."""
    weights: tuple[float, ...] = ()
    """The weight of each of its names."""
    worth: float = 0.0
    """The weight of all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpts:
    """A text, and the excerpts it consists of."""

    text: str
    parts: tuple[Excerpt, ...]
    spoken: bool = False
    """Whether a person or a model said it."""

    def shown(self, numbers: Sequence[int]) -> str:
        """The chosen excerpts, neighbours as one stretch, with a mark where something is left out after one.

        Lines of one or two words are only shown where the whole text is. After a short line, the mark says
        on a line of its own how much is omitted, unless lines have numbers, which show it.

        >>> found = divided("Use JWT, and keep it as small as that, please, all. " * 9, "user", len)
        >>> len(found.parts), found.shown([1])[:10], found.shown([1])[-14:]
        (5, 'Use JWT, a', 'please, all. …')
        """
        if numbers == (BEGINNING,):
            return self._beginning()
        if len(numbers) == len(self.parts):
            rows = self.text[self.parts[0].start : self.parts[-1].end].split("\n") if numbers else []
            return "\n".join(
                row for row in map(_unpadded, rows) if _WORD.search(_NUMBERED.sub("", row, count=1))
            )
        runs = list(_runs(numbers))
        following = [first for first, _ in runs[1:]] + [None]
        stretches = map(self._stretch, runs, following)
        return "\n".join(row for stretch in stretches for row in stretch)

    def _stretch(self, run: Span, following: int | None) -> list[str]:
        """The lines of neighbouring excerpts; `following`: the number of the next one that is shown."""
        first, last = run
        text = self.text[self.parts[first].start : self.parts[last].end].rstrip()
        whole = [row for row in map(_unpadded, text.split("\n")) if _WORD.search(row)]
        rows = [row for row in whole if len(_WORD.findall(row)) >= WORDS] or whole[:1]
        if first and not self.spoken and rows and self.text[self.parts[first].start - 1] not in "\n \t":
            rows[0] = f"{GAP} {rows[0].lstrip()}"
        if rows and last + 1 < len(self.parts):
            if not _is_short(rows[-1]) or self.spoken:
                rows[-1] = f"{rows[-1]} {GAP}"
            elif not _NUMBERED.match(rows[-1]):
                rows.append(self._omitted_after(last, following))
        return rows

    def _omitted_after(self, last: int, following: int | None) -> str:
        """How many lines are omitted between an excerpt and the next one that is shown."""
        end = len(self.text) if following is None else self.parts[following].start - 1
        lines = self.text.count("\n", self.parts[last].end, end)
        return f"[{GAP} {lines} lines]" if lines > 1 else GAP

    def omits_beginning(self, numbers: Sequence[int]) -> bool:
        """Whether what a person or a model said is shown from a later point on."""
        return self.spoken and 0 not in numbers and BEGINNING not in numbers

    def _beginning(self) -> str:
        """How the text begins, cut at a word."""
        line = " ".join(self.text[: 2 * BEGINS].split("\n", 1)[0].split())
        end = line.find(" ", BEGINS)
        return (
            line if end < 0 and len(line) <= BEGINS + LEAST else f"{line[: end if end > 0 else BEGINS]} {GAP}"
        )


def _is_short(row: str) -> bool:
    return len(_WORD.findall(row)) < MARKED_WORDS


def _unpadded(row: str) -> str:
    """A line without the space that pads its line number."""
    return row.lstrip() if _NUMBERED.match(row) else row


def _runs(numbers: Sequence[int]) -> Iterator[Span]:
    """The first and last of each run of consecutive numbers."""
    first = last = -2
    for number in sorted(numbers):
        if number != last + 1:
            if first >= 0:
                yield first, last
            first = number
        last = number
    if first >= 0:
        yield first, last


def divided(text: str, voice: Voice, count: Callable[[str], int]) -> Excerpts:
    """The excerpts of a text, in which nothing can pass for a mark of ours or a control token."""
    text = "\n".join(text.splitlines())  # whatever a reader could take for the end of a line
    text = _without_reminders(text).strip("\n") if voice == "tool" else text.strip()
    if len(text) > 2 * READ:
        end, start = text.rfind("\n", 0, READ), text.find("\n", len(text) - READ) + 1
        text = f"{text[: end if end > 0 else READ]}\n{GAP}\n{text[start or len(text) - READ :]}"
    is_json = voice == "tool" and text.lstrip()[:1] in ("{", "[")
    values = list(islice(json_lines(text), MOST)) if is_json else []
    elements = {line.text: line.element for line in values if line.element}
    text = quoted_material("\n".join(line.text for line in values) if values else text)
    if values:
        spans = list(_line_spans(text))
        templates: Counter[str] = Counter()
    elif voice == "tool":
        spans = list(_joined(text, _line_spans(text), READABLE))
        templates = Counter(_template(line) for line in text.split("\n"))
    else:
        spans = list(_joined(text, _sentence_spans(text), SENTENCE))
        templates = Counter()
    spans = spans[:MOST]
    rate = count(text) / max(1, len(text))
    landmarks = _landmarks(text, spans, voice)
    parts, met = [], Counter[str]()
    for at, (start, end) in enumerate(spans):
        names = names_in(text[start:end])
        if element := elements.get(text[start:end]):  # the line that begins the element has its name
            names = tuple(name for name in names if name not in element)
        kinds = [_template(line) for line in text[start:end].split("\n")] if templates else []
        kind = max(kinds, key=templates.__getitem__, default="")
        met[kind] += 1
        parts.append(
            Excerpt(
                start=start,
                end=end,
                names=names,
                tokens=int(rate * (end - start)) + 1,
                landmark=landmarks.get(at, ""),
                repeats=max(1, templates[kind]),
                nth=met[kind],
                weights=(weights := tuple(map(weight, names))),
                worth=sum(weights),
            )
        )
    return Excerpts(text=text, parts=tuple(parts), spoken=voice != "tool")


def _without_reminders(text: str) -> str:
    """A result without what the agent's own program wrote into it for the model."""
    while (start := text.find(_REMINDER)) >= 0:
        end = text.find(_REMINDED, start)
        text = text[:start].rstrip() + (text[end + len(_REMINDED) :] if end >= 0 else "")
    return text


def _template(line: str) -> str:
    """A line without the numbers and hashes in which it differs from others of its kind."""
    return _DIGITS.sub("#", line.strip()[:LONGEST])


def _landmarks(text: str, spans: Sequence[Span], voice: Voice) -> dict[int, Landmark]:
    if not spans:
        return {}
    last = len(spans) - 1
    if voice == "user":
        prose = (at for at, (start, end) in enumerate(spans) if _is_prose(text[start:end]))
        return {**dict.fromkeys(islice(prose, SAID), "said"), 0: "asked"}
    if voice == "assistant":
        said = {at: text[start:end] for at, (start, end) in enumerate(spans)}
        decided: dict[int, Landmark] = {
            at: "decided" for at, words in said.items() if _DECISION.search(words)
        }
        return {**decided, **{at: "agreed" for at, words in said.items() if _AGREED.search(words)}}
    if _ERROR.search(text[:LOOKED_AT]):
        at = next((at for at, (start, end) in enumerate(spans) if _ERROR.search(text[start:end])), 0)
        return {at: "failed"}
    start, end = spans[last]
    return {last: "failed"} if _ERROR.search(text[start:end]) else {}


def _is_prose(text: str) -> bool:
    """Whether a stretch of a user's message is their own words rather than something pasted."""
    letters = sum(sign.isalpha() or sign == " " for sign in text)
    return letters >= PROSE * len(text) and text.count("\n") * SENTENCE <= 2 * len(text)


def _line_spans(text: str) -> Iterator[Span]:
    """The lines with words, long ones divided where words or values end; not the lines around search hits."""
    start, searched = 0, _HIT.search(text) is not None
    for line in text.split("\n"):
        beside = searched and _BESIDE_HIT.match(line)
        if not beside and _WORDY.search(_NUMBERED.sub("", line, count=1)):
            yield from _divided_line(text, start, start + len(line))
        start += len(line) + 1


def _sentence_spans(text: str) -> Iterator[Span]:
    start = 0
    for found in _SENTENCE.finditer(text):
        if text[start : found.end()].strip():
            yield from _divided_line(text, start, found.end())
        start = found.end()
    if text[start:].strip():
        yield from _divided_line(text, start, len(text))


def _divided_line(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > LONGEST:
        cut = max(text.rfind(mark, start + LONGEST // 2, start + LONGEST) for mark in (" ", ",", ";"))
        stop = cut + 1 if cut > start else start + LONGEST
        yield start, stop
        start = stop
    yield start, end


def _joined(text: str, spans: Iterable[Span], readable: int) -> Iterator[Span]:
    """Join short lines with the next, and those that announce it with a colon.

    One that can be read on its own is not joined with a long one.
    """
    pending: Span | None = None
    for start, end in spans:
        alone = pending and pending[1] - pending[0] >= LEAST and not _announces(text, pending)
        if pending and alone and end - start >= readable:
            yield pending
            pending = None
        pending = (pending[0], end) if pending else (start, end)
        if pending[1] - pending[0] >= readable and not _announces(text, pending):
            yield pending
            pending = None
    if pending:
        yield pending


def _announces(text: str, span: Span) -> bool:
    """Whether a stretch ends in a colon, so that the next line says what it is about."""
    start, end = span
    return end - start < LONGEST and text[start:end].rstrip()[-1:] == ":"
