"""Drafts in, stored entries out: each content once, each message in its place."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from foveal.errors import InputError
from foveal.model import Entry
from foveal.store.port import Draft
from foveal.store.sqlite.search import index
from foveal.store.sqlite.sessions import CHAIN

_CONTENT = """
    INSERT INTO contents (tenant, digest, format, body) VALUES (?, ?, ?, ?)
    ON CONFLICT (tenant, digest) DO UPDATE SET format = excluded.format, body = excluded.body
    WHERE body IS NULL RETURNING id
"""
_ENTRY = """
    INSERT INTO entries (branch, seq, content, digest, format, id, role, calls, answers, tokens, counter,
                         kind, level, priority, pinned, important, absence, beside, author, created_at,
                         metadata, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
COUNT = "INSERT OR REPLACE INTO counts (tenant, counter, digest, tokens) VALUES (?, ?, ?, ?)"
_TAKEN = f"""
    WITH RECURSIVE {CHAIN.format(sessions="id = :session")}
    SELECT EXISTS (
        SELECT 1 FROM chain JOIN entries ON entries.branch = chain.branch
        WHERE entries.id = :id AND entries.seq < chain.stop
    )
"""  # noqa: S608 — a constant
_MINT = "UPDATE sessions SET minted = minted + ? WHERE id = ? RETURNING minted"
_PLACE = """
    INSERT INTO contents (tenant, digest, format) VALUES (?1, ?2, ?3)
    ON CONFLICT (tenant, digest) DO UPDATE SET digest = excluded.digest RETURNING id
"""
_OURS = re.compile(r"m[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where drafts go."""

    tenant: int
    session: int
    branch: int
    counter: str


def check(drafts: Sequence[Draft]) -> None:
    for number, draft in enumerate(drafts):
        if not draft.message.body or not draft.message.digest:
            raise InputError(
                f"draft {number} has no original: its `body` or `digest` is empty",
                remedy="store messages as `foveal.wire` read them, before anything changes them",
            )


def store(db: apsw.Connection, target: Target, drafts: Sequence[Draft], *, start: int) -> list[Entry]:
    if not drafts:
        return []
    minted: int = db.execute(_MINT, (len(drafts), target.session)).get
    fresh = minted - len(drafts) + 1
    return [
        _store(db, target, draft, seq=start + number, fresh=f"m{fresh + number}")
        for number, draft in enumerate(drafts)
    ]


def _store(db: apsw.Connection, target: Target, draft: Draft, *, seq: int, fresh: str) -> Entry:
    message = draft.message
    content, body = _content(db, target.tenant, draft)
    id = draft.id or _own_id(db, target, message.id) or fresh
    created_at = draft.created_at if message.created_at is None else message.created_at
    metadata = json.dumps(dict(message.metadata)) if message.metadata else ""
    row = (
        *(target.branch, seq, content, message.digest, message.format, id, message.role),
        *(_packed(draft.calls), _packed(draft.answers)),
        *(draft.tokens, target.counter, message.kind, message.level, message.priority),
        *(message.pinned, message.important, draft.absence, draft.beside),
        *(storable(message.author), created_at),
        *(metadata, body),
    )
    db.execute(_ENTRY, row)
    if target.counter:
        db.execute(COUNT, (target.tenant, target.counter, message.digest, draft.tokens))
    return Entry(
        seq=seq,
        id=id,
        digest=message.digest,
        role=message.role,
        calls=draft.calls,
        answers=draft.answers,
        tokens=draft.tokens,
        counter=target.counter,
        kind=message.kind,
        pinned=message.pinned,
        important=message.important,
        absence=draft.absence,
        beside=draft.beside,
        created_at=created_at,
        level=message.level,
        priority=message.priority,
        metadata=metadata,
    )


def _content(db: apsw.Connection, tenant: int, draft: Draft) -> tuple[int, str | None]:
    """The id of the content, and the body if this message's bytes differ from what is stored there."""
    message = draft.message
    if draft.absence == "erased":
        return db.execute(_PLACE, (tenant, message.digest, message.format)).get, None
    body = storable(message.body)
    fresh = db.execute(_CONTENT, (tenant, message.digest, message.format, body)).get
    if fresh is not None:
        index(db, tenant, content=fresh, text=message.text)
        return fresh, None
    known, stored = db.execute(
        "SELECT id, body FROM contents WHERE tenant = ? AND digest = ?", (tenant, message.digest)
    ).get
    return known, None if stored == body else body


def _own_id(db: apsw.Connection, target: Target, wanted: str) -> str | None:
    """The message's own id if it is free here. `m1`, `m2`… are ours: no two messages get the same."""
    wanted = storable(wanted)
    if not wanted or _OURS.fullmatch(wanted):
        return None
    taken = db.execute(_TAKEN, {"session": target.session, "id": wanted}).get
    return None if taken else wanted


def _packed(ids: tuple[str, ...]) -> str:
    return json.dumps(ids) if ids else ""


def storable(text: str) -> str:
    r"""Lone surrogates cannot be stored: write them as JSON does, `\ud800`, which reads back as the same."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
