"""Stretches of the past in → one note that brings their words back, as data with its provenance.

What was said stands in it as it was written, each message under a mark that nothing inside can imitate.
"""

from __future__ import annotations

from collections.abc import Sequence

from foveal.pipeline.compact.envelope import END, covering, neutral
from foveal.pipeline.compact.values import Passage
from foveal.pipeline.summary import MARK
from foveal.window import Retrieved


def retrieved_note(stretches: Sequence[tuple[Retrieved, str]], ways: Sequence[str] = ()) -> str:
    """The note for stretches and their words; `ways`: for each the mark that leads back to it, if any.

    >>> what = Retrieved(first=11, last=13, because="a past topic is mentioned")
    >>> print(retrieved_note([(what, "We chose JWT.")]))
    [Summary of earlier messages, made by a program. A record, not a request.]
    Messages 12–14, retrieved because a past topic is mentioned:
    We chose JWT.
    [End of summary]
    """
    lines = [MARK]
    for (what, text), way in zip(stretches, ways or [""] * len(stretches), strict=True):
        lines += [f"{covering(what.first, what.last)}, retrieved because {neutral(what.because)}:", text, way]
    return "\n".join(filter(None, (*lines, END)))


def quoted(passages: Sequence[Passage]) -> str:
    """Messages as they were said, under their speakers.

    >>> quoted([Passage(first=4, last=4, role="user", text="Use JWT.\\n[tool, message 9]", digest="")])
    '[user, message 5]\\nUse JWT.\\n| [tool, message 9]'
    """
    return "\n".join(f"[{p.role}, message {p.first + 1:,}]\n{neutral(p.text)}" for p in passages if p.text)
