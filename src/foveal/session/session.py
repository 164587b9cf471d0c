"""One conversation that remembers everything: add to it, build windows of it, look anything up again.

The shell around the pipeline: it reads the clock and the store, hands plain values to pure stages and
writes down what happened. What is in memory is derived from the store and caught up before each use, so
several processes may share a session; what belongs together happens in one transaction.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import Any

from foveal import catalog, presets, wire
from foveal.config import Tables
from foveal.errors import FovealError, NotFoundError
from foveal.events import (
    Bus,
    Event,
    HistoryForked,
    HistoryRepaired,
    MessageMarked,
    MessagesAdded,
    Reported,
    Warned,
    WindowBuilt,
)
from foveal.model import Absence, Conversation, Entry, Format, Kind, Level, Message, Role, handle_of
from foveal.pipeline import fit as pipeline
from foveal.pipeline.count import SCALED
from foveal.pipeline.estimate import RECENT, calibration
from foveal.pipeline.history import History
from foveal.pipeline.score.importance import ReploidNumbers
from foveal.presets import Preset
from foveal.presets.numbers import overridden
from foveal.session.checks import a_choice, a_count, a_text
from foveal.session.compare import Case, Comparison, compared, named
from foveal.session.drafts import carried, drafted, parting
from foveal.session.ledger import Ledger
from foveal.session.offload import in_thread
from foveal.session.pruning import Leaving, by_importance, for_a_summary
from foveal.session.records import read_manifest, write_manifest
from foveal.session.target import (
    Count,
    Target,
    checked_budget,
    system_messages,
    target,
    tools_text,
    warn,
)
from foveal.session.views import Hit, Removal, Stats, summary
from foveal.store import BuildRecord, Located, SessionRecord, Store
from foveal.window import Manifest, Window

REPLOID = ReploidNumbers()
AIMS_MOST = 8
"""Ways of counting a session keeps at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every session of one `Foveal` shares."""

    store: Store
    bus: Bus
    catalogue: Path | None = None
    counter: str | None = None
    numbers: Tables | None = None

    @property
    def reploid(self) -> ReploidNumbers:
        return overridden(REPLOID, (self.numbers or {}).get("reploid", {}), "numbers, preset reploid")


class Session:
    """One stored conversation. Made by `Foveal.session`."""

    def __init__(self, desk: Desk, record: SessionRecord) -> None:
        self.name = record.name
        self._desk = desk
        self._store = desk.store
        self._id = record.id
        self._ledger = Ledger(desk.store, record)
        self._aims: dict[tuple[str, Format, str | Count | None], Target] = {}
        self._repaired: set[tuple[int, int, str]] = set()
        self._lock = RLock()

    @property
    def model(self) -> str:
        return self._ledger.head.model

    @property
    def branch(self) -> int:
        """Changes when an edited history became a fork: positions in manifests are those of their branch."""
        return self._ledger.head.branch

    @property
    def format(self) -> Format:
        """The provider format its windows come in: that of the first messages that had one."""
        return self._ledger.head.format or "plain"

    # Writing

    def add(  # noqa: PLR0913 — what may be said of a message, by name
        self,
        role: Role,
        text: str,
        *,
        pinned: bool = False,
        important: bool = False,
        kind: Kind | None = None,
        level: Level | None = None,
        metadata: Mapping[str, object] | None = None,
        timestamp: float | None = None,
        name: str = "",
    ) -> str:
        """Store one message of text and return its id. It is the session's own: `sync` leaves it alone."""
        body = {"role": role, "content": a_text(text, "text")}
        given = {"name": name or None, "timestamp": timestamp, "metadata": metadata}
        message = wire.message_of(
            body | {key: value for key, value in given.items() if value is not None}, "plain", where="add"
        )
        message = replace(
            message,
            pinned=pinned,
            important=important,
            kind=a_choice(kind, Kind, "kind"),
            level=a_choice(level, Level, "level"),
        )
        with self._writing() as events:
            self._ledger.catch_up()
            (id,) = self._append([message], events, beside=True)
        return id

    def extend(self, messages: Any, *, format: Format | None = None) -> tuple[str, ...]:
        """Store messages at the end, in any provider's format, and return their ids."""
        with self._writing() as events:
            self._ledger.catch_up()
            return self._append(self._loaded(messages, format).messages, events)

    def sync(self, history: Any, *, format: Format | None = None) -> tuple[str, ...]:
        """Store what is new in a client's whole history and return the new ids.

        The stored prefix is recognised by content; messages that were `add`ed stay where they are. Where
        the history differs from what is stored, the session goes on as a fork that shares the prefix. What
        the old branch held stays in the store; pins and other marks follow the messages.
        """
        with self._writing() as events:
            self._ledger.catch_up()
            messages = self._loaded(history, format).messages
            part = parting(self._ledger.entries, messages)
            if part.fork is None:
                return self._append(messages[part.known :], events)
            return self._fork(messages[part.known :], part.fork, events)

    def _loaded(self, messages: Any, format: Format | None) -> Conversation:
        read = isinstance(messages, Conversation)
        given: Conversation = messages if read else wire.load(messages, format=format, model=self.model)
        if given.model and not self.model:
            self._store.session(self.name, now=time.time(), model=given.model)
            self._ledger.catch_up()
        if not given.guessed or read:
            return given
        # Other providers' messages look the same: read them as the session's, or leave that open.
        form = "plain" if self.format == "gemini" else self.format
        return replace(given, messages=tuple(_as_form(m, form) for m in given.messages))

    def _append(
        self, messages: Sequence[Message], events: list[Event], *, beside: bool = False
    ) -> tuple[str, ...]:
        if not messages:
            return ()
        aim = self._aim(format=self._form(messages))
        drafts = [drafted(message, aim, beside=beside) for message in messages]
        entries = self._store.append(self._id, drafts, counter=aim.history_key)
        self._ledger.appended(entries, messages)
        ids = tuple(entry.id for entry in entries)
        tokens = sum(draft.tokens for draft in drafts)
        events.append(MessagesAdded(session=self.name, ids=ids, tokens=tokens))
        return ids

    def _fork(self, messages: Sequence[Message], at: int, events: list[Event]) -> tuple[str, ...]:
        """Go on from `at` with other messages; what was added beside goes along, in its order, first."""
        left = self._ledger.entries[at:]
        kept = [entry for entry in left if entry.beside and entry.absence != "erased"]
        own = [message for entry in kept for message in self._ledger.read(entry.seq, entry.seq + 1)]
        aim = self._aim(format=self._form(messages))
        drafts = [
            *(drafted(message, aim, beside=True) for message in own),
            *(drafted(message, aim) for message in messages),
        ]
        entries = self._store.append(self._id, list(carried(drafts, left)), counter=aim.history_key, at=at)
        self._ledger.reset()
        new = tuple(entry.id for entry in entries if entry.id not in {before.id for before in left})
        replaced = len(left) - len(entries) + len(new)
        events.append(HistoryForked(session=self.name, shared=at, replaced=replaced))
        if new:
            tokens = sum(entry.tokens for entry in entries if entry.id in new)
            events.append(MessagesAdded(session=self.name, ids=new, tokens=tokens))
        return new

    def _form(self, messages: Sequence[Message]) -> Format:
        told = next((m.format for m in messages if m.format != "plain"), self.format)
        return self._ledger.head.format or told

    @contextmanager
    def _writing(self) -> Iterator[list[Event]]:
        """One transaction for a change and its events; listeners hear of it when it is done."""
        events: list[Event] = []
        with self._lock:
            try:
                with self._store.together():
                    yield events
                    if events:
                        self._store.log(self.name, events, now=time.time())
            except BaseException:
                self._ledger.reset()  # what it took in may not have happened
                raise
        self._desk.bus.emit(events)

    # Building

    def build(  # noqa: PLR0913 — the front door: every option a build has, by name
        self,
        *,
        task: str = "",
        budget: int | None = None,
        model: str = "",
        preset: str = "",
        tools: Any = None,
        system: str | None = None,
        format: Format | None = None,
        now: float | None = None,
        counter: str | Count | None = None,
    ) -> Window:
        """The best window that fits the budget; it costs what is new, not what is old.

        `budget`: tokens; by default the model's limit less its longest reply.
        `system`: a system prompt for this window only; to keep one, `add("system", …)`.
        """
        checked_budget(budget)
        moment = time.time() if now is None else now
        tools_json = tools_text(tools)
        with self._lock:
            with self._store.together(write=False):
                self._ledger.catch_up()
                aim = self._aim(model, format, counter)
                warn(aim.warnings)
                chosen = presets.find(preset or self._ledger.head.preset, self._desk.numbers)
                order = aim.order(
                    chosen,
                    budget=aim.budget(None) if budget is None else budget,
                    tools=tools_json,
                    task=task,
                    now=moment,
                    system=system_messages(system),
                )
                history = self._ledger.history(aim)
                fitted = self._fitted(history, order, chosen)
                if not chosen.looks_at_all:
                    history.release(history.turn_of(_earliest(fitted)) - 1)
                entries = history.entries
            window = aim.window(
                fitted,
                Conversation(format=aim.format, messages=(), tools=tools_json),
                entries=entries,
                fetch=self.recall,
            )
            self._save(window.manifest, aim, moment, fitted.reports)
        return window

    def _fitted(self, history: History, order: pipeline.Order, preset: Preset) -> pipeline.Fitted:
        """Fit, and file the branch and the time it took; tell a failure where the preset's design does."""
        start = time.perf_counter()
        try:
            fitted = pipeline.fit(history, order)
        except FovealError as error:
            if preset.on_failure:
                told = {"error": type(error).__name__, "what": error.what}
                self._desk.bus.emit([Reported(name=preset.on_failure, session=self.name, payload=told)])
            raise
        manifest = fitted.manifest
        record, metrics = {"branch": str(self.branch)}, dict(manifest.metrics)
        if metrics:
            metrics["duration_ms"] = round(1000 * (time.perf_counter() - start), 3)
            record |= {**manifest.record, "session": self.name, "trace_id": secrets.token_hex(16)}
        return replace(fitted, manifest=replace(manifest, metrics=metrics, record=record))

    def _aim(
        self, model: str = "", format: Format | None = None, counter: str | Count | None = None
    ) -> Target:
        key = (model or self.model, format or self.format, counter or self._desk.counter)
        if key not in self._aims:
            while len(self._aims) >= AIMS_MOST:
                del self._aims[next(iter(self._aims))]
            name, form, by = key
            self._aims[key] = target(
                name, form, counter=by, catalogue=self._desk.catalogue, learned=self._learned
            )
        return self._aims[key]

    def _save(
        self,
        manifest: Manifest,
        aim: Target,
        moment: float,
        reports: Sequence[tuple[str, Mapping[str, object]]],
    ) -> None:
        record = BuildRecord(
            number=0,
            created_at=moment,
            preset=manifest.preset,
            model=aim.card.id,
            budget=manifest.budget,
            tokens=manifest.tokens,
            manifest=write_manifest(manifest),
        )
        with self._writing() as events:
            self._ledger.save_counts()
            number = self._store.save_build(self._id, record)
            events.extend(Reported(name=name, session=self.name, payload=told) for name, told in reports)
            events.extend(self._built_events(manifest, number))

    def _built_events(self, manifest: Manifest, number: int) -> Iterator[Event]:
        """What a build tells: warnings, repairs that were not told before, the window."""
        branch = self._ledger.head.branch
        new = tuple(r for r in manifest.repairs if (branch, r.seq, r.rule) not in self._repaired)
        self._repaired |= {(branch, r.seq, r.rule) for r in new}
        for text in manifest.warnings:
            yield Warned(session=self.name, text=text)
        if new:
            yield HistoryRepaired(session=self.name, repairs=new)
        yield WindowBuilt(
            session=self.name,
            build=number,
            preset=manifest.preset,
            tokens=manifest.tokens,
            budget=manifest.budget,
            left_out=sum(d.last - d.first + 1 for d in manifest.left_out),
        )

    def billed(self, input_tokens: int, *, build: int | None = None) -> None:
        """Tell what the provider billed for a build's input; later estimates for that model learn from it."""
        record = self._built(build)
        name, _, factor = read_manifest(record).counter.partition(SCALED)
        counted = round(record.tokens / float(factor or 1))
        before = self._learned(record.model, name)
        billed = a_count(input_tokens, "input_tokens")
        self._store.save_bill(record.model, name, counted=counted, billed=billed)
        if self._learned(record.model, name) != before:
            with self._lock:
                self._aims.clear()

    def _learned(self, model: str, tokenizer: str) -> float:
        return calibration(self._store.bills(model, tokenizer, limit=RECENT))

    # Looking back

    def recall(self, handle: str) -> Any:
        """The original behind a handle or an id, exactly as it came in."""
        place = self._store.locate(self._id, handle)
        content = place.content if place else self._store.by_handle(handle)
        if content is not None:
            return json.loads(content.body)
        if place is not None:
            raise NotFoundError(
                f"message {handle!r} was erased", remedy="nothing brings it back; add it again"
            )
        raise self._unknown(handle)

    def search(self, query: str, *, limit: int = 10, everywhere: bool = False) -> tuple[Hit, ...]:
        """Stored messages that hold the words, best first; `everywhere`: in all of the tenant's sessions."""
        scope = None if everywhere else self._id
        found = self._store.search(query, session=scope, limit=a_count(limit, "limit"))
        return tuple(
            Hit(
                id=hit.id,
                handle=handle_of(hit.digest),
                session=hit.session,
                role=hit.role,
                score=hit.score,
                text=wire.reread(hit.body, hit.format, hit.role, digest=hit.digest).text,
            )
            for hit in found
        )

    def entries(self) -> tuple[Entry, ...]:
        """Every message of the history without its body: id, handle, role, tokens, marks."""
        with self._lock:
            self._ledger.catch_up()
            return tuple(self._ledger.history(self._aim()).entries)

    def export(self) -> list[Any]:
        """The whole history, each message as it came in; erased ones are not in it."""
        return [json.loads(content.body) for content in self._store.messages(self._id) if content]

    def manifest(self, build: int | None = None) -> Manifest:
        """The manifest of a build, the newest when no number is given."""
        return read_manifest(self._built(build))

    def _built(self, number: int | None) -> BuildRecord:
        record = self._store.build(self._id, number)
        if record is not None:
            return record
        newest = self._store.build(self._id)
        if newest is None:
            raise NotFoundError(f"session `{self.name}` has no build yet", remedy="build a window first")
        raise NotFoundError(
            f"session `{self.name}` has no build {number}", remedy=f"name one from 1 to {newest.number}"
        )

    def stats(self) -> Stats:
        """The session in numbers."""
        with self._lock, self._store.together(write=False):
            self._ledger.catch_up()
            aim = self._aim()
            newest = self._store.build(self._id)
            return summary(self._ledger.history(aim), self._ledger.head, newest, name=self.name, aim=aim)

    def compare(
        self,
        *,
        budget: int | None = None,
        model: str = "",
        task: str = "",
        presets: Sequence[str] | None = None,
        now: float | None = None,
    ) -> Comparison:
        """The windows that presets make of the history, side by side, all of ours unless named."""
        checked_budget(budget)
        chosen = named(presets, self._desk.numbers)
        with self._lock, self._store.together(write=False):
            self._ledger.catch_up()
            aim = self._aim(model)
            warn(aim.warnings)
            entries = self._ledger.history(aim).entries
            case = Case(
                aim=aim,
                entries=entries,
                fresh=lambda: History(self._ledger.read, aim.frame(self.format)),
                given=Conversation(format=aim.format, messages=()),
                budget=aim.budget(None) if budget is None else budget,
                task=task,
                now=time.time() if now is None else now,
                prices=catalog.prices(aim.card.id, extra=self._desk.catalogue),
            )
            return compared(case, chosen)

    # Marking

    def pin(self, id: str) -> None:
        """Keep a message in every window, at full."""
        self._mark(id, "pinned", pinned=True)

    def unpin(self, id: str) -> None:
        self._mark(id, "unpinned", pinned=False)

    def forget(self, id: str, *, erase: bool = True) -> tuple[str, ...]:
        """Erase a message for good and return the ids that went, copies on branches that were left included.

        Equal words in another message of the history stay. With `erase=False` the message is only left out
        of windows until `restore`.
        """
        if not erase:
            return (self._mark(id, "left out", absence="left out"),)
        with self._writing() as events:
            gone = tuple(self._store.erase(self._id, self._located(id).entry.id))
            events.extend(MessageMarked(session=self.name, id=each, mark="erased") for each in gone)
        return gone

    def restore(self, id: str | None = None) -> None:
        """Let a message that was left out be in windows again; without an id, all of them."""
        for each in [id] if id is not None else [entry.id for entry in self.archive()]:
            self._mark(each, "restored", absence="")

    def archive(self) -> tuple[Entry, ...]:
        """The messages that are left out of windows until they are restored."""
        return tuple(entry for entry in self.entries() if entry.absence == "left out")

    def prune(self, max_tokens: int | None = None) -> Removal:
        """Leave out the least important turns until the rest fits, by default 80% of the model's window."""
        asked = None if max_tokens is None else a_count(max_tokens, "max_tokens")
        with self._writing() as events:
            self._ledger.catch_up()
            aim = self._aim()
            history = self._ledger.history(aim)
            budget = asked or int(aim.card.context * self._desk.reploid.target)
            chosen = presets.find("reploid", self._desk.numbers)
            order = aim.order(chosen, budget=budget, tools="", task="", now=time.time())
            leaving = by_importance(pipeline.fit(history, order).manifest, history.entries)
            return self._leave_out(leaving, events)

    def summarize(self, keep: int | None = None) -> Removal:
        """Show one note in place of all but the newest `keep` messages, until they are restored."""
        kept = self._desk.reploid.keep if keep is None else keep
        with self._writing() as events:
            self._ledger.catch_up()
            leaving = for_a_summary(self._ledger.history(self._aim()), kept)
            return self._leave_out(leaving, events)

    def _leave_out(self, leaving: Leaving, events: list[Event]) -> Removal:
        for entry in leaving.entries:
            text = leaving.removal.summary if entry is leaving.entries[-1] else ""
            self._store.mark(self._id, entry.seq, absence="left out", stand_in=text)
        if leaving.entries:
            events.append(Reported(name=leaving.event, session=self.name, payload=leaving.payload))
        return leaving.removal

    def _mark(self, id: str, mark: str, *, pinned: bool | None = None, absence: Absence | None = None) -> str:
        with self._writing() as events:
            place = self._located(id)
            if not place.current:
                raise NotFoundError(
                    f"message {id!r} is on a branch this session has left",
                    remedy="`recall` and `forget` reach it; windows do not",
                )
            if place.content is None:
                raise NotFoundError(
                    f"message {id!r} was erased", remedy="nothing brings it back; add it again"
                )
            self._store.mark(self._id, place.entry.seq, pinned=pinned, absence=absence)
            events.append(MessageMarked(session=self.name, id=place.entry.id, mark=mark))
        return place.entry.id

    def _located(self, id: str) -> Located:
        place = self._store.locate(self._id, id)
        if place is None:
            raise self._unknown(id)
        return place

    def _unknown(self, id: str) -> NotFoundError:
        return NotFoundError(
            f"session `{self.name}` has no message {id!r}",
            remedy="`search` and `entries` give ids and handles",
        )

    aadd = in_thread(add)
    aextend = in_thread(extend)
    async_ = in_thread(sync)
    abuild = in_thread(build)
    abilled = in_thread(billed)
    arecall = in_thread(recall)
    asearch = in_thread(search)
    aentries = in_thread(entries)
    aexport = in_thread(export)
    amanifest = in_thread(manifest)
    astats = in_thread(stats)
    acompare = in_thread(compare)
    apin = in_thread(pin)
    aunpin = in_thread(unpin)
    aforget = in_thread(forget)
    arestore = in_thread(restore)
    aprune = in_thread(prune)
    asummarize = in_thread(summarize)


def _as_form(message: Message, form: Format) -> Message:
    """The same words as another format reads them."""
    plain: Format = "plain" if message.role == "system" else form
    read = wire.reread(message.body, plain, message.role, digest=message.digest)
    return replace(read, created_at=message.created_at, id=message.id)


def _earliest(fitted: pipeline.Fitted) -> int:
    """The first message of the window beyond the fixed ones."""
    fixed = ("system prompt", "pinned")
    return min((d.first for d in fitted.manifest.kept if d.because not in fixed), default=0)
