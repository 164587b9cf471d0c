"""Messages in → stored at the session's end, or on a fork where a client's history differs; their ids out.

Messages in → what the store is asked to keep of them; a client's history in → what of it is new.

A session and the name of another in → the other, which begins as the first.

What was erased is not in it. Notes do not go along, so what they cover is shown again.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from foveal import wire
from foveal.errors import InputError
from foveal.events import Event, HistoryForked, MessagesAdded
from foveal.model import Conversation, Entry, Format, Message, Role
from foveal.pipeline.turns import links
from foveal.session.state import SessionState
from foveal.session.target import Target
from foveal.store import Draft, SessionRecord


def drafted(message: Message, target: Target, *, beside: bool = False) -> Draft:
    """A message with what the shell found out about it."""
    link = links(message)
    return Draft(
        message=message,
        tokens=target.meter.message(message),
        calls=link.calls,
        answers=link.answers,
        created_at=message.created_at if message.created_at is not None else time.time(),
        beside=beside,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """Where a client's history and the stored one part."""

    known: int
    """Messages of the client's that are stored."""
    fork: int | None
    """The first stored position that the client's history does not have; None when it only goes on."""


def parting(stored: Sequence[Entry], given: Sequence[Message]) -> Parting:
    """Walk both histories; what the owner added beside is no part of the client's and is passed over."""
    at = known = 0
    for message in given:
        place = at
        while place < len(stored) and stored[place].beside and stored[place].digest != message.digest:
            place += 1
        if place == len(stored) or stored[place].digest != message.digest:
            break
        at, known = place + 1, known + 1
    fork = next((seq for seq in range(at, len(stored)) if not stored[seq].beside), None)
    return Parting(known=known, fork=fork)


def carried(drafts: Sequence[Draft], left: Sequence[Entry]) -> Iterator[Draft]:
    """Drafts for a fork: what was on the branch it leaves keeps its id and its marks."""
    known: dict[str, deque[Entry]] = defaultdict(deque)
    for entry in left:
        known[entry.digest].append(entry)
    for draft in drafts:
        before = known[draft.message.digest].popleft() if known.get(draft.message.digest) else None
        if before is None:
            yield draft
            continue
        message = replace(
            draft.message,
            pinned=before.pinned,
            important=before.important,
            kind=before.kind,
            level=before.level,
            priority=before.priority,
        )
        yield replace(draft, message=message, id=before.id, absence=before.absence)


def extend(state: SessionState, messages: Any, format: Format | None) -> tuple[str, ...]:
    with state.writing() as events:
        return append_drafts(state, _loaded(state, messages, format).messages, events)


def sync(state: SessionState, history: Any, format: Format | None) -> tuple[str, ...]:
    with state.writing() as events:
        messages = _loaded(state, history, format).messages
        part = parting(state.log.entries, messages)
        if part.fork is None:
            return append_drafts(state, messages[part.known :], events)
        return _fork(state, messages[part.known :], part.fork, events)


def add(state: SessionState, message: Message) -> str:
    """Store a message of the session's own."""
    with state.writing() as events:
        (id,) = append_drafts(state, [message], events, beside=True)
    return id


def worded(
    role: Role, text: str, *, name: str, timestamp: float | None, metadata: Mapping[str, object] | None
) -> Message:
    """A plain message with what was said of it."""
    given = {"name": name or None, "timestamp": timestamp, "metadata": metadata}
    said = {key: value for key, value in given.items() if value is not None}
    return wire.message_of({"role": role, "content": text, **said}, "plain", where="add")


def append_drafts(
    state: SessionState, messages: Sequence[Message], events: list[Event], *, beside: bool = False
) -> tuple[str, ...]:
    if not messages:
        return ()
    target = state.target(format=_form(state, messages))
    drafts = [drafted(message, target, beside=beside) for message in messages]
    entries = state.store.append(state.id, drafts, counter=target.history_key)
    state.log.appended(entries, messages)
    ids = tuple(entry.id for entry in entries)
    tokens = sum(draft.tokens for draft in drafts)
    events.append(MessagesAdded(session=state.name, ids=ids, tokens=tokens))
    state.resources.worker.wake()
    return ids


