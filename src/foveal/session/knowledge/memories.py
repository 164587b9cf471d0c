"""Remember, edit, confirm and forget sentences about the user."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from foveal import wire
from foveal.errors import InputError, NotFoundError
from foveal.events import Event, MemoryChanged
from foveal.knowledge.bundles import remembered_text
from foveal.knowledge.memory_rules import Stated, key_of, older_forms, refusal, without_correction
from foveal.knowledge.statements import requested_kind
from foveal.knowledge.values import Memory, MemoryKind, Origin
from foveal.model import Role
from foveal.pipeline.kinds import IDENTITY
from foveal.pipeline.material.values import MEMORIES, Material
from foveal.pipeline.summarize.language import head_and_tail
from foveal.pipeline.summarize.notes import MATERIAL_END, MATERIAL_MARK
from foveal.pipeline.summarize.records import EchoDetector
from foveal.pipeline.summarize.voices import voices
from foveal.session.arguments import a_choice, a_line, a_text
from foveal.session.resources import Resources
from foveal.store import Found, MemoryRecord, Store

TOOL_HITS, PROMPT_HITS = 100, 1_000
"""How many search hits are checked for a tool or a system prompt that says the sentence. Prompts are long and
rank behind every message with a few of its words.
"""
MOST_READ = 20_000
"""Characters that are read at each end of such a message."""
_WORD = re.compile(r"\w+")
_ID = re.compile(r"memory-([0-9]{1,18})")
FRAMING = 8
"""Tokens that providers count for a message besides its text, at most."""
WORKSPACES = 8
"""Workspaces whose documents are remembered."""


class ShownDocs:
    """The project documents that windows show, by workspace: no memory repeats them."""

    def __init__(self, _resources: Resources) -> None:
        self._docs: dict[str, str] = {}

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(self._docs.values())

    def show(self, workspace: str, text: str) -> None:
        self._docs.pop(workspace, None)
        self._docs[workspace] = text
        while len(self._docs) > WORKSPACES:
            self._docs.pop(next(iter(self._docs)), None)


def remember(resources: Resources, text: str, *, kind: MemoryKind | None, by: Origin) -> Memory:
    """Store a sentence about the user as a memory."""
    sentence = _checked(text, by)
    kind = requested_kind(sentence) if kind is None else kind
    a_choice(kind, MemoryKind, "kind")
    a_choice(by, Origin, "by")
    if is_in_prompt(resources.store, sentence, resources.part(ShownDocs).texts):
        raise InputError(
            "`text` repeats what a system prompt or a project document already says",
            remedy="do nothing: windows already show it",
            field="text",
        )
    now = time.time()
    record = MemoryRecord(
        key=key_of(sentence),
        kind=kind,
        text=sentence,
        origin=by,
        confirmed=by == "user",
        explicit=True,
        created_at=now,
        updated_at=now,
    )
    with resources.store.transaction():
        kept = keep(resources.store, record)
        assert kept is not None, "an explicit memory is always stored"
        events = _changed(kept, "kept", resources.store) if kept.updated_at == now else []
    resources.bus.emit(events)
    return memory_of(kept)


def edit(resources: Resources, id: str, text: str) -> Memory:
    """Replace the words of a memory; the new ones are the user's own."""
    sentence = _checked(text, "user")
    with resources.store.transaction():
        known = _known(resources.store, id)
        changed = replace(
            known,
            key=key_of(sentence),
            text=sentence,
            origin="user",
            confirmed=True,
            explicit=True,
            updated_at=time.time(),
        )
        kept = resources.store.knowledge.save_memory(changed)
        if kept is None:
            raise InputError(
                "`text` has the same words as another memory",
                remedy=f"delete one of the two: `{id}` or the other",
                field="text",
            )
        events = _changed(kept, "edited", resources.store)
    resources.bus.emit(events)
    return memory_of(kept)


