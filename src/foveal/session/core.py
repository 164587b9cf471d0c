"""What the parts of a session share: its store, its memory of it, one transaction around a change."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

from foveal.config import Tables
from foveal.errors import NotFoundError
from foveal.events import Bus, Event
from foveal.jobs import Worker
from foveal.model import Format
from foveal.pipeline.compact.values import Answer
from foveal.pipeline.estimate import RECENT, calibration
from foveal.pipeline.plan.levels import FifthNumbers
from foveal.pipeline.score.importance import ReploidNumbers
from foveal.pipeline.values import Held
from foveal.presets.numbers import overridden
from foveal.session.answers import Answers, Library
from foveal.session.books import Books
from foveal.session.ledger import Ledger
from foveal.session.target import Count, Target, target
from foveal.store import Located, SessionRecord, Store

if TYPE_CHECKING:
    from foveal.search.embed import Embedder
    from foveal.session.contributing import Kept
    from foveal.session.finding import Finder
    from foveal.session.reading import Reader
    from foveal.session.walking import Walker
    from foveal.session.warming import Warmer

REPLOID = ReploidNumbers()
FIFTH = FifthNumbers()
AIMS_MOST = 8
"""Ways of counting a session keeps at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every session of one `Foveal` shares."""

    store: Store
    bus: Bus
    worker: Worker
    library: Library
    reader: Reader
    """Who reads messages for what is known of their user."""
    warmer: Warmer
    """Who compiles bundles before they are needed."""
    catalogue: Path | None = None
    counter: str | None = None
    numbers: Tables | None = None
    choose_embedder: Callable[[], Embedder | None]
    """Made when first needed: a table of words is read, a model is loaded."""
    light: bool = True
    """Vectors are of a table of words, or nobody's: no model and no endpoint is asked for one."""
    writer: Answer | None = None
    """The model that writes summaries, if one does."""
    workspaces: dict[str, Kept] = field(default_factory=dict)
    """By root: what was read and parsed for one build serves the next."""
    remembering: Lock = field(default_factory=Lock)
    """Held while `workspaces` changes: sessions are built at once."""

    @property
    def embedder(self) -> Embedder | None:
        return self.choose_embedder()

    @property
    def reploid(self) -> ReploidNumbers:
        return overridden(REPLOID, self._set("reploid"), "numbers, preset reploid")

    @property
    def fifth(self) -> FifthNumbers:
        return overridden(FIFTH, self._set("fifth"), "numbers, preset fifth")

    def _set(self, preset: str) -> Mapping[str, object]:
        return (self.numbers or {}).get(preset, {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the windows of a session hold still, and where that is stored."""

    held: Held
    past: int
    """Decisions about the messages before its first."""
    left_out: int
    """Of these messages, how many are not in the windows."""
    build: int = 0
    """The build whose record has it, with what was decided before it; 0: none yet."""


class Core:
    """One session's memory in this process. Whoever changes anything does it inside `writing`."""

    def __init__(self, desk: Desk, record: SessionRecord) -> None:
        self.name = record.name
        self.desk = desk
        self.store = desk.store
        self.id = record.id
        self.ledger = Ledger(desk.store, record)
        self.lock = RLock()
        self.repaired: set[tuple[int, int, str]] = set()
        """Repairs that were told: branch, place, rule."""
        self.books = Books()
        """What its windows cost so far."""
        self.held: dict[str, Layout | None] = {}
        """The layouts of windows that hold still, by what they are good for."""
        self.held_since = 0
        """The newest build when they were right: after one of another process they are read again."""
        self._aims: dict[tuple[str, Format, str | Count | None], Target] = {}
        self._finder: Finder | None = None
        self._walker: Walker | None = None

    @property
    def finder(self) -> Finder:
        """The session's index; made when first needed."""
        from foveal.session.finding import Finder

        if self._finder is None:
            self._finder = Finder(self)
        return self._finder

    @property
    def walker(self) -> Walker:
        """What is learnt by reading the session in order; made when first needed."""
        from foveal.session.walking import Walker

        if self._walker is None:
            self._walker = Walker(self)
        return self._walker

    def answers(self, aim: Target) -> Answers:
        """Who answers one build for its summaries."""
        return Answers(self.desk.library, aim.meter.text, better=self.desk.writer is not None)

    @property
    def model(self) -> str:
        return self.ledger.head.model

    @property
    def format(self) -> Format:
        return self.ledger.head.format or "plain"

    @contextmanager
    def writing(self) -> Iterator[list[Event]]:
        """One transaction for a change and its events; listeners hear of it when it is done."""
        events: list[Event] = []
        self.desk.worker.busy()
        with self.lock:
            try:
                with self.store.together():
                    self.ledger.catch_up()
                    yield events
                    if events:
                        self.store.log(self.name, events, now=time.time())
            except BaseException:
                self.ledger.reset()  # what it took in may not have happened
                raise
        self.desk.bus.emit(events)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One moment of the store, caught up with."""
        self.desk.worker.busy()
        with self.lock, self.store.together(write=False):
            self.ledger.catch_up()
            yield

    def aim(
        self, model: str = "", format: Format | None = None, counter: str | Count | None = None
    ) -> Target:
        """How windows for a model are counted, written and limited; kept from build to build."""
        key = (model or self.model, format or self.format, counter or self.desk.counter)
        if key not in self._aims:
            while len(self._aims) >= AIMS_MOST:
                del self._aims[next(iter(self._aims))]
            name, form, by = key
            self._aims[key] = target(
                name, form, counter=by, catalogue=self.desk.catalogue, learned=self.learned
            )
        return self._aims[key]

    def aim_anew(self) -> None:
        """Forget the ways of counting: bills have taught us better."""
        with self.lock:
            self._aims.clear()

    def learned(self, model: str, tokenizer: str) -> float:
        return calibration(self.store.bills(model, tokenizer, limit=RECENT))

    def original(self, handle: str) -> Any:
        """What is behind a handle or an id, exactly as it came in."""
        place = self.store.locate(self.id, handle)
        content = place.content if place else self.store.by_handle(handle)
        if content is not None:
            return json.loads(content.body)
        if place is None:
            raise self.unknown(handle)
        raise NotFoundError(f"message {handle!r} was erased", remedy="nothing brings it back; add it again")

    def located(self, id: str) -> Located:
        place = self.store.locate(self.id, id)
        if place is None:
            raise self.unknown(id)
        return place

    def unknown(self, id: str) -> NotFoundError:
        return NotFoundError(
            f"session `{self.name}` has no message {id!r}",
            remedy="`search` and `entries` give ids and handles",
        )
