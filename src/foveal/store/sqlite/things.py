"""Store topics and entities: which messages are still to be read, what each mentions, and the statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import apsw

from foveal.store.decode import checked
from foveal.store.port_knowledge import Engagement, Mention, MentioningMessage, ThingRecord, Unread
from foveal.store.sqlite.connection import read_records, read_rows
from foveal.store.sqlite.memories import count_forgotten
from foveal.store.sqlite.messages import storable
from foveal.store.sqlite.sessions import branch_slices, head_of

CANDIDATES = 4
"""How many times more messages are read than returned: some may be on abandoned branches."""
_UNREAD = """
    SELECT branches.session, e.digest, e.role, e.kind, e.created_at AS said_at, e.format,
        coalesce(e.body, contents.body) AS body
    FROM sessions CROSS JOIN branches ON branches.session = sessions.id
    CROSS JOIN entries e ON e.branch = branches.id AND e.seq >= branches.read_to
    CROSS JOIN contents ON contents.id = e.content
    WHERE sessions.tenant = ?1 AND sessions.id = coalesce(?3, sessions.id)
        AND e.role IN ('user', 'assistant') AND e.absence <> 'erased' AND NOT e.private AND NOT EXISTS (
            SELECT 1 FROM mentions
            WHERE mentions.session = sessions.id AND mentions.content = e.content AND number = 0
        )
    ORDER BY sessions.id, branches.id, e.seq LIMIT ?2
"""
_LATEST_COPY = """
    SELECT e.content, e.created_at, e.role = 'user' FROM entries e JOIN branches ON branches.id = e.branch
    WHERE e.content = (SELECT id FROM contents WHERE tenant = ?1 AND digest = ?3 AND body IS NOT NULL)
        AND branches.session = ?2 AND e.absence <> 'erased' AND NOT e.private
    ORDER BY branches.id DESC, e.seq DESC LIMIT 1
"""
_MARK_READ = "INSERT OR IGNORE INTO mentions VALUES (?, ?, 0, NULL, ?, ?)"
_MENTIONS = "SELECT thing, number FROM mentions WHERE session = ? AND content = ? ORDER BY number"
_ADD_MENTION = "INSERT INTO mentions VALUES (?, ?, ?, ?, ?, ?)"
_DELETE_MENTION = "DELETE FROM mentions WHERE session = ? AND content = ? AND number = ?"
_SAVE_THING = """
    INSERT INTO things (tenant, kind, slug, name, type) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (tenant, kind, slug) DO UPDATE SET type = iif(type = '', excluded.type, type) RETURNING id
"""
_ADVANCE = """
    UPDATE branches SET read_to = coalesce((
        SELECT e.seq FROM entries e
        WHERE e.branch = branches.id AND e.seq >= branches.read_to
            AND e.role IN ('user', 'assistant') AND e.absence <> 'erased' AND NOT e.private AND NOT EXISTS (
                SELECT 1 FROM mentions
                WHERE mentions.session = branches.session AND mentions.content = e.content AND number = 0
            )
        ORDER BY e.seq LIMIT 1
    ), (SELECT max(seq) + 1 FROM entries WHERE branch = branches.id), 0)
    WHERE session = ?
"""
_THINGS = """
    SELECT id, kind, slug, name, type, edited, version,
           coalesce((SELECT max(said_at) FROM mentions WHERE thing = things.id), 0),
           coalesce((
               SELECT said_at FROM mentions WHERE thing = things.id AND by_user ORDER BY said_at DESC LIMIT 1
           ), 0)
    FROM things WHERE tenant = ?1 AND hidden = 0 AND (?2 = '' OR kind = ?2) ORDER BY id
"""
_ENGAGEMENTS = """
    SELECT thing, hour, session, mentions, engagements.by_user
    FROM things CROSS JOIN engagements ON engagements.thing = things.id
    WHERE things.tenant = ?1 AND things.hidden = 0 AND (?2 = '' OR things.kind = ?2)
    ORDER BY thing, hour, session
"""
_MENTIONED = """
    SELECT thing, sum(mentions) FROM engagements JOIN things ON things.id = engagements.thing
    WHERE session = ? AND tenant = ? AND hidden = 0 GROUP BY thing
"""
_MENTIONING = """
    SELECT sessions.id, e.branch, sessions.name, e.seq, e.digest, e.role, e.kind, e.format,
           coalesce(e.body, contents.body)
    FROM mentions JOIN sessions ON sessions.id = mentions.session
    JOIN contents ON contents.id = mentions.content
    JOIN entries e ON (e.branch, e.seq) = (
        SELECT said.branch, said.seq FROM entries said JOIN branches ON branches.id = said.branch
        WHERE said.content = mentions.content AND branches.session = mentions.session
            AND said.absence <> 'erased' AND NOT said.private
        ORDER BY said.branch DESC, said.seq DESC LIMIT 1
    )
    WHERE mentions.thing = ? AND sessions.tenant = ?
    ORDER BY mentions.said_at DESC, sessions.id DESC, e.seq DESC LIMIT ?
"""
_ONLY_NAMED_HERE = """
    SELECT things.id FROM mentions JOIN things ON things.id = mentions.thing
    WHERE mentions.session = ?1 AND mentions.content = ?2 AND NOT edited AND NOT hidden AND NOT EXISTS (
        SELECT 1 FROM mentions AS other JOIN contents ON contents.id = other.content
        WHERE other.thing = things.id AND other.content <> ?2 AND instr(lower(body), lower(things.name))
    )
