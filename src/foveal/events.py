"""Typed events, and the bus that delivers them to subscribers.

An event is a frozen value with a documented `name`; its fields are its payload. An error in a subscriber is
logged and never stops the work.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from foveal.model import Repair

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesAdded:
    name: ClassVar[str] = "messages.added"
    session: str
    ids: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryForked:
    """A client's history differed from the stored one, so a branch that shares the prefix was created."""

    name: ClassVar[str] = "history.forked"
    session: str
    shared: int
    replaced: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRepaired:
    name: ClassVar[str] = "history.repaired"
    session: str
    repairs: tuple[Repair, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowBuilt:
    name: ClassVar[str] = "window.built"
    session: str
    build: int
    preset: str
    tokens: int
    budget: int
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageMarked:
    """A message was pinned, unpinned, left out, restored or erased."""

    name: ClassVar[str] = "message.marked"
    session: str
    id: str
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStarted:
    name: ClassVar[str] = "task.started"
    session: str
    task: int
    """Its number in the session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCompleted:
    """A task is completed and has a summary. Its text is only in the store, so that it can be erased."""

    name: ClassVar[str] = "task.completed"
    session: str
    task: int
    messages: int
    original: int
    """Tokens of its messages."""
    compressed: int
    """Tokens of its summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """Something a user should know that did not stop the work, such as an unknown model."""

    name: ClassVar[str] = "warning"
    session: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryFailed:
    """A model returned no usable summary; the extractive one is used."""

    name: ClassVar[str] = "summary.failed"
    session: str
    key: str
    """The key of the `Ask`: identifies the summary without revealing its text."""
    fault: str
    """What went wrong, with its numbers and the host; never a word of the text or of the response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRefused:
    """A file of a workspace was not read: outside the root, a device, too large, binary, or secret."""

    name: ClassVar[str] = "workspace.refused"
    session: str
    path: str
    """Relative to the root, with `/`; bytes that are not text are escaped."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChanged:
    """A memory about the user was kept, confirmed, edited or deleted. Its text is only in the store."""

    name: ClassVar[str] = "memory.changed"
    session: str
    id: str
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmedUp:
    """Bundles for predicted requests were compiled in the background."""

    name: ClassVar[str] = "bundles.warmed"
    session: str
    predicted: int
    compiled: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmupStopped:
    """More bundles were wasted than used, so this session is no longer warmed up."""

    name: ClassVar[str] = "warmup.stopped"
    session: str
    used: int
    wasted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """An event that is specific to a preset, with the name and payload of its design."""

    name: str
    session: str
    payload: Mapping[str, object]
    transient: bool = False
    """It is for those who follow the work as it happens: the log drops it after many others."""


Event = (
    MessagesAdded
    | HistoryForked
    | HistoryRepaired
    | WindowBuilt
    | MessageMarked
    | TaskStarted
    | TaskCompleted
    | Warned
    | SummaryFailed
    | FileRefused
    | MemoryChanged
    | WarmedUp
    | WarmupStopped
    | Reported
)
Subscriber = Callable[[Event], Awaitable[None] | None]
Reports = Sequence[tuple[str, Mapping[str, object]]]
"""Events of a preset's design, not emitted yet: names and payloads, in the order in which things happened."""


def payload(event: Event) -> dict[str, object]:
    """The event's fields as plain data."""
    match event:
        case Reported():
            return dict(event.payload)
        case HistoryRepaired():
            return asdict(event)
        case _:
            return {field: getattr(event, field) for field in event.__slots__}


class Bus:
    """Delivers each event to every subscriber, in order of subscription."""

    def __init__(self) -> None:
        self._subscribers: tuple[tuple[Subscriber, AbstractEventLoop | None], ...] = ()
        self._lock = threading.Lock()
        self._tasks: set[Future[None]] = set()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` with every event from now on; returns a function that unsubscribes it.

        A coroutine runs on the loop it was subscribed from, whichever thread emits the event.
        """
        entry = (subscriber, _running_loop())
        with self._lock:
            self._subscribers += (entry,)

        def unsubscribe() -> None:
            with self._lock:
                self._subscribers = tuple(each for each in self._subscribers if each is not entry)

        return unsubscribe

    def emit(self, events: Sequence[Event]) -> None:
        for event in events:
            for subscriber, loop in self._subscribers:
                self._deliver(subscriber, loop, event)

    def _deliver(self, subscriber: Subscriber, loop: AbstractEventLoop | None, event: Event) -> None:
        try:
            pending = subscriber(event)
        except Exception:  # noqa: BLE001 — a subscriber is foreign code; the work goes on
            _log.exception("subscriber failed on %s", event.name)
            return
        if pending is not None:
            self._await(_guarded(pending, event.name), loop)

    def _await(self, pending: Coroutine[None, None, None], loop: AbstractEventLoop | None) -> None:
        """Run a coroutine on the subscriber's loop, on the one running in this thread, or to its end here."""
        import asyncio  # alone a third of the time of `import foveal`

        here = _running_loop()
        if loop is not None and loop is not here and not loop.is_closed():
            asyncio.run_coroutine_threadsafe(pending, loop)
        elif here is None:
            asyncio.run(pending)
        else:
            task = here.create_task(pending)
            self._tasks.add(task)  # the loop itself keeps only a weak reference
            task.add_done_callback(self._tasks.discard)


def _running_loop() -> AbstractEventLoop | None:
    """The loop that runs in this thread, if any; without asyncio imported there is none."""
    asyncio = sys.modules.get("asyncio")
    return None if asyncio is None else asyncio._get_running_loop()


async def _guarded(pending: Awaitable[None], name: str) -> None:
    try:
        await pending
    except Exception:  # noqa: BLE001 — as above
        _log.exception("subscriber failed on %s", name)
