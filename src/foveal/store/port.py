"""The port: what a session needs of a store, and the records that cross it.

A store is bound to one tenant when it is opened; no method takes a tenant, so no query can cross one.
Every method is one transaction: it happened whole or it did not happen. A store may be shared by
several processes; `head` is the cheap question "did anybody else write?".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from foveal.events import Event
from foveal.model import Absence, Entry, Format, Message, Role
from foveal.pipeline.summarize.values import Writer
from foveal.store.port_knowledge import Knowledge


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a session stands."""

    branch: int
    """Changes when an edited history became a fork."""
    length: int
    """Messages on this branch, the shared prefix included; the next `seq`."""
    version: int
    """Grows with every change that is not an append: pin, leave out, restore, erase, fork."""
    format: Format | None = None
    model: str = ""
    preset: str = ""
    builds: int = 0
    """The number of its newest build; 0: it has none, or it was not looked up."""
    amended: int = 0
    """Grows with every change of a stored build."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    id: int
    name: str
    format: Format | None
    """The wire format of its messages; None until the first one that is not plain."""
    model: str
    preset: str
    created_at: float
    head: Head


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The stored original of a message."""

    digest: str
    format: Format
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A message about to be stored, with what the shell found out about it."""

    message: Message
    tokens: int
    created_at: float
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    """Keys that tie it to its neighbours, as the entry will carry them."""
    id: str = ""
    """The id it has in this session already, on a branch that is being left."""
    absence: Absence = ""
    """`erased`: only its place and digest are stored."""
    beside: bool = False
    """Added by the session's owner: no part of a client's history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A message of a session, on whichever of its branches."""

    entry: Entry
    content: Content | None
    """None: it was erased."""
    current: bool
    """It is on the branch the session goes on with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One search hit, best first."""

    session: str
    seq: int
    id: str
    digest: str
    role: Role
    score: float
    """Higher is better, 1 the best there can be: for words, the share of the most that the query could reach;
    for vectors, the cosine."""
    body: str
    format: Format
    created_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRecord:
    number: int
    created_at: float
    preset: str
    model: str
    budget: int
    tokens: int
    manifest: str
    """JSON: decisions as runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRecord:
    """A summary, once made, under the key of the question it answers."""

    key: str
    text: str
    tokens: int
    by: Writer
    level: int
    created_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """A stretch of a session that belongs together."""

    number: int
    name: str
    started_at: float
    ended_at: float | None
    """None: it is the open one."""
    first: int
    last: int | None
    """Positions of its messages, both included; `last` is before `first` where it has none."""
    summary: str | None
    """None: it is still to be made, or to be made again because something it covered was erased or edited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedRecord:
    """A decision, a constraint or a correction, word for word as a message had it."""

    seq: int
    digest: str
    role: Role
    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionRecord:
    """What one compression did, for the statistics."""

    created_at: float
    original: int
    compressed: int
    """Tokens before and after."""
    seconds: float
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEvent:
    number: int
    created_at: float
    name: str
    session: str
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What `verify` found."""

    messages: int
    sessions: int
    faults: tuple[str, ...]

    @property
    def clean(self) -> bool:
        return not self.faults


