"""Messages in → what is to be read for things; what they mention in → the things, with what mentions tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import apsw

from foveal.store.port_knowledge import Engagement, Mention, MentioningMessage, ThingRecord, Unread
from foveal.store.sqlite.memories import FORGOTTEN
from foveal.store.sqlite.messages import storable
from foveal.store.sqlite.sessions import head_of, pieces

LEFT = 4
"""So many times the messages that are told are looked at: some may be on branches that were left."""
_UNREAD = """
    SELECT branches.session, e.digest, e.role, e.kind, e.created_at, e.format, coalesce(e.body, contents.body)
    FROM sessions CROSS JOIN branches ON branches.session = sessions.id
    CROSS JOIN entries e ON e.branch = branches.id AND e.seq >= branches.read_to
    CROSS JOIN contents ON contents.id = e.content
    WHERE sessions.tenant = ?1 AND sessions.id = coalesce(?3, sessions.id)
        AND e.role IN ('user', 'assistant') AND e.absence <> 'erased' AND NOT EXISTS (
            SELECT 1 FROM mentions
            WHERE mentions.session = sessions.id AND mentions.content = e.content AND number = 0
        )
    ORDER BY sessions.id, branches.id, e.seq LIMIT ?2
"""
_SAID = """
    SELECT e.content, e.created_at, e.role = 'user' FROM entries e JOIN branches ON branches.id = e.branch
    WHERE e.content = (SELECT id FROM contents WHERE tenant = ?1 AND digest = ?3 AND body IS NOT NULL)
        AND branches.session = ?2 AND e.absence <> 'erased'
    ORDER BY branches.id DESC, e.seq DESC LIMIT 1
"""
_READ = "INSERT OR IGNORE INTO mentions VALUES (?, ?, 0, NULL, ?, ?)"
_NOTED = "SELECT thing, number FROM mentions WHERE session = ? AND content = ? ORDER BY number"
_ADD = "INSERT INTO mentions VALUES (?, ?, ?, ?, ?, ?)"
_DROP = "DELETE FROM mentions WHERE session = ? AND content = ? AND number = ?"
_THING = """
    INSERT INTO things (tenant, kind, slug, name, type) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (tenant, kind, slug) DO UPDATE SET type = iif(type = '', excluded.type, type) RETURNING id