def _loaded(state: SessionState, messages: Any, format: Format | None) -> Conversation:
    read = isinstance(messages, Conversation)
    given: Conversation = messages if read else wire.load(messages, format=format, model=state.model)
    if given.model and not state.model:
        state.store.session(state.name, now=time.time(), model=given.model)
        state.log.catch_up()
    if not given.guessed or read:
        return given
    # Other providers' messages look the same: read them as the session's, or leave that open.
    form = "plain" if state.format == "gemini" else state.format
    return replace(given, messages=tuple(_as_form(m, form) for m in given.messages))


def _as_form(message: Message, form: Format) -> Message:
    """The same words as another format reads them."""
    plain: Format = "plain" if message.role == "system" else form
    read = wire.reread(message.body, plain, message.role, digest=message.digest)
    return replace(read, created_at=message.created_at, id=message.id)


def _fork(state: SessionState, messages: Sequence[Message], at: int, events: list[Event]) -> tuple[str, ...]:
    """Go on from `at` with other messages; what was added beside goes along, in its order, first."""
    left = _uncovered(state, at)
    kept = [entry for entry in left if entry.beside and entry.absence != "erased"]
    own = [message for entry in kept for message in state.log.read(entry.seq, entry.seq + 1)]
    target = state.target(format=_form(state, messages))
    drafts = [
        *(drafted(message, target, beside=True) for message in own),
        *(drafted(message, target) for message in messages),
    ]
    entries = state.store.append(state.id, list(carried(drafts, left)), counter=target.history_key, at=at)
    state.log.reset()
    new = tuple(entry.id for entry in entries if entry.id not in {before.id for before in left})
    replaced = len(left) - len(entries) + len(new)
    events.append(HistoryForked(session=state.name, shared=at, replaced=replaced))
    if new:
        tokens = sum(entry.tokens for entry in entries if entry.id in new)
        events.append(MessagesAdded(session=state.name, ids=new, tokens=tokens))
    return new


def _uncovered(state: SessionState, at: int) -> list[Entry]:
    """What a fork leaves behind. Its notes do not go along, so what they covered is shown again."""
    entries = state.log.entries
    shown = {entry.seq for entry in entries if entry.noted_by is not None and entry.noted_by >= at}
    for seq in sorted(seq for seq in shown if seq < at):
        state.store.mark(state.id, seq, absence="")
    return [replace(entry, absence="") if entry.seq in shown else entry for entry in entries[at:]]


def _form(state: SessionState, messages: Sequence[Message]) -> Format:
    told = next((m.format for m in messages if m.format != "plain"), state.format)
    return state.log.head.format or told


def fork(source: SessionState, name: str, messages: int | None) -> SessionRecord:
    """Make the session, whole or not at all."""
    store = source.store
    with store.together():
        if store.named(name) is not None:
            raise InputError(
                f"`name`: there is a session {name!r} already", remedy="give it another name", field="name"
            )
        with source.reading():
            head = source.log.head
            entries = source.log.entries[:messages]
            said = source.log.read_unerased(entries)
        record = store.session(name, now=time.time(), model=head.model, preset=head.preset)
        state = SessionState(source.resources, record)
        with state.writing() as events:
            target = state.target(format=head.format)
            pairs = zip(entries, said, strict=True)
            drafts = [_draft(entry, message, target) for entry, message in pairs if message]
            stored = store.append(state.id, drafts, counter=target.history_key) if drafts else ()
            if stored:
                ids = tuple(entry.id for entry in stored)
                tokens = sum(draft.tokens for draft in drafts)
                events.append(MessagesAdded(session=name, ids=ids, tokens=tokens))
            state.log.reset()
    return record


def _draft(entry: Entry, message: Message, target: Target) -> Draft:
    """The message with everything that was said of it."""
    marked = replace(
        message,
        id="",
        created_at=entry.created_at,
        kind=entry.kind,
        level=entry.level,
        priority=entry.priority,
        pinned=entry.pinned,
        important=entry.important,
        metadata=json.loads(entry.metadata) if entry.metadata else {},
    )
    absence = "" if entry.noted_by is not None or entry.stand_in else entry.absence
    return replace(drafted(marked, target, beside=entry.beside), absence=absence)
