"""Find the private messages of a session, and hide copies of them on branches that it left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import apsw

from foveal.model import Format, Role
from foveal.store.port import Content, Head
from foveal.store.sqlite.connection import read_rows
from foveal.store.sqlite.messages import storable
from foveal.store.sqlite.sessions import on_branch
from foveal.wire.jsontext import compact

_PRIVATE = """
    SELECT DISTINCT entries.digest, entries.format, coalesce(entries.body, contents.body), entries.role
    FROM entries JOIN branches ON branches.id = entries.branch JOIN contents ON contents.id = entries.content
    WHERE entries.private AND entries.absence <> 'erased' AND branches.session = ?
"""
_COPIES = """
    SELECT DISTINCT entries.branch, entries.seq
    FROM branches JOIN entries ON entries.branch = branches.id JOIN contents ON contents.id = entries.content
    JOIN json_tree(iif(json_valid(coalesce(entries.body, contents.body)),
                       coalesce(entries.body, contents.body), '{}')) AS field
    WHERE branches.session = ?1 AND branches.id <> ?2 AND NOT entries.private AND entries.absence <> 'erased'
        AND field.type = 'text' AND field.key IN ('content', 'text', 'output')
        AND (entries.role, trim(field.value)) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?3))
"""
_HIDE = "UPDATE entries SET private = 1 WHERE branch = ? AND seq = ?"


def messages(db: apsw.Connection, session: int) -> Sequence[tuple[Content, Role]]:
    return [
        (Content(digest=str(digest), format=cast("Format", format), body=str(body)), cast("Role", role))
        for digest, format, body, role in db.execute(_PRIVATE, (session,))
    ]


def hide(db: apsw.Connection, session: int, head: Head, texts: Sequence[tuple[Role, str]]) -> None:
    wanted = storable(compact([[role, text] for role, text in texts]))
    rows = read_rows(db, _COPIES, (session, head.branch, wanted), int, int)
    db.executemany(_HIDE, [row for row in rows if not on_branch(db, head, *row)])
