"""A text in → its sentences, and what of it was typed and what pasted.

Each walk looks at every character a bounded number of times: linear on any input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from foveal.pipeline.compact.acts import LONGEST

_END = re.compile(r"(?<=[.!?])[\"')\]]?\s+|(?<=[。！？])")
_BULLET = re.compile(r"\s*(?:[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s)\s*")
_CLOSING = re.compile(r"</([A-Za-z][\w.-]{0,40})>")
_OPENING = re.compile(r"(?<!\w)<([A-Za-z][\w.-]{0,40})(?=[\s>])")
_QUOTED = re.compile(r"\"[^\"\n]{20,}\"|“[^”\n]{20,}”|«[^»\n]{20,}»")
_FENCES = ("```", "~~~", '"""', "'''")
_BRINGS = re.compile(
    r"\b(?:says|said|wrote|writes|reads|states|pasted|printed|returned)\b[^:\n]{0,60}:(?=\s|$)|\b(?:page|site|website"
    r"|article|e-?mails?|mail|message|output|logs?|text|documents?|docs?|files?|readme|response|results?|errors?"
    r"|snippet|contents?|transcript|reply|ticket|issue|comment|post|prompt|traceback)\b[^:\n]{0,60}:$",
    re.IGNORECASE,
)
_END_OF_TEXT = "\n\n"
"""In no line: what opened goes on to the end."""
_FORWARDED = re.compile(r"-{2,}\s*(?:original|forwarded|begin)\b|(?:from|subject):\s", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """The sentences of a text, a line at a time, each on one line and without its bullet.

    >>> sentences("Use JWT. It is\\n- simple! Is it safe?")
    ['Use JWT.', 'It is', 'simple!', 'Is it safe?']
    """
    found = (_one_line(piece) for line in text.splitlines() for piece in _END.split(_unbulleted(line)))
    return [sentence for sentence in found if any(map(str.isalnum, sentence[:LONGEST]))]


def _unbulleted(line: str) -> str:
    bullet = _BULLET.match(line)
    return line[bullet.end() :] if bullet else line


def _one_line(text: str) -> str:
    return " ".join(text.split())


def ends(text: str, most: int) -> str:
    """A text, or the head and tail of one so long that nobody typed it."""
    return text if len(text) <= 2 * most else f"{text[:most]}\n{text[-most:]}"


def clipped(text: str, most: int = LONGEST) -> str:
    """At most so many characters, the last one an ellipsis where something was cut."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def typed(text: str) -> tuple[str, str]:
    """What an author typed, and what they pasted: fenced, quoted, tagged, or what "the page says:".

    >>> typed("Never use eval.\\n> Always use eval.\\nThe page says:\\nObey me.")
    ('Never use eval.\\nThe page says:', '> Always use eval.\\nObey me.')
    """
    parts = list(_parted(text))
    return "\n".join(filter(None, (p[0] for p in parts))), "\n".join(filter(None, (p[1] for p in parts)))


def _parted(text: str) -> Iterator[tuple[str, str]]:
    """Line by line, what was typed and what was pasted."""
    closings = {found[1]: found.start() for found in _CLOSING.finditer(text)}
    until, at = "", 0
    for line in text.splitlines(keepends=True):
        if until:
            yield "", line.strip()
            until = "" if until in line else until
        else:
            mine, theirs, until = _split(line, at, closings)
            yield mine, theirs
        at += len(line)


def _split(line: str, at: int, closings: Mapping[str, int]) -> tuple[str, str, str]:
    """What was typed and what was pasted in a line, and what ends the pasted lines after it."""
    bare = line.strip()
    if fence := next((mark for mark in _FENCES if bare.startswith(mark)), ""):
        return "", bare, "" if bare.count(fence) > 1 else fence
    if bare.startswith(">") or _FORWARDED.match(bare):
        return "", bare, "" if bare.startswith(">") else _END_OF_TEXT
    if tag := _tag(line, at, closings):
        closing, block = f"</{tag[1]}>", line[tag.start() :].strip()
        return line[: tag.start()].strip(), block, "" if closing in block else closing
    if brings := _BRINGS.search(bare):
        return bare[: brings.end()].strip(), bare[brings.end() :].strip(), _END_OF_TEXT
    return _QUOTED.sub("…", bare), " ".join(_QUOTED.findall(bare)), ""


def _tag(line: str, at: int, closings: Mapping[str, int]) -> re.Match[str] | None:
    """The first opening tag of a line that is closed somewhere after it."""
    return next((tag for tag in _OPENING.finditer(line) if closings.get(tag[1], -1) > at + tag.start()), None)
