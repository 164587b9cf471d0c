"""Append drafts to a branch; equal content is stored once."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import apsw

from foveal.errors import InputError
from foveal.model import Entry
from foveal.pipeline.turns import erased_key
from foveal.store.port import Draft
from foveal.store.sqlite.connection import read_row
from foveal.store.sqlite.search import add_to_index
from foveal.wire.times import is_time

_ADD_CONTENT = """
    INSERT INTO contents (tenant, digest, format, body) VALUES (?, ?, ?, ?)
    ON CONFLICT (tenant, digest) DO UPDATE SET format = excluded.format, body = excluded.body
    WHERE body IS NULL RETURNING id
"""
_ADD_ENTRY = """
    INSERT INTO entries (branch, seq, content, digest, format, id, role, calls, answers, tokens, counter,
                         kind, level, priority, pinned, important, absence, beside, author, created_at,
                         metadata, body, private, restored_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
SAVE_COUNT = "INSERT OR REPLACE INTO counts (tenant, counter, digest, tokens) VALUES (?, ?, ?, ?)"
_ID_TAKEN = """
    WITH RECURSIVE chain (branch, stop) AS (
        SELECT branch, length FROM sessions WHERE id = :session
        UNION
        SELECT branches.parent, branches.fork_at
        FROM chain JOIN branches ON branches.id = chain.branch WHERE branches.parent IS NOT NULL
    )
    SELECT EXISTS (
        SELECT 1 FROM chain JOIN entries ON entries.branch = chain.branch
        WHERE entries.id = :id AND entries.seq < chain.stop
    )
"""
RESERVE_IDS = "UPDATE sessions SET minted = minted + ? WHERE id = ? RETURNING minted"
_ADD_TOMBSTONE = """
    INSERT INTO contents (tenant, digest, format) VALUES (?1, ?2, ?3)
    ON CONFLICT (tenant, digest) DO UPDATE SET digest = excluded.digest RETURNING id
"""
GENERATED_ID = re.compile(r"m[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The branch that drafts are appended to, and the counter of their tokens."""

    tenant: int
    session: int
    branch: int
    counter: str


def check(drafts: Sequence[Draft]) -> None:
    """Raise `InputError` for a draft without its original."""
    for number, draft in enumerate(drafts):
        if not draft.message.body or not draft.message.digest:
            raise InputError(
                f"draft {number} has no original: its `body` or `digest` is empty",
                remedy="store messages exactly as `foveal.wire` returned them",
            )
        moment = draft.created_at if draft.message.created_at is None else draft.message.created_at
        if not is_time(moment):
            raise InputError(
                f"draft {number}: `created_at` is {moment!r}, which no calendar can show",
                remedy="use seconds since 1970",
                field="created_at",
            )


def append(db: apsw.Connection, target: Target, drafts: Sequence[Draft], *, start: int) -> list[Entry]:
    if not drafts:
        return []
    (minted,) = read_row(db, RESERVE_IDS, (len(drafts), target.session), int)
    fresh = minted - len(drafts) + 1
    return [
        _append(db, target, _without_words(draft), seq=start + number, fresh=f"m{fresh + number}")
        for number, draft in enumerate(drafts)
    ]


def _without_words(draft: Draft) -> Draft:
    """An erased draft keeps its position, its digest and what it pairs with; another one is unchanged."""
    if draft.absence != "erased":
        return draft
    bare = replace(draft.message, id="", author="", metadata={})
    return replace(
        draft,
        message=bare,
        calls=tuple(map(erased_key, draft.calls)),
        answers=tuple(map(erased_key, draft.answers)),
    )


def _append(db: apsw.Connection, target: Target, draft: Draft, *, seq: int, fresh: str) -> Entry:
    message = draft.message
    content, body = _content(db, target.tenant, draft)
    id = draft.id or _own_id(db, target, message.id) or fresh
    created_at = draft.created_at if message.created_at is None else message.created_at
    metadata = json.dumps(dict(message.metadata)) if message.metadata else ""
    row = (
        *(target.branch, seq, content, message.digest, message.format, id, message.role),
        *(id_list(draft.calls), id_list(draft.answers)),
        *(draft.tokens, target.counter, message.kind, message.level, message.priority),
        *(message.pinned, message.important, draft.absence, draft.beside),
        *(storable(message.author), created_at),
        *(metadata, body, message.private, draft.restored_at),
    )
    db.execute(_ADD_ENTRY, row)
    if target.counter:
        db.execute(SAVE_COUNT, (target.tenant, target.counter, message.digest, draft.tokens))
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
        restored_at=draft.restored_at,
        private=message.private,
    )


def _content(db: apsw.Connection, tenant: int, draft: Draft) -> tuple[int, str | None]:
    """The number of the content, and the message's own body if its bytes differ from the stored ones."""
    message = draft.message
    if draft.absence == "erased":
        return db.execute(_ADD_TOMBSTONE, (tenant, message.digest, message.format)).get, None
    body = storable(message.body)
    fresh = db.execute(_ADD_CONTENT, (tenant, message.digest, message.format, body)).get
    if fresh is not None:
        add_to_index(db, tenant, content=fresh, text=message.text)
        return fresh, None
    known, stored = db.execute(
        "SELECT id, body FROM contents WHERE tenant = ? AND digest = ?", (tenant, message.digest)
    ).get
    return known, None if stored == body else body


def _own_id(db: apsw.Connection, target: Target, id: str) -> str | None:
    """The message's own id if it is free in the session. `m1`, `m2`… are reserved for generated ids."""
    id = storable(id)
    if not id or GENERATED_ID.fullmatch(id):
        return None
    taken = db.execute(_ID_TAKEN, {"session": target.session, "id": id}).get
    return None if taken else id


def id_list(ids: tuple[str, ...]) -> str:
    return json.dumps(ids) if ids else ""


def storable(text: str) -> str:
    r"""Escape lone surrogates, which SQLite cannot store, as JSON does: `\ud800` reads back as the same."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
