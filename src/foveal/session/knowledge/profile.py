"""Show and change what is known about the user, and choose what of it a window needs, as material."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from foveal.errors import NotFoundError
from foveal.events import MemoryChanged
from foveal.knowledge.importance import thing_id
from foveal.knowledge.values import Depth, Profile, Served, Thing, ThingKind
from foveal.pipeline.material.values import Material
from foveal.session.arguments import a_name, a_text
from foveal.session.knowledge.bundles import BundleKey, Known, all_known, bundles
from foveal.session.knowledge.ledger import settle
from foveal.session.knowledge.memories import spaced_words
from foveal.session.knowledge.mine import Reader
from foveal.session.resources import Resources
from foveal.session.state import SessionState
from foveal.store import Store
from foveal.window import Manifest

CATCHING_UP, KEEPING_UP = 60.0, 0.05
"""Seconds that a profile request and a window wait at most for unread messages to be read."""
TOPICS, ENTITIES = 12, 60
"""The most topics and entities of one window."""
NAMED, HERE, OFTEN = 1.0, 0.3, 0.5
"""How relevant a thing is: named in the task; mentioned in the session, and added for its frequency there."""
LAYERS = {
    "identity": "L0_identity",
    "facts": "L0_identity",
    "preferences": "L1_global_prefs",
    "topic": "L2_topic",
    "entity": "L3_entity",
}
_ID = re.compile(r"thing-([0-9]{1,18})")


def read_profile(resources: Resources, *, now: float) -> Profile:
    """Everything that is known, after reading unread messages."""
    resources.part(Reader).catch_up(CATCHING_UP)
    with resources.store.transaction(write=False):
        known = all_known(resources.store, now)
    return Profile(
        memories=known.memories,
        topics=_most_important(known.things.values(), "topic"),
        entities=_most_important(known.things.values(), "entity"),
    )


def _most_important(things: Iterable[Thing], kind: ThingKind) -> tuple[Thing, ...]:
    return tuple(sorted((t for t in things if t.kind == kind), key=lambda t: (-t.importance, t.slug)))


def rename_thing(resources: Resources, id: str, name: str) -> None:
    """Rename a topic or an entity; mining does not rename it again."""
    _change_thing(resources, id, "edited", name=" ".join(a_name(name, "name").split()))


def forget_thing(resources: Resources, id: str) -> None:
    """Hide a topic or an entity; later mentions do not bring it back."""
    _change_thing(resources, id, "deleted")


def _change_thing(resources: Resources, id: str, change: str, *, name: str = "") -> None:
    named = _ID.fullmatch(a_text(id, "id"))
    event = MemoryChanged(session="", id=id, change=change)
    with resources.store.transaction():
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
    """The knowledge that a window needs, as material: about the user, then topics and entities, best first.

    It covers what was read so far and what can be read of the session in a moment; the latest messages are in
    the window anyway. Do not call it inside a transaction: it may store what it compiles.
    """
    state.resources.part(Reader).catch_up(KEEPING_UP, state.id)
    relevance: dict[str, float] = {}
    things: dict[str, Thing] = {}

    def choose(all: Known) -> Sequence[BundleKey]:
        relevance.clear()
        relevance.update(relevances(state.store, state.id, all.things, task))
        things.update(all.things)
        return bundle_keys(all.things.values(), relevance)

    served = bundles(state.store, choose, depth=depth, count=count, now=now)
    settle(state, served, now=time.time())
    return tuple(
        _material(each, things.get(each.subject), relevance.get(each.subject, 1.0), count) for each in served
    )


def relevances(store: Store, session: int, things: Mapping[str, Thing], task: str = "") -> dict[str, float]:
    """The relevance of each thing to a session and a task, 0..1, by its id; irrelevant ones are left out."""
    here = store.knowledge.mentioned(session)
    most = max(here.values(), default=1)
    found = {thing_id(number): HERE + OFTEN * times / most for number, times in here.items()}
    words = spaced_words(task)
    return found | {
        id: NAMED
        for id, thing in things.items()
        if spaced_words(thing.name).strip() and spaced_words(thing.name) in words
    }


def bundle_keys(things: Iterable[Thing], relevance: Mapping[str, float]) -> list[BundleKey]:
    """The bundles of a window: about the user, then topics and entities, the most relevant first."""

    def rank(thing: Thing) -> tuple[float, str]:
        return -thing.importance * relevance[thing.id], thing.slug

    relevant = sorted((thing for thing in things if thing.id in relevance), key=rank)
    chosen: list[BundleKey] = [("identity", ""), ("facts", ""), ("preferences", "")]
    for kind, most in (("topic", TOPICS), ("entity", ENTITIES)):
        chosen += [(thing.kind, thing.id) for thing in relevant if thing.kind == kind][:most]
    return chosen


def _material(served: Served, thing: Thing | None, relevance: float, count: Callable[[str], int]) -> Material:
    return Material(
        type=served.kind,
        text=served.text,
        tokens=count(served.text),
        source=served.subject,
        title=thing.name if thing else "",
        kind="rag_memory_commit",
        layer=LAYERS[served.kind],
        weight=thing.importance if thing else 1.0,
        salience=relevance,
    )


def titled(store: Store, manifest: Manifest) -> Manifest:
    """A stored manifest with the current names of its topics and entities."""
    if not any(each.type in ("topic", "entity") for each in manifest.contributed):
        return manifest
    names = {thing_id(record.number): record.name for record in store.knowledge.things()}
    named = (replace(each, title=names.get(each.source, "")) for each in manifest.contributed)
    return replace(manifest, contributed=tuple(named))
