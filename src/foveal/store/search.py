"""A person's words in, ranked messages out.

The query is text, never search syntax: no input can fail or reach another tenant.
"""

# ruff: noqa: S608 — the only text put into SQL is the name of a tenant's table, which ends in a number
from __future__ import annotations

import re
from collections.abc import Sequence

import apsw

from foveal.store.base import Found
from foveal.store.schema import words_of

# Of the messages that hold a content, the newest of its session stands for it, whichever branch it is on.
_SEARCH = """
    WITH ranked (content, score) AS MATERIALIZED (
        SELECT rowid, -bm25(WORDS) FROM WORDS WHERE WORDS MATCH :query
    ),
    hits (session, branch, seq, newest, score) AS (
        SELECT branches.session, entries.branch, entries.seq,
               max(entries.branch * 4294967296 + entries.seq), ranked.score
        FROM ranked
        JOIN entries ON entries.content = ranked.content
        JOIN branches ON branches.id = entries.branch
        JOIN sessions ON sessions.id = branches.session
        WHERE entries.absence <> 'erased' AND sessions.SCOPE
        GROUP BY branches.session, ranked.content
        ORDER BY ranked.score DESC, entries.created_at DESC LIMIT :limit
    )
    SELECT sessions.name, hits.seq, entries.id, entries.digest, entries.role, hits.score,
           coalesce(entries.body, contents.body), entries.format
    FROM hits
    JOIN sessions ON sessions.id = hits.session
    JOIN entries ON entries.branch = hits.branch AND entries.seq = hits.seq
    JOIN contents ON contents.id = entries.content
    ORDER BY hits.score DESC, entries.created_at DESC, hits.seq DESC
"""

_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about after all also an and any are as at be been before but by can could did do does for
        from had has have he her him his how i if in into is it its just me more my no not of on one
        or our out she should so some than that the their them then there these they this to up us
        was we were what when where which who why will with would you your
        """,
    )
)
_WORD = re.compile(r"\w+")
_MOST_WORDS = 64  # each one is looked up and ranked; a pasted page asks no better than its first lines
# Scripts written without spaces: each character becomes a word, and a query for several a phrase.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def index(db: apsw.Connection, tenant: int, *, content: int, text: str) -> None:
    db.execute(f"INSERT INTO {words_of(tenant)} (rowid, text) VALUES (?, ?)", (content, _spaced(text)))


def unindex(db: apsw.Connection, tenant: int, contents: Sequence[tuple[int]]) -> None:
    words = words_of(tenant)
    db.executemany(f"DELETE FROM {words} WHERE rowid = ?", contents)
    # The words of a deleted row stay in the index until it is merged.
    db.execute(f"INSERT INTO {words} ({words}) VALUES ('optimize')")


def _spaced(text: str) -> str:
    return _UNSPACED.sub(r" \g<0> ", text).encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def search(
    db: apsw.Connection, query: str, *, tenant: int, session: int | None, limit: int
) -> Sequence[Found]:
    """The newest message of each matching content, best first."""
    words = _words(query)
    where = "tenant = :scope" if session is None else "id = :scope"
    sql = _SEARCH.replace("WORDS", words_of(tenant)).replace("SCOPE", where)
    for pattern in (_any(words), _any(_pieces(words), ending="*")):
        place = {"scope": tenant if session is None else session, "query": pattern, "limit": limit}
        found = [
            Found(
                session=name,
                seq=seq,
                id=id,
                digest=digest,
                role=role,
                score=score,
                body=body,
                format=wire,
            )
            for name, seq, id, digest, role, score, body, wire in db.execute(sql, place)
        ]
        if found:
            return found
    return ()


def _words(query: str) -> list[str]:
    words = [word for word in query.lower().split() if _WORD.search(word)]
    telling = [word for word in words if word.strip("?!.,;:'\"()") not in _STOP_WORDS]
    return list(dict.fromkeys(telling or words))[:_MOST_WORDS]


def _pieces(words: Sequence[str]) -> list[str]:
    """The words without what joins them: a path as its names, a sentence without spaces as its characters."""
    found = [piece for word in words for piece in _WORD.findall(_spaced(word))]
    return list(dict.fromkeys(found))[:_MOST_WORDS]


def _any(words: Sequence[str], *, ending: str = "") -> str:
    quoted = (_spaced(word).replace('"', " ") for word in words)
    return " OR ".join(f'"{word}"{ending}' for word in quoted) or '""'
