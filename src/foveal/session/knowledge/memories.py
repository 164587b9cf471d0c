"""A sentence about the user in → a memory, kept once; a memory's id in → the same edited, confirmed, gone."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from foveal import wire
from foveal.errors import InputError, NotFoundError
from foveal.events import Event, MemoryChanged
from foveal.knowledge.hygiene import Stated, junk, key_of, older_form, uncorrected
from foveal.knowledge.statements import asked_kind
from foveal.knowledge.values import Memory, MemoryKind, Origin
from foveal.model import Role
from foveal.pipeline.summarize.language import ends
from foveal.pipeline.summarize.records import Overheard
from foveal.pipeline.summarize.voices import voices
from foveal.session.arguments import a_choice, a_name, a_text
from foveal.store import Found, MemoryRecord, Store

if TYPE_CHECKING:
    from foveal.session.state import Resources

LOOKED_AT, PROMPTS_AMONG = 100, 1_000
"""Stored messages that hold the words of a sentence, among which its origin is looked for; and prompts, which
are long and stand behind everybody who said but some of it.
"""
HEARD = 20_000
"""Characters of each end of such a message in which parts of the sentence are looked for."""
_WORD = re.compile(r"\w+")
_ID = re.compile(r"memory-([0-9]{1,18})")


def remember(resources: Resources, text: str, *, kind: MemoryKind | None, by: Origin) -> Memory:
    said = _checked(text, by)
    kind = asked_kind(said) if kind is None else kind
    a_choice(kind, MemoryKind, "kind")
    a_choice(by, Origin, "by")
    if stated(resources.store, said, resources.reader.prompt_files):
        raise InputError(
            "`text` restates what a system prompt or a project's document says already",
            remedy="nothing: windows show it from there",
            field="text",
        )
    now = time.time()
    record = MemoryRecord(
        key=key_of(said),
        kind=kind,
        text=said,
        origin=by,
        confirmed=by == "user",
        told=True,
        created_at=now,
        updated_at=now,
    )
    with resources.store.together():
        kept = keep(resources.store, record)
        assert kept is not None, "what its owner tells is kept"
        events = _changed(kept, "kept", resources.store) if kept.updated_at == now else []
    resources.bus.emit(events)
    return memory_of(kept)


def edit(resources: Resources, id: str, text: str) -> Memory:
    said = _checked(text, "user")
    with resources.store.together():
        known = _known(resources.store, id)
        changed = replace(
            known,
            key=key_of(said),
            text=said,
            origin="user",
            confirmed=True,
            told=True,
            updated_at=time.time(),
        )
        kept = resources.store.knowledge.save_memory(changed)
        if kept is None:
            raise InputError(
                "`text` has the words of another memory",
                remedy=f"delete one of the two: `{id}` or the other",
                field="text",
            )
        events = _changed(kept, "edited", resources.store)
    resources.bus.emit(events)
    return memory_of(kept)


def confirm(resources: Resources, id: str) -> Memory:
    """The user says that it is so; what they said of it before gives way."""
    with resources.store.together():
        known = _known(resources.store, id)
        told = [e for e in resources.store.knowledge.memories() if e.confirmed and e.number != known.number]
        place = None if known.confirmed else older_form(known.text, [each.text for each in told])
        if place is not None:
            resources.store.knowledge.forget_memory(told[place].number, now=time.time())
        kept = resources.store.knowledge.save_memory(replace(known, confirmed=True, updated_at=time.time()))
        assert kept is not None, "it was there a moment ago, in this transaction"
        events = _changed(kept, "confirmed", resources.store)
    resources.bus.emit(events)
    return memory_of(kept)


def forget(resources: Resources, id: str) -> None:
    with resources.store.together():
        known = _known(resources.store, id)
        resources.store.knowledge.forget_memory(known.number, now=time.time())
        events = _changed(known, "deleted", resources.store)
    resources.bus.emit(events)


def keep(
    store: Store, record: MemoryRecord, *, session: int | None = None, digest: str = ""
) -> MemoryRecord | None:
    """Keep a memory, as a newer form of one that says the same where there is one.

    A model's words never replace what a user said or confirmed, nor an old message's what was said since.
    None: it is not kept.
    """
    known = store.knowledge.memories()
    equal = next((each for each in known if each.key == record.key), None)
    if equal is not None:
        if record.confirmed and not equal.confirmed:
            record = replace(record, number=equal.number)
        return store.knowledge.save_memory(record, session=session, digest=digest)
    old = [each for each in known if each.confirmed <= record.confirmed]
    place = older_form(record.text, [each.text for each in old])
    if place is not None:
        if session is not None and old[place].updated_at > record.updated_at:
            return None
        record = replace(record, number=old[place].number)
    return store.knowledge.save_memory(record, session=session, digest=digest)


def stated(store: Store, text: str, prompt_files: Sequence[str] = ()) -> bool:
    """Does a system prompt of any session say it already, or a prompt file?"""
    prompts = [hit for hit in store.search(text, limit=PROMPTS_AMONG) if hit.role == "system"]
    return Stated((*_said(prompts, "system"), *prompt_files))(text)


def brought(store: Store, text: str, session: int) -> bool:
    """Do the words come from a tool or a file of the session, though somebody else repeats them?"""
    heard = Overheard()
    told = _said(store.search(text, session=session, limit=LOOKED_AT), "tool")
    for each in told:
        heard.hear(ends(each, HEARD))
    return heard(text) or any(spaced_words(text) in spaced_words(each) for each in told)


def spaced_words(text: str) -> str:
    """The words of a text, each between spaces: one text stands in another if its words do in a row."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _said(hits: Sequence[Found], role: Role) -> list[str]:
    """What one voice says in the messages that were found."""
    messages = [wire.reread(hit.body, hit.format, hit.role, digest=hit.digest) for hit in hits]
    return [passage.text for message in messages for passage in voices(message, 0) if passage.role == role]


def memory_of(record: MemoryRecord) -> Memory:
    return Memory(
        id=f"memory-{record.number}",
        kind=cast("MemoryKind", record.kind),
        text=record.text,
        origin=cast("Origin", record.origin),
        confirmed=record.confirmed,
        session=record.session,
        created_at=record.created_at,
        updated_at=record.updated_at,
    )


def _checked(text: str, by: Origin) -> str:
    said = uncorrected(" ".join(a_name(text, "text").split()))
    if why := junk(said, by):
        raise InputError(
            f"`text` is no memory: {why}",
            remedy="give `text` as a sentence that says something of the user",
            field="text",
        )
    return said


def _known(store: Store, id: str) -> MemoryRecord:
    named = _ID.fullmatch(a_text(id, "id"))
    number = int(named[1]) if named else 0
    found = next((each for each in store.knowledge.memories() if each.number == number), None)
    if found is None:
        raise NotFoundError(
            f"there is no memory {id!r}", remedy="`profile` lists them with their ids", see="profile"
        )
    return found


def _changed(record: MemoryRecord, change: str, store: Store) -> list[Event]:
    event = MemoryChanged(session=record.session, id=f"memory-{record.number}", change=change)
    store.log(record.session, [event], now=time.time())
    return [event]
