"""Passages in → which of the questions in them nobody took up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from foveal.model import Role
from foveal.pipeline.compact.acts import answers, asks
from foveal.pipeline.compact.values import Passage


def replies(passages: Sequence[Passage]) -> list[str | None]:
    """For each passage all that the other side said next, until it was its turn again; None for none."""
    spoken = [(place, p) for place, p in enumerate(passages) if p.role in ("user", "assistant")]
    runs = [list(run) for _, run in groupby(spoken, key=lambda each: each[1].role)]
    found: list[str | None] = [None] * len(passages)
    for run, following in pairwise(runs):
        reply = "\n".join(passage.text for _, passage in following)
        for place, _ in run:
            found[place] = reply
    return found


def is_open(sentence: str, role: Role, reply: str | None) -> bool:
    """Is it a question without an answer? Whatever the user says next settles a question of the model's."""
    if not asks(sentence):
        return False
    return reply is None or (role == "user" and not answers(reply, sentence))
