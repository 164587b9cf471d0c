"""What happened, typed; and the bus anyone can listen on.

An event is a frozen value with a documented `name`; its fields are its payload. A subscriber that
fails is reported to the log and never stops the work.
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
    """A client's history differed from the stored one: a branch that shares the prefix was made."""

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
    """A task is over and has a summary; the words are the store's, so that they can be erased."""

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
    """Something a person should know that did not stop the work, such as an unknown model."""

    name: ClassVar[str] = "warning"
    session: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryFailed:
    """A model gave no summary that could be used; the extractive one serves."""

    name: ClassVar[str] = "summary.failed"
    session: str
    key: str
    """Of the `Ask`: says which summary without saying what it is about."""
    fault: str
    """What went wrong, with its numbers and the host; never a word of the text or of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRefused:
    """A file of a workspace was not read: outside the root, a device, too large, binary, secret."""

    name: ClassVar[str] = "workspace.refused"
    session: str
    path: str
    """Below the root, with `/`; what is not text in it is escaped."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChanged:
    """Something known of the user was kept, confirmed, edited or deleted; the words are the store's."""

    name: ClassVar[str] = "memory.changed"
    session: str
    id: str
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmedUp:
    """Bundles for what will probably be asked next were compiled in the background."""

    name: ClassVar[str] = "bundles.warmed"
    session: str
    predicted: int
    compiled: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmupStopped:
    """More bundles were compiled for nothing than were used: this session is not warmed up any more."""

    name: ClassVar[str] = "warmup.stopped"
    session: str
    used: int
    wasted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """An event that a preset's own design documents, under its name and with its payload."""

    name: str
    session: str
    payload: Mapping[str, object]


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


def payload(event: Event) -> dict[str, object]:
    """The event's fields as plain data, for a log or a wire."""
    match event:
        case Reported():
            return dict(event.payload)
        case HistoryRepaired():
            return asdict(event)
        case _:
            return {field: getattr(event, field) for field in event.__slots__}


class Bus:
    """Hands each event to every subscriber, in order of subscription."""

    def __init__(self) -> None:
        self._subscribers: tuple[tuple[Subscriber, AbstractEventLoop | None], ...] = ()
        self._lock = threading.Lock()
        self._tasks: set[Future[None]] = set()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` with every event from now on; returns the way to stop that.

        A coroutine runs on the loop it was subscribed from, whichever thread the event comes from.
        """
        place = (subscriber, _running())
        with self._lock:
            self._subscribers += (place,)

        def unsubscribe() -> None:
            with self._lock:
                self._subscribers = tuple(each for each in self._subscribers if each is not place)

        return unsubscribe

    def emit(self, events: Sequence[Event]) -> None:
        for event in events:
            for subscriber, home in self._subscribers:
                self._deliver(subscriber, home, event)

    def _deliver(self, subscriber: Subscriber, home: AbstractEventLoop | None, event: Event) -> None:
        try:
            answer = subscriber(event)
        except Exception:  # noqa: BLE001 — a subscriber is somebody else's code; the work goes on
            _log.exception("subscriber failed on %s", event.name)
            return
        if answer is not None:
            self._await(_guarded(answer, event.name), home)

    def _await(self, answer: Coroutine[None, None, None], home: AbstractEventLoop | None) -> None:
        """On the subscriber's own loop, on the one that runs here, or to its end right here."""
        import asyncio  # it alone costs a third of `import foveal`

        here = _running()
        if home is not None and home is not here and not home.is_closed():
            asyncio.run_coroutine_threadsafe(answer, home)
        elif here is None:
            asyncio.run(answer)
        else:
            task = here.create_task(answer)
            self._tasks.add(task)  # the loop itself keeps only a weak reference
            task.add_done_callback(self._tasks.discard)


def _running() -> AbstractEventLoop | None:
    """The loop that runs in this thread, if any; nobody who never imported asyncio has one."""
    asyncio = sys.modules.get("asyncio")
    return None if asyncio is None else asyncio._get_running_loop()


async def _guarded(answer: Awaitable[None], name: str) -> None:
    try:
        await answer
    except Exception:  # noqa: BLE001 — as above
        _log.exception("subscriber failed on %s", name)
