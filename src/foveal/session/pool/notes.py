"""Write what the other agents of a pool share into notes, and decide where they go.

The first note of a layout goes before the newest request, like retrieved messages. While the layout is kept,
what is new goes into another note: before the newest request if that is new, else before the first turn that
no window has shown yet, so that nothing is inserted into what was already sent. A new layout has one note
again, with what matches best by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from foveal.model import Entry
from foveal.pipeline.fixed import open_turn
from foveal.pipeline.history import History
from foveal.pipeline.material.placement import material_note
from foveal.pipeline.material.values import Material
from foveal.pipeline.summarize.notes import quoted_line
from foveal.pipeline.values import Layout, SharedNote
from foveal.session.pool.facts import Fact
from foveal.session.pool.memory import Doing, Pooled, PoolMemories
from foveal.session.state import SessionState
from foveal.store import PoolRecord

POOL = "POOL"
"""The type of the pieces that other agents share."""
POOL_SHARE = 0.3
"""Of the budget: the most that such notes may take together, until a new layout has one again."""
NOTE_SHARE = 0.1
"""Of the budget: the most for one of them."""
FRAME = 40
"""Tokens around the facts of a note."""
RECENT = 8
"""Messages of the agent, since its user's latest, that say what it is doing."""
LONGEST_AGENT = 80
"""Characters of an agent's name in a note."""
_BRACKETS = str.maketrans("[]`", "()'")
LONGEST = 2_000
"""Characters of each that are read for this."""


def pooled(
    state: SessionState, record: PoolRecord, layout: Layout | None, *, task: str, now: float
) -> Pooled:
    """What the session's pool has for its next window. The caller holds no lock."""
    keys = [key for note in layout.shared for key in note.keys] if layout else []
    memories, doing = state.resources.part(PoolMemories), _doing(state, task)
    return memories.pooled(record, state.name, doing, now=now, keys=keys)


def _doing(state: SessionState, task: str) -> Doing:
    """What the agent is asked to do, and what its latest messages touch; results of tools say neither."""
    with state.reading():
        latest: list[Entry] = []
        for entry in reversed(state.log.entries):
            asked = entry.role == "user" and not entry.answers
            own = entry.role == "assistant" and len(latest) < RECENT
            if not entry.absence and (own or asked):
                latest.append(entry)
            if asked:  # what was said before was about something else
                break
        found = [message for message in state.log.read_unerased(latest) if message]
    return Doing(
        asked="\n".join((task[:LONGEST], *(m.text[:LONGEST] for m in found if m.role == "user"))),
        touched="\n".join(m.text[:LONGEST] for m in found if m.role == "assistant"),
    )


def shared_notes(
    pool: Pooled, layout: Layout | None, history: History, budget: int, count: Callable[[str], int]
) -> tuple[SharedNote, ...]:
    """The notes of a window: those of the layout that it may keep, and what is new."""
    if layout is None:
        return first_note(pool, history, budget, count)
    kept = kept_notes(pool, layout)
    known = {key for each in kept for key in each.keys}
    room = int(POOL_SHARE * budget) - sum(count(each.text) for each in kept)
    at = _unsent(history, layout.length)
    if at is None:
        return kept
    fresh = _fitting(
        [fact for fact in pool.facts if fact.key not in known], min(room, int(NOTE_SHARE * budget)), count
    )
    return (*kept, *([_written(pool, at, [fact.key for fact in fresh])] if fresh else ()))


def kept_notes(pool: Pooled, layout: Layout) -> tuple[SharedNote, ...]:
    """The notes of a layout, written again without what windows may no longer show."""
    written = (_written(pool, each.position, each.keys) for each in layout.shared)
    return tuple(note for note in written if note.text)


def first_note(
    pool: Pooled, history: History, budget: int, count: Callable[[str], int]
) -> tuple[SharedNote, ...]:
    """One note, before the newest request."""
    fresh = _fitting(pool.facts, int(NOTE_SHARE * budget), count)
    if not fresh:
        return ()
    return (_written(pool, _asked(history), [fact.key for fact in fresh]),)


def _asked(history: History) -> int:
    """The position of the newest request."""
    opened = open_turn(history)
    asked = history.latest_request(opened)
    return history.span(opened if asked is None else asked)[0]


def _unsent(history: History, length: int) -> int | None:
    """Where a note goes that changes nothing of what was sent: before the newest request if that is new, else
    before the first new turn; None if there is none, or part of it was sent."""
    if length >= len(history.entries):
        return None
    if (asked := _asked(history)) >= length:
        return asked
    return length if history.span(history.turn_of(length))[0] == length else None


def _fitting(facts: Iterable[Fact], room: int, count: Callable[[str], int]) -> list[Fact]:
    """As many of the facts, best first, as fit the room."""
    found, room = [], room - FRAME
    agents: set[str] = set()
    for fact in facts:
        title = 0 if fact.agent in agents else count(f"## [{POOL}] {_title(fact.agent)}\n")
        cost = count(f"{_line(fact)}\n") + title
        if cost <= room:
            found.append(fact)
            agents.add(fact.agent)
            room -= cost
    return found


def _written(pool: Pooled, position: int, keys: Sequence[tuple[int, int, int, str]]) -> SharedNote:
    """The note with these facts, as far as windows may still show them, by agent and in order."""
    known = {**pool.kept, **{fact.key: fact for fact in pool.facts}}
    facts = sorted((known[key] for key in keys if key in known), key=lambda fact: (fact.agent, fact.key))
    pieces = [
        Material(type=POOL, source=agent, title=_title(agent), text="\n".join(map(_line, found)), tokens=0)
        for agent, found in groupby(facts, key=lambda fact: fact.agent)
    ]
    plural = "s" * (len(facts) != 1)
    return SharedNote(
        position=position,
        keys=tuple(keys),
        text=material_note(pieces),
        source=", ".join(piece.source for piece in pieces),
        because=f"{len(facts):,} fact{plural} of other agents that match what this one is doing",
    )


def _title(agent: str) -> str:
    """Names an agent so that its name, which may be any text, cannot pass for anything else."""
    return f"from agent `{quoted_line(agent).translate(_BRACKETS)[:LONGEST_AGENT]}`"


def _line(fact: Fact) -> str:
    verb = "decided" if fact.kind == "decided" and fact.voice == "agent" else "said"
    what = f", the {fact.voice} {verb}" if fact.kind in ("decided", "said") else ""
    return f"message {fact.key[1] + 1:,}{what}: {fact.text}"
