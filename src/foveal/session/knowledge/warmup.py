"""Predict what a user will do next, and compile the bundles for it in the background.

Three bundles are compiled at a time; one that fails does not stop the others, and current ones are left as
they are. If compiling for wrong predictions took longer than windows were saved from waiting, warming up
stops for that session until a caller requests it again.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from foveal import presets
from foveal.errors import InputError, NotFoundError
from foveal.events import Event, WarmedUp, WarmupStopped
from foveal.knowledge.importance import thing_id, thing_of
from foveal.knowledge.prediction import DEEP, Conversation, predict
from foveal.knowledge.values import Depth, Prediction, PredictionLedger, Presence, Thing
from foveal.pipeline.tokens.count import tokenizer
from foveal.session.knowledge.bundles import BundleKey, bundles
from foveal.session.knowledge.ledger import Key, prediction_ledger, record_cost, record_predictions
from foveal.session.knowledge.profile import bundle_keys, relevances
from foveal.session.resources import COUNTED_BY, Resources
from foveal.store import SessionRecord, Store
from foveal.wire.times import seconds

if TYPE_CHECKING:
    from pydantic import TypeAdapter

MOST = 1_000
"""Conversations and paths that are kept, the last ones."""
WORKERS = 3
KNOWLEDGE_PRESET = "openscroll"
"""The preset whose windows show what is known."""
_LISTS = ("visible_conversations", "navigation_history")
_TIMES = ("session_start", "idle_since")
_EXPECTED: Mapping[str, str] = {
    "local_hour": "an hour from 0 to 23",
    **dict.fromkeys(_LISTS, "a list of texts"),
    **dict.fromkeys(_TIMES, "seconds since 1970 or an ISO 8601 text"),
}
"""By field of a presence, what a client can send; text for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A bundle to compile, and the prediction that needs it."""

    prediction: Key
    bundle: BundleKey
    depth: Depth


class Warmer:
    """The queue of warm-ups; newer predictions for a session replace those that still wait."""

    def __init__(self, _resources: Resources) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, Callable[[], None]] = {}

    def enqueue(self, session: str, work: Callable[[], None]) -> None:
        with self._lock:
            self._waiting[session] = work

    def warm_some(self) -> bool:
        """Warm up for one session; returns whether others are waiting."""
        with self._lock:
            if not self._waiting:
                return False
            work = self._waiting.pop(next(iter(self._waiting)))
        work()
        return bool(self._waiting)


def presence(
    resources: Resources,
    given: Presence | Mapping[str, object],
    *,
    session: str,
    now: float,
    warm: bool | None,
) -> tuple[Prediction, ...]:
    """Predict, record the predictions, and have their bundles compiled in the background."""
    where = presence_of(given)
    events: list[Event] = []
    with resources.store.transaction():
        record = _session(resources.store, session, where)
        things = _things(resources.store, where, now)
        made = _predict(resources.store, where, things, now)
        needed = {_key(each, things): _needed(resources.store, each, things) for each in made}
        probabilities = {_key(each, things): each.probability for each in made}
        warming = record_predictions(resources.store, record, probabilities, now=now, warm=warm)
        if warming == "stopped now" and record:
            ledger = prediction_ledger(resources.store, [record], now=now)
            events = [WarmupStopped(session=record.name, used=ledger.used, wasted=ledger.wasted)]
            resources.store.log(record.name, events, now=now)
    resources.bus.emit(events)
    if warming == "on" and made:
        deep = DEEP in made[0].required_bundles
        depth: Depth = "deep" if deep else presets.find(KNOWLEDGE_PRESET, resources.numbers).depth
        name = record.name if record else ""
        resources.part(Warmer).enqueue(
            name, partial(_warm, resources, record, _jobs(needed, depth), len(made))
        )
        resources.worker.wake()
    return made


def presence_of(given: Presence | Mapping[str, object]) -> Presence:
    """Validate what a client sent about where its user is; times are seconds since 1970 or ISO 8601.

    >>> presence_of({"active_conversation": "fix-auth", "local_hour": 9}).local_hour
    9
    """
    from pydantic import ValidationError

    values = asdict(given) if isinstance(given, Presence) else given
    if not isinstance(values, Mapping):
        raise InputError(
            f"`presence` is a {type(given).__name__}",
            remedy="pass a `Presence` or a mapping of its fields",
            field="presence",
        )
    known = {field.name for field in fields(Presence)}
    for name in values:
        if name not in known:
            raise InputError(
                f"`presence` has an unknown field {name!r}",
                remedy=f"use some of: {', '.join(sorted(known))}",
                field="presence",
            )
    prepared = {
        name: _prepared(name, value) for name, value in values.items() if value is not None or name in _LISTS
    }
    try:
        found = _adapter().validate_python(Presence(**prepared))  # type: ignore[arg-type]
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        raise _invalid(name, values[name]) from error
    if found.local_hour is not None and found.local_hour not in range(24):
        raise _invalid("local_hour", found.local_hour)
    return replace(
        found,
        visible_conversations=found.visible_conversations[-MOST:],
        navigation_history=found.navigation_history[-MOST:],
    )


@cache
def _adapter() -> TypeAdapter[Presence]:
    from pydantic import TypeAdapter

    return TypeAdapter(Presence)


def _prepared(name: str, value: object) -> object:
    """A client's value as a presence has it: lists as tuples, times as seconds."""
    if name in _LISTS and isinstance(value, list):
        return tuple(value)
    if name not in _TIMES:
        return value
    found = seconds(value)
    if found is None:
        raise _invalid(name, value)
    return found