def confirm(resources: Resources, id: str) -> Memory:
    """Record that the user confirms a memory; it replaces older confirmed forms of it."""
    with resources.store.transaction():
        known = _known(resources.store, id)
        others = [e for e in resources.store.knowledge.memories() if e.confirmed and e.number != known.number]
        replaced = [] if known.confirmed else older_forms(known.text, [each.text for each in others])
        for index in replaced:
            resources.store.knowledge.forget_memory(others[index].number, now=time.time())
        kept = resources.store.knowledge.save_memory(replace(known, confirmed=True, updated_at=time.time()))
        assert kept is not None, "it was read in this transaction"
        events = _changed(kept, "confirmed", resources.store)
    resources.bus.emit(events)
    return memory_of(kept)


def forget(resources: Resources, id: str) -> None:
    """Delete a memory; earlier messages do not create it again."""
    with resources.store.transaction():
        known = _known(resources.store, id)
        resources.store.knowledge.forget_memory(known.number, now=time.time())
        events = _changed(known, "deleted", resources.store)
    resources.bus.emit(events)


def keep(
    store: Store, record: MemoryRecord, *, session: int | None = None, digest: str = ""
) -> MemoryRecord | None:
    """Store a memory in place of the older forms of it.

    A model's words never replace what a user said or confirmed, and an old message never replaces newer
    words. Returns None if it is not stored.
    """
    known = store.knowledge.memories()
    equal = next((each for each in known if each.key == record.key), None)
    if equal is not None:
        if record.confirmed and not equal.confirmed:
            record = replace(record, number=equal.number)
        return store.knowledge.save_memory(record, session=session, digest=digest)
    old = [each for each in known if each.confirmed <= record.confirmed]
    replaced = [old[index] for index in older_forms(record.text, [each.text for each in old])]
    if session is not None and any(each.updated_at > record.updated_at for each in replaced):
        return None
    if replaced:
        record = replace(record, number=replaced[0].number)
    for each in replaced[1:]:
        store.knowledge.forget_memory(each.number, now=record.updated_at)
    return store.knowledge.save_memory(record, session=session, digest=digest)


def remembered(
    records: Sequence[MemoryRecord], session: str, *, most: int, count: Callable[[str], int]
) -> tuple[Material, ...]:
    """What the user asked to remember or said in other sessions, as one piece of at most so many tokens.

    What was only said in the session itself is left out: its messages have it.
    """
    memories = [memory_of(each) for each in records if each.explicit or each.session != session]
    frame = count(f"{MATERIAL_MARK}\n## [{MEMORIES}]\n{MATERIAL_END}\n") + FRAMING
    text = remembered_text(memories, most - frame, count)
    if not text:
        return ()
    return (
        Material(
            type=MEMORIES, text=text, tokens=count(text), kind="rag_memory_commit", layer=IDENTITY, weight=1.0
        ),
    )


def is_in_prompt(store: Store, text: str, prompt_files: Sequence[str] = ()) -> bool:
    """Whether a system prompt of any session or a prompt file already says it."""
    prompts = [hit for hit in store.search(text, limit=PROMPT_HITS) if hit.role == "system"]
    return Stated((*_passages(prompts, "system"), *prompt_files))(text)


def is_from_tool(store: Store, text: str, session: int) -> bool:
    """Whether the words come from a tool or a file of the session, even if a user or a model repeats them."""
    heard = EchoDetector()
    outputs = _passages(store.search(text, session=session, limit=TOOL_HITS), "tool")
    for each in outputs:
        heard.add(head_and_tail(each, MOST_READ))
    return heard(text) or any(spaced_words(text) in spaced_words(each) for each in outputs)


def spaced_words(text: str) -> str:
    """The words of a text between single spaces: if one text contains another's words, so do the strings."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _passages(hits: Sequence[Found], role: Role) -> list[str]:
    """What one role says in these messages."""
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
    sentence = without_correction(" ".join(a_line(text, "text").split()))
    if why := refusal(sentence, by):
        raise InputError(
            f"`text` is no memory: {why}",
            remedy="pass `text` as a sentence that says something about the user",
            field="text",
        )
    return sentence


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
