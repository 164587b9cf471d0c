"""One conversation that remembers everything: add to it, build windows of it, look anything up again.

The shell around the pipeline: it reads the clock and the store, hands plain values to pure stages and
writes down what happened. What is in memory is derived from the store and caught up before each use, so
several processes may share a session.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import Any

from foveal import presets, wire
from foveal.errors import NotFoundError
from foveal.events import (
    Bus,
    Event,
    HistoryForked,
    HistoryRepaired,
    MessageMarked,
    MessagesAdded,
    Warned,
    WindowBuilt,
)
from foveal.model import (
    Absence,
    Conversation,
    Format,
    Kind,
    Level,
    Manifest,
    Message,
    Role,
    Window,
    handle_of,
)
from foveal.pipeline import fit as pipeline
from foveal.pipeline.count import SCALED
from foveal.pipeline.estimate import RECENT, calibration
from foveal.session.drafts import common, drafted, telling
from foveal.session.ledger import Ledger
from foveal.session.offload import in_thread
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
from foveal.session.views import Hit, Stats, summary
from foveal.store import BuildRecord, SessionRecord, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every session of one `Foveal` shares."""

    store: Store
    bus: Bus
    catalogue: Path | None = None
    counter: str | None = None


class Session:
    """One stored conversation. Made by `Foveal.session`."""

    def __init__(self, desk: Desk, record: SessionRecord) -> None:
        self._desk = desk
        self._record = record
        self._ledger = Ledger(desk.store, record.id)
        self._format: Format | None = record.format
        self._aims: dict[tuple[str, Format, str | Count | None], Target] = {}
        self._repaired: set[tuple[int, str]] = set()
        self._lock = RLock()

    @property
    def name(self) -> str:
        return self._record.name

    @property
    def model(self) -> str:
        return self._record.model

    @property
    def format(self) -> Format:
        """The provider format its windows come in: that of the first messages that had one."""
        return self._format or "plain"

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
        """Store one message of text and return its id."""
        message = replace(
            wire.text_message(role, text, name=name),
            pinned=pinned,
            important=important,
            kind=kind,
            level=level,
            metadata=metadata or {},
            created_at=timestamp,
        )
        return self._append([message])[0]

    def extend(self, messages: Any, *, format: Format | None = None) -> tuple[str, ...]:
        """Store messages at the end, in any provider's format, and return their ids."""
        return self._append(self._loaded(messages, format).messages)

    def sync(self, history: Any, *, format: Format | None = None) -> tuple[str, ...]:
        """Store what is new in a client's whole history and return the new ids.

        The stored prefix is recognised by content. Where the history differs from what is stored, the
        session goes on as a fork that shares the prefix; the old branch stays in the store.
        """
        with self._lock:
            messages = self._loaded(history, format).messages
            self._ledger.catch_up()
            stored = self._ledger.entries
            shared = common([e.digest for e in stored], [m.digest for m in messages])
            if shared == len(stored):
                return self._append(messages[shared:])
            ids = self._append(messages[shared:], at=shared)
            self._tell([HistoryForked(session=self.name, shared=shared, replaced=len(stored) - shared)])
            return ids

    def _loaded(self, messages: Any, format: Format | None) -> Conversation:
        read = isinstance(messages, Conversation)
        given: Conversation = messages if read else wire.load(messages, format=format, model=self.model)
        if given.model and not self.model:
            self._record = self._desk.store.session(self.name, now=time.time(), model=given.model)
        if format is None and given.format == "openai" and not any(map(telling, given.messages)):
            # Every provider's messages may look like this; the session's format is still open.
            return replace(given, messages=tuple(replace(m, format="plain") for m in given.messages))
        return given

    def _append(self, messages: Sequence[Message], *, at: int | None = None) -> tuple[str, ...]:
        if not messages and at is None:
            return ()
        with self._lock:
            self._format = self._format or next((m.format for m in messages if m.format != "plain"), None)
            aim = self._aim()
            drafts = [drafted(message, aim) for message in messages]
            self._ledger.catch_up()
            entries = self._desk.store.append(self._record.id, drafts, counter=aim.counter_key, at=at)
            self._ledger.appended(entries, messages)
        ids = tuple(entry.id for entry in entries)
        added = MessagesAdded(session=self.name, ids=ids, tokens=sum(draft.tokens for draft in drafts))
        self._tell([added] if ids else [])
        return ids

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
        with self._lock:
            self._ledger.catch_up()
            aim = self._aim(model, format, counter)
            warn(aim.warnings)
            history = self._ledger.history(aim, self.format)
            tools_json = tools_text(tools)
            order = aim.order(
                presets.find(preset or self._record.preset),
                budget=aim.budget(None) if budget is None else budget,
                tools=tools_json,
                task=task,
                now=moment,
                system=system_messages(system),
            )
            fitted = pipeline.fit(history, order)
            history.release(history.turn_of(_earliest(fitted)))
            number = self._save(fitted.manifest, aim, moment)
        self._report(fitted.manifest, number)
        given = Conversation(format=aim.format, messages=(), tools=tools_json)
        return aim.window(fitted, given, fetch=self.recall)

    def _aim(
        self, model: str = "", format: Format | None = None, counter: str | Count | None = None
    ) -> Target:
        key = (model or self.model, format or self.format, counter or self._desk.counter)
        if key not in self._aims:
            name, form, by = key
            self._aims[key] = target(
                name, form, counter=by, catalogue=self._desk.catalogue, learned=self._learned
            )
        return self._aims[key]

    def _learned(self, model: str, tokenizer: str) -> float:
        return calibration(self._desk.store.bills(model, tokenizer, limit=RECENT))

    def billed(self, input_tokens: int, *, build: int | None = None) -> None:
        """Tell what the provider billed for a build's input; later estimates for that model learn from it."""
        record = self._built(build)
        name, _, factor = read_manifest(record).counter.partition(SCALED)
        counted = round(record.tokens / float(factor or 1))
        self._desk.store.save_bill(record.model, name, counted=counted, billed=input_tokens)
        with self._lock:
            self._aims.clear()

    def _save(self, manifest: Manifest, aim: Target, moment: float) -> int:
        record = BuildRecord(
            number=0,
            created_at=moment,
            preset=manifest.preset,
            model=aim.card.id,
            budget=manifest.budget,
            tokens=manifest.tokens,
            manifest=write_manifest(manifest),
        )
        return self._desk.store.save_build(self._record.id, record)

    def _report(self, manifest: Manifest, number: int) -> None:
        new = tuple(r for r in manifest.repairs if (r.seq, r.rule) not in self._repaired)
        self._repaired |= {(r.seq, r.rule) for r in new}
        events: list[Event] = [Warned(session=self.name, text=text) for text in manifest.warnings]
        if new:
            events.append(HistoryRepaired(session=self.name, repairs=new))
        built = WindowBuilt(
            session=self.name,
            build=number,
            preset=manifest.preset,
            tokens=manifest.tokens,
            budget=manifest.budget,
            left_out=sum(d.last - d.first + 1 for d in manifest.left_out),
        )
        self._tell([*events, built])

    # Looking back

    def recall(self, handle: str) -> Any:
        """The original behind a handle or an id, exactly as it came in."""
        found = self._desk.store.by_handle(handle) if handle.startswith("fv-") else None
        if found is None:
            with self._lock:
                self._ledger.catch_up()
                entry = self._ledger.entry(handle)
                (found,) = self._desk.store.messages(self._record.id, start=entry.seq, stop=entry.seq + 1)
        if found is None:
            raise NotFoundError(
                f"message {handle!r} was erased", remedy="nothing brings it back; add it again"
            )
        return json.loads(found.body)

    def search(self, query: str, *, limit: int = 10, everywhere: bool = False) -> tuple[Hit, ...]:
        """Stored messages that hold the words, best first; `everywhere`: in all of the tenant's sessions."""
        found = self._desk.store.search(query, session=None if everywhere else self._record.id, limit=limit)
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

    def export(self) -> list[Any]:
        """The whole history, each message as it came in; erased ones are not in it."""
        contents = self._desk.store.messages(self._record.id)
        return [json.loads(content.body) for content in contents if content]

    def manifest(self, build: int | None = None) -> Manifest:
        """The manifest of a build, the newest when no number is given."""
        return read_manifest(self._built(build))

    def _built(self, number: int | None) -> BuildRecord:
        record = self._desk.store.build(self._record.id, number)
        if record is None:
            wanted = "no build yet" if number is None else f"no build {number}"
            raise NotFoundError(f"session `{self.name}` has {wanted}", remedy="run `foveal build` first")
        return record

    def stats(self) -> Stats:
        """The session in numbers."""
        with self._lock:
            self._ledger.catch_up()
            aim = self._aim()
            history = self._ledger.history(aim, self.format)
        newest = self._desk.store.build(self._record.id)
        return summary(history, self._record, newest, format=self.format, aim=aim)

    # Marking

    def pin(self, id: str) -> None:
        """Keep a message in every window, at full."""
        self._mark(id, "pinned", pinned=True)

    def unpin(self, id: str) -> None:
        self._mark(id, "unpinned", pinned=False)

    def forget(self, id: str, *, erase: bool = True) -> None:
        """Erase a message for good; with `erase=False` only leave it out of windows until `restore`."""
        if not erase:
            self._mark(id, "left out", absence="left out")
            return
        with self._lock:
            self._ledger.catch_up()
            self._desk.store.erase(self._record.id, self._ledger.entry(id).seq)
        self._tell([MessageMarked(session=self.name, id=id, mark="erased")])

    def restore(self, id: str) -> None:
        """Let a message that was left out be in windows again."""
        self._mark(id, "restored", absence="")

    def _mark(
        self, id: str, mark: str, *, pinned: bool | None = None, absence: Absence | None = None
    ) -> None:
        with self._lock:
            self._ledger.catch_up()
            seq = self._ledger.entry(id).seq
            self._desk.store.mark(self._record.id, seq, pinned=pinned, absence=absence)
        self._tell([MessageMarked(session=self.name, id=id, mark=mark)])

    def _tell(self, events: Sequence[Event]) -> None:
        if events:
            self._desk.store.log(self.name, events, now=time.time())
            self._desk.bus.emit(events)

    aadd = in_thread(add)
    aextend = in_thread(extend)
    async_ = in_thread(sync)
    abuild = in_thread(build)
    abilled = in_thread(billed)
    arecall = in_thread(recall)
    asearch = in_thread(search)
    apin = in_thread(pin)
    aunpin = in_thread(unpin)
    aforget = in_thread(forget)
    arestore = in_thread(restore)
    astats = in_thread(stats)


def _earliest(fitted: pipeline.Fitted) -> int:
    """The first message of the window beyond the fixed ones."""
    fixed = ("system prompt", "pinned")
    return min((d.first for d in fitted.manifest.kept if d.because not in fixed), default=0)
