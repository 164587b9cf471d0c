"""A summary and what it covers in → the same under its key, until something it covers is erased.

A summary of summaries covers what they cover: when one below goes, so does every one above it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256

import apsw

from foveal.store.base import SummaryRecord
from foveal.store.storing import storable

_READ = """
    SELECT key, text, tokens, writer, level, created_at FROM summaries
    WHERE tenant = ? AND key IN (SELECT value FROM json_each(?))
"""
_SAVE = """
    INSERT INTO summaries (tenant, key, text, hash, tokens, writer, level, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, key) DO UPDATE
    SET text = excluded.text, hash = excluded.hash, tokens = excluded.tokens, writer = excluded.writer,
        level = excluded.level, created_at = excluded.created_at
    WHERE writer = 'extractive' AND excluded.writer = 'llm'
    RETURNING id
"""
_SOURCES = """
    SELECT contents.id, summaries.id
    FROM json_each(?2) AS named
    LEFT JOIN contents
        ON contents.tenant = ?1 AND contents.digest = named.value AND contents.body IS NOT NULL
    LEFT JOIN summaries
        ON summaries.tenant = ?1 AND summaries.key = named.value AND contents.id IS NULL
    ORDER BY named.key
"""
_LINK = "INSERT INTO summary_sources (summary, number, content, below) VALUES (?, ?, ?, ?)"
_FORGET = """
    WITH RECURSIVE gone (id) AS (
        SELECT summary FROM summary_sources WHERE content = ?
        UNION
        SELECT sources.summary FROM gone JOIN summary_sources AS sources ON sources.below = gone.id
    )
    DELETE FROM summaries WHERE id IN (SELECT id FROM gone)
"""


def read(db: apsw.Connection, tenant: int, keys: Sequence[str]) -> dict[str, SummaryRecord]:
    return {
        key: SummaryRecord(key=key, text=text, tokens=tokens, by=by, level=level, created_at=created_at)
        for key, text, tokens, by, level, created_at in db.execute(_READ, (tenant, json.dumps(list(keys))))
    }


def save(db: apsw.Connection, tenant: int, record: SummaryRecord, sources: Sequence[str]) -> bool:
    """Keep it, unless a source is gone: what was erased while it was made must not come back in it."""
    found = list(db.execute(_SOURCES, (tenant, json.dumps(list(sources)))))
    if not found or (None, None) in found:
        return False
    text = storable(record.text)
    row = (record.key, text, text_hash(text), record.tokens, record.by, record.level, record.created_at)
    summary = db.execute(_SAVE, (tenant, *row)).get
    if summary is not None:
        db.execute("DELETE FROM summary_sources WHERE summary = ?", (summary,))
        links = [(summary, number, *source) for number, source in enumerate(found)]
        db.executemany(_LINK, links)
    return True


def forget(db: apsw.Connection, contents: Sequence[tuple[int]]) -> None:
    """Delete the summaries that cover a content, at every level."""
    db.executemany(_FORGET, contents)


def text_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
