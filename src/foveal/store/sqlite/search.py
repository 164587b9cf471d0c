"""Index messages by their words, and find those that match a query, best first.

The query is plain text, never search syntax: no input can fail or reach another tenant. Ranking works on
content numbers alone; only the messages that are returned are read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from itertools import islice

import apsw

from foveal.pipeline.signals import STOP_WORDS
from foveal.store.decode import checked
from foveal.store.port import Found
from foveal.store.sqlite.connection import read_row, read_rows
from foveal.store.sqlite.migrate import words_of

# Each content is represented by its newest message in each session, on any branch.
_HITS = """
    WITH hits (rank, session, branch, seq, created_at, newest) AS (
        SELECT ranked.key, branches.session, entries.branch, entries.seq, entries.created_at,
               max(entries.branch * 4294967296 + entries.seq)
        FROM json_each(:contents) AS ranked
        CROSS JOIN entries ON entries.content = ranked.value
        JOIN branches ON branches.id = entries.branch
        WHERE entries.absence <> 'erased' AND branches.session = coalesce(:session, branches.session)
            AND (:session IS NOT NULL OR NOT entries.private)
        GROUP BY ranked.key, branches.session
        ORDER BY ranked.key, entries.created_at DESC LIMIT :limit
    )
    SELECT hits.rank, hits.created_at, sessions.name, hits.seq, entries.id, entries.digest, entries.role,
           coalesce(entries.body, contents.body), entries.format
    FROM hits
    JOIN sessions ON sessions.id = hits.session
    JOIN entries ON entries.branch = hits.branch AND entries.seq = hits.seq
    JOIN contents ON contents.id = entries.content
"""
CONTENTS_OF_SESSION = """
    SELECT content FROM entries
    WHERE absence <> 'erased' AND branch IN (SELECT id FROM branches WHERE session = ?)
"""
"""The contents of a session, on any branch."""
PRIVATE_CONTENTS = "SELECT content FROM entries WHERE private"
"""The contents that only their own sessions find."""
_MATCHES = """
    SELECT rowid, -bm25(WORDS) AS score FROM WORDS
    WHERE WORDS MATCH ?1 SCOPE ORDER BY score DESC, rowid DESC LIMIT ?2
"""
_SCOPE = f"AND +rowid IN ({CONTENTS_OF_SESSION.replace('?', '?3')})"
_SHARED = f"AND +rowid NOT IN ({PRIVATE_CONTENTS})"
_COUNT = "SELECT count(*) FROM WORDS WHERE WORDS MATCH ?"
_SIZE = "SELECT count(*) FROM WORDS_docsize"
_ADD = "INSERT INTO WORDS (rowid, text) VALUES (?, ?)"
_REMOVE = "DELETE FROM WORDS WHERE rowid = ?"
_MERGE = "INSERT INTO WORDS (WORDS) VALUES ('optimize')"
_SATURATION = 2.2  # the most by which FTS5's bm25 multiplies the weight of a word: k1 + 1
_WORD = re.compile(r"\w+")
_MOST_PIECES = 32  # of one word: a phrase of any length would lock the store while each piece is compared
_MOST_WORDS = 64  # each is looked up and ranked; a pasted page finds no more than its first lines
# Scripts without spaces: each character is indexed as a word, and a query for several is a phrase.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_PIECE = re.compile(rf"{_UNSPACED.pattern}|(?:(?!{_UNSPACED.pattern})[^\W_])+")


def add_to_index(db: apsw.Connection, tenant: int, *, content: int, text: str) -> None:
    db.execute(_ADD.replace("WORDS", words_of(tenant)), (content, _spaced(text)))


def remove_from_index(db: apsw.Connection, tenant: int, contents: Sequence[tuple[int]]) -> None:
    words = words_of(tenant)
    db.executemany(_REMOVE.replace("WORDS", words), contents)
    # The words of a deleted row stay in the index until it is merged.
    db.execute(_MERGE.replace("WORDS", words))


def _spaced(text: str) -> str:
    return _UNSPACED.sub(r" \g<0> ", text).encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def search(
    db: apsw.Connection, query: str, *, tenant: int, session: int | None, limit: int
) -> Sequence[Found]:
    """Messages that contain words of the query, best first; if there are none, words that begin like them."""
    words = _words(query)
    for phrases in (_quoted(words), _quoted(_split(words), ending="*")):
        ranked = _rank(db, words_of(tenant), phrases, session=session, limit=limit)
        if ranked:
            return hits(db, ranked, session=session, limit=limit)
    return ()


def _rank(
    db: apsw.Connection, words: str, phrases: Sequence[str], *, session: int | None, limit: int
) -> list[tuple[int, float]]:
    """Contents with one of the phrases, and the share of the best possible score that each reaches."""
    sql = _MATCHES.replace("WORDS", words).replace("SCOPE", _SHARED if session is None else _SCOPE)
    scope = () if session is None else (session,)
    rows = list(read_rows(db, sql, (" OR ".join(phrases) or '""', limit, *scope), int, float))
    best = _best_score(db, words, phrases) if rows else 1.0
    return [(content, min(1.0, score / best)) for content, score in rows]


def _best_score(db: apsw.Connection, words: str, phrases: Sequence[str]) -> float:
    """The score of a text that repeats every phrase endlessly: the sum of their weights in FTS5.

    A phrase without any match counts too, so that a text with only the others does not reach the best score.
    """
    (rows,) = read_row(db, _SIZE.replace("WORDS", words), (), int)
    counts = (read_row(db, _COUNT.replace("WORDS", words), (phrase,), int)[0] for phrase in phrases)
    # A damaged index may count more matches than rows.
    weights = (math.log((max(0, rows - count) + 0.5) / (count + 0.5)) for count in counts)
    return _SATURATION * sum(max(weight, 1e-6) for weight in weights)


def _words(query: str) -> list[str]:
    words = [word for word in query.lower().split() if _WORD.search(word)]
    content_words = [word for word in words if word.strip("?!.,;:'\"()") not in STOP_WORDS]
    return list(dict.fromkeys(content_words or words))[:_MOST_WORDS]


def _first_pieces(word: str) -> str:
    """The beginning of a word that becomes a phrase."""
    pieces = list(islice(_PIECE.finditer(word), _MOST_PIECES))
    return word[: pieces[-1].end()] if pieces else word


def _split(words: Sequence[str]) -> list[str]:
    """The words split at punctuation: paths into names, sentences without spaces into characters."""
    found = [piece for word in words for piece in _WORD.findall(_spaced(word))]
    return list(dict.fromkeys(found))[:_MOST_WORDS]


def _quoted(words: Sequence[str], *, ending: str = "") -> list[str]:
    return [f'"{_spaced(_first_pieces(word)).replace(chr(34), " ")}"{ending}' for word in words]


def hits(
    db: apsw.Connection, ranked: Sequence[tuple[int, float]], *, session: int | None, limit: int
) -> list[Found]:
    """The newest message of each ranked content in each session, best first, then newest first."""
    contents = json.dumps([content for content, _ in ranked])
    rows = read_rows(
        db, _HITS, {"contents": contents, "session": session, "limit": limit}, int, float, str, int
    )
    found = [
        (
            (-ranked[rank][1], -created_at, -seq),
            checked(
                Found(
                    session=name,
                    seq=seq,
                    id=id,
                    digest=digest,
                    role=role,
                    score=ranked[rank][1],
                    body=body,
                    format=wire,
                    created_at=created_at,
                )
            ),
        )
        for rank, created_at, name, seq, id, digest, role, body, wire in rows
    ]
    return [hit for _, hit in sorted(found, key=lambda each: each[0])]
