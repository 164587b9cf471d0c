"""Find the past messages that a window should show again.

Two presets ask, each in its own way. For presets with a stable prefix, `relevant` returns the messages that
match the task or the user's latest message; it searches when the user wrote something new or the layout
changes, never for a tool turn. A task is ranked by the session's index, as for `focus`; the user's message is
looked up in the store's full-text index. For presets that retrieve by triggers, `retrieved` returns old tasks
that are referred to, errors that occur again and past topics that are mentioned, with their texts.

Only messages that windows may show, or that a stand-in covers, are returned; what was left out on request is
not. Nothing here asks a model or uses the network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Literal

from foveal import wire
from foveal.pipeline.fit import RETRIEVED_SHARE
from foveal.pipeline.history import History
from foveal.pipeline.kinds import kind_of
from foveal.pipeline.recipe import TASK_MOST, items
from foveal.pipeline.shorten.turn import cut_middle
from foveal.pipeline.signals import words
from foveal.pipeline.summarize.failures import FailureTracker, ResolvedError, error_lines
from foveal.pipeline.summarize.notes import neutral, quoted_passages
from foveal.pipeline.summarize.tasks import Task, task_label
from foveal.pipeline.summarize.values import Passage
from foveal.pipeline.summarize.voices import voices
from foveal.pipeline.values import Item, Scene
from foveal.presets.fifth.triggers import Situation, Step, old_task, past_topic, repeated_error
from foveal.presets.foveal.retrieve import is_chat, newest_request, retrieval_query, task_hash
from foveal.search.values import CLEAR
from foveal.session.history import stand_ins
from foveal.session.history.records import SessionRecords
from foveal.session.history.tasks import as_task
from foveal.session.state import SessionState
from foveal.store import Found
from foveal.window import Manifest, Retrieved

if TYPE_CHECKING:
    from foveal.search.index import Index

HITS = 50
"""Search hits that are considered: the best of them are often in the window already."""
LEAST_SHARE = 0.35
"""Of the weight of the user's message: what a hit must match at least."""
NEAR_BEST = 0.7
"""Of the best hit's share: what other hits must match at least."""
FEWEST_WORDS = 2
"""Content words below which a message that is no question refers to nothing."""
RANKED = 1_000
"""Messages ranked for a question: more than a window quotes. They are stored with the layout."""
MATCHES = 5
"""Messages retrieved for a request that is no question."""
NEAREST = 5
"""Messages retrieved for a question whose words no message has."""
COURTESIES = frozenset(
    words("Alright fine good great hello hi lot nice ok okay perfect sure thank thanks welcome yeah")
)
"""Words that refer to nothing said before."""
_ASKS = re.compile(
    r"\W{0,3}(?:please )?(?:what|which|who|whom|whose|when|where|why|how|list|name|tell|remind|show|explain"
    r"|describe|summari[sz]e|recall|give|can|could|do|does|did|have|has|had|is|are|was|were)\b",
    re.IGNORECASE,
)
"""How a question begins that need not end in a question mark."""
MATCHED = 0.8
"""Of those words: a message with this many of them matches, however long it is."""
FEWEST_MATCHED = 4
"""Words that it has at least: every long text has a few."""
READ = 8
"""Hits whose texts are read for this."""
LONGEST = 50_000
"""Characters of each that are read."""


def searches(history: History, scene: Scene) -> bool:
    """Whether to search: there is a new message or task, and more history than the window has room for."""
    layout = scene.layout
    if layout is None:
        return history.tokens > scene.budget
    if task_hash(scene.task) == layout.task_hash and newest_request(history, layout.length) is None:
        return False
    return layout.full_from > 0 or history.tokens > layout.message_budget


def relevant(state: SessionState, history: History, scene: Scene) -> tuple[int, ...]:
    """Positions of the messages that match the task or the user's latest message, best first."""
    from foveal.session.search.search import LARGE, SessionIndex

    if not to_search(history, scene):
        return ()
    text, given = _query(history, scene)
    if len(history.entries) <= LARGE and state.resources.light:
        return state.part(SessionIndex).with_index(text, lambda index: ranked(index, history, scene))
    with state.reading():
        found = list(_hits(state, history, text))
    return tuple(each.seq for each in (found if given else _referred_to(found, text)))


