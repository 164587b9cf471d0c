"""Ranked contents in → the messages that hold them, best first.

Only as many are looked up as were asked for: ranking works on numbers alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from foveal.store.base import Found

# Of the messages that hold a content, the newest of its session stands for it, whichever branch it is on.
_HITS = """
    WITH hits (place, session, branch, seq, created_at, newest) AS (
        SELECT ranked.key, branches.session, entries.branch, entries.seq, entries.created_at,
               max(entries.branch * 4294967296 + entries.seq)
        FROM json_each(:contents) AS ranked
        CROSS JOIN entries ON entries.content = ranked.value
        JOIN branches ON branches.id = entries.branch
        WHERE entries.absence <> 'erased' AND branches.session = coalesce(:session, branches.session)
        GROUP BY ranked.key, branches.session
        ORDER BY ranked.key, entries.created_at DESC LIMIT :limit
    )
    SELECT hits.place, hits.created_at, sessions.name, hits.seq, entries.id, entries.digest, entries.role,
           coalesce(entries.body, contents.body), entries.format
    FROM hits
    JOIN sessions ON sessions.id = hits.session
    JOIN entries ON entries.branch = hits.branch AND entries.seq = hits.seq
    JOIN contents ON contents.id = entries.content
"""
OF_SESSION = """
    SELECT content FROM entries
    WHERE absence <> 'erased' AND branch IN (SELECT id FROM branches WHERE session = ?)
"""
"""The contents that a session holds, on whichever branch."""


def hits(
    db: apsw.Connection, ranked: Sequence[tuple[int, float]], *, session: int | None, limit: int
) -> list[Found]:
    """The newest message of each content in each session; of equals the newest first."""
    contents = json.dumps([content for content, _ in ranked])
    rows = db.execute(_HITS, {"contents": contents, "session": session, "limit": limit})
    found = [
        (
            (-ranked[place][1], -created_at, -seq),
            Found(
                session=name,
                seq=seq,
                id=id,
                digest=digest,
                role=role,
                score=ranked[place][1],
                body=body,
                format=wire,
                created_at=created_at,
            ),
        )
        for place, created_at, name, seq, id, digest, role, body, wire in rows
    ]
    return [hit for _, hit in sorted(found, key=lambda each: each[0])]
