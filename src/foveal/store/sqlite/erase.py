"""Erase messages and sessions with everything derived from them.

That is bodies, index rows, token counts, summaries and vectors. Content that another session still has
stays. An erased message leaves a tombstone with its position and digest, so that the client's own history is
still recognised, and with hashes of the ids that pair it with its neighbours. Its own id is replaced, also in
the events that name it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

import apsw

from foveal.pipeline.turns import erased_key
from foveal.store.port import Head, Located
from foveal.store.sqlite import derived, things
from foveal.store.sqlite.messages import GENERATED_ID, RESERVE_IDS, id_list
from foveal.store.sqlite.search import remove_from_index
from foveal.store.sqlite.sessions import on_branch

_TOMBSTONE = """
    UPDATE entries
    SET absence = 'erased', pinned = 0, important = 0, private = 0, author = '', metadata = '', stand_in = '',
        noted_by = NULL, body = NULL, id = ?3, calls = ?4, answers = ?5
    WHERE branch = ?1 AND seq = ?2
"""
_COPIES = """
    SELECT entries.branch, entries.seq, entries.id, entries.calls, entries.answers
    FROM entries JOIN branches ON branches.id = entries.branch
    WHERE entries.content = ? AND branches.session = ? AND entries.absence <> 'erased'
"""
_CONTENT = """
    SELECT entries.content FROM entries JOIN branches ON branches.id = entries.branch
    WHERE branches.session = ? AND entries.id = ? AND entries.digest = ? LIMIT 1
"""
_STAND_INS = """
    SELECT entries.branch, entries.seq FROM entries JOIN branches ON branches.id = entries.branch
    WHERE branches.session = ? AND entries.stand_in <> ''
"""
_IDS = frozenset({"id", "ids", "chunk_id", "chunk_ids", "chunk1", "chunk2"})
"""The fields of events that have ids of messages."""
_IN_USE = "SELECT EXISTS (SELECT 1 FROM entries WHERE content = ? AND absence <> 'erased')"
_CONTENTS = """
    SELECT DISTINCT entries.content FROM entries JOIN branches ON branches.id = entries.branch
    WHERE branches.session = ?
"""
_DELETE_COUNTS = """
    DELETE FROM counts WHERE (tenant, digest) IN (SELECT tenant, digest FROM contents WHERE id = ?)
"""
_DELETE_EVENTS = """
    DELETE FROM events WHERE tenant = ? AND session = (SELECT name FROM sessions WHERE id = ?)
"""
_REDACT_EVENTS = """
    UPDATE events SET payload = json_remove(payload, '$.summary')
    WHERE tenant = ? AND session = (SELECT name FROM sessions WHERE id = ?)
      AND name = 'context:summarized'
"""
_EVENTS_NAMING = """
    SELECT number, CAST(payload AS BLOB) FROM events
    WHERE tenant = ? AND session = (SELECT name FROM sessions WHERE id = ?)
      AND (NOT json_valid(payload) OR EXISTS (SELECT 1 FROM json_each(?) WHERE instr(payload, value)))
"""
_DELETE_UNUSED = """
    DELETE FROM contents WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM entries WHERE content = ?1)
"""


def erase(db: apsw.Connection, tenant: int, session: int, *, head: Head, message: Located) -> list[str]:
    """Erase one message and its copies on abandoned branches; equal messages elsewhere stay."""
    entry = message.entry
    content = db.execute(_CONTENT, (session, entry.id, entry.digest)).get
    copies = [
        (branch, seq, id, *keys)
        for branch, seq, id, *keys in db.execute(_COPIES, (content, session))
        if id == entry.id or not on_branch(db, head, branch, seq)
    ]
    ids = _generated_ids(db, session, dict.fromkeys(id for _, _, id, *_ in copies))
    things.delete_unnamed(db, session, content)  # while its mentions are still stored
    rows = ((branch, seq, ids[id], *map(_pairing, keys)) for branch, seq, id, *keys in copies)
    db.executemany(_TOMBSTONE, list(rows))
    derived.delete_task_summaries(db, session, [seq for _, seq, *_ in copies])
    _delete_abandoned_stand_ins(db, session, head)
    _rename_in_events(db, tenant, session, {id: now for id, now in ids.items() if now != id})
    db.execute(_REDACT_EVENTS, (tenant, session))
    _wipe_unused(db, tenant, [content])
    return list(ids.values())


def _generated_ids(db: apsw.Connection, session: int, ids: Iterable[str]) -> dict[str, str]:
    """The ids that tombstones get: generated ones stay, those that came with messages are replaced."""
    return {
        id: id if GENERATED_ID.fullmatch(id) else f"m{db.execute(RESERVE_IDS, (1, session)).get}"
        for id in ids
    }


def _pairing(keys: str) -> str:
    """The keys of an erased message as they are stored."""
    return id_list(tuple(map(erased_key, json.loads(keys)))) if keys else ""


def _rename_in_events(db: apsw.Connection, tenant: int, session: int, ids: Mapping[str, str]) -> None:
    """Replace ids in the events of a session that name them.

    A damaged event, which may name them in any form, is deleted.
    """
    quoted = json.dumps([json.dumps(id) for id in ids])
    for number, stored in db.execute(_EVENTS_NAMING, (tenant, session, quoted)).fetchall():
        try:
            payload = json.dumps(_renamed(json.loads(cast("str | bytes", stored)), ids))
        except (ValueError, RecursionError):
            db.execute("DELETE FROM events WHERE number = ?", (number,))
        else:
            db.execute("UPDATE events SET payload = ? WHERE number = ?", (payload, number))


def _renamed(value: Any, ids: Mapping[str, str], key: str = "") -> Any:
    match value:
        case dict():
            return {name: _renamed(each, ids, name) for name, each in value.items()}
        case list():
            return [_renamed(each, ids, key) for each in value]
        case str():
            return ids.get(value, value) if key in _IDS else value
        case _:
            return value


def _delete_abandoned_stand_ins(db: apsw.Connection, session: int, head: Head) -> None:
    """Stand-ins on abandoned branches may quote the erased message, and are never written again."""
    rows = [row for row in db.execute(_STAND_INS, (session,)) if not on_branch(db, head, *row)]
    db.executemany("UPDATE entries SET stand_in = '' WHERE branch = ? AND seq = ?", rows)


def delete_session(db: apsw.Connection, tenant: int, session: int) -> None:
    """Delete a session with all its branches and builds, and content that no other session has."""
    contents = [content for (content,) in db.execute(_CONTENTS, (session,))]
    db.execute(_DELETE_EVENTS, (tenant, session))
    db.execute("DELETE FROM sessions WHERE id = ?", (session,))
    _wipe_unused(db, tenant, contents)
    db.executemany(_DELETE_UNUSED, [(content,) for content in contents])


def _wipe_unused(db: apsw.Connection, tenant: int, contents: list[int]) -> None:
    keys = [(content,) for content in contents if not db.execute(_IN_USE, (content,)).get]
    if not keys:
        return
    db.executemany(_DELETE_COUNTS, keys)
    derived.delete_summaries(db, keys)
    db.executemany("DELETE FROM vectors WHERE content = ?", keys)
    db.executemany("DELETE FROM records WHERE content = ?", keys)
    db.executemany("UPDATE contents SET body = NULL WHERE id = ?", keys)
    remove_from_index(db, tenant, keys)
