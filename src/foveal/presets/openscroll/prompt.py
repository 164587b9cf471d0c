"""A window's content in → the same as one text: what is known, then titled sections, the user's message last.

Empty sections vanish with their titles. What others said stands in it as data: no line of it can pass for a
title or a speaker. Pictures and files cannot be in a text; only their place is told.
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
from foveal.pipeline.material.notes import KNOWN_LAYERS, is_known, layer_of_piece, material_note
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
BESIDE = "known"
"""The note of what is known, whatever its layers."""
WORDLESS = "(a picture or a file)"
_TITLE = re.compile(rf"^(?=[^\S\n]*#+[^\S\n]*(?:{'|'.join(TITLES.values())}))", re.IGNORECASE | re.MULTILINE)
"""Where a line begins that looks like a title."""


def prompt_text(fitted: Fitted) -> str:
    """The eight layers as one text."""
    told: dict[str, list[str]] = defaultdict(list)
    for name, text in (*_said(fitted), *_beside(fitted.placed.shown)):
        told[name].append(text)
    # What is known of the user comes after what the system prompt says of the model.
    opening = [text for name in (IDENTITY, BESIDE, *KNOWN_LAYERS[1:]) for text in told[name]]
    sections = ("\n\n".join((f"## {title}", *told[name])) for name, title in TITLES.items() if told[name])
    return "\n\n".join((*opening, *sections))


def _beside(shown: Sequence[Material]) -> Iterator[tuple[str, str]]:
    """The notes of the material: one for all that is known, one for each section that has some."""
    by_layer: dict[str, list[Material]] = defaultdict(list)
    for piece in shown:
        by_layer[BESIDE if is_known(piece) else layer_of_piece(piece)].append(piece)
    return ((name, _data(material_note(pieces))) for name, pieces in by_layer.items())


def _said(fitted: Fitted) -> Iterator[tuple[str, str]]:
    slots = {decision.first: decision.slot for decision in fitted.manifest.kept}
    for chunk in fitted.chunks:
        if chunk is fitted.placed.head or chunk is fitted.placed.tail:
            continue
        home = _home(chunk, slots.get(chunk.first, ""))
        texts = [message.text or WORDLESS for message in chunk.messages]
        if is_system(chunk) or (home == USER_MESSAGE and chunk.messages[0].role == "user"):
            yield home, "\n\n".join(texts)
        elif _noted(chunk):
            arc = fitted.arcs.get(chunk.first, "")
            parts = ((ARC, arc), (home, texts[0].removeprefix(arc).lstrip("\n")))
            yield from ((name, _data(text)) for name, text in parts if text)
        else:
            spoken = zip(chunk.messages, texts, strict=True)
            yield home, "\n".join(f"[{message.role}]\n{_data(neutral(text))}" for message, text in spoken)


def _home(chunk: Chunk, slot: str) -> str:
    """The layer a chunk is shown in: the one it was charged to."""
    if is_system(chunk):
        return IDENTITY
    charged = [name for name in slot.split(", ") if name in LAYERS]
    return USER_MESSAGE if USER_MESSAGE in charged else next(iter(charged), MESSAGE_HISTORY)


def _noted(chunk: Chunk) -> bool:
    """Is it a note of ours in the place of messages?"""
    return chunk.detail == "folded" or (
        chunk.detail == "trimmed" and chunk.messages[0].text.startswith(SUMMARY_MARK)
    )


def _data(text: str) -> str:
    """The same words, with no line that could be taken for a title."""
    return _TITLE.sub("| ", text)
