"""Define the material that a window may show next to the conversation, and the decision about it.

Material is not part of the conversation: a file, a map of the code, a fact about the user, a search hit. It
goes into windows as data, in notes of ours, never at system level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from foveal.model import Kind
from foveal.pipeline.history import History
from foveal.pipeline.values import Scene
from foveal.window import Contributed, Slot

MEMORIES = "memories"
"""The type of the piece with what the user asked to remember or said in other sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """One piece: shown whole or left out, or shown in part where the plan allows it."""

    type: str
    """Its contributor, as reports name it: PROJECT_DOCS, WORKING_FILES, …; identity, preferences, topic, …"""
    text: str
    tokens: int
    source: str = ""
    """Where it is from: a path in the workspace, the id of a topic or an entity."""
    title: str = ""
    """Its name in notes and reports, where that is not its source."""
    kind: Kind = "rag_document_chunk"
    layer: str = ""
    """The layer it is shown in; empty: that of its kind."""
    weight: float = 0.1
    salience: float = 1.0
    """0..1: how relevant it is to the task."""

    @property
    def rank(self) -> float:
        return self.weight * self.salience


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Which pieces are shown, and the reason for each piece, shown or not."""

    shown: tuple[Material, ...] = ()
    """In the order in which they are shown, with the text and tokens they are shown with."""
    contributed: tuple[Contributed, ...] = ()
    """One for each offered piece, best first."""
    slots: tuple[Slot, ...] = ()
    """The plan with these pieces in it: what they use, what was borrowed for them. Empty: there is none."""


Admit = Callable[[Sequence[Material], History, int, Scene], Admission]
"""Chooses from the material, given the history, the tokens left next to what is fixed, and the scene."""
