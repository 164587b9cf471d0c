"""A tenant in → their store, open, with their sessions at hand and their events followed."""

from __future__ import annotations

import threading
from asyncio import AbstractEventLoop
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import foveal
from foveal import config
from foveal.config import Loaded, Settings, Tables
from foveal.server.events import Feed
from foveal.server.problems import Problem
from foveal.server.settings import Serving
from foveal.session import Foveal, Session
from foveal.session.inspect.builds import still_exists
from foveal.store import SessionRecord

SESSIONS_MOST = 64
"""Sessions of a tenant whose histories are kept in memory; the one used longest ago goes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What every tenant's place is made from."""

    settings: Settings
    numbers: Tables
    serving: Serving

    @property
    def catalogue(self) -> Path | None:
        return Path(self.settings.catalogue).expanduser() if self.settings.catalogue else None

    @property
    def first(self) -> str:
        """The tenant whose place is made before anybody asks."""
        return next(iter(self.serving.tokens.values()), self.settings.tenant)

    def check(self) -> None:
        """Open the store and close it again: what is wrong with it is told before anybody listens."""
        _opened(self.first, self).close()


def setup_of(loaded: Loaded, serving: Serving) -> Setup:
    return Setup(settings=loaded.settings, numbers=loaded.numbers, serving=serving)


class Place:
    """One tenant's data."""

    def __init__(self, tenant: str, setup: Setup, loop: AbstractEventLoop) -> None:
        self.setup = setup
        self.fov = _opened(tenant, setup)
        self.feed = Feed(self.fov, loop)
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()
        self._making = threading.Lock()

    def warm(self) -> None:
        """Read the vocabulary and the table of words now: while they are read, everybody else waits."""
        foveal.fit([{"role": "user", "content": "hello"}], budget=100, model=self.settings.model)
        if "://" not in self.settings.embedder:
            _ = self.fov._resources.embedder

    @property
    def settings(self) -> Settings:
        return self.setup.settings

    @property
    def held(self) -> int:
        """Sessions that are at hand."""
        return len(self._sessions)

    def record(self, name: str) -> SessionRecord:
        found = self.fov.find(name)
        if found is None:
            raise Problem(
                "not-found",
                f"there is no session {name!r}",
                "`GET /api/v1/sessions` lists them; `POST /api/v1/sessions` makes one",
            )
        return found

    def session(self, name: str, *, new: bool = False) -> Session:
        """The session of that name; only with `new` is it made when it is not there."""
        with self._lock:
            held = self._sessions.get(name)
        if held is not None and still_exists(held):
            return self._hold(name, held)
        if new:
            self._made(name)
        record = self.record(name)
        # What a session remembers wins: settings are for sessions that never heard of a model.
        model = "" if record.model else self.settings.model
        preset = "" if record.preset else self.settings.preset
        told = model or preset
        found = self.fov.session(name, model=model, preset=preset) if told else self.fov.open(name)
        return self._hold(name, found)

    def _made(self, name: str) -> None:
        with self._making:
            if self.fov.find(name) is None:
                self.fov.session(name)
                self.feed.announce("session.created", name, {"session": name})

    def _hold(self, name: str, session: Session) -> Session:
        with self._lock:
            self._sessions[name] = session
            self._sessions.move_to_end(name)
            while len(self._sessions) > SESSIONS_MOST:
                self._sessions.popitem(last=False)
        return session

    def create(self, name: str, make: Callable[[], object]) -> SessionRecord:
        """Make a session that is not there yet."""
        with self._making:
            if self.fov.find(name) is not None:
                raise Problem(
                    "conflict", f"there is a session {name!r} already", "give it another name", field="name"
                )
            make()
        self.feed.announce("session.created", name, {"session": name})
        return self.record(name)

    def delete(self, name: str) -> None:
        self.record(name)
        self.fov.delete(name)
        with self._lock:
            self._sessions.pop(name, None)
        self.feed.announce("session.deleted", name, {"session": name})

    def workspace(self, folder: str) -> str:
        """The folder, if this caller may have it looked through."""
        serving = self.setup.serving
        if not serving.tokens:
            return folder
        place = Path(folder).resolve()
        if any(place.is_relative_to(root) for root in serving.workspaces):
            return str(place)
        raise Problem(
            "forbidden",
            "`workspace` is outside the folders that may be looked through",
            "name a folder below one of `workspaces` in `[serve]`",
            field="workspace",
        )


def _opened(tenant: str, setup: Setup) -> Foveal:
    settings = setup.settings
    writes = settings.summaries == "llm"
    return Foveal(
        settings.store,
        tenant=tenant,
        catalogue=setup.catalogue,
        counter=settings.counter or None,
        durability=settings.durability,
        numbers=setup.numbers,
        embedder=settings.embedder,
        embedder_key=config.embedder_key(settings),
        summary_url=settings.summary_url if writes else "",
        summary_model=settings.summary_model if writes else "",
        summary_key=settings.summary_key if writes else "",
    )


class Places:
    """The places of all tenants, each opened when it is first needed."""

    def __init__(self, setup: Setup, loop: AbstractEventLoop) -> None:
        self._setup = setup
        self._loop = loop
        self.open: dict[str, Place] = {}
        """By tenant."""
        self._lock = threading.Lock()

    def of(self, tenant: str) -> Place:
        """Opening a store takes a moment, once; where another process holds it, until that lets go."""
        found = self.open.get(tenant)
        if found is None:
            with self._lock:
                found = self.open.get(tenant) or Place(tenant, self._setup, self._loop)
                self.open[tenant] = found
        return found

    @property
    def all(self) -> tuple[Place, ...]:
        return tuple(self.open.values())

    def close(self) -> None:
        for place in self.open.values():
            place.fov.close()
