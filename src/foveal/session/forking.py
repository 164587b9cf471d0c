"""A session and the name of another in → the other, which begins as the first.

What was erased is not in it. Notes do not go along, so what they cover is shown again.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace

from foveal.errors import InputError
from foveal.events import MessagesAdded
from foveal.model import Entry, Message
from foveal.session.core import Core
from foveal.session.drafts import drafted
from foveal.session.target import Target
from foveal.store import Draft, SessionRecord


def fork(source: Core, name: str, messages: int | None) -> SessionRecord:
    """Make the session, whole or not at all."""
    store = source.store
    with store.together():
        if store.named(name) is not None:
            raise InputError(f"`name`: there is a session {name!r} already", remedy="give it another name")
        with source.reading():
            head = source.ledger.head
            entries = source.ledger.entries[:messages]
            said = source.ledger.read_unerased(entries)
        record = store.session(name, now=time.time(), model=head.model, preset=head.preset)
        core = Core(source.desk, record)
        with core.writing() as events:
            aim = core.aim(format=head.format)
            pairs = zip(entries, said, strict=True)
            drafts = [_draft(entry, message, aim) for entry, message in pairs if message]
            stored = store.append(core.id, drafts, counter=aim.history_key) if drafts else ()
            if stored:
                ids = tuple(entry.id for entry in stored)
                tokens = sum(draft.tokens for draft in drafts)
                events.append(MessagesAdded(session=name, ids=ids, tokens=tokens))
            core.ledger.reset()
    return record


def _draft(entry: Entry, message: Message, aim: Target) -> Draft:
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
    return replace(drafted(marked, aim, beside=entry.beside), absence=absence)