"""
_UNREAD_BRANCHES = """
    UPDATE branches SET read_to = 0 WHERE session IN (SELECT session FROM mentions WHERE thing = ?)
"""
_UNREAD_CONTENTS = """
    DELETE FROM mentions WHERE number = 0
        AND (session, content) IN (SELECT session, content FROM mentions WHERE thing = ?)
"""
_CHANGE = """
    UPDATE things SET name = iif(?3 = '', name, ?3), edited = edited OR ?3 <> '', hidden = ?4
    WHERE tenant = ?1 AND id = ?2 AND hidden = 0 RETURNING id
"""


def unread(db: apsw.Connection, tenant: int, limit: int, session: int | None) -> list[Unread]:
    return read_records(db, Unread, _UNREAD, (tenant, limit, session))


def save_mentions(
    db: apsw.Connection, tenant: int, session: int, by_digest: Mapping[str, Sequence[Mention]]
) -> None:
    for digest, found in by_digest.items():
        said = next(read_rows(db, _LATEST_COPY, (tenant, session, digest), int, float, int), None)
        if said is not None:  # else it was erased while it was read
            db.execute(_MARK_READ, (session, *said))
            _replace_mentions(db, session, said, {_save_thing(db, tenant, each) for each in found})
    db.execute(_ADVANCE, (session,))


def _replace_mentions(
    db: apsw.Connection, session: int, said: tuple[int, float, int], things: set[int]
) -> None:
    """Add mentions before deleting others: a thing without any is deleted, with what its user changed."""
    content, said_at, by_user = said
    stored: dict[int | None, int] = dict(read_rows(db, _MENTIONS, (session, content), int | None, int))
    last = max(stored.values(), default=0)
    fresh = enumerate(sorted(things - stored.keys()), last + 1)
    db.executemany(
        _ADD_MENTION, [(session, content, number, thing, said_at, by_user) for number, thing in fresh]
    )
    gone = [number for thing, number in stored.items() if thing is not None and thing not in things]
    db.executemany(_DELETE_MENTION, [(session, content, number) for number in gone])


def _save_thing(db: apsw.Connection, tenant: int, mention: Mention) -> int:
    row = (mention.kind, storable(mention.slug), storable(mention.name), mention.type)
    number: int = db.execute(_SAVE_THING, (tenant, *row)).get
    return number


def read_things(db: apsw.Connection, tenant: int, kind: str) -> list[ThingRecord]:
    engagements = {
        thing: list(rows)
        for thing, rows in groupby(
            read_rows(db, _ENGAGEMENTS, (tenant, kind), *(int,) * 5), key=itemgetter(0)
        )
    }
    return [_record(row, engagements.get(row[0], [])) for row in db.execute(_THINGS, (tenant, kind))]


def _record(
    row: tuple[int, str, str, str, str, int, int, float, float],
    engagements: Sequence[tuple[int, int, int, int, int]],
) -> ThingRecord:
    number, kind, slug, name, type, edited, version, last_mentioned, last_engaged = row
    found = ThingRecord(
        number=number,
        kind=kind,
        slug=slug,
        name=name,
        type=type,
        edited=bool(edited),
        version=version,
        mentions=sum(mentions for _, _, _, mentions, _ in engagements),
        sessions=len({session for _, _, session, _, _ in engagements}),
        last_mentioned=last_mentioned,
        last_engaged=last_engaged,
        hours=tuple(
            Engagement(hour=hour, mentions=mentions, by_user=by_user)
            for _, hour, _, mentions, by_user in engagements
        ),
    )
    return checked(found)


def mentioned(db: apsw.Connection, tenant: int, session: int) -> dict[int, int]:
    return dict(read_rows(db, _MENTIONED, (session, tenant), int, int))


def messages_mentioning(db: apsw.Connection, tenant: int, thing: int, limit: int) -> list[MentioningMessage]:
    rows = list(read_rows(db, _MENTIONING, (thing, tenant, CANDIDATES * limit), int, int))
    current = {
        session: branch_slices(db, head_of(db, tenant, session), 0, None) for session in {r[0] for r in rows}
    }
    found = [
        checked(
            MentioningMessage(
                session=name, seq=seq, digest=digest, role=role, kind=kind, format=wire, body=body
            )
        )
        for session, branch, name, seq, digest, role, kind, wire, body in rows
        if any(of == branch and start <= seq < stop for of, start, stop in current[session])
    ]
    return found[:limit][::-1]


def delete_unnamed(db: apsw.Connection, session: int, content: int) -> None:
    """Delete things whose name only this message spells out; others that mention them become unread."""
    unnamed = list(db.execute(_ONLY_NAMED_HERE, (session, content)))
    db.executemany(_UNREAD_BRANCHES, unnamed)
    db.executemany(_UNREAD_CONTENTS, unnamed)
    db.executemany("DELETE FROM things WHERE id = ?", unnamed)


def change_thing(db: apsw.Connection, tenant: int, number: int, *, name: str, hidden: bool) -> bool:
    if db.execute(_CHANGE, (tenant, number, storable(name), hidden)).get is None:
        return False
    count_forgotten(db, tenant)
    return True
