"""Retrieve earlier messages that are relevant to the user's newest request or to a task.

Without a task they are retrieved into a note before the request; with one, their turns are shown in full. A
note is written once. The layout stores which messages and which of their snippets it has, so that the same
note can be written again. To the model its content is data, not instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b

from foveal.model import Chunk, Message
from foveal.pipeline.history import History
from foveal.pipeline.signals import words
from foveal.pipeline.summarize.notes import SUMMARY_END, SUMMARY_MARK, neutral
from foveal.pipeline.summarize.voices import voices
from foveal.pipeline.values import Layout, RetrievedNote, Scene
from foveal.presets.foveal.snippets import LABEL, Snippet, labelled, snippets

LEAST = 40
"""Tokens of room below which a note gets no further message."""
MOST = 4
"""Messages in one note."""

Count = Callable[[str], int]


def task_hash(task: str) -> str:
    """A hash that identifies a task without storing its text; empty for an empty task."""
    return blake2b(task.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest() if task.strip() else ""


def newest_request(history: History, since: int) -> int | None:
    """The position of the user's newest request, if it is not before `since`."""
    turn = history.latest_request(len(history) - 1)
    position = -1 if turn is None else history.span(turn)[0]
    return position if position >= since else None


def retrieval_query(history: History, task: str, layout: Layout | None = None) -> tuple[str, bool]:
    """Return the text to search for, and whether it is a task.

    It is the given task if it differs from the user's newest request, else that request. A task that `layout`
    was made for does not count: its window already has what is relevant to it.
    """
    position = newest_request(history, 0)
    request = history.read(position, position + 1)[0].text.strip() if position is not None else ""
    task = "" if layout and layout.task_hash == task_hash(task) else task.strip()
    return task or request, task not in ("", request)


def still_relevant(
    history: History, layout: Layout | None, task: str, message_budget: int
) -> tuple[int, ...]:
    """Positions that an earlier window had for the same task, or found for the same request."""
    if layout is None:
        return ()
    if task.strip():
        return layout.kept if layout.task_hash == task_hash(task) else ()
    request = newest_request(history, 0)
    retrieved = tuple(seq for each in layout.retrieved if each.position == request for seq in each.excerpts)
    resized = layout.message_budget != message_budget and newest_request(history, layout.length) is None
    return (*retrieved, *layout.relevant) if resized else retrieved


def relevant_turns(
    history: History, shown: Mapping[int, Chunk], relevant: Iterable[int], room: int
) -> dict[int, Chunk]:
    """The turns of relevant messages in full, best first, as many as fit.

    `shown`: the turns that are in the window, fixed ones included.
    """
    found: dict[int, Chunk] = {}
    for seq in relevant:
        turn = history.turn_of(seq)
        if turn in found or history.between(*history.span(turn)) > room or not _missing(history, shown, turn):
            continue
        chunk = history.chunk(turn)
        if chunk.messages and chunk.tokens <= room:
            found[turn] = chunk
            room -= chunk.tokens
    return found


def retrieve(
    history: History, shown: Mapping[int, Chunk], position: int, scene: Scene, room: int
) -> RetrievedNote | None:
    """A note with what is relevant to the request at `position`, to go before it; None if nothing fits.

    A message may take half of the room that is left; of a longer one, the snippets that share words with the
    request are taken.
    """
    count = scene.count
    known = {seq for each in scene.layout.retrieved for seq in each.excerpts} if scene.layout else set()
    query, _ = retrieval_query(history, scene.task, scene.layout)
    left = room - history.note(f"{SUMMARY_MARK}\n{SUMMARY_END}").tokens
    excerpts: dict[int, tuple[int, ...]] = {}
    for seq in scene.relevant:
        if len(excerpts) == MOST or left < LEAST:
            break
        if seq in known or not _missing(history, shown, history.turn_of(seq)):
            continue
        excerpt = _excerpt(history, seq, query, left // 2, count)
        if excerpt is not None:
            excerpts[seq], cost = excerpt
            left -= cost
    while excerpts:
        note = retrieved_note(history, excerpts, count)
        if note.tokens <= room:
            return RetrievedNote(position=position, excerpts=excerpts, note=note)
        excerpts.popitem()
    return None


def _missing(history: History, shown: Mapping[int, Chunk], turn: int) -> bool:
    """Whether a turn may be retrieved: not in the window in full, not excluded, without a stand-in."""
    in_full = turn in shown and shown[turn].detail == "full"
    return not in_full and not history.absence(turn) and not history.stand_in(turn)


def _excerpt(
    history: History, seq: int, query: str, room: int, count: Count
) -> tuple[tuple[int, ...], int] | None:
    """The numbers of the snippets to take, empty for the whole message, and their tokens; or None."""
    (message,) = history.read(seq, seq + 1)
    if history.entries[seq].tokens <= room:
        text = _in_full(message, seq)
        cost = count(text) + 1
        if not text or cost <= room:
            return ((), cost) if text else None
    room -= LABEL + (count(history.recall_mark(seq, seq)) if history.frame.handles else 0)
    chosen = _matching(snippets(message, seq, count), query, room)
    if not chosen:
        return None
    return tuple(each.number for each in chosen), sum(each.tokens for each in chosen) + LABEL


def _matching(found: tuple[Snippet, ...], query: str, room: int) -> list[Snippet]:
    """The snippets that share the most words with the query, within `room` tokens."""
    asked = frozenset(words(query))
    shared = {each.number: len(asked.intersection(words(each.text))) for each in found}
    chosen: list[Snippet] = []
    for each in sorted(found, key=lambda each: (-shared[each.number], each.number)):
        if not shared[each.number]:
            break
        if each.tokens <= room:
            room -= each.tokens
            chosen.append(each)
    return chosen


def retrieved_note(history: History, excerpts: Mapping[int, tuple[int, ...]], count: Count) -> Chunk:
    """The note with these excerpts, as it is sent."""
    lines = [line for seq in sorted(excerpts) for line in _lines(history, seq, excerpts[seq], count)]
    return history.note("\n".join((SUMMARY_MARK, *lines, SUMMARY_END)))


def _lines(history: History, seq: int, numbers: tuple[int, ...], count: Count) -> Iterator[str]:
    (message,) = history.read(seq, seq + 1)
    if not numbers:
        yield _in_full(message, seq)
        return
    found = snippets(message, seq, count)
    yield from labelled(found[number] for number in sorted(numbers))
    yield from filter(None, [history.recall_mark(seq, seq)])


def _in_full(message: Message, seq: int) -> str:
    passages = (passage for passage in voices(message, seq) if passage.text)
    return "\n".join(f"[{passage.role} {seq + 1}] {neutral(passage.text)}" for passage in passages)
