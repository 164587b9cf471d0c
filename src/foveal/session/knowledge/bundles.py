"""Provide bundles for a window: stored ones while they are current, otherwise newly compiled ones.

If something is forgotten while bundles are compiled, they are discarded and compiled again, so that no window
shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from foveal import wire
from foveal.knowledge.bundles import FORMAT, MESSAGES_READ, Room, memories_text, thing_text
from foveal.knowledge.importance import thing_id, thing_of
from foveal.knowledge.values import BundleKind, Depth, Memory, Served, Thing
from foveal.pipeline.summarize.values import Passage
from foveal.pipeline.summarize.voices import voices
from foveal.session.knowledge.memories import memory_of
from foveal.store import BundleRecord, MentioningMessage, Store, ThingRecord

ATTEMPTS = 3
"""How often bundles are compiled because something was forgotten in between."""
BundleKey = tuple[BundleKind, str]
"""A kind and a subject: a thing's id, or empty for what the user said about themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Everything known at one moment."""

    memories: tuple[Memory, ...]
    things: dict[str, Thing]
    """By id."""
    records: dict[str, ThingRecord]

    def version(self, key: BundleKey) -> str | None:
        """The version of a bundle's sources; None if there is no such thing."""
        kind, subject = key
        if kind in ("topic", "entity"):
            record = self.records.get(subject)
            return f"{FORMAT}.{record.version}" if record and record.kind == kind else None
        last = max((each.updated_at for each in self.memories), default=0.0)
        return f"{FORMAT}.{len(self.memories)}.{last!r}"


def all_known(store: Store, now: float) -> Known:
    records = {thing_id(each.number): each for each in store.knowledge.things()}
    return Known(
        memories=tuple(map(memory_of, store.knowledge.memories())),
        things={id: thing_of(record, now=now) for id, record in records.items()},
        records=records,
    )


def bundles(
    store: Store,
    choose: Callable[[Known], Sequence[BundleKey]],
    *,
    depth: Depth,
    count: Callable[[str], int],
    now: float,
) -> tuple[Served, ...]:
    """The bundles that `choose` picks from what is known, in its order, without empty ones."""
    for _ in range(ATTEMPTS):
        with store.transaction(write=False):
            as_of = store.knowledge.forget_count()
            known = all_known(store, now)
            keys = dict.fromkeys(choose(known))
            stored = _stored(store, known, list(keys), depth)
        stale = [key for key in keys if _is_stale(known.version(key), stored.get(key))]
        room = Room(depth=depth, count=count)
        made = {key: _compile(store, known, key, room=room, now=now) for key in stale}
        if not made or store.knowledge.save_bundles(list(made.values()), as_of=as_of):
            found = stored | made
            return tuple(
                Served(kind=key[0], subject=key[1], text=found[key].text, compiled=key in made)
                for key in keys
                if key in found and found[key].text and known.version(key)
            )
    return ()


def _stored(
    store: Store, known: Known, keys: Sequence[BundleKey], depth: Depth
) -> dict[BundleKey, BundleRecord]:
    """Stored bundles. A current deep one is preferred: it was compiled because more is needed."""
    stored = {_key(each): each for each in store.knowledge.bundles(keys, depth)}
    deep = {_key(each): each for each in store.knowledge.bundles(keys, "deep")}
    return stored | {key: each for key, each in deep.items() if not _is_stale(known.version(key), each)}


def _key(record: BundleRecord) -> BundleKey:
    return cast("BundleKind", record.kind), record.subject


def _is_stale(version: str | None, stored: BundleRecord | None) -> bool:
    return version is not None and (stored is None or stored.version != version)


def _compile(store: Store, known: Known, key: BundleKey, *, room: Room, now: float) -> BundleRecord:
    kind, subject = key
    if kind in ("topic", "entity"):
        thing = known.things[subject]
        messages = store.knowledge.messages_mentioning(
            known.records[subject].number, limit=MESSAGES_READ[room.depth]
        )
        text = thing_text(thing, list(_passages(messages)), room) if messages else ""
    else:
        text = memories_text(known.memories, kind, room)
    return BundleRecord(
        kind=kind,
        subject=subject,
        depth=room.depth,
        text=text,
        tokens=room.count(text) if text else 0,
        version=known.version(key) or "",
        compiled_at=now,
    )


def _passages(messages: Iterable[MentioningMessage]) -> Iterable[Passage]:
    for number, each in enumerate(messages):
        message = wire.reread(each.body, each.format, each.role, digest=each.digest)
        yield from voices(replace(message, kind=each.kind), number)
