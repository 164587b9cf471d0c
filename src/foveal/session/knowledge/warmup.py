"""Where a user is in → what they will probably do, written into a ledger, and its bundles compiled meanwhile.

Three bundles are compiled at a time, in the background; one that fails stops no other, one that is current is
left as it is. Where compiling for nothing has cost more seconds than windows were spared, warming up stops
for that session until somebody asks for it again.

What a client tells of where its user is in → a `Presence`, or an `InputError` that names the field.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import TYPE_CHECKING

from foveal import presets
from foveal.errors import InputError, NotFoundError
from foveal.events import Event, WarmedUp, WarmupStopped
from foveal.knowledge.importance import thing_id, thing_of
from foveal.knowledge.prediction import DEEP, Conversation, predict
from foveal.knowledge.values import Depth, Prediction, PredictionLedger, Presence, Thing
from foveal.session.knowledge.ledger import Key, prediction_ledger, spend, write
from foveal.session.knowledge.profile import bundle_wants, relevances
from foveal.wire.times import seconds

if TYPE_CHECKING:
    from foveal.session.knowledge.bundles import Want
    from foveal.session.state import Resources
    from foveal.store import SessionRecord, Store

MOST = 1_000
"""Conversations or paths that are looked at."""
SHOWN = 1_000_000
"""Numbers below it are shown in errors."""
_HOURS = range(24)


def presence_of(told: Presence | Mapping[str, object]) -> Presence:
    """Times are seconds since 1970 or ISO 8601; what is not told is not known.

    >>> presence_of({"active_conversation": "fix-auth", "local_hour": 9}).local_hour
    9
    """
    given = asdict(told) if isinstance(told, Presence) else told
    if not isinstance(given, Mapping):
        raise InputError(
            f"`presence` is a {type(told).__name__}",
            remedy="give a `Presence` or a mapping of its fields",
            field="presence",
        )
    known = {field.name for field in fields(Presence)}
    for name in given:
        if name not in known:
            raise InputError(
                f"`presence` has an unknown field {name!r}",
                remedy=f"use some of: {', '.join(sorted(known))}",
                field="presence",
            )
    return Presence(
        active_conversation=_text(given, "active_conversation"),
        visible_conversations=_texts(given, "visible_conversations"),
        active_notebook=_text(given, "active_notebook"),
        active_persona=_text(given, "active_persona"),
        last_path=_text(given, "last_path"),
        navigation_history=_texts(given, "navigation_history"),
        local_hour=_hour(given.get("local_hour")),
        session_start=_time(given, "session_start"),
        idle_since=_time(given, "idle_since"),
    )


def _text(given: Mapping[str, object], name: str) -> str:
    value = given.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise _refused(name, value, "text")


def _texts(given: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = given.get(name, ())
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return tuple(value[-MOST:])
    raise _refused(name, value, "a list of texts")


def _hour(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value in _HOURS):
        return value
    raise _refused("local_hour", value, "an hour from 0 to 23")


def _time(given: Mapping[str, object], name: str) -> float | None:
    value = given.get(name)
    found = None if value is None else seconds(value)
    if value is not None and found is None:
        raise _refused(name, value, "seconds since 1970 or an ISO 8601 text")
    return found


def _refused(name: str, value: object, wanted: str) -> InputError:
    told = str(value) if type(value) is int and abs(value) < SHOWN else f"a {type(value).__name__}"
    return InputError(
        f"`presence.{name}` is {told}, not {wanted}", remedy=f"give `{name}` as {wanted}", field=name
    )


AT_A_TIME = 3
KNOWS = "openscroll"
"""The preset whose windows show what is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A bundle, and the prediction that wants it: its type and subject."""

    prediction: Key
    want: Want
    depth: Depth


class Warmer:
    """Who warms up; of each session only the newest predictions wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, Callable[[], None]] = {}

    def ask(self, session: str, work: Callable[[], None]) -> None:
        with self._lock:
            self._waiting[session] = work

    def warm_some(self) -> bool:
        """Warm up for one session; says whether others wait."""
        with self._lock:
            if not self._waiting:
                return False
            work = self._waiting.pop(next(iter(self._waiting)))
        work()
        return bool(self._waiting)


def presence(
    resources: Resources,
    told: Presence | Mapping[str, object],
    *,
    session: str,
    now: float,
    warm: bool | None,
) -> tuple[Prediction, ...]:
    """Predict, write it down, and have the bundles compiled in the background."""
    where = presence_of(told)
    events: list[Event] = []
    with resources.store.together():
        place = _place(resources.store, session, where)
        things = _things(resources.store, where, now)
        made = _predicted(resources.store, where, things, now)
        wanted = {_key(each, things): _wanted(resources.store, each, things) for each in made}
        lines = {_key(each, things): each.probability for each in made}
        warms = write(resources.store, place, lines, now=now, warm=warm)
        if warms == "stopped now" and place:
            ledger = prediction_ledger(resources.store, [place], now=now)
            events = [WarmupStopped(session=place.name, used=ledger.used, wasted=ledger.wasted)]
            resources.store.log(place.name, events, now=now)
    resources.bus.emit(events)
    if warms == "on" and made:
        depth: Depth = (
            "deep" if DEEP in made[0].required_bundles else presets.find(KNOWS, resources.numbers).depth
        )
        name = place.name if place else ""
        resources.warmer.ask(name, partial(_warm, resources, place, _units(wanted, depth), len(made)))
        resources.worker.wake()
    return made


