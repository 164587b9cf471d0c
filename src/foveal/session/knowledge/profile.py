"""A store in → all that is known of its user, to be seen and changed; a session and a task in → what of it
matters there, as material for a window.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from foveal.errors import NotFoundError
from foveal.events import MemoryChanged
from foveal.knowledge.importance import thing_id
from foveal.knowledge.values import Depth, Profile, Thing, ThingKind
from foveal.pipeline.material.values import Material
from foveal.session.arguments import a_name, a_text
from foveal.session.knowledge.bundles import Known, Served, Want, all_known, bundles
from foveal.session.knowledge.ledger import settle
from foveal.session.knowledge.memories import spaced_words

if TYPE_CHECKING:
    from foveal.session.state import Resources, SessionState
    from foveal.store import Store
    from foveal.window import Manifest

CATCHING_UP, KEEPING_UP = 60.0, 0.05
"""Seconds of reading that a look at the profile waits for at most, and a window."""
TOPICS, ENTITIES = 12, 60
"""Of each, so many matter to one window at most."""
NAMED, HERE, OFTEN = 1.0, 0.3, 0.5
"""How much a thing has to do with a task: named in it; spoken of in the session, and more the oftener."""
LAYERS = {
    "identity": "L0_identity",
    "facts": "L0_identity",
    "preferences": "L1_global_prefs",
    "topic": "L2_topic",
    "entity": "L3_entity",
}
_ID = re.compile(r"thing-([0-9]{1,18})")


def read_profile(resources: Resources, *, now: float) -> Profile:
    """All that is known, once the messages that nobody read yet are read."""
    resources.reader.catch_up(CATCHING_UP)
    with resources.store.together(write=False):
        known = all_known(resources.store, now)
    return Profile(
        memories=known.memories,
        topics=_most_important(known.things.values(), "topic"),
        entities=_most_important(known.things.values(), "entity"),
    )


def _most_important(things: Iterable[Thing], kind: ThingKind) -> tuple[Thing, ...]:
    return tuple(sorted((t for t in things if t.kind == kind), key=lambda t: (-t.importance, t.slug)))


def rename_thing(resources: Resources, id: str, name: str) -> None:
    _change_thing(resources, id, "edited", name=" ".join(a_name(name, "name").split()))


def forget_thing(resources: Resources, id: str) -> None:
    _change_thing(resources, id, "deleted")


def _change_thing(resources: Resources, id: str, change: str, *, name: str = "") -> None:
    named = _ID.fullmatch(a_text(id, "id"))
    event = MemoryChanged(session="", id=id, change=change)
    with resources.store.together():
        if not named or not resources.store.knowledge.change_thing(int(named[1]), name=name, hidden=not name):
            raise NotFoundError(
                f"there is no topic or entity {id!r}",
                remedy="`profile` lists them with their ids",
                see="profile",
            )
        resources.store.log("", [event], now=time.time())
    resources.bus.emit([event])


def known(
    state: SessionState, *, task: str, depth: Depth = "standard", count: Callable[[str], int], now: float
) -> tuple[Material, ...]:
    """What of all that is known matters to a window: the user, then topics and entities, best first.

    It is what was read so far, and what can be read of the session in a moment: the newest messages are in
    the window themselves. Not to be called inside a transaction: it may keep what it compiles.
    """
    state.resources.reader.catch_up(KEEPING_UP, state.id)
    relevance: dict[str, float] = {}
    things: dict[str, Thing] = {}

    def choose(all: Known) -> Sequence[Want]:
        relevance.clear()
        relevance.update(relevances(state.store, state.id, all.things, task))
        things.update(all.things)
        return bundle_wants(all.things.values(), relevance)

    served = bundles(state.store, choose, depth=depth, count=count, now=now)
    settle(state, served, now=time.time())
    return tuple(
        _material(each, things.get(each.bundle.subject), relevance.get(each.bundle.subject, 1.0), count)
        for each in served
    )


def relevances(store: Store, session: int, things: Mapping[str, Thing], task: str = "") -> dict[str, float]:
    """How much each thing has to do with a session and a task, 0..1, by its id; only those that have."""
    here = store.knowledge.mentioned(session)
    most = max(here.values(), default=1)
    found = {thing_id(number): HERE + OFTEN * times / most for number, times in here.items()}
    asked = spaced_words(task)
    return found | {
        id: NAMED
        for id, thing in things.items()
        if spaced_words(thing.name).strip() and spaced_words(thing.name) in asked
    }


def bundle_wants(things: Iterable[Thing], relevance: Mapping[str, float]) -> list[Want]:
    """The bundles of a window: the user, then topics and entities, best first."""

    def rank(thing: Thing) -> tuple[float, str]:
        return -thing.importance * relevance[thing.id], thing.slug

    matter = sorted((thing for thing in things if thing.id in relevance), key=rank)
    chosen: list[Want] = [("identity", ""), ("facts", ""), ("preferences", "")]
    for kind, most in (("topic", TOPICS), ("entity", ENTITIES)):
        chosen += [(thing.kind, thing.id) for thing in matter if thing.kind == kind][:most]
    return chosen


def _material(served: Served, thing: Thing | None, relevance: float, count: Callable[[str], int]) -> Material:
    bundle = served.bundle
    return Material(
        type=bundle.kind,
        text=bundle.text,
        tokens=count(bundle.text),
        source=bundle.subject,
        title=thing.name if thing else "",
        kind="rag_memory_commit",
        layer=LAYERS[bundle.kind],
        weight=thing.importance if thing else 1.0,
        salience=relevance,
    )


def titled(store: Store, manifest: Manifest) -> Manifest:
    """A stored manifest with the names that its topics and entities have today."""
    if not any(each.type in ("topic", "entity") for each in manifest.contributed):
        return manifest
    names = {thing_id(record.number): record.name for record in store.knowledge.things()}
    named = (replace(each, title=names.get(each.source, "")) for each in manifest.contributed)
    return replace(manifest, contributed=tuple(named))
