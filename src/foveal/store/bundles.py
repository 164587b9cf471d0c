"""Bundles and predictions in → the same out again: the bundles by subject, the ledger newest first."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from foveal.store.knowledge import BundleRecord, PredictionRecord, WarmupRecord
from foveal.store.storing import storable

_FORGOTTEN = "SELECT forgotten FROM tenants WHERE id = ?"
_READ = """
    SELECT bundles.kind, bundles.subject, depth, text, tokens, version, compiled_at
    FROM json_each(?3) AS wanted CROSS JOIN bundles
        ON bundles.tenant = ?1 AND bundles.kind = wanted.value ->> 0
        AND bundles.subject = wanted.value ->> 1 AND bundles.depth = ?2
"""
_SAVE = "INSERT OR REPLACE INTO bundles VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_PREDICT = """
    INSERT INTO predictions (tenant, session, kind, subject, probability, made_at, outcome, seconds)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_SETTLE = """
    UPDATE predictions SET probability = ?, outcome = ?, seconds = ?
    WHERE tenant = ? AND session IS ? AND id = ?
"""
_PREDICTIONS = """
    SELECT id, kind, subject, probability, made_at, outcome, seconds, session FROM predictions
    WHERE tenant = ?1 AND (?2 IS NULL OR session = ?2) ORDER BY id DESC LIMIT ?3
"""
_SAVE_WARMUP = "INSERT OR REPLACE INTO warmups (session, missed, saved, stopped) VALUES (?, ?, ?, ?)"


def forgotten(db: apsw.Connection, tenant: int) -> int:
    number: int = db.execute(_FORGOTTEN, (tenant,)).get
    return number


def read(
    db: apsw.Connection, tenant: int, subjects: Sequence[tuple[str, str]], depth: str
) -> list[BundleRecord]:
    wanted = json.dumps([(kind, storable(subject)) for kind, subject in subjects])
    return [
        BundleRecord(
            kind=kind,
            subject=subject,
            depth=depth,
            text=text,
            tokens=tokens,
            version=version,
            compiled_at=compiled_at,
        )
        for kind, subject, depth, text, tokens, version, compiled_at in (
            db.execute(_READ, (tenant, depth, wanted))
        )
    ]


def save(db: apsw.Connection, tenant: int, bundles: Sequence[BundleRecord], *, as_of: int) -> bool:
    if forgotten(db, tenant) != as_of:
        return False
    rows = [
        (tenant, b.kind, storable(b.subject), b.depth, storable(b.text), b.tokens, b.version, b.compiled_at)
        for b in bundles
    ]
    db.executemany(_SAVE, rows)
    return True


def save_predictions(
    db: apsw.Connection, tenant: int, session: int | None, made: Sequence[PredictionRecord]
) -> None:
    for each in made:
        told = (each.outcome, each.seconds)
        if each.number:
            db.execute(_SETTLE, (each.probability, *told, tenant, session, each.number))
        else:
            row = (each.kind, storable(each.subject), each.probability, each.made_at)
            db.execute(_PREDICT, (tenant, session, *row, *told))


def predictions(db: apsw.Connection, tenant: int, session: int | None, limit: int) -> list[PredictionRecord]:
    return [
        PredictionRecord(
            number=number,
            kind=kind,
            subject=subject,
            probability=probability,
            made_at=made_at,
            outcome=outcome,
            seconds=seconds,
            session=of,
        )
        for number, kind, subject, probability, made_at, outcome, seconds, of in (
            db.execute(_PREDICTIONS, (tenant, session, limit))
        )
    ]


def warmup(db: apsw.Connection, session: int) -> WarmupRecord:
    row = db.execute("SELECT missed, saved, stopped FROM warmups WHERE session = ?", (session,)).fetchone()
    if row is None:
        return WarmupRecord()
    missed, saved, stopped = row
    return WarmupRecord(missed=missed, saved=saved, stopped=bool(stopped))


def save_warmup(db: apsw.Connection, session: int, record: WarmupRecord) -> None:
    db.execute(_SAVE_WARMUP, (session, record.missed, record.saved, record.stopped))
