"""The values that the stages of a build exchange: scene, items, units, picks, selection, layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from foveal.events import Reports
from foveal.model import Chunk, Kind, Level, Role
from foveal.pipeline.history import History
from foveal.pipeline.reasons import Reason
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
    """A note with earlier messages, placed before the user message that they are relevant to."""

    position: int
    """Position of that user message."""
    excerpts: Mapping[int, tuple[int, ...]]
    """By position of a message, the numbers of its snippets in the note; empty: the whole message."""
    note: Chunk
    sources: tuple[tuple[int, ...], ...] = ()
    """For each line of the note, the positions of the messages it comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogNote:
    """A note that logs messages which the window does not show in full."""

    position: int
    """Position of the message that it precedes."""
    first: int
    last: int
    """Positions of the first and the last message that it covers."""
    note: Chunk
    sources: tuple[tuple[int, ...], ...] = ()
    """For each line of the note, the positions of the messages it comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPlan:
    """What the log of a layout has, without its text: enough to write it again."""

    first: int
    last: int
    """Positions of the first and the last message that it may be about."""
    since: int = 0
    """Position from which on it may be about every message; of earlier ones it has the user's words only."""
    older: int = 0
    """Messages before them, which it is not about."""
    lines: tuple[tuple[tuple[int, int], ...], ...] = ()
    """For each entry, the calls or words it is about: position of the message, index in it."""
    shown: Mapping[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    """By call or words, the numbers of the excerpts quoted from it."""
    rules: tuple[tuple[int, int], ...] = ()
    """The rules that it begins with: position of the message, index in it."""


FactKey = tuple[int, int, int, str]
"""A fact that an agent shares: number of its session, position and digest of the message, index in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedNote:
    """A note with what other agents of a pool share, placed once and kept where it is."""

    position: int
    """Position of the message that it precedes."""
    keys: tuple[FactKey, ...]
    text: str = field(default="", compare=False)
    """The note; empty if nothing that it had may be shown any more. It is not stored."""
    source: str = field(default="", compare=False)
    """The names of the agents."""
    because: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What a window consists of, kept so that the next window begins with the same bytes."""

    message_budget: int
    """Tokens available for messages. A build with another number needs another layout."""
    full_from: int
    """Position from which on every turn is in the window in full."""
    kept: tuple[int, ...] = ()
    """Positions of earlier turns that are also in full."""
    trimmed: Mapping[int, int] = field(default_factory=dict)
    """By position of a turn whose results were cut, the tokens they were cut to."""
    plan: LogPlan | None = None
    """What the log has of the other turns; None if there is none."""
    notes: tuple[LogNote, ...] = field(default=(), compare=False)
    """The log, written: one note, or one for each stretch between turns that are shown."""
    builds: int = field(default=0, compare=False)
    """Windows built with it so far."""
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
    shared: tuple[SharedNote, ...] = ()
    """Notes of what other agents share, placed since the layout was made, in order."""
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
    """A provider's prices for a token of input, in any currency; None if unknown."""

    input: float | None = None
    read: float | None = None
    """Read from the cache."""
    write: float | None = None
    """Written to the cache; None if that costs what other input does."""
    seconds: int | None = None
    """The lifetime of the cache after a request."""


def cache_expired(since: float, now: float, seconds: int | None) -> bool:
    """Whether a cache that lasts `seconds` after a request has expired; None: no expiry is known."""
    return seconds is not None and now - since >= seconds


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
    shared: int = 0
    """Tokens of notes of what other agents share, which stay like turns do; the room excludes them."""
    slots: tuple[Slot, ...] = ()
    """The plan by which the material was admitted; empty without a plan or material."""
    layout: Layout | None = None
    """The layout of the last build, if nothing in it has changed since."""
    relevant: tuple[int, ...] = ()
    """Positions of messages that match the task or the user's latest message, best first."""
    similarities: Mapping[int, float] = field(default_factory=dict)
    """By position of a message, how similar it is to the task in meaning, 0 to 1. Empty without an embedder,
    and for presets that do not compare meanings."""
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
    forced: Reason | None = None
    """Why it must be in; None if the picker decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A picker's result: which units are in, and a reason for every unit."""

    kept: frozenset[int]
    """`Unit.turn` of those that are in."""
    because: Mapping[int, Reason]
    conflicts: tuple[Conflict, ...] = ()
    slots: tuple[Slot, ...] = ()
    """The plan after use: what each slot was allotted, used and borrowed."""
    forms: Mapping[int, Chunk] = field(default_factory=dict)
    folded: Mapping[int, Reason] = field(default_factory=dict)
    markers: Mapping[int, Chunk] = field(default_factory=dict)
    arcs: Mapping[int, str] = field(default_factory=dict)
    """As a `Selection` has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A selector's result: the selected turns apart from the fixed ones, and the reasons."""

    turns: tuple[int, ...]
    because_in: str
    because_out: Reason | str
    """The common reasons, in words; a `Reason` where these are not words alone."""
    reasons: Mapping[int, Reason] = field(default_factory=dict)
    """Reasons by turn; a turn without one has the common reason."""
    forms: Mapping[int, Chunk] = field(default_factory=dict)
    """By turn, the shorter form that replaces it; the turns themselves are among `turns`."""
    folded: Mapping[int, Reason] = field(default_factory=dict)
    """By turn, the reason why a note or the form of another turn covers it."""
    markers: Mapping[int, Chunk] = field(default_factory=dict)
    """By turn, a placeholder that says only that it is left out."""
    notes: tuple[LogNote | RetrievedNote, ...] = ()
    """The notes before turns that are among `turns` or fixed, in order."""
    arcs: Mapping[int, str] = field(default_factory=dict)
    """By turn, the conversation arc with which its form or placeholder begins."""
    scores: Mapping[int, Score] = field(default_factory=dict)
    charged: Mapping[int, str] = field(default_factory=dict)
    """By turn, the slots it was charged to."""
    flags: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """By turn, what the preset's design marks its messages as."""
    slots: tuple[Slot, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    record: Mapping[str, str] = field(default_factory=dict)
    layout: Layout | None = None
    """The layout that the next window keeps, for presets with a stable prefix."""
    reports: Reports = ()
    """Events that the preset's design defines."""


Selector = Callable[[History, Mapping[int, Chunk], int, Scene], Selection]
"""Takes the history, the fixed turns, the remaining room and the scene; returns the selection."""
