"""Offer the document that explains how to work in the project, cut at a heading or a paragraph.

The first document that exists is taken, within its cap of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from foveal.pipeline.material.categories import PenguinNumbers
from foveal.pipeline.shorten.turn import cut_middle
from foveal.sources.contributor import (
    MAX_CHARS_PER_TOKEN,
    PROJECT_DOCS,
    ContextRequest,
    Offer,
    count_fitting,
    fits,
    too_small,
)
from foveal.sources.workspace.values import FileInfo
from foveal.sources.workspace.workspace import Workspace
from foveal.window import Contributed

_LINE = "\n"
_HEADING = re.compile(r"#{1,6}\s")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
CAPS: Mapping[str, int] = MappingProxyType(dict(PenguinNumbers().project_docs))
"""The documents, in the order in which they are looked for, and the most tokens that each may have."""


def docs(request: ContextRequest, *, caps: Mapping[str, int] = CAPS) -> Iterator[Offer | Contributed]:
    """One offer: the beginning of the project's document."""
    found = document(request.workspace, caps)
    if found is None:
        return
    file, text, cap = found
    room = min(cap, request.room)
    if shown := beginning(text, room, request):
        yield Offer(text=shown, type=PROJECT_DOCS, source_path=file.path, touched_at=file.touched_at)
    else:
        yield too_small(PROJECT_DOCS, file.path, characters=len(text), room=room)


def document(workspace: Workspace, caps: Mapping[str, int] = CAPS) -> tuple[FileInfo, str, int] | None:
    """The first document that is not blank, its text, and its cap of tokens."""
    for name, cap in caps.items():
        file = workspace.info(name)
        text = workspace.text(name) if file else None
        if file and text and text.strip():
            return file, text, cap
    return None


def beginning(text: str, tokens: int, request: ContextRequest) -> str:
    """The text, or as many of its first paragraphs as fit, and how many lines are left out."""
    if fits(text, tokens, request.count):
        return text
    # What comes after these characters cannot fit, so it need not be split into blocks.
    head, lines = text[: MAX_CHARS_PER_TOKEN * max(0, tokens)], text.count("\n") + 1
    blocks = list(_blocks(head if len(head) == len(text) else head.rpartition("\n")[0]))

    def render(shown: Sequence[str]) -> str:
        kept = "\n\n".join(_without_last_headings(shown))
        return f"{kept}\n[… {lines - kept.count(_LINE) - 1:,} more lines]" if kept else ""

    kept = render(blocks[: count_fitting(blocks, render, tokens, request.count)])
    # If the first paragraph alone exceeds the cap, its first words, where even these fit.
    shorter = kept or cut_middle(head, tokens, request.count)
    return shorter if request.count(shorter) <= tokens else ""


def _without_last_headings(blocks: Sequence[str]) -> Sequence[str]:
    """Drop headings at the end that have nothing below them."""
    end = len(blocks)
    while end and _HEADING.match(blocks[end - 1]) and "\n" not in blocks[end - 1]:
        end -= 1
    return blocks[:end]


def _blocks(text: str) -> Iterator[str]:
    """Split into headings and paragraphs; a fenced block is one paragraph, whatever is in it.

    >>> list(_blocks("# Title\\n\\nOne.\\n\\n~~~\\na\\n\\nb\\n~~~\\n## Two\\nthree"))
    ['# Title', 'One.', '~~~\\na\\n\\nb\\n~~~', '## Two', 'three']
    """
    block: list[str] = []
    fenced = False
    for line in text.splitlines():
        heading = not fenced and bool(_HEADING.match(line))
        if block and not fenced and (heading or not line.strip()):
            yield "\n".join(block)
            block = []
        if heading:
            yield line.rstrip()
        elif line.strip() or fenced:
            block.append(line.rstrip())
        fenced ^= bool(_FENCE.match(line))
    if block:
        yield "\n".join(block)
