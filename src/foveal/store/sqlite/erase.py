"""What must be forgotten in, nothing of it out: no body, no index row, no count, nothing made of it.

A content that another session still holds stays; where it was erased, a tombstone keeps its place and its
digest, so that a client's own history is still recognised.
"""

from __future__ import annotations

import apsw

from foveal.store.port import Head, Located
from foveal.store.sqlite import derived, things
from foveal.store.sqlite.search import unindex
from foveal.store.sqlite.sessions import on_branch

_TOMBSTONE = """
    UPDATE entries
    SET absence = 'erased', pinned = 0, important = 0, author = '', metadata = '', stand_in = '',
        noted_by = NULL, body = NULL
    WHERE branch = ? AND seq = ?
"""
_COPIES = """
    SELECT entries.branch, entries.seq, entries.id FROM entries JOIN branches ON branches.id = entries.branch
    WHERE entries.content = ? AND branches.session = ? AND entries.absence <> 'erased'
"""
_CONTENT = """
    SELECT entries.content FROM entries JOIN branches ON branches.id = entries.branch
    WHERE branches.session = ? AND entries.id = ? AND entries.digest = ? LIMIT 1
"""
_NOTES = """
    SELECT entries.branch, entries.seq FROM entries JOIN branches ON branches.id = entries.branch
    WHERE branches.session = ? AND entries.stand_in <> ''
"""
_HELD = "SELECT EXISTS (SELECT 1 FROM entries WHERE content = ? AND absence <> 'erased')"
_OF_SESSION = """
    SELECT DISTINCT entries.content FROM entries JOIN branches ON branches.id = entries.branch
    WHERE branches.session = ?
"""
_COUNTS = "DELETE FROM counts WHERE (tenant, digest) IN (SELECT tenant, digest FROM contents WHERE id = ?)"
_EVENTS = "DELETE FROM events WHERE tenant = ? AND session = (SELECT name FROM sessions WHERE id = ?)"
_TOLD = """
    UPDATE events SET payload = json_remove(payload, '$.summary')
    WHERE tenant = ? AND session = (SELECT name FROM sessions WHERE id = ?)
      AND name = 'context:summarized'
"""
_UNUSED = "DELETE FROM contents WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM entries WHERE content = ?1)"


def erase(db: apsw.Connection, tenant: int, session: int, *, head: Head, place: Located) -> list[str]:
    """Erase one message and its copies on branches the session left; equal words said elsewhere stay."""
    entry = place.entry
    content = db.execute(_CONTENT, (session, entry.id, entry.digest)).get
    copies = [
        (branch, seq, id)
        for branch, seq, id in db.execute(_COPIES, (content, session))
        if id == entry.id or not on_branch(db, head, branch, seq)
    ]
    things.forget_names(db, session, content)  # while it is known what the message mentions
    db.executemany(_TOMBSTONE, [(branch, seq) for branch, seq, _ in copies])
    derived.forget_tasks(db, session, [seq for _, seq, _ in copies])
    _drop_left_notes(db, session, head)
    db.execute(_TOLD, (tenant, session))
    _wipe_unheld(db, tenant, [content])
    return list(dict.fromkeys(id for _, _, id in copies))


def _drop_left_notes(db: apsw.Connection, session: int, head: Head) -> None:
    """Notes on branches that were left may tell of what was erased, and nobody makes them again."""
    rows = [row for row in db.execute(_NOTES, (session,)) if not on_branch(db, head, *row)]
    db.executemany("UPDATE entries SET stand_in = '' WHERE branch = ? AND seq = ?", rows)


def delete_session(db: apsw.Connection, tenant: int, session: int) -> None:
    """Delete a session with all its branches and builds, and what no other session holds."""
    contents = [content for (content,) in db.execute(_OF_SESSION, (session,))]
    db.execute(_EVENTS, (tenant, session))
    db.execute("DELETE FROM sessions WHERE id = ?", (session,))
    _wipe_unheld(db, tenant, contents)
    db.executemany(_UNUSED, [(content,) for content in contents])


def _wipe_unheld(db: apsw.Connection, tenant: int, contents: list[int]) -> None:
    keys = [(content,) for content in contents if not db.execute(_HELD, (content,)).get]
    if not keys:
        return
    db.executemany(_COUNTS, keys)
    derived.forget_summaries(db, keys)
    db.executemany("DELETE FROM vectors WHERE content = ?", keys)
    db.executemany("DELETE FROM records WHERE content = ?", keys)
    db.executemany("UPDATE contents SET body = NULL WHERE id = ?", keys)
    unindex(db, tenant, keys)