def ledger(resources: Resources, session: str, *, now: float) -> PredictionLedger:
    """How predictions did, for one session or for all."""
    with resources.store.together(write=False):
        place = _place(resources.store, session, Presence())
        return prediction_ledger(resources.store, [place] if place else None, now=now)


def _place(store: Store, session: str, where: Presence) -> SessionRecord | None:
    """The session whose ledger it is: the one that was named, or else the active one if it is known."""
    name = session or where.active_conversation
    found = store.named(name)
    if session and found is None:
        raise NotFoundError(f"there is no session {session!r}", remedy="`sessions` lists them")
    return found


def _things(store: Store, where: Presence, now: float) -> dict[str, Thing]:
    """By id, with peak hours on the user's clock as far as its hour is known."""
    ahead = 0 if where.local_hour is None else where.local_hour - int(now // 3600 % 24)
    offset = ((ahead + 12) % 24 - 12) * 3600.0
    return {
        thing_id(each.number): thing_of(each, now=now, offset=offset) for each in store.knowledge.things()
    }


def _predicted(
    store: Store, where: Presence, things: Mapping[str, Thing], now: float
) -> tuple[Prediction, ...]:
    return predict(
        where,
        topics=[each for each in things.values() if each.kind == "topic"],
        entities=[each for each in things.values() if each.kind == "entity"],
        conversations=[
            Conversation(id=each.name, topics=_topics(store, each, things))
            for each in store.sessions()
            if each.name == where.active_conversation
        ],
        now=now,
    )


def _topics(store: Store, session: SessionRecord, things: Mapping[str, Thing]) -> tuple[str, ...]:
    """What a session is about, what it mentions most first."""
    often = {thing_id(number): times for number, times in store.knowledge.mentioned(session.id).items()}
    about = [things[id] for id in often if id in things and things[id].kind == "topic"]
    return tuple(each.slug for each in sorted(about, key=lambda each: (-often[each.id], each.slug)))


def _key(made: Prediction, things: Mapping[str, Thing]) -> Key:
    topic = next((id for id in _of_slug(made.topic_slug, things)), made.topic_slug)
    return made.type, made.conversation_id or made.entity_id or topic


def _of_slug(slug: str, things: Mapping[str, Thing]) -> Iterable[str]:
    return (id for id, thing in things.items() if slug and thing.kind == "topic" and thing.slug == slug)


def _wanted(store: Store, made: Prediction, things: Mapping[str, Thing]) -> list[Want]:
    """The bundles for a prediction: for a conversation all that a window of it may show.

    How it went is told by the window itself, from messages that are read once: what one compiled before the
    next message would be out of date with it.
    """
    wants: list[Want] = [("topic", id) for id in _of_slug(made.topic_slug, things)]
    if made.entity_id:
        wants.append(("entity", made.entity_id))
    for session in store.sessions() if made.conversation_id else ():
        if session.name == made.conversation_id:
            relevance = relevances(store, session.id, things)
            wants += bundle_wants(things.values(), relevance)
    return wants


def _units(wanted: Mapping[Key, Iterable[Want]], depth: Depth) -> list[Unit]:
    """Each bundle once, for the first prediction that wants it."""
    first: dict[Want, Key] = {}
    for key, wants in wanted.items():
        for want in wants:
            first.setdefault(want, key)
    return [Unit(prediction=key, want=want, depth=depth) for want, key in first.items()]


def _warm(resources: Resources, place: SessionRecord | None, units: Sequence[Unit], predicted: int) -> None:
    """Compile the bundles, then write down what each prediction cost."""
    from concurrent.futures import ThreadPoolExecutor

    count = _count()
    with ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="foveal-warming") as pool:
        work = [pool.submit(_compiled, resources, unit, count) for unit in units]
    failed = sum(each.exception() is not None for each in work)
    done = {unit: each.result() for unit, each in zip(units, work, strict=True) if each.exception() is None}
    spent: defaultdict[Key, float] = defaultdict(float)
    for unit, (compiled, seconds) in done.items():
        spent[unit.prediction] += seconds if compiled else 0.0
    name = place.name if place else ""
    number = sum(compiled for compiled, _ in done.values())
    event = WarmedUp(session=name, predicted=predicted, compiled=number, failed=failed)
    with resources.store.together():
        spend(resources.store, place, {key: seconds for key, seconds in spent.items() if seconds})
        resources.store.log(name, [event], now=time.time())
    resources.bus.emit([event])


def _compiled(resources: Resources, unit: Unit, count: Callable[[str], int]) -> tuple[int, float]:
    """How many bundles were not current, one or none, and the seconds of computing that it took."""
    from foveal.session.knowledge.bundles import bundles

    began = time.thread_time()
    made = bundles(resources.store, lambda _: (unit.want,), depth=unit.depth, count=count, now=time.time())
    return sum(each.compiled for each in made), time.thread_time() - began


def _count() -> Callable[[str], int]:
    from foveal.pipeline.tokens.count import tokenizer
    from foveal.session.resources import COUNTED_BY

    return tokenizer(COUNTED_BY).count
