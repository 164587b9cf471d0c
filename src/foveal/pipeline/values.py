"""What the choosing stages hand each other: items and units, scores, slots and picks. Plain frozen values.

What a selector answers inside a build: the chosen turns, and why each turn is in or out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from foveal.model import Chunk, Kind, Level, Role
from foveal.pipeline.history import History
from foveal.pipeline.summarize.values import Answer
from foveal.window import Conflict, Decision, Score, Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One message, or a piece of material beside the chat, as scorers and plans see it."""

    index: int
    """Place in the conversation, from 0."""
    id: str
    role: Role
    kind: Kind
    text: str
    tokens: int
    timestamp: float | None = None
    """Seconds since 1970; None when nobody knows."""
    pinned: bool = False
    important: bool = False
    level: Level | None = None
    priority: float | None = None
    tool: bool = False
    """It calls a tool or is a tool's result."""
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedNote:
    """A note with earlier messages, placed before the user message that they are relevant to."""

    position: int
    """Position of that user message."""
    excerpts: Mapping[int, tuple[int, ...]]
    """By position of a message, the numbers of its snippets in the note; empty: the whole message."""
    note: Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What a window consists of, kept so that the next window begins with the same bytes."""

    message_budget: int
    """Tokens available for messages. A build with another number needs another layout."""
    full_from: int
    """Position from which on every turn is in the window in full."""
    kept: tuple[int, ...] = ()
    """Positions of earlier turns that are also in full."""
    note: Chunk | None = None
    """The note with excerpts of earlier messages; it replaces a turn."""
    excerpts: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """By position of a message, the numbers of its snippets in the note."""
    earlier: Mapping[int, Chunk] = field(default_factory=dict, repr=False, compare=False)
    """By turn, what the window has in place of those before `full_from`; filled on first use."""
    decisions: tuple[Decision, ...] = field(default=(), repr=False, compare=False)
    """The decisions about the messages before the open turn; they stand as long as the layout is kept."""
    decided_until: int = field(default=0, repr=False, compare=False)
    """How many messages these decisions cover."""
    excerpts_from: int = field(default=0, repr=False, compare=False)
    """Position of the first message that the next layout may take excerpts from."""
    retrieved: tuple[RetrievedNote, ...] = ()
    """Notes retrieved since the layout was made, in order."""
    relevant: tuple[int, ...] = ()
    """Positions of messages relevant to the newest user message, in the window or not, best first."""
    task_hash: str = ""
    """Hash of the task it was made for; empty if the caller gave none."""
    length: int = field(default=0, compare=False)
    """Messages in the history when a window was last built with it."""
    used_at: float = field(default=0.0, compare=False)
    """When that was, in seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What a provider charges for a token of input, in any currency; None where it is not known."""

    input: float | None = None
    read: float | None = None
    """From the cache."""
    write: float | None = None
    """To the cache; as any other input where there is no price of its own."""
    seconds: int | None = None
    """How long the cache lasts after a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """When and what for a window is built: every result can be reproduced from it."""

    now: float
    task: str = ""
    budget: int = 0
    count: Callable[[str], int] = len
    """Tokens of a text."""
    answer: Answer | None = None
    """Who makes summaries; without one they are extracts, made anew."""
    overhead: int = 0
    """Tokens of the budget that no message can have: framing, tools, a system prompt of this build only."""
    material: tuple[Item, ...] = ()
    """What is in the window beside the conversation, paid for already."""
    slots: tuple[Slot, ...] = ()
    """The plan that the material was admitted by; empty: it had none, or there is no material."""
    layout: Layout | None = None
    """The layout of the build before, where nothing of it changed since."""
    relevant: tuple[int, ...] = ()
    """Positions of messages that have to do with what the window is for, the most wanted first."""
    rates: Rates | None = None
    """What the provider charges, where another window will follow that should begin with this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What a selector takes or leaves whole: a turn, with the score of its best message."""

    turn: int
    items: tuple[Item, ...]
    tokens: int
    score: Score
    by_slot: Mapping[str, int]
    """Its tokens, charged message by message to the slots of the plan."""
    forced: str = ""
    """Why it must be in; empty for what may be chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A selector's answer: which units are in, and a reason for each of them, in or out."""

    kept: frozenset[int]
    """`Unit.turn` of those that are in."""
    because: Mapping[int, str]
    conflicts: tuple[Conflict, ...] = ()
    slots: tuple[Slot, ...] = ()
    """The plan after use: what each slot was allotted, used and borrowed."""
    forms: Mapping[int, Chunk] = field(default_factory=dict)
    folded: Mapping[int, str] = field(default_factory=dict)
    markers: Mapping[int, Chunk] = field(default_factory=dict)
    arcs: Mapping[int, str] = field(default_factory=dict)
    """As a `Selection` has them."""


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
    layout: Layout | None = None
    """The layout to begin the next window with, where the preset holds still."""
    reports: tuple[tuple[str, Mapping[str, object]], ...] = ()
    """Events of the preset's own design: name and payload."""


Selector = Callable[[History, Mapping[int, Chunk], int, Scene], Selection]
"""A history, the fixed turns, the room that is left and the scene in; the chosen turns out."""
