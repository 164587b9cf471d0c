"""Predictions and the windows that were built in → the ledger: which were used, which wasted, does it pay?

A prediction is used when a window with what is known is built of that conversation, or shows that topic or
entity. It is wasted when 30 minutes pass, or when newer predictions for the same session do not have it any
more. A bundle that a window had to wait for and nobody had predicted is missed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast

from foveal.knowledge.values import Outcome, Predicted, PredictionLedger, PredictionType
from foveal.store import PredictionRecord, WarmupRecord

if TYPE_CHECKING:
    from foveal.session.knowledge.bundles import Served
    from foveal.session.state import SessionState
    from foveal.store import SessionRecord, Store

Key = tuple[PredictionType, str]
"""Type and subject: a session's name, a thing's id."""
Warming = Literal["on", "off", "stopped now"]
LASTING = 30 * 60.0
"""Seconds after which a prediction that nobody used is wasted."""
FEWEST = 10
"""Warmed-up predictions that must be settled before it is asked whether warming up pays."""
LOOKED_AT = 1_000
"""Lines of the ledger, the newest."""
RECENT = 200
"""Lines that a build looks at: what is open is among them."""
SHOWN = 50
_PREDICTS: Mapping[str, str] = {
    "continue_conversation": "conversation",
    "new_on_topic": "topic",
    "entity_related": "entity",
}
_PREDICTED = frozenset(_PREDICTS.values())
"""Kinds of bundles that can be predicted; the others are the same for every window."""


def write(
    store: Store, place: SessionRecord | None, made: Mapping[Key, float], *, now: float, warm: bool | None
) -> Warming:
    """Write new predictions down, settle those they replace; says whether to warm up for them."""
    session = place.id if place else None
    lines = _lines(store, session)
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
    store.knowledge.save_predictions(session, [*wasted, *fresh])
    if place is None:
        return "off" if warm is False else "on"
    return _decided(store, place, warm=warm)


def _decided(store: Store, place: SessionRecord, *, warm: bool | None) -> Warming:
    record = store.knowledge.warmup(place.id)
    lines = _lines(store, place.id)
    pays = not record.stopped and _pays(lines, record)
    if warm is False or (record.stopped and not warm):
        return "off"
    if pays:
        return "on"
    if warm:
        # What it cost before is forgiven, or it would stop again at once.
        forgiven = [replace(line, seconds=0.0) for line in lines if line.seconds]
        store.knowledge.save_predictions(place.id, forgiven)
        store.knowledge.save_warmup(place.id, replace(record, stopped=False, saved=0.0))
        return "on"
    store.knowledge.save_warmup(place.id, replace(record, stopped=True))
    return "stopped now"


def _pays(lines: Iterable[PredictionRecord], record: WarmupRecord) -> bool:
    warmed = [line for line in lines if line.outcome != "open" and line.seconds > 0]
    lost = sum(line.seconds for line in warmed if line.outcome == "wasted")
    return len(warmed) < FEWEST or lost <= record.saved


def spend(store: Store, place: SessionRecord | None, spent: Mapping[Key, float]) -> None:
    """Write down the seconds that warming up for predictions took."""
    session = place.id if place else None
    lines = [line for line in _lines(store, session) if line.outcome == "open" and _key(line) in spent]
    cost = [replace(line, seconds=line.seconds + spent[_key(line)]) for line in lines]
    store.knowledge.save_predictions(session, cost)


def settle(state: SessionState, shown: Sequence[Served], *, now: float) -> None:
    """A window of a session was built and shows these bundles."""
    lines = state.store.knowledge.predictions(limit=RECENT)
    if not lines:  # nobody asks for predictions here
        return
    late: dict[tuple[str, str], bool] = {
        (each.bundle.kind, each.bundle.subject): each.compiled for each in shown
    }
    waiting = [line for line in lines if _is_open(line, now)]
    here = ("conversation", state.name)
    used = [line for line in waiting if _bundle(line) == here or _bundle(line) in late]
    expired = [line for line in lines if line.outcome == "open" and not _is_open(line, now)]
    covered = {_bundle(line) for line in waiting}
    missed = [want for want in late if late[want] and want[0] in _PREDICTED and want not in covered]
    if not (used or expired or missed):
        return
    with state.store.transaction():
        for line in (*used, *expired):
            outcome: Outcome = "used" if line in used else "wasted"
            state.store.knowledge.save_predictions(line.session, [replace(line, outcome=outcome)])
        for line in used:
            _count(state.store, line.session, saved=0.0 if late.get(_bundle(line)) else line.seconds)
        _count(state.store, state.id, missed=len(missed))


def _bundle(line: PredictionRecord) -> tuple[str, str]:
    """The bundle that a prediction is of."""
    return _PREDICTS[line.kind], line.subject


def _count(store: Store, session: int | None, *, saved: float = 0.0, missed: int = 0) -> None:
    if session is not None and (saved or missed):
        record = store.knowledge.warmup(session)
        told = replace(record, saved=record.saved + saved, missed=record.missed + missed)
        store.knowledge.save_warmup(session, told)


def prediction_ledger(
    store: Store, places: Sequence[SessionRecord] | None, *, now: float
) -> PredictionLedger:
    """How predictions did, of these sessions or of all: the newest thousand lines of each."""
    lines = (
        list(store.knowledge.predictions(limit=LOOKED_AT))
        if places is None
        else [line for place in places for line in _lines(store, place.id)]
    )
    told = [_told(line, now) for line in lines]
    sessions = {line.session for line in lines} if places is None else {place.id for place in places}
    books = [store.knowledge.warmup(each) for each in sorted(s for s in sessions if s is not None)]
    outcomes = Counter(each.outcome for each in told)
    return PredictionLedger(
        made=len(told),
        used=outcomes["used"],
        wasted=outcomes["wasted"],
        open=outcomes["open"],
        missed=sum(book.missed for book in books),
        seconds_saved=sum(book.saved for book in books),
        seconds_wasted=sum(each.seconds for each in told if each.outcome == "wasted"),
        off=any(book.stopped for book in books),
        newest=tuple(told[:SHOWN]),
    )


def _told(line: PredictionRecord, now: float) -> Predicted:
    late = line.outcome == "open" and not _is_open(line, now)
    return Predicted(
        type=cast("PredictionType", line.kind),
        subject=line.subject,
        probability=line.probability,
        made_at=line.made_at,
        outcome="wasted" if late else line.outcome,
        seconds=line.seconds,
    )


def _lines(store: Store, session: int | None) -> list[PredictionRecord]:
    """Those of a session, or those that were made for none."""
    return [each for each in store.knowledge.predictions(session, limit=LOOKED_AT) if each.session == session]


def _key(line: PredictionRecord) -> Key:
    return cast("PredictionType", line.kind), line.subject


def _is_open(line: PredictionRecord, now: float) -> bool:
    return line.outcome == "open" and now - line.made_at < LASTING