def to_search(history: History, scene: Scene) -> bool:
    """Whether there is a task, or the user's latest message may refer to something."""
    text, given = _query(history, scene)
    return given or _refers(text)


def ranked(index: Index, history: History, scene: Scene) -> tuple[int, ...]:
    """The same by an index of the history's messages.

    For a task every turn is ranked. For a question in a chat, every earlier message is, as long as one of
    them has a word of it or is clearly near in meaning; else the few nearest. For any other request, and in a
    run of tool calls, only the few messages that have most of its rare words.
    """
    import numpy as np

    from foveal.session.search.focus import best_first, rank_turns

    text, given = _query(history, scene)
    if given:
        turns = rank_turns(index, text, history, most=scene.budget, now=scene.now)
        return tuple(history.starts[turn] for turn in turns)
    asked = newest_request(history, 0) or 0
    if not asked:
        return ()
    matched, values = index.matches(text), index.rank(text, now=scene.now, end=asked).values
    costs = [entry.tokens for entry in history.entries[:asked]]
    order = np.array(best_first(values, costs, max(costs)), dtype=np.int64)
    if not (is_chat(history, scene.budget) and _is_question(text)):
        share = matched.share[:asked]
        least = max(LEAST_SHARE, NEAR_BEST * float(share.max()))
        order = order[(share >= least)[order]][:MATCHES]
    elif not (matched.words | matched.clear)[:asked].any():
        order = order[matched.weak[order]][:NEAREST]
    said = [seq for seq in order.tolist() if history.entries[seq].role != "system"]
    return tuple(said[:RANKED])


def _query(history: History, scene: Scene) -> tuple[str, bool]:
    text, given = retrieval_query(history, scene.task, scene.layout)
    return text[:TASK_MOST], given


def _refers(text: str) -> bool:
    """Whether a request may refer to something: one word is enough for a question."""
    content = [word for word in words(text) if word not in COURTESIES]
    return len(content) >= (1 if _is_question(text) else FEWEST_WORDS)


def _is_question(text: str) -> bool:
    return "?" in text or bool(_ASKS.match(text))


def _hits(state: SessionState, history: History, text: str) -> Iterator[Found]:
    """Messages with these words, then messages of that meaning, best first, before the latest request."""
    from foveal.session.search.search import stored_hits

    asked, seen = newest_request(history, 0), set[int]()
    by_words = state.store.search(text, session=state.id, limit=HITS)
    near: Sequence[Found] = ()
    if state.resources.light:
        by_words, near = stored_hits(state, text, session=state.id, most=HITS)
    for found in (*by_words, *(each for each in near if each.score >= CLEAR)):
        entry = history.entries[found.seq] if found.seq < len(history.entries) else None
        if entry and entry.seq != asked and entry.role != "system" and entry.digest == found.digest:
            if found.seq not in seen:
                yield found
            seen.add(found.seq)


def _referred_to(hits: Sequence[Found], text: str) -> Iterator[Found]:
    """Hits that score nearly as well as the best, and long messages with nearly all of the words."""
    least = max(LEAST_SHARE, NEAR_BEST * max((found.score for found in hits), default=0.0))
    for rank, found in enumerate(hits):
        if found.score >= least or (rank < READ and _matches(found, text)):
            yield found


def _matches(found: Found, text: str) -> bool:
    asked = frozenset(words(text))
    content = wire.reread(found.body, found.format, found.role, digest=found.digest).text[:LONGEST]
    return len(asked.intersection(words(content))) >= max(FEWEST_MATCHED, MATCHED * len(asked))


TOOL_RESULTS = 8
"""The latest tool results in which a repeated error is looked for."""
NOTE_TOKENS = 40
"""Tokens of the note around the retrieved passages."""
PASSAGE_TOKENS = 20
"""Tokens around each passage."""
RESOLVED_WITHIN = 40
"""Messages after an error in which its resolution is looked for."""
SHORT = 40
"""Tokens that an error and its resolution get at least, each."""
HANDLE_TOKENS = 36
"""Tokens of the handle that recalls a passage."""
LABEL_TOKENS = 10
"""Tokens of the label above a quoted message."""
LEAST = 24
"""Tokens of text below which a passage is not worth showing."""

