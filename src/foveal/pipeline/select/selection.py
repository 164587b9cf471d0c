"""What a selector answers inside a build: the chosen turns, and why each turn is in or out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from foveal.model import Chunk
from foveal.pipeline.history import History
from foveal.pipeline.values import Held, Scene
from foveal.window import Conflict, Score, Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The chosen turns beside the fixed ones, and why these are in and the others out."""

    turns: tuple[int, ...]
    because_in: str
    because_out: str
    reasons: Mapping[int, str] = field(default_factory=dict)
    """By turn, where turns have reasons of their own; a turn without one has the common reason."""
    forms: Mapping[int, Chunk] = field(default_factory=dict)
    """By turn, the shorter form that stands for it; the turns themselves are among `turns`."""
    folded: Mapping[int, str] = field(default_factory=dict)
    """By turn, why it needs no place of its own: the form of another turn covers it."""
    markers: Mapping[int, Chunk] = field(default_factory=dict)
    """By turn, a note in its place that says only that it is left out."""
    before: Mapping[int, Chunk] = field(default_factory=dict)
    """By turn, a note of ours that stands before it; the turns themselves are among `turns` or fixed."""
    arcs: Mapping[int, str] = field(default_factory=dict)
    """By turn, how the conversation got here, where its form or its marker begins with that."""
    scores: Mapping[int, Score] = field(default_factory=dict)
    charged: Mapping[int, str] = field(default_factory=dict)
    """By turn, the slots it was charged to."""
    slots: tuple[Slot, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    record: Mapping[str, str] = field(default_factory=dict)
    held: Held | None = None
    """The layout to begin the next window with, where the preset holds still."""
    reports: tuple[tuple[str, Mapping[str, object]], ...] = ()
    """Events of the preset's own design: name and payload."""


Selector = Callable[[History, Mapping[int, Chunk], int, Scene], Selection]
"""A history, the fixed turns, the room that is left and the scene in; the chosen turns out."""
