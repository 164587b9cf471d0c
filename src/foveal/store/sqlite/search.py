"""A person's words in, ranked messages out.

The query is text, never search syntax: no input can fail or reach another tenant.

Ranked contents in → the messages that hold them, best first.

Only as many are looked up as were asked for: ranking works on numbers alone.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence

import apsw

from foveal.pipeline.signals import STOP_WORDS
from foveal.store.port import Found
from foveal.store.sqlite.schema import words_of

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


_RANKED = """
    SELECT rowid, -bm25(WORDS) AS score FROM WORDS
    WHERE WORDS MATCH ?1 SCOPE ORDER BY score DESC, rowid DESC LIMIT ?2
"""
_SCOPE = f"AND +rowid IN ({OF_SESSION.replace('?', '?3')})"
_COUNT = "SELECT count(*) FROM WORDS WHERE WORDS MATCH ?"
_SATURATED = 2.2  # what the weight of a word is multiplied with at most in FTS5's bm25: k1 + 1
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
    for phrases in (_quoted(words), _quoted(_pieces(words), ending="*")):
        ranked = _ranked(db, words_of(tenant), phrases, session=session, limit=limit)
        if ranked:
            return hits(db, ranked, session=session, limit=limit)
    return ()


def _ranked(
    db: apsw.Connection, words: str, phrases: Sequence[str], *, session: int | None, limit: int
) -> list[tuple[int, float]]:
    """Contents that hold one of the phrases, with the share they reach of the best score there can be."""
    sql = _RANKED.replace("WORDS", words).replace("SCOPE", "" if session is None else _SCOPE)
    scope = () if session is None else (session,)
    rows = list(db.execute(sql, (" OR ".join(phrases) or '""', limit, *scope)))
    best = _best(db, words, phrases) if rows else 1.0
    return [(content, min(1.0, score / best)) for content, score in rows]


def _best(db: apsw.Connection, words: str, phrases: Sequence[str]) -> float:
    """What a text would score that says all of it, over and over: the sum of the words' weights in FTS5.

    A word that nobody said counts too: who says the rest has not said it all.
    """
    rows = db.execute(f"SELECT count(*) FROM {words}_docsize").get
    counts = (db.execute(_COUNT.replace("WORDS", words), (phrase,)).get for phrase in phrases)
    weights = (math.log((rows - count + 0.5) / (count + 0.5)) for count in counts)
    return _SATURATED * sum(max(weight, 1e-6) for weight in weights)


def _words(query: str) -> list[str]:
    words = [word for word in query.lower().split() if _WORD.search(word)]
    telling = [word for word in words if word.strip("?!.,;:'\"()") not in STOP_WORDS]
    return list(dict.fromkeys(telling or words))[:_MOST_WORDS]


def _pieces(words: Sequence[str]) -> list[str]:
    """The words without what joins them: a path as its names, a sentence without spaces as its characters."""
    found = [piece for word in words for piece in _WORD.findall(_spaced(word))]
    return list(dict.fromkeys(found))[:_MOST_WORDS]


def _quoted(words: Sequence[str], *, ending: str = "") -> list[str]:
    return [f'"{_spaced(word).replace(chr(34), " ")}"{ending}' for word in words]