Forms = tuple[tuple[Retrieved, str], ...]
"""One passage in several lengths, the longest first."""
Trigger = Literal["old task", "repeated error", "past topic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    """The history outside a window."""

    history: History
    in_window: frozenset[int]
    """Messages that the window shows."""
    open: frozenset[int]
    """Messages that may be shown again."""
    tasks: Sequence[Task]
    """Tasks whose summaries the window does not show."""


def retrieved(state: SessionState, history: History, manifest: Manifest, scene: Scene) -> Forms:
    """What the triggers retrieve for a window, best first, within its share of the budget."""
    past = _past(state, history, manifest)
    found_now = _situations(state, past, scene.task) if past.open or past.tasks else []
    hits = [item.index for now in found_now for item in now.past]
    room = int(RETRIEVED_SHARE * scene.budget) - NOTE_TOKENS
    each = PASSAGE_TOKENS + HANDLE_TOKENS * history.frame.handles
    found: list[Forms] = []
    paired: set[int] = set()
    for trigger, step in _steps(found_now):
        seqs = [seq for seq in range(step.first, step.last + 1) if seq in past.open]
        if step.task is None and paired.issuperset(seqs):
            continue
        pair = _error_and_resolution(past, seqs, hits) if step.task is None else ()
        if pair:
            found.append(
                _error_forms(past, pair, room - each, scene.count, again=trigger == "repeated error")
            )
        else:
            found.append(_forms(past, trigger, step, hits))
        paired.update(pair)
    return tuple(_fitting(list(filter(None, found)), room, each, scene.count))


def _error_and_resolution(past: _Past, seqs: Sequence[int], hits: Sequence[int]) -> tuple[int, ...]:
    """The best of these messages and the one that resolved it, if it reports an error."""
    best = next((seq for seq in hits if seq in seqs), seqs[0] if len(seqs) == 1 else None)
    if best is None:
        return ()
    walk = FailureTracker()
    near = [seq for seq in range(best, best + RESOLVED_WITHIN + 1) if seq in past.open]
    for seq, message in stand_ins.read(past.history, near):
        # An error counts when a model reports it too: models repeat what they were shown.
        report = replace(message, role="user") if seq == best and message.role == "assistant" else message
        if any(each.error_seq == best for each in walk.read(report, seq)):
            return best, seq
    return ()


def _error_forms(
    past: _Past, pair: Sequence[int], room: int, count: Callable[[str], int], *, again: bool
) -> Forms:
    """An error and its resolution, in full or cut in the middle."""
    error, resolution = (seq + 1 for seq in pair)
    what = "occurs again" if again else "from earlier is mentioned"
    because = f"an error {what}: message {error:,} reported it, message {resolution:,} resolved it"
    found, text = _quoted(past, pair, because)
    sizes = (max(SHORT, room // 4 - LABEL_TOKENS), SHORT)
    passages = _passages(past, pair)
    short = ([replace(p, text=cut_middle(p.text, size, count)) for p in passages] for size in sizes)
    return ((found, text), *((found, quoted_passages(each)) for each in short))


def _fitting(
    found: Sequence[Forms], room: int, each: int, count: Callable[[str], int]
) -> Iterator[tuple[Retrieved, str]]:
    """One form of each passage: the longest within half of the room left, else the shortest.

    If not even that fits, the first passage is cut and the others are dropped.
    """
    for number, forms in enumerate(found):
        most = room - each
        what, text = next((form for form in forms if 2 * count(form[1]) <= most), forms[-1])
        if number == 0 and most >= LEAST:
            text = cut_middle(text, most, count)
        if count(text) <= most:
            room -= count(text) + each
            yield what, text


def _past(state: SessionState, history: History, manifest: Manifest) -> _Past:
    kept = [d for d in manifest.kept if d.detail != "folded"]
    in_window = frozenset(seq for d in kept for seq in range(d.first, d.last + 1))
    tasks = map(as_task, state.store.tasks(state.id))
    return _Past(
        history=history,
        in_window=in_window,
        open=frozenset(
            e.seq
            for e in history.entries
            if e.seq not in in_window and e.role != "system" and (not e.absence or e.noted_by is not None)
        ),
        tasks=[task for task in tasks if task.summary and not _in_window(manifest, task)],
    )


def _in_window(manifest: Manifest, task: Task) -> bool:
    """Whether the window shows the task, by its summary or its messages."""
    last = task.first if task.last is None else task.last
    return any(task.first <= decision.last <= last for decision in manifest.kept)


def _situations(state: SessionState, past: _Past, task: str) -> list[Situation]:
    """What the triggers look at: what the user asked, then the given task or the name of the open one."""
    flat = [item for found in items(past.history).values() for item in found]
    asked = next((item for item in reversed(flat) if item.kind == "current_user_prompt"), None)
    since = asked.index if asked else -1
    results = [item.text for item in flat if item.tool and item.index > since][-TOOL_RESULTS:]
    open = next((each for each in state.store.tasks(state.id) if each.ended_at is None), None)
    before = open.first if open and not task else len(past.history.entries)  # what it is about is in it
    texts = {(asked.text if asked else "")[:TASK_MOST]: len(past.history.entries)}
    texts.setdefault((task or (open.name if open else ""))[:TASK_MOST], before)
    return [
        Situation(
            items=[item for item in flat if item.index in past.in_window],
            prompt=text,
            tool_results=results,
            tasks=past.tasks,
            resolved=_resolved(state) if any(map(error_lines, (text, *results))) else (),
            past=[item for item in _past_items(state, past, text, asked=since) if item.index < end],
            requests=[entry.seq for entry in past.history.entries if entry.role == "user"],
        )
        for text, end in texts.items()
        if text.strip()
    ]


def _resolved(state: SessionState) -> Sequence[ResolvedError]:
    """Earlier errors with their resolutions; the first call reads the whole session."""
    walker = state.part(SessionRecords)
    walker.catch_up()
    return walker.resolved


def _past_items(state: SessionState, past: _Past, words: str, *, asked: int) -> Iterator[Item]:
    """Messages outside the window that match these words nearly as well as the best other message does."""
    hits = [found for found in state.store.search(words, session=state.id, limit=HITS) if found.seq != asked]
    least = NEAR_BEST * max((found.score for found in hits), default=0.0)
    for found in hits:
        if found.score < least:
            return
        if found.seq in past.open and past.history.entries[found.seq].digest == found.digest:
            message = wire.reread(found.body, found.format, found.role, digest=found.digest)
            kind = kind_of(found.role, tool_call=bool(message.calls), newest_user=False)
            yield Item(index=found.seq, id=found.id, role=found.role, kind=kind, text=message.text, tokens=0)


def _steps(situations: Sequence[Situation]) -> Iterator[tuple[Trigger, Step]]:
    """What each trigger retrieves, every message and every task once."""
    triggers: tuple[tuple[Trigger, Callable[[Situation], Iterator[Step]]], ...] = (
        ("old task", old_task),
        ("repeated error", repeated_error),
        ("past topic", past_topic),
    )
    taken, tasks = set[int](), set[int | None]()
    for now, (trigger, found) in product(situations, triggers):
        for step in found(now):
            seqs = set(range(step.first, step.last + 1))
            if step.task not in tasks and not seqs <= taken:
                yield trigger, step
            if step.task is None:
                taken |= seqs
            else:
                tasks.add(step.task)


def _forms(past: _Past, trigger: Trigger, step: Step, hits: Sequence[int]) -> Forms:
    """A passage in its lengths: all of its messages, or the best one alone; of a task, its summary."""
    for task in past.tasks:
        if task.number == step.task:
            because = f"{task_label(task)} is referred to"
            return ((Retrieved(first=step.first, last=step.last, because=because), neutral(task.summary)),)
    seqs = [seq for seq in range(step.first, step.last + 1) if seq in past.open]
    alone = [seq for seq in hits if seq in seqs][:1]
    # The shared words are not named: a manifest is stored, and outlives the messages.
    because = "a past topic is mentioned" if trigger == "past topic" else step.because
    forms = (_quoted(past, run, because) for run in (seqs, alone) if run)
    return tuple(form for form in forms if form[1])


def _quoted(past: _Past, seqs: Sequence[int], because: str) -> tuple[Retrieved, str]:
    return Retrieved(first=seqs[0], last=seqs[-1], because=because), quoted_passages(_passages(past, seqs))


def _passages(past: _Past, seqs: Sequence[int]) -> list[Passage]:
    return [p for seq, message in stand_ins.read(past.history, seqs) for p in voices(message, seq)]
