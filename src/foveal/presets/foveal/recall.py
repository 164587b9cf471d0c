"""Messages that have to do with the task in → a note that brings them back, or the turns to show whole.

A note stands before the user's words that asked for it and is made once: a layout holds which messages it
tells and how much of them, so the same note can be written again. What stands in it is data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from foveal.model import Chunk, Message
from foveal.pipeline.history import History
from foveal.pipeline.signals import words
from foveal.pipeline.summarize.notes import SUMMARY_END, SUMMARY_MARK, neutral
from foveal.pipeline.summarize.voices import voices
from foveal.pipeline.values import Layout, RetrievedNote, Scene
from foveal.presets.foveal.snippets import LABEL, Snippet, labelled, snippets

LEAST = 40
"""Tokens below which a note brings nothing back."""
MOST = 4
"""Messages that one note brings back."""

Count = Callable[[str], int]


def mark_of(task: str) -> str:
    """Tells tasks apart; the words are not kept."""
    return blake2b(task.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest() if task.strip() else ""


def asked_since(history: History, start: int) -> int | None:
    """The position of the user's newest words, if it is not before `start`."""
    turn = history.asked(len(history) - 1)
    first = -1 if turn is None else history.span(turn)[0]
    return first if first >= start else None


def words_asked(history: History, task: str, layout: Layout | None = None) -> tuple[str, bool]:
    """What to look for: a task, else the user's newest words. And is it a task that these are not?

    `held`: a layout; what has to do with the task it was made for is in it already.
    """
    asked = asked_since(history, 0)
    said = history.read(asked, asked + 1)[0].text.strip() if asked is not None else ""
    task = "" if layout and layout.task == mark_of(task) else task.strip()
    return task or said, task not in ("", said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What is not in a window and may come back into it."""

    history: History
    shown: Mapping[int, Chunk]
    """The turns that are in, the fixed ones too."""

    def has(self, turn: int) -> bool:
        """Is the turn one of these? What is told in a note in its own place may come back whole."""
        whole = turn in self.shown and self.shown[turn].detail == "full"
        return not whole and not self.history.absence(turn) and not self.history.stand_in(turn)


def still_wanted(history: History, layout: Layout | None, task: str, talk: int) -> tuple[int, ...]:
    """What an earlier window had for the same task, or was to have for the same words of the user's.

    `talk`: tokens there are for everything said.
    """
    if layout is None:
        return ()
    if task.strip():
        return layout.kept if layout.task == mark_of(task) else ()
    asked = asked_since(history, 0)
    brought = tuple(seq for each in layout.brought if each.place == asked for seq in each.shown)
    again = layout.talk != talk and asked_since(history, layout.length) is None
    return (*brought, *layout.wanted) if again else brought  # the same request, in another size


def taken(outside: Outside, wanted: Iterable[int], room: int) -> dict[int, Chunk]:
    """The turns of the most wanted messages, whole, as many as fit."""
    history, found = outside.history, dict[int, Chunk]()
    for seq in wanted:
        turn = history.turn_of(seq)
        if turn in found or history.between(*history.span(turn)) > room or not outside.has(turn):
            continue
        chunk = history.chunk(turn)
        if chunk.messages and chunk.tokens <= room:
            found[turn] = chunk
            room -= chunk.tokens
    return found


def brought_back(outside: Outside, place: int, scene: Scene, room: int) -> Iterator[RetrievedNote]:
    """The note before the user's words at `place` that brings back what has to do with them; none, or one.

    Whole messages, each in half of what is left; of longer ones the snippets that share words with it.
    """
    history, count = outside.history, scene.count
    told = {seq for each in scene.layout.brought for seq in each.shown} if scene.layout else set()
    text, _ = words_asked(history, scene.task, scene.layout)
    left = room - history.note(f"{SUMMARY_MARK}\n{SUMMARY_END}").tokens
    shown: dict[int, tuple[int, ...]] = {}
    for seq in scene.relevant:
        if len(shown) == MOST or left < LEAST:
            break
        if seq in told or not outside.has(history.turn_of(seq)):
            continue
        told_of = _told_of(history, seq, text, left // 2, count)
        if told_of is not None:
            shown[seq], cost = told_of
            left -= cost
    while shown:
        note = note_of(history, shown, count)
        if note.tokens <= room:
            yield RetrievedNote(place=place, shown=shown, note=note)
            return
        shown.popitem()


def _told_of(
    history: History, seq: int, text: str, room: int, count: Count
) -> tuple[tuple[int, ...], int] | None:
    """What of a message fits, as a note has it, and its tokens; None where nothing of it is worth telling."""
    (message,) = history.read(seq, seq + 1)
    if history.entries[seq].tokens <= room:
        whole = _whole(message, seq)
        cost = count(whole) + 1
        if not whole or cost <= room:
            return ((), cost) if whole else None
    room -= LABEL + (count(history.way_back(seq, seq)) if history.frame.handles else 0)
    chosen = _alike(snippets(message, seq, count), text, room)
    if not chosen:
        return None
    return tuple(each.number for each in chosen), sum(each.tokens for each in chosen) + LABEL


def note_of(history: History, shown: Mapping[int, tuple[int, ...]], count: Count) -> Chunk:
    """The note as it is sent."""
    lines = [line for seq in sorted(shown) for line in _lines(history, seq, shown[seq], count)]
    return history.note("\n".join((SUMMARY_MARK, *lines, SUMMARY_END)))


def _lines(history: History, seq: int, numbers: tuple[int, ...], count: Count) -> Iterator[str]:
    (message,) = history.read(seq, seq + 1)
    if not numbers:
        yield _whole(message, seq)
        return
    found = snippets(message, seq, count)
    yield from labelled(found[number] for number in sorted(numbers))
    yield from filter(None, [history.way_back(seq, seq)])


def _whole(message: Message, seq: int) -> str:
    said = (passage for passage in voices(message, seq) if passage.text)
    return "\n".join(f"[{passage.role} {seq + 1}] {neutral(passage.text)}" for passage in said)


def _alike(found: tuple[Snippet, ...], text: str, room: int) -> list[Snippet]:
    """The snippets that share the most words with a text, within so many tokens."""
    asked = frozenset(words(text))
    shared = {each.number: len(asked.intersection(words(each.text))) for each in found}
    chosen: list[Snippet] = []
    for each in sorted(found, key=lambda each: (-shared[each.number], each.number)):
        if not shared[each.number]:
            break
        if each.tokens <= room:
            room -= each.tokens
            chosen.append(each)
    return chosen
