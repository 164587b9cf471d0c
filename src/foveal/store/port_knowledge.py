"""The port for what is known of a user, and the records that cross it: part of the port in `base`.

Bound to one tenant like the rest. What was made of messages goes when the last of them is erased, and a thing
with the last that spells its name out: the others that mention it are to be read again then. When
anything is forgotten or edited away, every bundle goes, for it may tell of it.
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
    """0: it has none yet."""
    key: str
    """Equal for equal words; one memory for each."""
    kind: str
    text: str
    origin: str
    confirmed: bool
    explicit: bool
    """It stays though the messages that said it are erased: its owner told or edited it."""
    session: str = ""
    """Where it was said; empty where it was told directly."""
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """The name of something, as a message has it."""

    kind: str
    slug: str
    """One thing for each kind and slug."""
    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A message of a user or a model that was not read for things yet."""

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
    """A topic or an entity, with what its mentions tell."""

    number: int
    kind: str
    slug: str
    name: str
    type: str
    edited: bool
    version: int
    """Grows with every change of its mentions."""
    mentions: int
    sessions: int
    last_mentioned: float
    last_engaged: float
    """When the user last spoke of it; 0 where only the model did."""
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
    author: str
    said_at: float
    format: Format
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleRecord:
    kind: str
    subject: str
    depth: str
    text: str
    tokens: int
    version: str
    compiled_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionRecord:
    """One line of the ledger."""

    number: int = 0
    """0: it has none yet."""
    kind: str
    subject: str
    """A session's name, or a thing's id."""
    probability: float
    made_at: float
    outcome: Outcome = "open"
    seconds: float = 0.0
    """That its bundles took to compile."""
    session: int | None = None
    """Whose ledger it stands in, as told when it is read; None: it was made for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmupRecord:
    """What the ledger knows of a session besides its predictions."""

    missed: int = 0
    """Bundles that were needed and not predicted."""
    saved: float = 0.0
    """Seconds that windows did not wait, because what they needed was there."""
    stopped: bool = False


class Knowledge(Protocol):
    def memories(self) -> Sequence[MemoryRecord]:
        """Oldest first."""

    def save_memory(
        self, record: MemoryRecord, *, session: int | None = None, digest: str = ""
    ) -> MemoryRecord | None:
        """Keep a memory, or with its number a change of one, and return it as it is kept.

        With a session and a digest it was said in that message, from which alone a changed one comes then;
        one of the same words gets the message as a further source. None: that message is gone, the owner
        forgot the memory and it was not said since, or another one has these words already.
        """

    def forget_memory(self, number: int, *, now: float) -> bool:
        """Delete a memory; what was said until now is not made one again. False: there is no such number."""

    def unread(self, *, limit: int, session: int | None = None) -> Sequence[Unread]:
        """Messages by users and models that were not read for things yet, each session's in order."""

    def save_mentions(self, session: int, by_digest: Mapping[str, Sequence[Mention]]) -> None:
        """Note what contents of a session mention, in place of earlier notes; none is an answer too."""

    def things(self, kind: str = "") -> Sequence[ThingRecord]:
        """All that are not deleted, in the order in which they were first mentioned."""

    def mentioned(self, session: int) -> Mapping[int, int]:
        """How many messages of a session mention each thing, by the thing's number."""

    def messages_mentioning(self, thing: int, *, limit: int) -> Sequence[MentioningMessage]:
        """The newest messages that mention a thing, oldest of them first; none of a branch that was left."""

    def change_thing(self, number: int, *, name: str = "", hidden: bool = False) -> bool:
        """Name a thing, or delete it: mining neither renames nor revives it. False: there is none."""

    def forget_count(self) -> int:
        """Grows whenever something is forgotten: what was made before may tell of it."""

    def bundles(self, subjects: Sequence[tuple[str, str]], depth: str) -> Sequence[BundleRecord]:
        """Those of the (kind, subject) pairs that there are."""

    def save_bundles(self, made: Sequence[BundleRecord], *, as_of: int) -> bool:
        """Keep bundles. False: something was forgotten since, so nothing was kept."""

    def save_predictions(self, session: int | None, made: Sequence[PredictionRecord]) -> None:
        """Write into the ledger: new lines, and those with a number anew."""

    def predictions(self, session: int | None = None, *, limit: int = 1000) -> Sequence[PredictionRecord]:
        """The newest first; without a session, those of all."""

    def warmup(self, session: int) -> WarmupRecord: ...

    def save_warmup(self, session: int, record: WarmupRecord) -> None: ...