class Store(Protocol):
    @property
    def knowledge(self) -> Knowledge:
        """What is known of the user: memories, things, bundles, predictions."""

    def transaction(self, *, write: bool = True) -> AbstractContextManager[None]:
        """One transaction around several calls: they see one moment, and happen whole or not at all."""

    def session(self, name: str, *, now: float, model: str = "", preset: str = "") -> SessionRecord:
        """The session of that name, made if it is not there; a model or preset given is remembered."""

    def sessions(self) -> Sequence[SessionRecord]: ...

    def find_session(self, name: str) -> SessionRecord | None:
        """The session of that name, if there is one."""

    def delete_session(self, session: int) -> None: ...

    def head(self, session: int) -> Head: ...

    def append(
        self, session: int, drafts: Sequence[Draft], *, counter: str, at: int | None = None
    ) -> Sequence[Entry]:
        """Store drafts at the end of the session's branch, in order, and return their entries.

        With `at` below the head's length, a new branch that shares the first `at` messages becomes
        the session's; the old one stays in the store.
        """

    def entries(self, session: int, *, start: int = 0, stop: int | None = None) -> Sequence[Entry]:
        """The entries of the session's current branch, in order."""

    def messages(self, session: int, *, start: int = 0, stop: int | None = None) -> Sequence[Content | None]:
        """The originals of the session's current branch, in order; None where one was erased."""

    def by_handle(self, handle: str) -> Content | None:
        """The original whose digest starts with the handle's, whichever session holds it."""

    def tokens(self, digests: Sequence[str], counter: str) -> Mapping[str, int]:
        """Known counts of contents under a counter."""

    def save_tokens(self, counts: Mapping[str, int], counter: str) -> None: ...

    def save_bill(self, model: str, tokenizer: str, *, counted: int, billed: int) -> None:
        """Note what a provider billed for a window that we had counted."""

    def bills(self, model: str, tokenizer: str, *, limit: int) -> Sequence[tuple[int, int]]:
        """The newest (counted, billed) pairs of a model, oldest of them first."""

    def mark(
        self,
        session: int,
        seq: int,
        *,
        pinned: bool | None = None,
        absence: Absence | None = None,
        stand_in: str = "",
        noted_by: int | None = None,
    ) -> None:
        """Pin or unpin, leave out or restore one entry.

        What is left out may have a text that stands in for it, or one at another position that tells of it:
        both are gone with the next change of `absence`.
        """

    def locate(self, session: int, name: str) -> Located | None:
        """The message of that id or handle, on the current branch or else on the newest that has it."""

    def erase(self, session: int, id: str) -> Sequence[str]:
        """Erase a message for good, with its copies on branches the session left; returns the ids erased.

        Body, index rows, vectors, records and every summary that covers it go too, unless another message
        shares the content. The summaries of the session's tasks that cover it go in any case.
        """

    def search(self, query: str, *, session: int | None = None, limit: int = 10) -> Sequence[Found]:
        """Messages that hold the words, best first, of a session or of all, branches they left included."""

    def nearest(
        self,
        vector: bytes,
        embedder: str,
        *,
        session: int | None = None,
        limit: int = 20,
        floor: float = 0.45,
    ) -> Sequence[Found]:
        """Messages whose vectors point the same way, best first, all above the floor; else as `search`."""

    def summary(self, key: str) -> SummaryRecord | None: ...

    def summaries(self, keys: Sequence[str]) -> Mapping[str, SummaryRecord]:
        """Those of the keys that have a summary."""

    def save_summary(self, record: SummaryRecord, sources: Sequence[str]) -> bool:
        """Keep a summary of contents (their digests) or of summaries (their keys).

        One by a model replaces an extractive one, never the reverse. False: a source is not in the store, or
        no longer, so nothing was kept.
        """

    def vectors(
        self, session: int, embedder: str, *, start: int = 0, stop: int | None = None
    ) -> Sequence[bytes | None]:
        """The vectors of the session's current branch, in order; None where there is none yet."""

    def save_vectors(self, by_digest: Mapping[str, bytes], embedder: str) -> None:
        """Keep float32 vectors of length 1 of contents; those of contents that are gone are not kept."""

    def unembedded(self, embedder: str, *, limit: int) -> Sequence[Content]:
        """Contents of the tenant that have no vector of that embedder yet, newest first.

        Fewer than the limit may be told while there are more; none only when there are none.
        """

    def records(self, session: int, *, start: int = 0, stop: int | None = None) -> Sequence[TypedRecord]:
        """The typed records of the session's current branch, in order."""

    def save_records(self, session: int, by_digest: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        """Keep the (kind, text) pairs of contents, in place of earlier ones; no pairs is an answer too.

        They are that session's alone; those of contents that it does not hold, or no longer, are not kept.
        """

    def unmined(self, session: int, *, limit: int) -> Sequence[Content]:
        """Contents of the session whose records nobody saved for it yet, newest first."""

    def start_task(self, session: int, name: str, *, now: float) -> TaskRecord:
        """A task begins with the next message; the one that was open ends before it."""

    def end_task(self, session: int, *, now: float) -> TaskRecord | None:
        """End the open task with the newest message. None: no task is open."""

    def save_task_summary(self, session: int, number: int, text: str) -> bool:
        """Keep the summary of a task. False: it has not ended, or was edited away, so nothing was kept."""

    def tasks(self, session: int) -> Sequence[TaskRecord]:
        """The tasks of the session's current branch, in order."""

    def save_compression(self, session: int, record: CompressionRecord) -> None: ...

    def compressions(self, session: int, *, limit: int = 1000) -> Sequence[CompressionRecord]:
        """The newest first."""

    def save_build(self, session: int, build: BuildRecord) -> int:
        """Store a build (its `number` is ignored) and return the number it got in its session."""

    def amend_build(self, session: int, number: int, manifest: str) -> None:
        """Put another manifest in the place of a build's: what was billed for it is known later."""

    def build(self, session: int, number: int | None = None) -> BuildRecord | None:
        """One build, the newest when no number is given."""

    def builds(self, session: int, *, limit: int = 50, before: int | None = None) -> Sequence[BuildRecord]:
        """The newest first; with `before`, those of lower numbers."""

    def log(self, session: str, events: Sequence[Event], *, now: float) -> None: ...

    def events(self, *, after: int = 0, limit: int = 1000) -> Sequence[LoggedEvent]: ...

    def newest_event(self) -> int:
        """The number of the newest event; 0 where there is none."""

    def verify(self) -> Checked: ...

    def backup(self, path: str) -> None: ...

    def close(self) -> None: ...
