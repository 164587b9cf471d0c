"""A store and its sessions: what a program keeps open for as long as it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from foveal import presets
from foveal.config import Settings, Tables, default_store, embedder_key
from foveal.errors import NotFoundError
from foveal.events import Bus, Subscriber
from foveal.knowledge.values import (
    Memory,
    MemoryKind,
    Origin,
    Prediction,
    PredictionLedger,
    Presence,
    Profile,
)
from foveal.session.arguments import a_moment, a_name, a_number, a_text, in_thread
from foveal.session.resources import Helpers, embedder_of, reader_of, warmer_of, worker_of, writer_of
from foveal.session.session import Session
from foveal.session.state import Resources, SessionState
from foveal.session.summaries.library import Library
from foveal.store import Checked, Durability, SessionRecord, open_store

if TYPE_CHECKING:
    from foveal.session.inspect.replay import Replayed


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
        library, reader, warmer = Library(self._store), reader_of(self._store, self._bus), warmer_of()
        self._resources = Resources(
            store=self._store,
            bus=self._bus,
            worker=worker_of(reader, warmer, library, choose, writer, self._bus),
            library=library,
            reader=reader,
            warmer=warmer,
            catalogue=catalogue,
            counter=counter,
            numbers=numbers,
            choose_embedder=choose,
            light=embedder in ("", "none"),
            writer=writer,
        )

    @classmethod
    def from_settings(
        cls, settings: Settings, *, numbers: Tables | None = None, tenant: str = "", create: bool = True
    ) -> Foveal:
        """Open the store that the settings name, for their tenant unless another is given."""
        by_model = settings.summaries == "llm"
        return cls(
            settings.store,
            tenant=tenant or settings.tenant,
            catalogue=settings.catalogue_path,
            counter=settings.counter or None,
            durability=settings.durability,
            numbers=numbers,
            create=create,
            embedder=settings.embedder,
            embedder_key=embedder_key(settings),
            summary_url=settings.summary_url if by_model else "",
            summary_model=settings.summary_model if by_model else "",
            summary_key=settings.summary_key if by_model else "",
        )

    def session(self, name: str = "default", *, model: str = "", preset: str = "") -> Session:
        """The session of that name, made if it is not there. A model or preset given is remembered."""
        presets.find(preset)
        a_text(name, "name")
        return Session(
            self._resources, self._store.session(name, now=time.time(), model=model, preset=preset)
        )

    def sessions(self) -> tuple[SessionRecord, ...]:
        """All sessions, oldest first."""
        return tuple(self._store.sessions())

    def find(self, name: str) -> SessionRecord | None:
        """What is known of the session of that name; None where there is none."""
        return self._store.named(name)

    def open(self, name: str) -> Session:
        """The session of that name; an error if it is not there."""
        return Session(self._resources, self._record(name))

    def fork(self, name: str, new: str, *, messages: int | None = None) -> Session:
        """A new session that begins as this one, with so many of its messages, all unless said."""
        from foveal.session.history import append

        a_name(new, "new")
        messages = None if messages is None else a_number(messages, "messages")
        state = SessionState(self._resources, self._record(name))
        return Session(self._resources, append.fork(state, new, messages))

    def delete(self, name: str) -> None:
        """Erase a session and what no other session shares."""
        self._store.delete_session(self._record(name).id)
        self._resources.library.forget()

    def _record(self, name: str) -> SessionRecord:
        found = self._store.named(name)
        if found is None:
            raise NotFoundError(
                f"there is no session {name!r}", remedy="`foveal sessions` lists them", see="sessions"
            )
        return found

    def replay(
        self,
        session: str | Session,
        *,
        preset: str,
        budget: int | None = None,
        model: str = "",
        progress: Callable[[int, int], None] | None = None,
    ) -> Replayed:
        """A stored session's requests as another preset would have made them: tokens, cost, facts kept.

        No model is asked and nothing is stored. `progress` is called with the requests that are done and how
        many there are.
        """
        from foveal.session.inspect.replay import replay_session

        name = session if isinstance(session, str) else session.name
        state = SessionState(self._resources, self._record(name))
        return replay_session(state, preset=preset, budget=budget, model=model, progress=progress)

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
        """Do the background work that is left now: embedding, reading, summaries. False: some is left."""
        return self._resources.worker.drain(seconds)

    # What is known of the user

    def remember(self, text: str, *, kind: MemoryKind | None = None, by: Origin = "user") -> Memory:
        """Keep a sentence about the user: who they are, how they want things, or another fact.

        Which of them, its words tell, unless `kind` does. What says the same already, or gives another value
        for the same, is replaced. A model's words (`by="model"`) are in no window before
        `confirm`, and replace nothing that the user said.
        """
        from foveal.session.knowledge import memories

        return memories.remember(self._resources, text, kind=kind, by=by)

    def confirm(self, id: str) -> Memory:
        """The user says that a memory is so."""
        from foveal.session.knowledge import memories

        return memories.confirm(self._resources, id)

    def edit_memory(self, id: str, text: str) -> Memory:
        """Put other words in place of a memory's; they are the user's from then on."""
        from foveal.session.knowledge import memories

        return memories.edit(self._resources, id, text)

    def forget_memory(self, id: str) -> None:
        """Delete a memory for good; what was said before does not bring it back, only its user's new word."""
        from foveal.session.knowledge import memories

        memories.forget(self._resources, id)

    def profile(self, *, now: float | None = None) -> Profile:
        """All that is known of the user: memories, topics, entities. Messages not read yet are read first."""
        from foveal.session.knowledge.profile import read_profile

        moment = a_moment(now, "now")
        return read_profile(self._resources, now=time.time() if moment is None else moment)

    def rename_thing(self, id: str, name: str) -> None:
        """Name a topic or an entity; mining does not rename it."""
        from foveal.session.knowledge.profile import rename_thing

        rename_thing(self._resources, id, name)

    def forget_thing(self, id: str) -> None:
        """Delete a topic or an entity; mining does not revive it. The messages that name it stay."""
        from foveal.session.knowledge.profile import forget_thing

        forget_thing(self._resources, id)

    def presence(
        self,
        presence: Presence | Mapping[str, object],
        *,
        session: str = "",
        now: float | None = None,
        warm: bool | None = None,
    ) -> tuple[Prediction, ...]:
        """Where the user is in → what they will probably do next; bundles for it are compiled meanwhile.

        `session`: whose ledger the predictions go into; the active conversation's unless it is named.
        `warm`: False predicts and compiles nothing; True warms up again where it had stopped itself.
        """
        from foveal.session.knowledge import warmup

        moment = a_moment(now, "now")
        at = time.time() if moment is None else moment
        return warmup.presence(self._resources, presence, session=session, now=at, warm=warm)

    def predictions(self, session: str = "") -> PredictionLedger:
        """Which predictions were made, used and wasted, of one session or of all; what warming up cost."""
        from foveal.session.knowledge import warmup

        return warmup.ledger(self._resources, session, now=time.time())

    def close(self) -> None:
        self._resources.worker.close()
        self._store.close()

    asession = in_thread(session)
    asessions = in_thread(sessions)
    adelete = in_thread(delete)
    areplay = in_thread(replay)
    averify = in_thread(verify)
    abackup = in_thread(backup)
    asettle = in_thread(settle)
    aremember = in_thread(remember)
    aconfirm = in_thread(confirm)
    aedit_memory = in_thread(edit_memory)
    aforget_memory = in_thread(forget_memory)
    aprofile = in_thread(profile)
    arename_thing = in_thread(rename_thing)
    aforget_thing = in_thread(forget_thing)
    apresence = in_thread(presence)
    apredictions = in_thread(predictions)

    def __enter__(self) -> Foveal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
