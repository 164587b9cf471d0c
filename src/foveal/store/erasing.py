"""What must be forgotten in, nothing of it out: no body, no index row, no count.

A content that another session still holds stays; where it was erased, a tombstone keeps its place and its
digest, so that a client's own history is still recognised.
"""

from __future__ import annotations

import apsw

from foveal.store.search import unindex

_TOMBSTONES = """
    UPDATE entries
    SET absence = 'erased', pinned = 0, important = 0, author = '', metadata = '', body = NULL
    WHERE content = ?1 AND branch IN (SELECT id FROM branches WHERE session = ?2)
"""
_HELD = "SELECT EXISTS (SELECT 1 FROM entries WHERE content = ? AND absence <> 'erased')"
_OF_SESSION = """
    SELECT DISTINCT entries.content FROM entries JOIN branches ON branches.id = entries.branch
    WHERE branches.session = ?
"""
_COUNTS = "DELETE FROM counts WHERE (tenant, digest) IN (SELECT tenant, digest FROM contents WHERE id = ?)"
_UNUSED = "DELETE FROM contents WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM entries WHERE content = ?1)"


def erase(db: apsw.Connection, tenant: int, session: int, *, branch: int, seq: int) -> None:
    """Erase one message, and every copy of it in the same session."""
    content = db.execute("SELECT content FROM entries WHERE branch = ? AND seq = ?", (branch, seq)).get
    db.execute(_TOMBSTONES, (content, session))
    _wipe_unheld(db, tenant, [content])


def delete_session(db: apsw.Connection, tenant: int, session: int) -> None:
    """Delete a session with all its branches and builds, and what no other session holds."""
    contents = [content for (content,) in db.execute(_OF_SESSION, (session,))]
    db.execute("DELETE FROM sessions WHERE id = ?", (session,))
    _wipe_unheld(db, tenant, contents)
    db.executemany(_UNUSED, [(content,) for content in contents])


def _wipe_unheld(db: apsw.Connection, tenant: int, contents: list[int]) -> None:
    keys = [(content,) for content in contents if not db.execute(_HELD, (content,)).get]
    if not keys:
        return
    db.executemany(_COUNTS, keys)
    db.executemany("UPDATE contents SET body = NULL WHERE id = ?", keys)
    unindex(db, tenant, keys)
