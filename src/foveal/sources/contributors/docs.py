"""A workspace in → the document that says how to work in it, cut at a heading or a paragraph.

The first that exists is taken, and never more of it than its tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from foveal.pipeline.shorten.turn import cut_middle
from foveal.sources.contributor import DENSEST, PROJECT_DOCS, Look, Offer, fits, most, too_small
from foveal.sources.workspace.values import Seen
from foveal.sources.workspace.workspace import Workspace
from foveal.window import Contributed

_LINE = "\n"
_HEADING = re.compile(r"#{1,6}\s")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsNumbers:
    """Which documents are looked for, in this order, and how many tokens of each are shown at most."""

    caps: Mapping[str, int] = field(
        default_factory=lambda: {"PENGUIN.md": 600, "AGENTS.md": 500, "CLAUDE.md": 500, "README.md": 300}
    )


NUMBERS = DocsNumbers()


def docs(look: Look, *, numbers: DocsNumbers = NUMBERS) -> Iterator[Offer | Contributed]:
    """The project's own words on itself."""
    found = document(look.workspace, numbers)
    if found is None:
        return
    seen, text, cap = found
    room = min(cap, look.room)
    if shown := beginning(text, room, look):
        yield Offer(text=shown, type=PROJECT_DOCS, source_path=seen.path, touched_at=seen.touched_at)
    else:
        yield too_small(PROJECT_DOCS, seen.path, characters=len(text), room=room)


def document(workspace: Workspace, numbers: DocsNumbers = NUMBERS) -> tuple[Seen, str, int] | None:
    """The first document that says something, its text, and the tokens it may have."""
    for name, cap in numbers.caps.items():
        seen = workspace.seen(name)
        text = workspace.text(name) if seen else None
        if seen and text and text.strip():
            return seen, text, cap
    return None


def beginning(text: str, tokens: int, look: Look) -> str:
    """The text, or as many of its first paragraphs as fit, and how much is left out."""
    if fits(text, tokens, look.count):
        return text
    # What is longer than that is not shown in any case, and need not be taken apart.
    head, lines = text[: DENSEST * max(0, tokens)], text.count("\n") + 1
    blocks = list(_blocks(head if len(head) == len(text) else head.rpartition("\n")[0]))

    def written(shown: Sequence[str]) -> str:
        kept = "\n\n".join(_without_last_headings(shown))
        return f"{kept}\n[… {lines - kept.count(_LINE) - 1:,} more lines]" if kept else ""

    kept = written(blocks[: most(blocks, written, tokens, look.count)])
    # One paragraph that is longer than the cap: its first words, where even that much fits.
    shorter = kept or cut_middle(head, tokens, look.count)
    return shorter if look.count(shorter) <= tokens else ""


def _without_last_headings(blocks: Sequence[str]) -> Sequence[str]:
    """A heading with nothing under it says nothing."""
    end = len(blocks)
    while end and _HEADING.match(blocks[end - 1]) and "\n" not in blocks[end - 1]:
        end -= 1
    return blocks[:end]


def _blocks(text: str) -> Iterator[str]:
    """Headings and paragraphs; a fenced block is one, whatever is in it.

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
