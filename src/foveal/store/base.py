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
    """Higher is better."""
    body: str
    format: Format


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
    def together(self, *, write: bool = True) -> AbstractContextManager[None]:
        """One transaction around several calls: they see one moment, and happen whole or not at all."""

    def session(self, name: str, *, now: float, model: str = "", preset: str = "") -> SessionRecord:
        """The session of that name, made if it is not there; a model or preset given is remembered."""

    def sessions(self) -> Sequence[SessionRecord]: ...

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
    ) -> None:
        """Pin or unpin, leave out (with a text that stands in for it) or restore one entry."""

    def locate(self, session: int, name: str) -> Located | None:
        """The message of that id or handle, on the current branch or else on the newest that has it."""

    def erase(self, session: int, id: str) -> Sequence[str]:
        """Erase a message for good, with its copies on branches the session left; returns the ids erased.

        Body and index rows go too, unless another message shares the content.
        """

    def search(self, query: str, *, session: int | None = None, limit: int = 10) -> Sequence[Found]:
        """Messages that hold the words, best first, of a session or of all, branches they left included."""

    def save_build(self, session: int, build: BuildRecord) -> int:
        """Store a build (its `number` is ignored) and return the number it got in its session."""

    def build(self, session: int, number: int | None = None) -> BuildRecord | None:
        """One build, the newest when no number is given."""

    def builds(self, session: int, *, limit: int = 50) -> Sequence[BuildRecord]: ...

    def log(self, session: str, events: Sequence[Event], *, now: float) -> None: ...

    def events(self, *, after: int = 0, limit: int = 1000) -> Sequence[LoggedEvent]: ...

    def verify(self) -> Checked: ...

    def backup(self, path: str) -> None: ...

    def close(self) -> None: ...
