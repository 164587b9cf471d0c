"""Open each tenant's store once, and keep its recent sessions and its event feed in memory."""

from __future__ import annotations

import threading
from asyncio import AbstractEventLoop
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import foveal
from foveal.config import Loaded, Settings, Tables
from foveal.server.event_stream import Feed
from foveal.server.problems import Problem
from foveal.server.settings import Serving
from foveal.session.foveal import Foveal, resources_of
from foveal.session.inspect.builds import still_exists
from foveal.session.session import Session
from foveal.store import SessionRecord

SESSIONS_MOST = 64
"""Sessions of a tenant whose histories stay in memory; the least recently used is evicted first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What the service is started with, the same for every tenant."""

    settings: Settings
    numbers: Tables
    serving: Serving

    @property
    def first_tenant(self) -> str:
        """The tenant whose store is opened at start-up."""
        return next(iter(self.serving.tokens.values()), self.settings.tenant)

    def open(self, tenant: str) -> Foveal:
        return Foveal.from_settings(self.settings, numbers=self.numbers, tenant=tenant)

    def check(self) -> None:
        """Open the store and close it again, so that its errors are reported before the service listens."""
        self.open(self.first_tenant).close()


def setup_of(loaded: Loaded, serving: Serving) -> Setup:
    return Setup(settings=loaded.settings, numbers=loaded.numbers, serving=serving)


class Tenant:
    """One tenant's open store."""

    def __init__(self, name: str, setup: Setup, loop: AbstractEventLoop, *, worker: bool = False) -> None:
        self.setup = setup
        self.fov = setup.open(name)
        if worker:
            resources_of(self.fov).worker.close()  # background work is for the process that serves
        else:
            resources_of(self.fov).manage_all()  # which may have come due since the service last ran
        self.feed = Feed(self.fov, loop)
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()
        self._creating = threading.Lock()

    def warm(self) -> None:
        """Load the vocabulary and the static embeddings now, because loading them blocks other requests."""
        foveal.fit([{"role": "user", "content": "hello"}], budget=100, model=self.settings.model)
        if "://" not in self.settings.embedder:
            _ = resources_of(self.fov).embedder

    def changed(self, session: str, *, created: bool) -> None:
        """A worker process has changed the store: the session of that name, if any, which may be new."""
        if created and self.fov.find(session):
            self.feed.announce("session.created", session, {"session": session})
        if session:
            resources_of(self.fov).changed(session)
        self.feed.check()
        resources_of(self.fov).worker.wake()

    @property
    def settings(self) -> Settings:
        return self.setup.settings

    @property
    def sessions_in_memory(self) -> int:
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
        """The session of that name; with `new` it is created if it does not exist."""
        with self._lock:
            cached = self._sessions.get(name)
        if cached is not None and still_exists(cached):
            return self._cache(name, cached)
        if new:
            self._create_missing(name)
        record = self.record(name)
        # The session's own model and preset win; the settings only fill in what it does not have.
        model = "" if record.model else self.settings.model
        preset = "" if record.preset else self.settings.preset
        given = model or preset
        found = self.fov.session(name, model=model, preset=preset) if given else self.fov.open(name)
        return self._cache(name, found)

    def _create_missing(self, name: str) -> None:
        with self._creating:
            if self.fov.find(name) is None:
                self.fov.session(name)
                self.feed.announce("session.created", name, {"session": name})

    def _cache(self, name: str, session: Session) -> Session:
        with self._lock:
            self._sessions[name] = session
            self._sessions.move_to_end(name)
            while len(self._sessions) > SESSIONS_MOST:
                self._sessions.popitem(last=False)
        return session

    def create(self, name: str, make: Callable[[], object]) -> SessionRecord:
        """Create a session with `make`; a name that is taken is a conflict."""
        with self._creating:
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
        self.feed.forget(name)
        self.feed.announce("session.deleted", name, {"session": name})

    def workspace(self, folder: str) -> str:
        """The folder, if the client may have it read."""
        serving = self.setup.serving
        if not serving.tokens:
            return folder
        path = Path(folder).resolve()
        if any(path.is_relative_to(root) for root in serving.workspaces):
            return str(path)
        raise Problem(
            "forbidden",
            "`workspace` is outside the folders that clients may have read",
            "name a folder below one of `workspaces` in `[serve]`",
            field="workspace",
        )


class Tenants:
    """The tenants whose stores are open; each store is opened on first use."""

    def __init__(self, setup: Setup, loop: AbstractEventLoop, *, worker: bool = False) -> None:
        self._setup = setup
        self._loop = loop
        self._worker = worker
        self.open: dict[str, Tenant] = {}
        """By name."""
        self._lock = threading.Lock()

    def get(self, name: str) -> Tenant:
        """The tenant; opening its store may have to wait until another process releases it."""
        found = self.open.get(name)
        if found is None:
            with self._lock:
                found = self.open.get(name) or Tenant(name, self._setup, self._loop, worker=self._worker)
                self.open[name] = found
        return found

    def close(self) -> None:
        for tenant in self.open.values():
            tenant.fov.close()
