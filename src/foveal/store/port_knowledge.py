"""The knowledge port: the `Knowledge` protocol and its records, the part of a store about the user.

Like the rest of the store it is opened for one tenant. Whatever was derived from messages is deleted with the
last message it came from. A thing is deleted with the last message that spells out its name; the other
messages that mention it become unread, so that they are read again without it. Whenever something is
forgotten or edited away, all bundles are deleted, because any of them may contain it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from foveal.model import Format, Kind, Role

Outcome = Literal["open", "used", "wasted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """A sentence about the user."""

    number: int = 0
    """0 for a memory that is not stored yet."""
    key: str
    """A hash of the words; there is one memory for each key."""
    kind: str
    text: str
    origin: str
    confirmed: bool
    explicit: bool
    """The user stored or edited it directly, so it stays when the messages that said it are erased."""
    session: str = ""
    """The session in which it was said; empty if it was stored directly."""
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A topic or an entity that a message mentions; there is one thing for each kind and slug."""

    kind: str
    """`topic` or `entity`."""
    slug: str
    """What all spellings of one name have in common: lower case, words joined by `-`."""
    name: str
    """As the message spells it."""
    type: str
    """What it is: person, organization, project, tool, file, place, …; empty for topics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A message by a user or a model that was not searched for things yet."""

    session: int
    digest: str
    role: Role
    kind: Kind | None
    said_at: float
    format: Format
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Engagement:
    """How often a thing was mentioned within one hour of one session."""

    hour: int
    """Hours since 1970."""
    mentions: int
    by_user: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ThingRecord:
    """A topic or an entity, with the statistics of its mentions."""

    number: int
    kind: str
    slug: str
    name: str
    type: str
    edited: bool
    version: int
    """Grows whenever its mentions change."""
    mentions: int
    sessions: int
    last_mentioned: float
    last_engaged: float
    """When the user last mentioned it; 0 if only the model did."""
    hours: tuple[Engagement, ...]
    """Oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MentioningMessage:
    """A message that mentions a thing."""

    session: str
    seq: int
    digest: str
    role: Role
    kind: Kind | None
    format: Format
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleRecord:
    """What is known about one subject, compiled into a text that windows show as it is."""

    kind: str
    subject: str
    """A thing's id; empty for what the user said about themselves."""
    depth: str
    text: str
    tokens: int
    version: str
    """The version of its sources; if theirs is another, the bundle is stale."""
    compiled_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionRecord:
    """A prediction that was made, and its outcome."""

    number: int = 0
    """0 for a prediction that is not stored yet."""
    kind: str
    subject: str
    """A session's name, or a thing's id."""
    probability: float
    made_at: float
    outcome: Outcome = "open"
    seconds: float = 0.0
    """How long compiling its bundles took."""
    session: int | None = None
    """The session it was made for, set when it is read; None if it was made for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmupRecord:
    """The totals of warming up for one session."""

    missed: int = 0
    """Bundles that a window needed and no prediction covered."""
    saved: float = 0.0
    """Seconds that windows did not have to wait because their bundles were ready."""
    stopped: bool = False
    """Warming up did not pay for itself and was switched off."""


class Knowledge(Protocol):
    """What is known about the user, in one tenant's store."""

    def memories(self) -> Sequence[MemoryRecord]:
        """All memories that were not forgotten, oldest first."""

    def save_memory(
        self, record: MemoryRecord, *, session: int | None = None, digest: str = ""
    ) -> MemoryRecord | None:
        """Store a memory, or change the one with the record's number, and return it as stored.

        `session` and `digest` name the message that said it: a new memory gets that message as a further
        source, a changed one as its only source. A new memory with the key of a stored one returns the stored
        one. Returns None, and stores nothing, if the message is not in the session, if the number is unknown,
        if another memory has the key of a changed one, or if the user forgot this memory and the message is
        not from after that.
        """

    def forget_memory(self, number: int, *, now: float) -> bool:
        """Delete a memory; messages from before `now` do not create it again. False for an unknown number."""

    def unread(self, *, limit: int, session: int | None = None) -> Sequence[Unread]:
        """Messages by users and models that `save_mentions` has not covered yet, each session's in order."""

    def save_mentions(self, session: int, by_digest: Mapping[str, Sequence[Mention]]) -> None:
        """Store what contents mention, replacing earlier mentions; an empty list marks a content as read."""

    def things(self, kind: str = "") -> Sequence[ThingRecord]:
        """All things that are not hidden, in the order in which they were first mentioned."""

    def mentioned(self, session: int) -> Mapping[int, int]:
        """How many messages of a session mention each thing, by the thing's number."""

    def messages_mentioning(self, thing: int, *, limit: int) -> Sequence[MentioningMessage]:
        """The latest messages that mention a thing, oldest first; abandoned branches are skipped."""

    def change_thing(self, number: int, *, name: str = "", hidden: bool = False) -> bool:
        """Rename or hide a thing; later mentions do not undo that. Returns False for an unknown number."""

    def forget_count(self) -> int:
        """Grows whenever something is forgotten: what was compiled at a lower count may contain it."""

    def bundles(self, subjects: Sequence[tuple[str, str]], depth: str) -> Sequence[BundleRecord]:
        """The bundles stored for these (kind, subject) pairs at this depth."""

    def save_bundles(self, made: Sequence[BundleRecord], *, as_of: int) -> bool:
        """Store bundles, unless `forget_count` has grown beyond `as_of`; returns whether they were stored."""

    def save_predictions(self, session: int | None, made: Sequence[PredictionRecord]) -> None:
        """Add predictions for a session or for none; those that have a number are updated."""

    def predictions(self, session: int | None = None, *, limit: int = 1000) -> Sequence[PredictionRecord]:
        """Predictions, newest first, of one session or of all."""

    def warmup(self, session: int) -> WarmupRecord:
        """The session's warm-up totals; an empty record if none were saved."""

    def save_warmup(self, session: int, record: WarmupRecord) -> None: ...
