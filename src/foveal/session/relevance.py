"""A window that holds still and the session around it in → the messages that have to do with what it is for.

Looked for when the user says something new, or the window is laid out anew: never for a turn of tools. For a
task that was given the session's index ranks every message, as for `focus`; what the user just said is looked
up in the store's own index of words. No model is asked and nothing goes over the network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foveal import wire
from foveal.pipeline.fit import Order
from foveal.pipeline.history import History
from foveal.pipeline.scored import TASK_MOST
from foveal.pipeline.select.retrieved import asked_since, mark_of, words_asked
from foveal.pipeline.signals import words
from foveal.session.core import Core
from foveal.store import Found

HITS = 50
"""Hits in the store that are looked at: the best of them are often in the window already."""
ALIKE = 0.35
"""Of the weight of what the user said: what a message must hold of it."""
NEAR = 0.7
"""Of the best such share: what the others must hold."""
FEWEST = 2
"""Words that say something, below which nobody refers to anything."""
HELD = 0.8
"""Of these words: what a message holds that has to do with them, however long it is."""
FEWEST_HELD = 4
"""Words that it holds at least: fewer are in every long text."""
READ = 8
"""Hits that are read for this."""
LONGEST = 50_000
"""Characters of them that are."""


def due(history: History, order: Order) -> bool:
    """Is there something to look for: new words, another task, and more than a window holds?"""
    held = order.held
    if held is None:
        return history.tokens > order.budget
    if mark_of(order.task) == held.task and asked_since(history, held.length) is None:
        return False
    return held.first > 0 or history.tokens > held.talk


def relevant(core: Core, history: History, order: Order) -> tuple[int, ...]:
    """Positions of messages of that history, the most wanted first."""
    from foveal.session.finding import LARGE, turns_for

    text, given = words_asked(history, order.task, order.held)
    text = text[:TASK_MOST]
    if given and len(history.entries) <= LARGE and core.desk.light:
        turns = turns_for(core, text, history, most=order.budget, now=order.now)
        return tuple(history.starts[turn] for turn in turns)
    if len(words(text)) < FEWEST:
        return ()
    with core.reading():
        found = list(_found(core, history, text))
    return tuple(each.seq for each in (found if given else _referred_to(found, text)))


def _found(core: Core, history: History, text: str) -> Iterator[Found]:
    """Messages that hold the words, the best first; the user's newest do not count."""
    asked = asked_since(history, 0)
    for found in core.store.search(text, session=core.id, limit=HITS):
        entry = history.entries[found.seq] if found.seq < len(history.entries) else None
        if entry and entry.seq != asked and entry.role != "system" and entry.digest == found.digest:
            yield found


def _referred_to(hits: Sequence[Found], text: str) -> Iterator[Found]:
    """Those that weigh nearly as much as the best; and long ones that hold nearly all that is said."""
    least = max(ALIKE, NEAR * max((found.score for found in hits), default=0.0))
    for place, found in enumerate(hits):
        if found.score >= least or (place < READ and _holds(found, text)):
            yield found


def _holds(found: Found, text: str) -> bool:
    asked = frozenset(words(text))
    said = wire.reread(found.body, found.format, found.role, digest=found.digest).text[:LONGEST]
    return len(asked.intersection(words(said))) >= max(FEWEST_HELD, HELD * len(asked))
