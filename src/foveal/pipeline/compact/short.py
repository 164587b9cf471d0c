"""A long text in → a short form within the room: what a later turn could need, by the kind of its content.

Never over the room; the text itself when that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from foveal.pipeline.compact import code, diffs, json_form, logs, prose, results, tables, traces
from foveal.pipeline.compact.fill import fill
from foveal.pipeline.compact.pieces import Outline
from foveal.pipeline.compact.types import ContentType, content_type

HIGHEST = 0.99
"""The fidelity of what is not the text itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Short:
    """A text's short form, and how much of what the text tells it still tells: 0 to 1."""

    text: str
    tokens: int
    content: ContentType
    fidelity: float


def short(
    text: str, room: int, count: Callable[[str], int], *, mentioned: frozenset[str] = frozenset()
) -> Short | None:
    """The text within `room` tokens, what is `mentioned` first; None when nothing meaningful fits."""
    content = content_type(text)
    tokens = count(text)
    if tokens <= room:
        return Short(text=text, tokens=tokens, content=content, fidelity=1.0)
    written = fill(outline(text, content, mentioned=mentioned), room, count, mentioned=mentioned)
    if written is None:
        return None
    tokens = count(written.text)
    return Short(text=written.text, tokens=tokens, content=content, fidelity=min(written.share, HIGHEST))


def outline(text: str, content: ContentType, *, mentioned: frozenset[str] = frozenset()) -> Outline:
    """The text taken apart as its kind of content is."""
    return code.outline(text, mentioned=mentioned) if content == "code" else _OUTLINES[content](text)


_OUTLINES: Mapping[ContentType, Callable[[str], Outline]] = MappingProxyType(
    {
        "json": json_form.outline,
        "log": logs.outline,
        "diff": diffs.outline,
        "table": tables.outline,
        "search results": results.outline,
        "stack trace": traces.outline,
        "prose": prose.outline,
    }
)
