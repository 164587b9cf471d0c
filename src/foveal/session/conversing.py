"""A session in → the bundle that tells how it got where it is: its arc, compiled when something changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from foveal.knowledge.compile import FORMAT, Room, conversation_text
from foveal.knowledge.values import Depth
from foveal.model import Entry
from foveal.pipeline.compact.arc import RECENT
from foveal.pipeline.compact.records import Record
from foveal.pipeline.compact.voices import Said, voices
from foveal.session.bundling import ATTEMPTS, Served, bundle_of
from foveal.session.core import Core
from foveal.store import BundleRecord


def conversation_bundle(
    core: Core, *, depth: Depth = "standard", count: Callable[[str], int], now: float
) -> Served:
    """The arc of the conversation. Not to be called inside a transaction: it may keep what it compiles."""
    empty = BundleRecord(
        kind="conversation", subject=core.name, depth=depth, text="", tokens=0, version="", compiled_at=now
    )
    for _ in range(ATTEMPTS):
        with core.reading():
            as_of = core.store.knowledge.forgotten()
            head = core.ledger.head
            version = f"{FORMAT}.{head.branch}.{head.version}.{head.length}"
            stored = core.store.knowledge.bundles([("conversation", core.name)], depth)
            if stored and stored[0].version == version:
                return Served(bundle=bundle_of(stored[0]), compiled=False)
            text = conversation_text(list(_told(core)), Room(depth=depth, count=count))
        made = replace(empty, text=text, tokens=count(text) if text else 0, version=version)
        if core.store.knowledge.save_bundles([made], as_of=as_of):
            return Served(bundle=bundle_of(made), compiled=True)
    return Served(bundle=bundle_of(empty), compiled=True)


def _told(core: Core) -> Iterator[Said]:
    """Every message with its records, the first and the newest with their words: an arc quotes no others."""
    core.walker.catch_up()
    entries = [entry for entry in core.ledger.entries if entry.absence != "erased" and entry.role != "system"]
    quoted = {entry.seq for entry in (*entries[:RECENT], *entries[-RECENT:])}
    return (_said(core, entry, quoted=entry.seq in quoted) for entry in entries)


def _said(core: Core, entry: Entry, *, quoted: bool) -> Said:
    message = core.ledger.read(entry.seq, entry.seq + 1)[0] if quoted else None
    outside = core.walker.outside.get(entry.digest, ())
    return Said(
        seq=entry.seq,
        role=entry.role,
        passages=tuple(replace(each, outside=outside) for each in voices(message, entry.seq))
        if message
        else (),
        tokens=0,
        records=tuple(
            Record(kind=kind, text=text, seq=entry.seq, digest=entry.digest, role=entry.role)
            for kind, text in core.walker.records.get(entry.digest, ())
        ),
    )
