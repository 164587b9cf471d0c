"""The values that the stages of a build exchange: scene, items, units, picks, selection, layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from foveal.model import Chunk, Kind, Level, Role
from foveal.pipeline.history import History
from foveal.pipeline.summarize.values import Answer
from foveal.window import Conflict, Decision, Score, Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One message, or one piece of attached context, as scorers and plans see it."""

    index: int
    """Position in the conversation, from 0."""
    id: str
    role: Role
    kind: Kind
    text: str
    tokens: int
    timestamp: float | None = None
    """Seconds since 1970; None if unknown."""
    pinned: bool = False
    important: bool = False
    level: Level | None = None
    priority: float | None = None
    tool: bool = False
    """It calls a tool or is a tool's result."""
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedNote:
    """A note that brings messages back, before the user's words that asked for them."""

    place: int
    """Position of these words."""
    shown: Mapping[int, tuple[int, ...]]
    """By position of a message, which of its snippets the note tells; none: all that it says."""
    note: Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout of a window that holds still: what the next one begins with."""

    talk: int
    """Tokens there were for everything said: another number means another layout."""
    first: int
    """Position from which on every turn is in, whole."""
    kept: tuple[int, ...] = ()
    """Positions of turns before it that are in, whole."""
    note: Chunk | None = None
    """What is told of earlier messages, in the place of a turn."""
    shown: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """By position of a message, which of its snippets the note tells."""
    past: Mapping[int, Chunk] = field(default_factory=dict, repr=False, compare=False)
    """By turn, what is shown of those before `first`, once somebody looked."""
    decided: tuple[Decision, ...] = field(default=(), repr=False, compare=False)
    """What was decided of the messages before the open turn: it stays so for as long as the layout holds."""
    settled: int = field(default=0, repr=False, compare=False)
    """How many messages that is."""
    reach: int = field(default=0, repr=False, compare=False)
    """Position from which on messages are looked at again for the next layout."""
    brought: tuple[RetrievedNote, ...] = ()
    """What came back since, in order."""
    wanted: tuple[int, ...] = ()
    """Positions of messages that have to do with the user's newest words, in it or not, most wanted first."""
    task: str = ""
    """A mark of the task it was made for; empty: none was given."""
    length: int = field(default=0, compare=False)
    """Messages of the history when a window was last made with it."""
    moment: float = field(default=0.0, compare=False)
    """When that was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """A provider's prices for a token of input, in any currency; None if unknown."""

    input: float | None = None
    read: float | None = None
    """Read from the cache."""
    write: float | None = None
    """Written to the cache; None if that costs what other input does."""
    seconds: int | None = None
    """The lifetime of the cache after a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What selectors see of a build's request: every result can be reproduced from it."""

    now: float
    task: str = ""
    budget: int = 0
    count: Callable[[str], int] = len
    """Tokens of a text."""
    answer: Answer | None = None
    """The source of summaries; without it they are extracts, made again each time."""
    overhead: int = 0
    """Tokens of the budget that messages cannot use: framing, tools, a system prompt for this build only."""
    material: tuple[Item, ...] = ()
    """Attached context that is in the window; the room excludes it."""
    slots: tuple[Slot, ...] = ()
    """The plan by which the material was admitted; empty without a plan or material."""
    layout: Layout | None = None
    """The layout of the last build, if nothing in it has changed since."""
    relevant: tuple[int, ...] = ()
    """Positions of messages that match the task or the user's latest message, best first."""
    rates: Rates | None = None
    """The provider's prices, if the next window should begin with this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A turn, which is in or out as a whole, with the score of its best message."""

    turn: int
    items: tuple[Item, ...]
    tokens: int
    score: Score
    by_slot: Mapping[str, int]
    """Its tokens, charged message by message to the slots of the plan."""
    forced: str = ""
    """Why it must be in; empty if the picker decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A picker's result: which units are in, and a reason for every unit."""

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
    """A selector's result: the selected turns apart from the fixed ones, and the reasons."""

    turns: tuple[int, ...]
    because_in: str
    because_out: str
    reasons: Mapping[int, str] = field(default_factory=dict)
    """Reasons by turn; a turn without one has the common reason."""
    forms: Mapping[int, Chunk] = field(default_factory=dict)
    """By turn, the shorter form that replaces it; the turns themselves are among `turns`."""
    folded: Mapping[int, str] = field(default_factory=dict)
    """By turn, the reason why the form of another turn covers it."""
    markers: Mapping[int, Chunk] = field(default_factory=dict)
    """By turn, a placeholder that says only that it is left out."""
    before: Mapping[int, Chunk] = field(default_factory=dict)
    """By turn, a note that precedes it; the turns themselves are among `turns` or fixed."""
    arcs: Mapping[int, str] = field(default_factory=dict)
    """By turn, the conversation arc with which its form or placeholder begins."""
    scores: Mapping[int, Score] = field(default_factory=dict)
    charged: Mapping[int, str] = field(default_factory=dict)
    """By turn, the slots it was charged to."""
    slots: tuple[Slot, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    record: Mapping[str, str] = field(default_factory=dict)
    layout: Layout | None = None
    """The layout that the next window keeps, for presets with a stable prefix."""
    reports: tuple[tuple[str, Mapping[str, object]], ...] = ()
    """Events that the preset's design defines: name and payload."""


Selector = Callable[[History, Mapping[int, Chunk], int, Scene], Selection]
"""Takes the history, the fixed turns, the remaining room and the scene; returns the selection."""
