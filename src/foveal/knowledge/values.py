"""Values: memories, topics, entities and bundles; where a user is in a client, and what they may do next."""

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
    """No window shows what a model said before the user confirmed it."""
    session: str = ""
    """The session in which it was said; empty if it was stored directly."""
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A topic or an entity of the conversations, with the statistics of its mentions."""

    id: str
    kind: ThingKind
    slug: str
    name: str
    type: str
    importance: float
    """0..1."""
    mentions: int
    sessions: int
    """How many sessions mention it."""
    streak: int
    """Consecutive days on which the user mentioned it, up to the last one."""
    peak_hour: int
    """Hour of the day, 0..23, at which it is mentioned most."""
    last_engaged: float
    """When the user last mentioned it."""
    last_mentioned: float
    """When the user or a model last mentioned it."""
    edited: bool = False
    """The user named it, so mining does not rename it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """All that is known about a user, for them to see, edit and delete."""

    memories: tuple[Memory, ...]
    """Oldest first."""
    topics: tuple[Thing, ...]
    entities: tuple[Thing, ...]
    """The most important first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A bundle that a window can show: what is known about one subject, compiled into a text."""

    kind: BundleKind
    subject: str
    """A thing's id; empty for what the user said about themselves."""
    text: str
    compiled: bool
    """It was compiled for this window because there was none, or only a stale one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """Where a user is in a client."""

    __pydantic_config__ = {"strict": True, "revalidate_instances": "always"}  # noqa: RUF012 — pydantic's name and type

    active_conversation: str = ""
    visible_conversations: tuple[str, ...] = ()
    active_notebook: str = ""
    active_persona: str = ""
    last_path: str = ""
    navigation_history: tuple[str, ...] = ()
    """Paths, oldest first."""
    local_hour: int | None = None
    """None for the hour of the server's clock."""
    session_start: float | None = None
    idle_since: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a user will probably do next, and which bundles a window for it needs."""

    type: PredictionType
    probability: float
    required_bundles: tuple[str, ...]
    conversation_id: str = ""
    topic_slug: str = ""
    entity_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """A prediction that was made, and its outcome."""

    type: PredictionType
    subject: str
    """A session's name, or a thing's id."""
    probability: float
    made_at: float
    outcome: Outcome
    seconds: float
    """How long compiling its bundles in advance took; 0 if they were current or nothing was warmed up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionLedger:
    """How many predictions were right, and whether warming up for them pays off."""

    made: int
    used: int
    wasted: int
    open: int
    missed: int
    """Bundles that a window had to wait for because they were not predicted."""
    seconds_saved: float
    """How long windows did not have to wait."""
    seconds_wasted: float
    """How long compiling for wrong predictions took."""
    off: bool
    """Warming up wasted more than it saved and is off until a caller requests it again."""
    newest: tuple[Predicted, ...]

    @property
    def precision(self) -> float | None:
        """The share of settled predictions that were used; None if none is settled."""
        return _share(self.used, self.wasted)

    @property
    def recall(self) -> float | None:
        """The share of needed bundles that were predicted; None if none was needed."""
        return _share(self.used, self.missed)


def _share(part: int, rest: int) -> float | None:
    return part / (part + rest) if part + rest else None
