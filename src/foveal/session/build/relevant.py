"""A window that holds still and the session around it in → the messages that have to do with what it is for.

Looked for when the user says something new, or the window is laid out anew: never for a turn of tools. For a
task that was given the session's index ranks every message, as for `focus`; what the user just said is looked
up in the store's own index of words. No model is asked and nothing goes over the network.

A window and the session around it in → what of the past should come back into it, with its words.

An old task that is referred to, an error that occurs again, a past topic that is mentioned. Only messages
are brought back that windows may show or that a note stands for, nothing that was left out on request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from foveal import wire
from foveal.pipeline.fit import RETRIEVED_SHARE, Order
from foveal.pipeline.history import History
from foveal.pipeline.kinds import kind_of
from foveal.pipeline.scoring import TASK_MOST, items
from foveal.pipeline.shorten.turn import cut
from foveal.pipeline.signals import words
from foveal.pipeline.summarize.failures import Resolved, Walk, error_lines
from foveal.pipeline.summarize.notes import neutral, quoted_passages
from foveal.pipeline.summarize.tasks import Task, shown
from foveal.pipeline.summarize.values import Passage
from foveal.pipeline.summarize.voices import voices
from foveal.pipeline.values import Item
from foveal.presets.fifth.triggers import Situation, Step, old_task, past_topic, repeated_error
from foveal.presets.foveal.recall import asked_since, mark_of, words_asked
from foveal.session.history import stand_ins
from foveal.session.history.tasks import as_task
from foveal.session.state import SessionState
from foveal.store import Found
from foveal.window import Manifest, Retrieved

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
    layout = order.layout
    if layout is None:
        return history.tokens > order.budget
    if mark_of(order.task) == layout.task and asked_since(history, layout.length) is None:
        return False
    return layout.first > 0 or history.tokens > layout.talk


def relevant(state: SessionState, history: History, order: Order) -> tuple[int, ...]:
    """Positions of messages of that history, the most wanted first."""
    from foveal.session.search.search import LARGE, turns_for

    text, given = words_asked(history, order.task, order.layout)
    text = text[:TASK_MOST]
    if given and len(history.entries) <= LARGE and state.resources.light:
        turns = turns_for(state, text, history, most=order.budget, now=order.now)
        return tuple(history.starts[turn] for turn in turns)
    if len(words(text)) < FEWEST:
        return ()
    with state.reading():
        found = list(_found(state, history, text))
    return tuple(each.seq for each in (found if given else _referred_to(found, text)))


def _found(state: SessionState, history: History, text: str) -> Iterator[Found]:
    """Messages that hold the words, the best first; the user's newest do not count."""
    asked = asked_since(history, 0)
    for found in state.store.search(text, session=state.id, limit=HITS):
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


PAST_HITS = 50
"""Search hits that are looked at: the best of them are often in the window already."""
BROUGHT = 8
"""Results of tools in which a repeated error is looked for, the newest."""
AROUND = 40
"""Tokens of the note around its stretches."""
APIECE = 20
"""Tokens around each stretch."""
AFTER = 40
"""Messages after an error in which what resolved it is looked for."""
SHORT = 40
"""Tokens that an error and what resolved it have at least, each."""
WAY_BACK = 36
"""Tokens of the mark by which an agent brings a stretch back."""
LABEL = 10
"""Tokens of the mark over a quoted message."""
LEAST = 24
"""Tokens of words that are worth bringing back."""

