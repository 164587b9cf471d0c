"""The store port: the `Store` protocol and the records it exchanges with a session.

A store is opened for one tenant. No method takes a tenant, so no call can reach another tenant's data; the id
of another tenant's session raises `NotFoundError` like one that does not exist. Every method is one
transaction: it takes effect completely or not at all. Several threads and processes may share a store; `head`
is the cheap way to find out whether another one has written. `foveal.testing.check_store` checks all of this
for any store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from foveal.events import Event
from foveal.model import Absence, Entry, Format, Message, Role
from foveal.pipeline.summarize.values import Writer
from foveal.store.port_knowledge import Knowledge
from foveal.store.port_pools import Pools


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The current state of a session in a few numbers: equal heads mean that nothing has changed."""

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
    """The number of the latest build; 0 if there is none, or if it was not looked up."""
    amended: int = 0
    """Grows whenever a stored build is changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    id: int
    name: str
    format: Format | None
    """The wire format of its messages; None until the first message that is not plain."""
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
    """A message about to be stored, with what the session found out about it."""

    message: Message
    tokens: int
    created_at: float
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    """Keys that link the message to its neighbours, as its entry will carry them."""
    id: str = ""
    """The id that the message already has in this session, on the branch that is being abandoned."""
    absence: Absence = ""
    """`erased`: only its position and digest are stored."""
    beside: bool = False
    """Added by the session's owner, not part of the client's history."""
    restored_at: float | None = None
    """When the session's owner last had it shown again, as its entry will carry it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A message of a session, on any of its branches."""

    entry: Entry
    content: Content | None
    """None if the message was erased."""
    current: bool
    """Whether it is on the session's current branch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One search hit."""

    session: str
    seq: int
    id: str
    digest: str
    role: Role
    score: float
    """Higher is better, at most 1: for words, the share of the best score the query could reach; for vectors,
    the cosine."""
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
    """A stored summary, under the key of the request it answers."""

    key: str
    text: str
    tokens: int
    by: Writer
    level: int
    created_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """A stretch of a session that the caller marked as one task."""

    number: int
    name: str
    started_at: float
    ended_at: float | None
    """None if the task is still open."""
    first: int
    last: int | None
    """Positions of its first and last message; `last` is `first - 1` if it has none."""
    summary: str | None
    """None until it is written, and again after a message it covers was erased or edited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedRecord:
    """A decision, a constraint or a correction, quoted word for word from a message."""

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
    """Everything a session keeps: messages, marks, what is derived from them, builds and events."""

    @property
    def knowledge(self) -> Knowledge:
        """What is known about the user: memories, things, bundles, predictions."""

    @property
    def pools(self) -> Pools:
        """Sessions that share one memory and one budget."""

    def transaction(self, *, write: bool = True) -> AbstractContextManager[None]:
        """Run several calls as one transaction: they see one state and take effect together or not at all."""

    def session(self, name: str, *, now: float, model: str = "", preset: str = "") -> SessionRecord:
        """Return the session of that name, creating it if needed; store a given model or preset with it."""

    def sessions(self) -> Sequence[SessionRecord]:
        """All sessions, oldest first."""

    def find_session(self, name: str) -> SessionRecord | None:
        """The session of that name, or None."""

    def delete_session(self, session: int) -> None:
        """Delete a session with its branches, builds and events, and content that no other session has."""

    def head(self, session: int) -> Head: ...

    def append(
        self, session: int, drafts: Sequence[Draft], *, counter: str, at: int | None = None
    ) -> Sequence[Entry]:
        """Store drafts at the end of the session's current branch, in order, and return their entries.

        With `at` below the head's length, a new branch that shares the first `at` messages becomes the
        current one; the old branch stays in the store. An `at` beyond the length raises `InputError`, and so
        does a draft without a body or digest: nothing is stored then.
        """

    def entries(self, session: int, *, start: int = 0, stop: int | None = None) -> Sequence[Entry]:
        """The entries of the session's current branch, in order."""

    def messages(self, session: int, *, start: int = 0, stop: int | None = None) -> Sequence[Content | None]:
        """The originals of the session's current branch, in order; None where one was erased."""

    def by_handle(self, handle: str, *, shared: bool = False) -> Content | None:
        """The original whose digest starts with the handle's hex digits, in any session.

        `shared`: not one that is private somewhere.
        """

    def tokens(self, digests: Sequence[str], counter: str) -> Mapping[str, int]:
        """The token counts known for these contents under a counter, by digest."""

    def save_tokens(self, counts: Mapping[str, int], counter: str) -> None:
        """Store token counts by digest, replacing earlier ones."""

    def save_bill(self, model: str, tokenizer: str, *, counted: int, billed: int) -> None:
        """Record how many tokens a provider billed for a window, next to how many were counted."""

    def bills(self, model: str, tokenizer: str, *, limit: int) -> Sequence[tuple[int, int]]:
        """The latest (counted, billed) pairs of a model, oldest first."""

    def mark(  # noqa: PLR0913 — every mark that an entry has, by name
        self,
        session: int,
        seq: int,
        *,
        pinned: bool | None = None,
        absence: Absence | None = None,
        stand_in: str = "",
        noted_by: int | None = None,
        restored_at: float | None = None,
    ) -> None:
        """Pin or unpin, leave out or restore one entry; None leaves that mark as it is.

        `stand_in` is a text that windows show in the entry's place, `noted_by` the position of another entry
        whose stand-in covers this one. Every change of `absence` sets both. `restored_at` is when the owner
        had it shown again; None leaves that as it is. Raises `NotFoundError` for an entry that does not exist
        or was erased, and `InputError` for `absence="erased"`: only `erase` erases.
        """

    def locate(self, session: int, name: str) -> Located | None:
        """The message with that id or handle; the current branch comes first, then the newest."""

    def erase(self, session: int, id: str) -> Sequence[str]:
        """Erase a message for good, with its copies on abandoned branches, and return the erased ids.

        Its entry keeps its position and digest, and pairs with its neighbours by `erased_key`s. An id that
        came with the message is replaced by a generated one, also in the session's events. Body, index rows,
        vectors, typed records and every summary that covers it are deleted unless another message has the
        same content. Summaries of the session's tasks that cover it are always deleted. Raises
        `NotFoundError` if no message has that id or handle.
        """

    def private_messages(self, session: int) -> Sequence[tuple[Content, Role]]:
        """The originals of the session's private messages with their roles, on any branch."""

    def hide(self, session: int, texts: Sequence[tuple[Role, str]]) -> None:
        """Make messages with one of these roles and texts private on branches that the session left."""

    def search(self, query: str, *, session: int | None = None, limit: int = 10) -> Sequence[Found]:
        """Messages that contain words of the query, best first, in one session or all, on any branch.

        Private messages are found in their own session only, never in all.
        The query is plain text: no input is search syntax and none fails.
        """

    def nearest(
        self,
        vector: bytes,
        embedder: str,
        *,
        session: int | None = None,
        limit: int = 20,
        floor: float = 0.45,
    ) -> Sequence[Found]:
        """Messages whose vectors have a cosine above `floor` with this one, best first; see `search`."""

    def summary(self, key: str) -> SummaryRecord | None: ...

    def summaries(self, keys: Sequence[str]) -> Mapping[str, SummaryRecord]:
        """The summaries stored under these keys; keys without one are left out."""

    def save_summary(self, record: SummaryRecord, sources: Sequence[str]) -> bool:
        """Store a summary of contents (given by digest) or of other summaries (given by key).

        A model's summary replaces an extractive one; any other summary that is already stored stays. Returns
        False, and stores nothing, if there are no sources or one of them is not in the store.
        """

    def vectors(
        self, session: int, embedder: str, *, start: int = 0, stop: int | None = None
    ) -> Sequence[bytes | None]:
        """The vectors of the session's current branch, in order; None where there is none yet."""

    def save_vectors(self, by_digest: Mapping[str, bytes], embedder: str) -> None:
        """Store little-endian float32 unit vectors by digest, skipping contents that are not in the store.

        All vectors of one embedder have the same size; another size raises `InputError`.
        """

    def unembedded(self, embedder: str, *, limit: int) -> Sequence[Content]:
        """Contents of the tenant that have no vector of that embedder yet, newest first.

        May return fewer than `limit` while there are more, but an empty result means that there are none.
        """

    def records(self, session: int, *, start: int = 0, stop: int | None = None) -> Sequence[TypedRecord]:
        """The typed records of the session's current branch, in order."""

    def save_records(self, session: int, by_digest: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        """Store the (kind, text) pairs found in contents, replacing earlier ones.

        No pairs means that the content was read and has none. Records belong to this session only; contents
        that the session does not have, or has no longer, are skipped.
        """

    def unmined(self, session: int, *, limit: int) -> Sequence[Content]:
        """Contents of the session for which `save_records` was not called yet, newest first."""

    def start_task(self, session: int, name: str, *, now: float) -> TaskRecord:
        """Start a task at the next message, ending the open task before it."""

    def end_task(self, session: int, *, now: float) -> TaskRecord | None:
        """End the open task with the latest message; None if no task is open."""

    def save_task_summary(self, session: int, number: int, text: str) -> bool:
        """Store the summary of a task. Returns False if the task has not ended or an edit removed it."""

    def tasks(self, session: int) -> Sequence[TaskRecord]:
        """The tasks of the session's current branch, in order."""

    def save_compression(self, session: int, record: CompressionRecord) -> None: ...

    def compressions(self, session: int, *, limit: int = 1000) -> Sequence[CompressionRecord]:
        """The session's compressions, newest first."""

    def save_build(self, session: int, build: BuildRecord) -> int:
        """Store a build and return its number, counted from 1 in each session; `build.number` is ignored."""

    def amend_build(self, session: int, number: int, manifest: str) -> None:
        """Replace the manifest of a stored build, for example once its bill is known."""

    def build(self, session: int, number: int | None = None) -> BuildRecord | None:
        """One build, the latest if no number is given; None if there is none."""

    def builds(self, session: int, *, limit: int = 50, before: int | None = None) -> Sequence[BuildRecord]:
        """The session's builds, newest first; with `before`, those with lower numbers."""

    def log(self, session: str, events: Sequence[Event], *, now: float) -> None:
        """Append events to the tenant's log, under the name of a session.

        Of transient events, and of those whose session does not exist, the log keeps the newest 1,000 each.
        """

    def events(self, *, after: int = 0, limit: int = 1000, size: int | None = None) -> Sequence[LoggedEvent]:
        """The events with numbers above `after`, oldest first.

        `size`: the most bytes of payloads to read; one event is returned even if it is larger.
        """

    def events_named(self, name: str, *, before: int | None = None, limit: int = 50) -> Sequence[LoggedEvent]:
        """The events of that name, latest first, with numbers below `before`."""

    def newest_event(self) -> int:
        """The number of the latest event; 0 if there is none."""

    def verify(self) -> Checked:
        """Check the whole store of this tenant: every hash, every link, every count."""

    def backup(self, path: str) -> None:
        """Copy the store to a new file while others go on using it; an existing file raises `StoreError`."""

    def overwrite_remains(self) -> None:
        """Overwrite copies that the file still has of what was erased; nothing if there are none.

        It may rewrite the whole file, so it is for the background; `close` does it if nothing else did.
        Raises `StoreBusyError` if another process prevents it.
        """

    def when_erased(self, call: Callable[[], None]) -> None:
        """Call this when something was erased, and now if there is something left to overwrite."""

    def close(self) -> None: ...