def _invalid(name: str, value: object) -> InputError:
    shown = str(value) if type(value) is int and abs(value) < 1_000_000 else f"a {type(value).__name__}"
    expected = _EXPECTED.get(name, "text")
    return InputError(
        f"`presence.{name}` is {shown}, not {expected}",
        remedy=f"pass `{name}` as {expected}",
        field=name,
    )


def ledger(resources: Resources, session: str, *, now: float) -> PredictionLedger:
    """The outcomes of predictions, for one session or for all."""
    with resources.store.transaction(write=False):
        record = _session(resources.store, session, Presence())
        return prediction_ledger(resources.store, [record] if record else None, now=now)


def _session(store: Store, session: str, where: Presence) -> SessionRecord | None:
    """The session that predictions are recorded for: the given one, else the active one if it is stored."""
    name = session or where.active_conversation
    found = store.find_session(name)
    if session and found is None:
        raise NotFoundError(
            f"there is no session {session!r}", remedy="`sessions` lists them", see="sessions"
        )
    return found


def _things(store: Store, where: Presence, now: float) -> dict[str, Thing]:
    """By id, with peak hours in the user's local time if their hour is known."""
    ahead = 0 if where.local_hour is None else where.local_hour - int(now // 3600 % 24)
    offset = ((ahead + 12) % 24 - 12) * 3600.0
    return {
        thing_id(each.number): thing_of(each, now=now, offset=offset) for each in store.knowledge.things()
    }


def _predict(
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
    """The topics that a session mentions, the most frequent first."""
    often = {thing_id(number): times for number, times in store.knowledge.mentioned(session.id).items()}
    about = [things[id] for id in often if id in things and things[id].kind == "topic"]
    return tuple(each.slug for each in sorted(about, key=lambda each: (-often[each.id], each.slug)))


def _key(made: Prediction, things: Mapping[str, Thing]) -> Key:
    topic = next(iter(_ids_of_topic(made.topic_slug, things)), made.topic_slug)
    return made.type, made.conversation_id or made.entity_id or topic


def _ids_of_topic(slug: str, things: Mapping[str, Thing]) -> list[str]:
    return [id for id, thing in things.items() if slug and thing.kind == "topic" and thing.slug == slug]


def _needed(store: Store, made: Prediction, things: Mapping[str, Thing]) -> list[BundleKey]:
    """The bundles that a prediction needs; for a conversation, all that its window may show.

    The conversation itself is not compiled: the next message would make it stale, and the window summarizes
    it.
    """
    keys: list[BundleKey] = [("topic", id) for id in _ids_of_topic(made.topic_slug, things)]
    if made.entity_id:
        keys.append(("entity", made.entity_id))
    for session in store.sessions() if made.conversation_id else ():
        if session.name == made.conversation_id:
            relevance = relevances(store, session.id, things)
            keys += bundle_keys(things.values(), relevance)
    return keys


def _jobs(needed: Mapping[Key, Iterable[BundleKey]], depth: Depth) -> list[Job]:
    """Each bundle once, for the first prediction that needs it."""
    first: dict[BundleKey, Key] = {}
    for prediction, keys in needed.items():
        for key in keys:
            first.setdefault(key, prediction)
    return [Job(prediction=prediction, bundle=key, depth=depth) for key, prediction in first.items()]


def _warm(resources: Resources, session: SessionRecord | None, jobs: Sequence[Job], predicted: int) -> None:
    """Compile the bundles, then record what each prediction cost."""
    from concurrent.futures import ThreadPoolExecutor

    count = _count()
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="foveal-warming") as pool:
        work = [pool.submit(_compile, resources, job, count) for job in jobs]
    failed = sum(each.exception() is not None for each in work)
    done = {job: each.result() for job, each in zip(jobs, work, strict=True) if each.exception() is None}
    costs: defaultdict[Key, float] = defaultdict(float)
    for job, (compiled, cost) in done.items():
        costs[job.prediction] += cost if compiled else 0.0
    name = session.name if session else ""
    number = sum(compiled for compiled, _ in done.values())
    event = WarmedUp(session=name, predicted=predicted, compiled=number, failed=failed)
    with resources.store.transaction():
        record_cost(resources.store, session, {key: cost for key, cost in costs.items() if cost})
        resources.store.log(name, [event], now=time.time())
    resources.bus.emit([event])


def _compile(resources: Resources, job: Job, count: Callable[[str], int]) -> tuple[int, float]:
    """Compile a bundle unless it is current; returns how many were compiled, 0 or 1, and the CPU seconds."""
    began = time.thread_time()
    made = bundles(resources.store, lambda _: (job.bundle,), depth=job.depth, count=count, now=time.time())
    return sum(each.compiled for each in made), time.thread_time() - began


def _count() -> Callable[[str], int]:
    return tokenizer(COUNTED_BY).count