"""
_MOVE_ON = """
    UPDATE branches SET read_to = coalesce((
        SELECT e.seq FROM entries e
        WHERE e.branch = branches.id AND e.seq >= branches.read_to
            AND e.role IN ('user', 'assistant') AND e.absence <> 'erased' AND NOT EXISTS (
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
_OF_SESSION = """
    SELECT thing, sum(mentions) FROM engagements JOIN things ON things.id = engagements.thing
    WHERE session = ? AND tenant = ? AND hidden = 0 GROUP BY thing
"""
_TELLINGS = """
    SELECT sessions.id, e.branch, sessions.name, e.seq, e.digest, e.role, e.kind, e.author,
           mentions.said_at, e.format, coalesce(e.body, contents.body)
    FROM mentions JOIN sessions ON sessions.id = mentions.session
    JOIN contents ON contents.id = mentions.content
    JOIN entries e ON (e.branch, e.seq) = (
        SELECT said.branch, said.seq FROM entries said JOIN branches ON branches.id = said.branch
        WHERE said.content = mentions.content AND branches.session = mentions.session
            AND said.absence <> 'erased'
        ORDER BY said.branch DESC, said.seq DESC LIMIT 1
    )
    WHERE mentions.thing = ? AND sessions.tenant = ?
    ORDER BY mentions.said_at DESC, sessions.id DESC, e.seq DESC LIMIT ?
"""
_NAMELESS = """
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
    return [
        Unread(session=of, digest=digest, role=role, kind=kind, said_at=said_at, format=wire, body=body)
        for of, digest, role, kind, said_at, wire, body in db.execute(_UNREAD, (tenant, limit, session))
    ]


def save(db: apsw.Connection, tenant: int, session: int, by_digest: Mapping[str, Sequence[Mention]]) -> None:
    for digest, found in by_digest.items():
        said = db.execute(_SAID, (tenant, session, digest)).get
        if said is not None:  # else it was erased while it was read
            db.execute(_READ, (session, *said))
            _note(db, session, said, {_thing(db, tenant, mention) for mention in found})
    db.execute(_MOVE_ON, (session,))


def _note(db: apsw.Connection, session: int, said: tuple[int, float, int], things: set[int]) -> None:
    """What is new first: a thing that nobody mentions, be it for a moment, goes with its owner's changes."""
    content, said_at, by_user = said
    noted: dict[int | None, int] = dict(db.execute(_NOTED, (session, content)))
    last = max(noted.values())
    fresh = enumerate(sorted(things - noted.keys()), last + 1)
    db.executemany(_ADD, [(session, content, number, thing, said_at, by_user) for number, thing in fresh])
    gone = [number for thing, number in noted.items() if thing is not None and thing not in things]
    db.executemany(_DROP, [(session, content, number) for number in gone])


def _thing(db: apsw.Connection, tenant: int, mention: Mention) -> int:
    row = (mention.kind, storable(mention.slug), storable(mention.name), mention.type)
    number: int = db.execute(_THING, (tenant, *row)).get
    return number


def read(db: apsw.Connection, tenant: int, kind: str) -> list[ThingRecord]:
    told = {
        thing: list(rows)
        for thing, rows in groupby(db.execute(_ENGAGEMENTS, (tenant, kind)), key=itemgetter(0))
    }
    return [_record(row, told.get(row[0], [])) for row in db.execute(_THINGS, (tenant, kind))]


def _record(
    row: tuple[int, str, str, str, str, int, int, float, float],
    told: Sequence[tuple[int, int, int, int, int]],
) -> ThingRecord:
    number, kind, slug, name, type, edited, version, last_mentioned, last_engaged = row
    return ThingRecord(
        number=number,
        kind=kind,
        slug=slug,
        name=name,
        type=type,
        edited=bool(edited),
        version=version,
        mentions=sum(mentions for _, _, _, mentions, _ in told),
        sessions=len({session for _, _, session, _, _ in told}),
        last_mentioned=last_mentioned,
        last_engaged=last_engaged,
        hours=tuple(
            Engagement(hour=hour, mentions=mentions, by_user=by_user)
            for _, hour, _, mentions, by_user in told
        ),
    )


def mentioned(db: apsw.Connection, tenant: int, session: int) -> dict[int, int]:
    return dict(db.execute(_OF_SESSION, (session, tenant)))


def messages_mentioning(db: apsw.Connection, tenant: int, thing: int, limit: int) -> list[MentioningMessage]:
    rows = list(db.execute(_TELLINGS, (thing, tenant, LEFT * limit)))
    current = {session: pieces(db, head_of(db, tenant, session), 0, None) for session in {r[0] for r in rows}}
    found = [
        MentioningMessage(
            session=name,
            seq=seq,
            digest=digest,
            role=role,
            kind=kind,
            author=author,
            said_at=said_at,
            format=wire,
            body=body,
        )
        for session, branch, name, seq, digest, role, kind, author, said_at, wire, body in rows
        if any(of == branch and start <= seq < stop for of, start, stop in current[session])
    ]
    return found[:limit][::-1]


def forget_names(db: apsw.Connection, session: int, content: int) -> None:
    """Forget things whose names no message but this one spells out; the others are read again without it."""
    lost = list(db.execute(_NAMELESS, (session, content)))
    db.executemany(_UNREAD_BRANCHES, lost)
    db.executemany(_UNREAD_CONTENTS, lost)
    db.executemany("DELETE FROM things WHERE id = ?", lost)


def change(db: apsw.Connection, tenant: int, number: int, *, name: str, hidden: bool) -> bool:
    if db.execute(_CHANGE, (tenant, number, storable(name), hidden)).get is None:
        return False
    db.execute(FORGOTTEN, (tenant,))
    return True
