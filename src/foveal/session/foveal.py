"""A store and its sessions: what a program keeps open for as long as it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from foveal import presets
from foveal.config import Tables, default_store
from foveal.errors import NotFoundError
from foveal.events import Bus, Subscriber
from foveal.session.answers import Library
from foveal.session.checks import a_text
from foveal.session.core import Desk
from foveal.session.desk import Helpers, embedder_of, worker_of, writer_of
from foveal.session.offload import in_thread
from foveal.session.session import Session
from foveal.store import Checked, Durability, SessionRecord, open_store


class Foveal:
    """Everything the agents of one tenant ever saw.

    `store`: a path, `":memory:"`, or nothing for the file in the user's data folder.
    `numbers`: the presets' own, by preset, where they should differ: `{"reploid": {"recency": 20}}`.
    `create`: make the file if it is not there; without, that is an error.
    `embedder`: who gives texts their vectors: nothing for the table that comes along, `"none"`, a folder with
    a transformer, or an endpoint with its model, as in `https://api.openai.com/v1#text-embedding-3-small`.
    `summary_url`, `summary_model`: a model that writes summaries in the background; else they are extracts.
    `embedder_key`, `summary_key`: the environment variables that hold the keys, never the keys.

    >>> with Foveal(":memory:") as fov:
    ...     session = fov.session("fix-auth", model="gpt-5")
    ...     session.add("user", "Fix the bug in auth.js")
    ...     session.build(budget=1_000).messages
    'm1'
    [{'role': 'user', 'content': 'Fix the bug in auth.js'}]
    """

    def __init__(  # noqa: PLR0913 — the front door: every option a store has, by name
        self,
        store: str | Path | None = None,
        *,
        tenant: str = "default",
        catalogue: Path | None = None,
        counter: str | None = None,
        numbers: Tables | None = None,
        durability: Durability = "normal",
        create: bool = True,
        embedder: str = "",
        embedder_key: str = "",
        summary_url: str = "",
        summary_model: str = "",
        summary_key: str = "",
    ) -> None:
        presets.find("", numbers)
        place = default_store() if store is None else store
        self._store = open_store(str(place), tenant=tenant, durability=durability, create=create)
        self._bus = Bus()
        helpers = Helpers(
            embedder=embedder,
            embedder_key=embedder_key,
            summary_url=summary_url,
            summary_model=summary_model,
            summary_key=summary_key,
        )
        writer, choose = writer_of(helpers, self._bus), embedder_of(helpers)
        library = Library(self._store)
        self._desk = Desk(
            store=self._store,
            bus=self._bus,
            worker=worker_of(self._store, library, choose, writer, self._bus),
            library=library,
            catalogue=catalogue,
            counter=counter,
            numbers=numbers,
            choose_embedder=choose,
            writer=writer,
        )

    def session(self, name: str = "default", *, model: str = "", preset: str = "") -> Session:
        """The session of that name, made if it is not there. A model or preset given is remembered."""
        presets.find(preset)
        a_text(name, "name")
        return Session(self._desk, self._store.session(name, now=time.time(), model=model, preset=preset))

    def sessions(self) -> tuple[SessionRecord, ...]:
        """All sessions, oldest first."""
        return tuple(self._store.sessions())

    def delete(self, name: str) -> None:
        """Erase a session and what no other session shares."""
        for record in self._store.sessions():
            if record.name == name:
                self._store.delete_session(record.id)
                self._desk.library.forget()
                return
        raise NotFoundError(f"there is no session {name!r}", remedy="`foveal sessions` lists them")

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` with every event of these sessions; returns the way to stop that."""
        return self._bus.subscribe(subscriber)

    def verify(self) -> Checked:
        """Check the whole store: every hash is derived again."""
        return self._store.verify()

    def backup(self, path: str | Path) -> None:
        """Write a consistent copy of the whole store, all tenants included, while it is in use."""
        self._store.backup(str(path))

    def settle(self, seconds: float = 60.0) -> bool:
        """Do the background work that is left now: embedding, summaries. False: some of it is still left."""
        return self._desk.worker.drain(seconds)

    def close(self) -> None:
        self._desk.worker.close()
        self._store.close()

    asession = in_thread(session)
    asessions = in_thread(sessions)
    adelete = in_thread(delete)
    averify = in_thread(verify)
    abackup = in_thread(backup)
    asettle = in_thread(settle)

    def __enter__(self) -> Foveal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
