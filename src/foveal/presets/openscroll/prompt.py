"""Render a window as one text: knowledge, then titled sections, the user's message last.

Empty sections are omitted with their titles. Quoted words are data: no line of them can pass for a title or
a speaker. Images and files are replaced by a placeholder.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from foveal.model import Chunk
from foveal.pipeline.fit import Fitted
from foveal.pipeline.history import is_system
from foveal.pipeline.kinds import ARC, IDENTITY, LAYERS, MESSAGE_HISTORY, RETRIEVAL, USER_MESSAGE
from foveal.pipeline.material.placement import KNOWN_LAYERS, is_known, layer_of_piece, material_note
from foveal.pipeline.material.values import Material
from foveal.pipeline.summarize.notes import SUMMARY_MARK, neutral

TITLES: Mapping[str, str] = MappingProxyType(
    {
        ARC: "Current conversation",
        MESSAGE_HISTORY: "Recent messages",
        RETRIEVAL: "Just-in-time knowledge",
        USER_MESSAGE: "User message",
    }
)
"""In the order of the sections."""
KNOWLEDGE = "known"
"""The section of the note with all knowledge, whichever its layers."""
WORDLESS = "(a picture or a file)"
_TITLE = re.compile(rf"^(?=[^\S\n]*#+[^\S\n]*(?:{'|'.join(TITLES.values())}))", re.IGNORECASE | re.MULTILINE)
"""The start of a line that looks like a title."""


def prompt_text(fitted: Fitted) -> str:
    """The eight layers as one text."""
    sections: dict[str, list[str]] = defaultdict(list)
    for name, text in (*_messages(fitted), *_material(fitted.placed.shown)):
        sections[name].append(text)
    # The knowledge about the user comes after the system prompt.
    opening = [text for name in (IDENTITY, KNOWLEDGE, *KNOWN_LAYERS[1:]) for text in sections[name]]
    titled = (
        "\n\n".join((f"## {title}", *sections[name])) for name, title in TITLES.items() if sections[name]
    )
    return "\n\n".join((*opening, *titled))


def _material(shown: Sequence[Material]) -> Iterator[tuple[str, str]]:
    """The notes of the material: one for all knowledge, one for each other layer."""
    by_layer: dict[str, list[Material]] = defaultdict(list)
    for piece in shown:
        by_layer[KNOWLEDGE if is_known(piece) else layer_of_piece(piece)].append(piece)
    return ((name, _data(material_note(pieces))) for name, pieces in by_layer.items())


def _messages(fitted: Fitted) -> Iterator[tuple[str, str]]:
    slots = {decision.first: decision.slot for decision in fitted.manifest.kept}
    for chunk in fitted.chunks:
        if chunk is fitted.placed.head or chunk is fitted.placed.tail:
            continue
        section = _section(chunk, slots.get(chunk.first, ""))
        texts = [message.text or WORDLESS for message in chunk.messages]
        if is_system(chunk) or (section == USER_MESSAGE and chunk.messages[0].role == "user"):
            yield section, "\n\n".join(texts)
        elif _is_note(chunk):
            arc = fitted.arcs.get(chunk.first, "")
            parts = ((ARC, arc), (section, texts[0].removeprefix(arc).lstrip("\n")))
            yield from ((name, _data(text)) for name, text in parts if text)
        else:
            pairs = zip(chunk.messages, texts, strict=True)
            yield section, "\n".join(f"[{message.role}]\n{_data(neutral(text))}" for message, text in pairs)


def _section(chunk: Chunk, slot: str) -> str:
    """The layer of a chunk: the one it was charged to."""
    if is_system(chunk):
        return IDENTITY
    charged = [name for name in slot.split(", ") if name in LAYERS]
    return USER_MESSAGE if USER_MESSAGE in charged else next(iter(charged), MESSAGE_HISTORY)


def _is_note(chunk: Chunk) -> bool:
    """Whether the chunk is a note that replaces messages."""
    return chunk.detail == "folded" or (
        chunk.detail == "trimmed" and chunk.messages[0].text.startswith(SUMMARY_MARK)
    )


def _data(text: str) -> str:
    """The text, with a bar before every line that could be taken for a title."""
    return _TITLE.sub("| ", text)
