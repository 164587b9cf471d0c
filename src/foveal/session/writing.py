"""Messages in → stored at the session's end, or on a fork where a client's history differs; their ids out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from foveal import wire
from foveal.events import Event, HistoryForked, MessagesAdded
from foveal.model import Conversation, Entry, Format, Message, Role
from foveal.session.core import Core
from foveal.session.drafts import carried, drafted, parting


def extend(core: Core, messages: Any, format: Format | None) -> tuple[str, ...]:
    with core.writing() as events:
        return append(core, _loaded(core, messages, format).messages, events)


def sync(core: Core, history: Any, format: Format | None) -> tuple[str, ...]:
    with core.writing() as events:
        messages = _loaded(core, history, format).messages
        part = parting(core.ledger.entries, messages)
        if part.fork is None:
            return append(core, messages[part.known :], events)
        return _fork(core, messages[part.known :], part.fork, events)


def add(core: Core, message: Message) -> str:
    """Store a message of the session's own."""
    with core.writing() as events:
        (id,) = append(core, [message], events, beside=True)
    return id


def worded(
    role: Role, text: str, *, name: str, timestamp: float | None, metadata: Mapping[str, object] | None
) -> Message:
    """A plain message with what was said of it."""
    given = {"name": name or None, "timestamp": timestamp, "metadata": metadata}
    said = {key: value for key, value in given.items() if value is not None}
    return wire.message_of({"role": role, "content": text, **said}, "plain", where="add")


def append(
    core: Core, messages: Sequence[Message], events: list[Event], *, beside: bool = False
) -> tuple[str, ...]:
    if not messages:
        return ()
    aim = core.aim(format=_form(core, messages))
    drafts = [drafted(message, aim, beside=beside) for message in messages]
    entries = core.store.append(core.id, drafts, counter=aim.history_key)
    core.ledger.appended(entries, messages)
    ids = tuple(entry.id for entry in entries)
    tokens = sum(draft.tokens for draft in drafts)
    events.append(MessagesAdded(session=core.name, ids=ids, tokens=tokens))
    core.desk.worker.wake()
    return ids


def _loaded(core: Core, messages: Any, format: Format | None) -> Conversation:
    read = isinstance(messages, Conversation)
    given: Conversation = messages if read else wire.load(messages, format=format, model=core.model)
    if given.model and not core.model:
        core.store.session(core.name, now=time.time(), model=given.model)
        core.ledger.catch_up()
    if not given.guessed or read:
        return given
    # Other providers' messages look the same: read them as the session's, or leave that open.
    form = "plain" if core.format == "gemini" else core.format
    return replace(given, messages=tuple(_as_form(m, form) for m in given.messages))


def _as_form(message: Message, form: Format) -> Message:
    """The same words as another format reads them."""
    plain: Format = "plain" if message.role == "system" else form
    read = wire.reread(message.body, plain, message.role, digest=message.digest)
    return replace(read, created_at=message.created_at, id=message.id)


def _fork(core: Core, messages: Sequence[Message], at: int, events: list[Event]) -> tuple[str, ...]:
    """Go on from `at` with other messages; what was added beside goes along, in its order, first."""
    left = _uncovered(core, at)
    kept = [entry for entry in left if entry.beside and entry.absence != "erased"]
    own = [message for entry in kept for message in core.ledger.read(entry.seq, entry.seq + 1)]
    aim = core.aim(format=_form(core, messages))
    drafts = [
        *(drafted(message, aim, beside=True) for message in own),
        *(drafted(message, aim) for message in messages),
    ]
    entries = core.store.append(core.id, list(carried(drafts, left)), counter=aim.history_key, at=at)
    core.ledger.reset()
    new = tuple(entry.id for entry in entries if entry.id not in {before.id for before in left})
    replaced = len(left) - len(entries) + len(new)
    events.append(HistoryForked(session=core.name, shared=at, replaced=replaced))
    if new:
        tokens = sum(entry.tokens for entry in entries if entry.id in new)
        events.append(MessagesAdded(session=core.name, ids=new, tokens=tokens))
    return new


def _uncovered(core: Core, at: int) -> list[Entry]:
    """What a fork leaves behind. Its notes do not go along, so what they covered is shown again."""
    entries = core.ledger.entries
    shown = {entry.seq for entry in entries if entry.noted_by is not None and entry.noted_by >= at}
    for seq in sorted(seq for seq in shown if seq < at):
        core.store.mark(core.id, seq, absence="")
    return [replace(entry, absence="") if entry.seq in shown else entry for entry in entries[at:]]


def _form(core: Core, messages: Sequence[Message]) -> Format:
    told = next((m.format for m in messages if m.format != "plain"), core.format)
    return core.ledger.head.format or told
