"""Record predictions and their outcomes, and decide whether warming up for them pays off.

A prediction is used when a window with knowledge is built for its conversation or shows its topic or entity.
It is wasted after 30 minutes, or when newer predictions for the same session no longer include it. A bundle
that a window had to wait for and no prediction covered is missed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast

from foveal.knowledge.values import Outcome, Predicted, PredictionLedger, PredictionType, Served
from foveal.store import PredictionRecord, WarmupRecord

if TYPE_CHECKING:
    from foveal.session.state import SessionState
    from foveal.store import SessionRecord, Store

Key = tuple[PredictionType, str]
"""Type and subject: a session's name or a thing's id."""
Warming = Literal["on", "off", "stopped now"]
LIFETIME = 30 * 60.0
"""Seconds after which an unused prediction is wasted."""
FEWEST = 10
"""How many warmed-up predictions must be settled before deciding whether warming up pays off."""
MOST_READ = 1_000
"""How many of the newest predictions of a session count."""
RECENT = 200
"""How many of the newest predictions a build reads; open ones are among them."""
SHOWN = 50
_BUNDLE_KINDS: Mapping[str, str] = {
    "continue_conversation": "conversation",
    "new_on_topic": "topic",
    "entity_related": "entity",
}
_PREDICTABLE = frozenset(_BUNDLE_KINDS.values())
"""Kinds of bundles that can be predicted; the others are the same for every window."""


def record_predictions(
    store: Store, session: SessionRecord | None, made: Mapping[Key, float], *, now: float, warm: bool | None
) -> Warming:
    """Store new predictions, settle those they replace, and decide whether to warm up for them."""
    session_id = session.id if session else None
    lines = _lines(store, session_id)
    kept = {_key(line) for line in lines if _is_open(line, now) and _key(line) in made}
    wasted = [
        replace(line, outcome="wasted")
        for line in lines
        if line.outcome == "open" and not (_is_open(line, now) and _key(line) in made)
    ]
    fresh = [
        PredictionRecord(kind=kind, subject=subject, probability=probability, made_at=now)
        for (kind, subject), probability in made.items()
        if (kind, subject) not in kept
    ]
    store.knowledge.save_predictions(session_id, [*wasted, *fresh])
    if session is None:
        return "off" if warm is False else "on"
    return _decide(store, session, warm=warm)


def _decide(store: Store, session: SessionRecord, *, warm: bool | None) -> Warming:
    record = store.knowledge.warmup(session.id)
    lines = _lines(store, session.id)
    pays = not record.stopped and _pays_off(lines, record)
    if warm is False or (record.stopped and not warm):
        return "off"
    if pays:
        return "on"
    if warm:
        # Earlier costs are cleared, or it would stop again at once.
        cleared = [replace(line, seconds=0.0) for line in lines if line.seconds]
        store.knowledge.save_predictions(session.id, cleared)
        store.knowledge.save_warmup(session.id, replace(record, stopped=False, saved=0.0))
        return "on"
    store.knowledge.save_warmup(session.id, replace(record, stopped=True))
    return "stopped now"


def _pays_off(lines: Iterable[PredictionRecord], record: WarmupRecord) -> bool:
    warmed = [line for line in lines if line.outcome != "open" and line.seconds > 0]
    lost = sum(line.seconds for line in warmed if line.outcome == "wasted")
    return len(warmed) < FEWEST or lost <= record.saved


def record_cost(store: Store, session: SessionRecord | None, seconds: Mapping[Key, float]) -> None:
    """Add the seconds that warming up for predictions took."""
    session_id = session.id if session else None
    lines = [line for line in _lines(store, session_id) if line.outcome == "open" and _key(line) in seconds]
    changed = [replace(line, seconds=line.seconds + seconds[_key(line)]) for line in lines]
    store.knowledge.save_predictions(session_id, changed)


def settle(state: SessionState, shown: Sequence[Served], *, now: float) -> None:
    """Update the outcomes of predictions after a window with these bundles was built."""
    lines = state.store.knowledge.predictions(limit=RECENT)
    if not lines:
        return
    compiled: dict[tuple[str, str], bool] = {(each.kind, each.subject): each.compiled for each in shown}
    waiting = [line for line in lines if _is_open(line, now)]
    here = ("conversation", state.name)
    used = [line for line in waiting if _bundle(line) == here or _bundle(line) in compiled]
    expired = [line for line in lines if line.outcome == "open" and not _is_open(line, now)]
    covered = {_bundle(line) for line in waiting}
    missed = [key for key in compiled if compiled[key] and key[0] in _PREDICTABLE and key not in covered]
    if not (used or expired or missed):
        return
    with state.store.transaction():
        for line in (*used, *expired):
            outcome: Outcome = "used" if line in used else "wasted"
            state.store.knowledge.save_predictions(line.session, [replace(line, outcome=outcome)])
        for line in used:
            _add_totals(state.store, line.session, saved=0.0 if compiled.get(_bundle(line)) else line.seconds)
        _add_totals(state.store, state.id, missed=len(missed))


def _bundle(line: PredictionRecord) -> tuple[str, str]:
    """The kind and subject of the bundle that a prediction is about."""
    return _BUNDLE_KINDS[line.kind], line.subject


def _add_totals(store: Store, session: int | None, *, saved: float = 0.0, missed: int = 0) -> None:
    if session is not None and (saved or missed):
        record = store.knowledge.warmup(session)
        totals = replace(record, saved=record.saved + saved, missed=record.missed + missed)
        store.knowledge.save_warmup(session, totals)


def prediction_ledger(
    store: Store, sessions: Sequence[SessionRecord] | None, *, now: float
) -> PredictionLedger:
    """The outcomes of the newest thousand predictions, of each of these sessions or of all together."""
    lines = (
        list(store.knowledge.predictions(limit=MOST_READ))
        if sessions is None
        else [line for session in sessions for line in _lines(store, session.id)]
    )
    predicted = [_predicted(line, now) for line in lines]
    ids = {line.session for line in lines} if sessions is None else {session.id for session in sessions}
    totals = [store.knowledge.warmup(each) for each in sorted(id for id in ids if id is not None)]
    outcomes = Counter(each.outcome for each in predicted)
    return PredictionLedger(
        made=len(predicted),
        used=outcomes["used"],
        wasted=outcomes["wasted"],
        open=outcomes["open"],
        missed=sum(each.missed for each in totals),
        seconds_saved=sum(each.saved for each in totals),
        seconds_wasted=sum(each.seconds for each in predicted if each.outcome == "wasted"),
        off=any(each.stopped for each in totals),
        newest=tuple(predicted[:SHOWN]),
    )


def _predicted(line: PredictionRecord, now: float) -> Predicted:
    expired = line.outcome == "open" and not _is_open(line, now)
    return Predicted(
        type=cast("PredictionType", line.kind),
        subject=line.subject,
        probability=line.probability,
        made_at=line.made_at,
        outcome="wasted" if expired else line.outcome,
        seconds=line.seconds,
    )


def _lines(store: Store, session: int | None) -> list[PredictionRecord]:
    """The predictions made for a session, or for none."""
    return [each for each in store.knowledge.predictions(session, limit=MOST_READ) if each.session == session]


def _key(line: PredictionRecord) -> Key:
    return cast("PredictionType", line.kind), line.subject


def _is_open(line: PredictionRecord, now: float) -> bool:
    return line.outcome == "open" and now - line.made_at < LIFETIME
