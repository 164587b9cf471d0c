"""What is known: memories, topics, entities, bundles; where a user is, and what they may do next. Values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MemoryKind = Literal["identity", "preference", "fact"]
Origin = Literal["user", "model"]
ThingKind = Literal["topic", "entity"]
BundleKind = Literal["identity", "facts", "preferences", "topic", "entity", "conversation"]
Depth = Literal["minimal", "standard", "deep"]
PredictionType = Literal["continue_conversation", "new_on_topic", "entity_related"]
Outcome = Literal["open", "used", "wasted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A sentence about the user, kept because they said or confirmed it."""

    id: str
    kind: MemoryKind
    text: str
    origin: Origin
    """Who said it."""
    confirmed: bool
    """What a model said is shown in no window before its user confirmed it."""
    session: str = ""
    """Where it was said; empty where it was told to us directly."""
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The name of something in a text."""

    kind: ThingKind
    slug: str
    """What spellings of one thing have in common: lower case, words joined by `-`."""
    name: str
    """As it was spelt."""
    type: str
    """What it is: person, organization, project, tool, file, place, …; empty for topics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A topic or an entity of the conversations, with what its mentions tell."""

    id: str
    kind: ThingKind
    slug: str
    name: str
    type: str
    importance: float
    """0..1."""
    mentions: int
    sessions: int
    """In how many of them it occurs."""
    streak: int
    """Days in a row, up to the last one it was engaged with."""
    peak_hour: int
    """Hour of the day, 0..23, at which it is mostly spoken of."""
    last_engaged: float
    """When the user last spoke of it."""
    last_mentioned: float
    """When anybody last did."""
    edited: bool = False
    """Its owner named it: mining does not rename it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """All that is known of a user, for them to see, edit and delete."""

    memories: tuple[Memory, ...]
    """Oldest first."""
    topics: tuple[Thing, ...]
    entities: tuple[Thing, ...]
    """The most important first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Something known, compiled into a text that can be shown as it is."""

    kind: BundleKind
    subject: str
    """A thing's id, a session's name; empty for what the user said of themselves."""
    depth: Depth
    text: str
    tokens: int
    version: str
    """Of what it was compiled from: another one means it is stale."""
    compiled_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """Where a user is in a client."""

    active_conversation: str = ""
    visible_conversations: tuple[str, ...] = ()
    active_notebook: str = ""
    active_persona: str = ""
    last_path: str = ""
    navigation_history: tuple[str, ...] = ()
    """Paths, oldest first."""
    local_hour: int | None = None
    """None: the hour of `now`."""
    session_start: float | None = None
    idle_since: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a user will probably do next, and what a window for it needs."""

    type: PredictionType
    probability: float
    required_bundles: tuple[str, ...]
    conversation_id: str = ""
    topic_slug: str = ""
    entity_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """One line of the ledger: a prediction that was made, and what became of it."""

    type: PredictionType
    subject: str
    """A session's name, or a thing's id."""
    probability: float
    made_at: float
    outcome: Outcome
    seconds: float
    """That its bundles took to compile ahead of need; 0 where they were there, or nothing was warmed up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionLedger:
    """How well predictions did, and whether warming up for them pays."""

    made: int
    used: int
    wasted: int
    open: int
    missed: int
    """Bundles that a window had to wait for because nobody had predicted them."""
    seconds_saved: float
    """That windows did not wait."""
    seconds_wasted: float
    """Of compiling for predictions that came to nothing."""
    off: bool
    """Warming up wasted more than it saved: it is off until it is asked for again."""
    newest: tuple[Predicted, ...]

    @property
    def precision(self) -> float | None:
        """The share of settled predictions that were used; None: none is settled."""
        return _share(self.used, self.wasted)

    @property
    def recall(self) -> float | None:
        """The share of what was needed that had been predicted; None: nothing was needed."""
        return _share(self.used, self.missed)


def _share(part: int, rest: int) -> float | None:
    return part / (part + rest) if part + rest else None