Stretches = tuple[tuple[Retrieved, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    """The history around a window."""

    history: History
    layout: frozenset[int]
    """Messages that are in the window."""
    open: frozenset[int]
    """Messages that may be brought back into it."""
    tasks: Sequence[Task]
    """Those whose summaries are not in it."""


def retrieved(state: SessionState, history: History, manifest: Manifest, order: Order) -> Stretches:
    """What is to be retrieved beside a window, the most wanted first, within its share of the budget."""
    past = _past(state, history, manifest)
    now = _situation(state, past) if past.open or past.tasks else None
    if now is None:
        return ()
    hits = [item.index for item in now.past]
    room = int(RETRIEVED_SHARE * order.budget) - AROUND
    apiece = APIECE + WAY_BACK * history.frame.handles
    found: list[Stretches] = []
    paired: set[int] = set()
    for step in _steps(now):
        seqs = [seq for seq in range(step.first, step.last + 1) if seq in past.open]
        if step.task is None and paired.issuperset(seqs):
            continue
        pair = _pair(past, seqs, hits) if step.task is None else ()
        found.append(
            _of_an_error(past, step, pair, room - apiece, order) if pair else _forms(past, step, hits)
        )
        paired.update(pair)
    return tuple(_fitting(list(filter(None, found)), room, apiece, order.count))


def _pair(past: _Past, seqs: Sequence[int], hits: Sequence[int]) -> tuple[int, ...]:
    """The best message of a stretch and the one that resolved it, where it reports an error."""
    best = next((seq for seq in hits if seq in seqs), seqs[0] if len(seqs) == 1 else None)
    if best is None:
        return ()
    walk = Walk()
    near = [seq for seq in range(best, best + AFTER + 1) if seq in past.open]
    for seq, message in stand_ins.read(past.history, near):
        # Whoever reports an error, it is one: models repeat what they were shown.
        told = replace(message, role="user") if seq == best and message.role == "assistant" else message
        if any(each.error_seq == best for each in walk.over(told, seq)):
            return best, seq
    return ()


def _of_an_error(past: _Past, step: Step, pair: Sequence[int], room: int, order: Order) -> Stretches:
    """An error and what resolved it: whole, or the beginnings and ends of both."""
    error, resolution = (seq + 1 for seq in pair)
    again = "occurs again" if step.because.startswith("an error") else "of before is mentioned"
    why = f"an error {again}: message {error:,} reported it, message {resolution:,} resolved it"
    what, text = _quoted(past, pair, why)
    sizes = (max(SHORT, room // 4 - LABEL), SHORT)
    passages = _passages(past, pair)
    short = ([replace(p, text=cut(p.text, size, order.count)) for p in passages] for size in sizes)
    return ((what, text), *((what, quoted_passages(each)) for each in short))


def _fitting(
    found: Sequence[Stretches], room: int, apiece: int, count: Callable[[str], int]
) -> Iterator[tuple[Retrieved, str]]:
    """One form of each stretch: the longest in half of what is left, else the shortest whole.

    Where not even that fits, the first is cut and the others do not come.
    """
    for number, forms in enumerate(found):
        most = room - apiece
        what, text = next((form for form in forms if 2 * count(form[1]) <= most), forms[-1])
        if number == 0 and most >= LEAST:
            text = cut(text, most, count)
        if count(text) <= most:
            room -= count(text) + apiece
            yield what, text


def _past(state: SessionState, history: History, manifest: Manifest) -> _Past:
    kept = [d for d in manifest.kept if d.detail != "folded"]
    layout = frozenset(seq for d in kept for seq in range(d.first, d.last + 1))
    return _Past(
        history=history,
        layout=layout,
        open=frozenset(
            e.seq
            for e in history.entries
            if e.seq not in layout and e.role != "system" and (not e.absence or e.noted_by is not None)
        ),
        tasks=[t for t in map(as_task, state.store.tasks(state.id)) if t.summary and not _told(manifest, t)],
    )


def _told(manifest: Manifest, task: Task) -> bool:
    """Is the task in the window already, by its summary or itself?"""
    last = task.first if task.last is None else task.last
    return any(task.first <= decision.last <= last for decision in manifest.kept)


def _situation(state: SessionState, past: _Past) -> Situation | None:
    """What the table looks at; None where nobody asks anything."""
    flat = [item for found in items(past.history).values() for item in found]
    asked = next((item for item in reversed(flat) if item.kind == "current_user_prompt"), None)
    if asked is None:
        return None
    text = asked.text[:TASK_MOST]
    brought = [item.text for item in flat if item.tool and item.index > asked.index][-BROUGHT:]
    return Situation(
        items=[item for item in flat if item.index in past.layout],
        prompt=text,
        tool_results=brought,
        tasks=past.tasks,
        resolved=_resolved(state) if any(map(error_lines, (text, *brought))) else (),
        past=list(_found_items(state, past, text)),
    )


def _resolved(state: SessionState) -> Sequence[Resolved]:
    """Errors of before: who asks for the first time walks through the whole session."""
    state.walker.catch_up()
    return state.walker.resolved


def _found_items(state: SessionState, past: _Past, words: str) -> Iterator[Item]:
    """Messages outside the window that hold the words, the best first."""
    for found in state.store.search(words, session=state.id, limit=PAST_HITS):
        if found.seq in past.open and past.history.entries[found.seq].digest == found.digest:
            message = wire.reread(found.body, found.format, found.role, digest=found.digest)
            kind = kind_of(found.role, tool_call=bool(message.calls), newest_user=False)
            yield Item(index=found.seq, id=found.id, role=found.role, kind=kind, text=message.text, tokens=0)


def _steps(now: Situation) -> Iterator[Step]:
    """The rows of the table that bring something back; no message comes twice."""
    taken: set[int] = set()
    for step in chain(old_task(now), repeated_error(now), past_topic(now)):
        places = set(range(step.first, step.last + 1))
        if not places <= taken:
            yield step
        taken |= places if step.task is None else set()


def _forms(past: _Past, step: Step, hits: Sequence[int]) -> Stretches:
    """A stretch with its words, the longest form first: the messages as they were said, the best alone.

    Of a task, its summary.
    """
    for task in past.tasks:
        if task.number == step.task:
            why = f"{shown(task)} is referred to"
            return ((Retrieved(first=step.first, last=step.last, because=why), neutral(task.summary)),)
    seqs = [seq for seq in range(step.first, step.last + 1) if seq in past.open]
    alone = [seq for seq in hits if seq in seqs][:1]
    # What the question and the past have in common is not told: a manifest is stored, and outlives messages.
    why = "a past topic is mentioned" if step.because.startswith("a past topic") else step.because
    forms = (_quoted(past, run, why) for run in (seqs, alone) if run)
    return tuple(form for form in forms if form[1])


def _quoted(past: _Past, seqs: Sequence[int], because: str) -> tuple[Retrieved, str]:
    return Retrieved(first=seqs[0], last=seqs[-1], because=because), quoted_passages(_passages(past, seqs))


def _passages(past: _Past, seqs: Sequence[int]) -> list[Passage]:
    return [p for seq, message in stand_ins.read(past.history, seqs) for p in voices(message, seq)]
