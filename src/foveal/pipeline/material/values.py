"""What a window may hold beside the conversation: pieces of material in, what is shown of them out. Values.

Material was never said: a file, a map of the code, what is known of the user, a hit of a search. It goes into
windows as data, in notes of ours, never at system level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from foveal.model import Kind
from foveal.pipeline.history import History
from foveal.pipeline.values import Scene
from foveal.window import Contributed, Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """One piece, taken whole or left, or shown in part where the plan says so."""

    type: str
    """What brought it, as reports name it: PROJECT_DOCS, WORKING_FILES, …; identity, preferences, topic, …"""
    text: str
    tokens: int
    source: str = ""
    """Where it is from: a path in the workspace, the id of a topic or an entity."""
    title: str = ""
    """What it is called in notes and reports, where that is not its source."""
    kind: Kind = "rag_document_chunk"
    layer: str = ""
    """The layer it is shown in; empty: that of its kind."""
    weight: float = 0.1
    salience: float = 1.0
    """0..1: how much it has to do with the task."""

    @property
    def rank(self) -> float:
        return self.weight * self.salience


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Which pieces are in, and why each of them is in or not."""

    shown: tuple[Material, ...] = ()
    """In the order in which they are shown, with the text and tokens they are shown with."""
    told: tuple[Contributed, ...] = ()
    """One for each piece that was offered, best first."""
    slots: tuple[Slot, ...] = ()
    """The plan once these pieces are in: what they use, what was borrowed for them. Empty: there is none."""


Admit = Callable[[Sequence[Material], History, int, Scene], Admission]
"""Material, the history, the room beside what is fixed, and the scene in → what is shown."""
