"""What a window may want to know in → bundles, as they are stored while nothing changed, else compiled.

Nothing that was forgotten meanwhile is served: what was compiled then is thrown away and compiled again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from foveal import wire
from foveal.knowledge.bundles import FORMAT, TELLINGS, Room, memories_text, thing_text
from foveal.knowledge.importance import thing_id, thing_of
from foveal.knowledge.values import Bundle, BundleKind, Depth, Memory, Thing
from foveal.pipeline.summarize.values import Passage
from foveal.pipeline.summarize.voices import voices
from foveal.session.knowledge.memories import memory_of
from foveal.store import BundleRecord, MentioningMessage, Store, ThingRecord

ATTEMPTS = 3
"""How often bundles are compiled anew because something was forgotten while they were."""
Want = tuple[BundleKind, str]
"""A kind and a subject: a thing's id, nothing for what the user said of themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A bundle, and whether it was there."""

    bundle: Bundle
    compiled: bool
    """It was made now: there was none, or a stale one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """All that is known at one moment."""

    memories: tuple[Memory, ...]
    things: dict[str, Thing]
    """By id."""
    records: dict[str, ThingRecord]

    def version(self, want: Want) -> str | None:
        """Of what a bundle is made from; None: there is no such thing."""
        kind, subject = want
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
    choose: Callable[[Known], Sequence[Want]],
    *,
    depth: Depth,
    count: Callable[[str], int],
    now: float,
) -> tuple[Served, ...]:
    """The bundles that are chosen of what is known, in their order, without empty ones."""
    for _ in range(ATTEMPTS):
        with store.transaction(write=False):
            as_of = store.knowledge.forget_count()
            known = all_known(store, now)
            wanted = dict.fromkeys(choose(known))
            stored = _stored(store, known, list(wanted), depth)
        stale = [want for want in wanted if _is_stale(known.version(want), stored.get(want))]
        room = Room(depth=depth, count=count)
        made = {want: _compiled(store, known, want, room=room, now=now) for want in stale}
        if not made or store.knowledge.save_bundles(list(made.values()), as_of=as_of):
            found = stored | made
            return tuple(
                Served(bundle=bundle_of(found[want]), compiled=want in made)
                for want in wanted
                if want in found and found[want].text and known.version(want)
            )
    return ()


def _stored(store: Store, known: Known, wanted: Sequence[Want], depth: Depth) -> dict[Want, BundleRecord]:
    """What is there. A deep one serves as well while it is current: it was made because much is wanted."""
    there = {_want(each): each for each in store.knowledge.bundles(wanted, depth)}
    deep = {_want(each): each for each in store.knowledge.bundles(wanted, "deep")}
    return there | {want: each for want, each in deep.items() if not _is_stale(known.version(want), each)}


def _want(record: BundleRecord) -> Want:
    return cast("BundleKind", record.kind), record.subject


def _is_stale(version: str | None, stored: BundleRecord | None) -> bool:
    return version is not None and (stored is None or stored.version != version)


def _compiled(store: Store, known: Known, want: Want, *, room: Room, now: float) -> BundleRecord:
    kind, subject = want
    if kind in ("topic", "entity"):
        thing = known.things[subject]
        told = store.knowledge.messages_mentioning(known.records[subject].number, limit=TELLINGS[room.depth])
        text = thing_text(thing, list(_passages(told)), room) if told else ""
    else:
        text = memories_text(known.memories, kind, room)
    return BundleRecord(
        kind=kind,
        subject=subject,
        depth=room.depth,
        text=text,
        tokens=room.count(text) if text else 0,
        version=known.version(want) or "",
        compiled_at=now,
    )


def _passages(told: Iterable[MentioningMessage]) -> Iterable[Passage]:
    for place, each in enumerate(told):
        message = wire.reread(each.body, each.format, each.role, digest=each.digest)
        yield from voices(replace(message, kind=each.kind), place)


def bundle_of(record: BundleRecord) -> Bundle:
    return Bundle(
        kind=cast("BundleKind", record.kind),
        subject=record.subject,
        depth=cast("Depth", record.depth),
        text=record.text,
        tokens=record.tokens,
        version=record.version,
        compiled_at=record.compiled_at,
    )
