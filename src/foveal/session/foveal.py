"""Open a store and its sessions.

This is the composition root: it creates the parts and registers the background jobs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from foveal import catalog, presets
from foveal.config import Settings, Tables, default_store, embedder_key
from foveal.errors import FovealError, InputError, NotFoundError
from foveal.events import Bus, Subscriber, Warned
from foveal.jobs import Job, Worker, soon
from foveal.knowledge.values import (
    Memory,
    MemoryKind,
    Origin,
    Prediction,
    PredictionLedger,
    Presence,
    Profile,
)
from foveal.pipeline.summarize.values import Answer
from foveal.session.arguments import (
    a_count,
    a_duration,
    a_function,
    a_list,
    a_non_negative,
    a_path,
    a_session_name,
    a_text,
    a_time,
    an_id,
    any_text,
    at_most,
    in_thread,
)
from foveal.session.resources import MANAGING, Models, Resources, load_embedder, summary_writer
from foveal.session.session import Session
from foveal.session.state import SessionState
from foveal.session.summaries.library import Library
from foveal.session.target import check_counter
from foveal.store import Checked, Durability, SessionRecord, open_store

if TYPE_CHECKING:
    from foveal.session.inspect.replay import Replayed
    from foveal.session.learn.learn import Learned
    from foveal.session.pool.pool import Pool
    from foveal.session.reports import Optimizations


SUMMARIES = "summaries"
"""The job in which a model writes summaries."""


class Foveal:
    """A store, with everything that one tenant's agents ever saw.

    `store`: a path, `":memory:"`, or nothing for the file in the user's data folder.
    `numbers`: settings of presets that replace their defaults: `{"reploid": {"recency": 20}}`.
    `create`: create the file if it does not exist; with `False`, a missing file is an error.
    `embedder`: nothing for the bundled static embeddings, `"none"`, a folder with a transformer, or an
    endpoint with its model, as in `https://api.openai.com/v1#text-embedding-3-small`.
    `summary_url`, `summary_model`: a model that writes summaries in the background; without one, summaries
    are extracts.
    `embedder_key`, `summary_key`: the names of the environment variables with the keys, never the keys.

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
        if numbers:
            presets.find("", numbers)  # raises for wrong ones
        models = Models(
            embedder=any_text(embedder, "embedder"),
            embedder_key=any_text(embedder_key, "embedder_key"),
            summary_url=any_text(summary_url, "summary_url"),
            summary_model=any_text(summary_model, "summary_model"),
            summary_key=any_text(summary_key, "summary_key"),
        )
        check_counter(counter)
        address = default_store() if store is None else store
        self._store = open_store(str(address), tenant=tenant, durability=durability, create=create)
        self._bus = Bus()
        writer = summary_writer(models, self._bus)
        worker = Worker(self._jobs(writer), on_error=self._warn)
        self._resources = Resources(
            store=self._store,
            bus=self._bus,
            worker=worker,
            library=Library(self._store, when_queued=partial(worker.wake, SUMMARIES)),
            catalogue=catalogue,
            counter=counter,
            numbers=numbers,
            choose_embedder=load_embedder(models),
            light=embedder in ("", "none"),
            writer=writer,
        )
        self._store.when_erased(partial(self._resources.worker.wake, "erasing"))

    def _jobs(self, writer: Answer | None) -> dict[str, Job]:
        """The background work of a store. Each job loads what it needs when it first runs."""

        def embed() -> float | None:
            from foveal.session.search.search import embed_some

            embedder = self._resources.embedder
            return soon(more=embedder is not None and embed_some(self._store, embedder))

        def read() -> float | None:
            from foveal.session.knowledge.mine import Reader

            return soon(more=self._resources.part(Reader).read_some())

        def warm() -> float | None:
            from foveal.session.knowledge.warmup import Warmer

            return soon(more=self._resources.part(Warmer).warm_some())

        def manage() -> float | None:
            from foveal.session.build.manage import IdleManager

            return self._resources.part(IdleManager).manage_some()

        jobs: dict[str, Job] = {
            "embedding": embed,
            "knowledge": read,
            "warm-up": warm,
            "erasing": self._store.overwrite_remains,
            MANAGING: manage,
        }
        if writer:
            jobs[SUMMARIES] = partial(self._write_summary, writer)
        return jobs

    def _write_summary(self, writer: Answer) -> float | None:
        more = self._resources.library.write_one(writer)
        self._resources.worker.wake(MANAGING)  # notes that wait for it are written again
        return soon(more=more)

    def _warn(self, job: str, error: Exception) -> None:
        what = error.what if isinstance(error, FovealError) else type(error).__name__
        self._bus.emit([Warned(session="", text=f"background work ({job}) failed: {what}")])

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

    def session(self, name: str = "default", *, model: str = "", preset: str = "", pool: str = "") -> Session:
        """The session of that name, created if there is none. A given model or preset is stored with it.

        A new name is one that a URL can carry: not `.` or `..`, without control characters.
        `pool`: the pool that it joins, created if there is none.
        """
        presets.check(preset)
        model = catalog.checked(model)
        try:
            a_session_name(name, "name")
        except InputError:
            if self._store.find_session(an_id(a_text(name, "name"), "name")) is None:
                raise
        joined = self.pool(pool) if any_text(pool, "pool") else None
        record = self._store.session(name, now=time.time(), model=model, preset=preset)
        opened = Session(self._resources, record)
        if joined and name not in joined.members:
            joined.join(opened)
        return opened

    def pool(self, name: str, *, budget: int | None = None) -> Pool:
        """The pool of that name, created if there is none: sessions that share one memory and one budget.

        `budget`: the tokens that the windows of all its sessions have together, stored with it; without it,
        a pool keeps the one that it has, and `Pool.set_budget(None)` removes it.
        """
        from foveal.session.pool.pool import Pool

        a_session_name(name, "name")
        tokens = None if budget is None else a_count(budget, "budget")
        return Pool(self._resources, self._store.pools.save(name, now=time.time(), budget=tokens))

    def pools(self) -> tuple[Pool, ...]:
        """All pools, oldest first."""
        from foveal.session.pool.pool import Pool

        return tuple(Pool(self._resources, record) for record in self._store.pools.all())

    def sessions(self) -> tuple[SessionRecord, ...]:
        """All sessions, oldest first."""
        return tuple(self._store.sessions())

    def find(self, name: str) -> SessionRecord | None:
        """The record of the session of that name; None if there is none."""
        return self._store.find_session(an_id(name, "name"))

    def open(self, name: str) -> Session:
        """The session of that name; an error if it does not exist."""
        return Session(self._resources, self._record(name))

    def fork(self, name: str, new: str, *, messages: int | None = None) -> Session:
        """A new session that begins with the messages of this one: the first `messages`, by default all.

        Private messages stay behind.
        """
        from foveal.session.history import append

        a_session_name(new, "new")
        messages = None if messages is None else a_non_negative(messages, "messages")
        state = SessionState(self._resources, self._record(name))
        return Session(self._resources, append.fork(state, new, messages))

    def delete(self, name: str) -> None:
        """Erase a session and what no other session shares."""
        self._store.delete_session(self._record(name).id)
        self._resources.library.forget()

    def _record(self, name: str) -> SessionRecord:
        found = self._store.find_session(an_id(name, "name"))
        if found is None:
            raise NotFoundError(
                f"there is no session {name!r}", remedy="`sessions` lists them", see="sessions"
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
        """A stored session's requests as another preset would have built them: tokens, cost, facts kept.

        It asks no model and stores nothing. `budget`: by default that of the session's newest build.
        `progress` is called with the number of finished requests and of all.
        """
        from foveal.session.inspect.replay import replay_session

        name = session.name if isinstance(session, Session) else an_id(session, "session")
        state = SessionState(self._resources, self._record(name))
        return replay_session(
            state,
            self._scratch,
            preset=preset,
            budget=budget,
            model=model,
            progress=a_function(progress, "progress"),
        )

    def learn(
        self,
        *,
        preset: str = "",
        sessions: Sequence[str] | None = None,
        work: str = "",
        budget: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Learned:
        """Fit a preset's numbers to what the answers in stored sessions used of earlier messages.

        The newest third of the turns is reserved: numbers that are not better on it are not accepted.
        `sessions`: names; by default all. `work`: only `coding`, `chat`, `research` or `operations`.
        `budget`: of the windows; by default that of a session's newest build, or a quarter of its tokens.
        It asks no model and stores nothing. `progress` is called with the number of trials done and of all.
        """
        from foveal.session.learn.learn import learn

        records = (
            self.sessions()
            if sessions is None
            else [self._record(each) for each in a_list(sessions, "sessions")]
        )
        return learn(
            [SessionState(self._resources, record) for record in records],
            preset=any_text(preset, "preset"),
            work=any_text(work, "work"),
            budget=budget,
            numbers=self._resources.numbers,
            progress=a_function(progress, "progress"),
        )

    @contextmanager
    def _scratch(self, model: str, preset: str) -> Iterator[Session]:
        """A session in memory with the settings of this store.

        Without embeddings and without work in the background, the same messages give the same windows.
        """
        resources = self._resources
        with Foveal(
            ":memory:",
            catalogue=resources.catalogue,
            counter=resources.counter,
            numbers=resources.numbers,
            embedder="none",
        ) as fov:
            fov._resources.worker.close()
            yield fov.session("replay", model=model, preset=preset)

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` with every event of these sessions; returns a function that ends that."""
        return self._bus.subscribe(subscriber)

    def optimizations(self, *, limit: int = 50, before: int | None = None) -> Optimizations:
        """Past optimizations by the preset `omar`, in windows and by operations, latest first.

        `before`: the `next` of the page before; by default the list begins with the latest.
        """
        from foveal.session.reports import list_optimizations

        limit = a_count(limit, "limit")
        before = None if before is None else at_most(before, "before")
        return list_optimizations(self._resources, limit=limit, before=before)

    def verify(self) -> Checked:
        """Check the whole store by computing every hash again."""
        return self._store.verify()

    def backup(self, path: str | Path) -> None:
        """Write a consistent copy of the whole store, with all tenants, while it is in use."""
        self._store.backup(str(a_path(path, "path")))

    def settle(self, seconds: float = 60.0) -> bool:
        """Finish background work now, whichever process left it; False if some is left.

        That is embedding, mining, summaries, erasing, and compressing where a session's preset does so.
        """
        self._resources.manage_all()
        return self._resources.worker.drain(a_duration(seconds, "seconds"))

    # The user profile

    def remember(self, text: str, *, kind: MemoryKind | None = None, by: Origin = "user") -> Memory:
        """Store a sentence about the user: who they are, what they prefer, or another fact.

        The kind is detected unless `kind` is given. A memory that says the same, or has another value for the
        same thing, is replaced. A memory by a model (`by="model"`) is in no window before `confirm`, and
        replaces nothing that the user said.
        """
        from foveal.session.knowledge import memories

        return memories.remember(self._resources, text, kind=kind, by=by)

    def confirm(self, id: str) -> Memory:
        """Record that the user confirms a memory."""
        from foveal.session.knowledge import memories

        return memories.confirm(self._resources, id)

    def edit_memory(self, id: str, text: str) -> Memory:
        """Replace a memory's text; from then on it counts as the user's own."""
        from foveal.session.knowledge import memories

        return memories.edit(self._resources, id, text)

    def forget_memory(self, id: str) -> None:
        """Delete a memory for good. Earlier messages do not restore it, only a new statement does."""
        from foveal.session.knowledge import memories

        memories.forget(self._resources, id)

    def profile(self, *, now: float | None = None) -> Profile:
        """Everything known of the user: memories, topics, entities. New messages are mined first."""
        from foveal.session.knowledge.profile import read_profile

        moment = a_time(now, "now")
        return read_profile(self._resources, now=time.time() if moment is None else moment)

    def rename_thing(self, id: str, name: str) -> None:
        """Rename a topic or an entity; mining keeps the name."""
        from foveal.session.knowledge.profile import rename_thing

        rename_thing(self._resources, id, name)

    def forget_thing(self, id: str) -> None:
        """Delete a topic or an entity; mining does not add it again. Messages that mention it stay."""
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
        """Predict what the user will probably do next, and compile the bundles for it in the background.

        `session`: the session that the predictions are recorded for; by default the active conversation.
        `warm`: False predicts without compiling; True resumes a warm-up that had stopped itself.
        """
        from foveal.session.knowledge import warmup

        moment = a_time(now, "now")
        at = time.time() if moment is None else moment
        any_text(session, "session")
        return warmup.presence(self._resources, presence, session=session, now=at, warm=warm)

    def predictions(self, session: str = "") -> PredictionLedger:
        """Predictions made, used and wasted, of one session or of all, and what the warm-up cost."""
        from foveal.session.knowledge import warmup

        any_text(session, "session")
        return warmup.ledger(self._resources, session, now=time.time())

    def close(self) -> None:
        self._resources.worker.close()
        self._store.close()

    asession = in_thread(session)
    asessions = in_thread(sessions)
    adelete = in_thread(delete)
    areplay = in_thread(replay)
    alearn = in_thread(learn)
    averify = in_thread(verify)
    abackup = in_thread(backup)
    asettle = in_thread(settle)
    aremember = in_thread(remember)
    aconfirm = in_thread(confirm)
    aedit_memory = in_thread(edit_memory)
    aforget_memory = in_thread(forget_memory)
    aoptimizations = in_thread(optimizations)
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


def resources_of(fov: Foveal) -> Resources:
    """What the sessions of a store share, for the layers above."""
    return fov._resources
