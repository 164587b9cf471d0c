"""Retrieve earlier messages that the user's newest request or a task refers to.

For a request they are quoted in a note before it: whole messages in the order of the conversation, each with
its speaker, under the time where it is known; of a message that is too long, the sentences and lines that
match. For a task, their turns are shown in full. A note is written once. The layout stores which messages and
which of their pieces it has, so that the same note can be written again. To the model its content is data,
not instructions.

How much room the passages get depends on what they displace (`passage_room`). In a chat most of what is worth
knowing was said long ago, and the newest messages alone say little about a question: passages get most of the
room. In a tool run the newest calls and results are what the model works from: passages get little.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from hashlib import blake2b

from foveal.model import Chunk, Entry
from foveal.pipeline.history import History
from foveal.pipeline.shorten.outline import GAP
from foveal.pipeline.signals import names_in, words
from foveal.pipeline.summarize.language import sentences
from foveal.pipeline.summarize.notes import PASSAGES_END, PASSAGES_MARK, quoted_material, speaker_name
from foveal.pipeline.summarize.values import Passage
from foveal.pipeline.summarize.voices import voices
from foveal.pipeline.values import Layout, RetrievedNote, Scene

CHAT_SHARE = 0.9
"""Of the room, for passages in a conversation without tools."""
TOOL_RUN_SHARE = 0.05
"""Of the room, for passages where tools are all there is."""
ASKED_SHARE = 0.12
"""Of the room, for passages where the newest request is a question."""
KEPT_SHARE = 0.5
"""Of the room left, for passages of one request while a layout is kept: later turns need the rest."""
LEAST = 24
"""Tokens of room below which a note gets no further passage."""
WHOLE_SHARE = 0.5
"""Of the room: what a message may have at most to be quoted whole."""
EXCERPT_SHARE = 0.2
"""Of the room, for excerpts of a longer one."""
PAUSE = 3_600.0
"""Seconds between two passages from which the time is stated again."""
LABEL = 16
"""Tokens kept for the label of a message of which excerpts are quoted, and for what is said to be omitted."""
MOST = 4_000
"""Pieces of one message; a text with more is data, and only its beginning is used."""
ASKED = 2_000
"""Characters at the end of a request in which a question is looked for."""
SHARED = 3
"""Words that a message shares with the request to be quoted in a tool run."""
ALIKE = 3
"""Messages that differ only in numbers which keep their rank."""
COMPARED = 400
"""Characters of a message that are compared for this."""
_NUMBER = re.compile(r"\d+")

Count = Callable[[str], int]


def task_hash(task: str) -> str:
    """A hash that identifies a task without storing its text; empty for an empty task."""
    return blake2b(task.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest() if task.strip() else ""


def newest_request(history: History, since: int) -> int | None:
    """The position of the user's newest request, if it is not before `since`."""
    turn = history.newest_words(len(history) - 1)
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
    return tuple(dict.fromkeys((*layout.relevant, *retrieved))) if resized else retrieved


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


def passage_room(history: History, room: int) -> int:
    """How many of `room` tokens passages may take.

    It depends on the fourth power of the share of words, rather than tool calls and results, among the newest
    messages that the room could hold: `CHAT_SHARE` in a chat, `TOOL_RUN_SHARE` where there are only tools.
    """
    talk, spent = 0, 0
    for entry in reversed(history.entries):
        tokens = min(entry.tokens, room - spent)
        spent += tokens
        talk += 0 if _is_tool_traffic(entry) else tokens
        if spent >= room:
            break
    share = TOOL_RUN_SHARE + (CHAT_SHARE - TOOL_RUN_SHARE) * (talk / max(1, spent)) ** 4
    return int(room * (max(share, ASKED_SHARE) if asks(history) else share))


def asks(history: History) -> bool:
    """Whether the user's newest request has a question."""
    position = newest_request(history, 0)
    return position is not None and "?" in history.read(position, position + 1)[0].text[-ASKED:]


def is_chat(history: History, room: int) -> bool:
    """Whether passages may take most of the room."""
    return 2 * passage_room(history, room) >= room


def _is_tool_traffic(entry: Entry) -> bool:
    return bool(entry.role == "tool" or entry.calls or entry.answers)


def retrieve(
    history: History,
    shown: Mapping[int, Chunk],
    scene: Scene,
    *,
    relevant: Iterable[int],
    room: int,
    known: Set[int] = frozenset(),
) -> RetrievedNote | None:
    """A note with what is relevant to the user's newest request, to go before it; None if nothing fits.

    `shown`: the turns that are in the window, fixed ones included. Without the request there is no note.
    `relevant`: positions of messages, best first.
    `known`: positions that other notes have.
    """
    position = newest_request(history, 0)
    if position is None or history.turn_of(position) not in shown:
        return None
    count, query = scene.count, retrieval_query(history, scene.task, scene.layout)[0]
    left = room - history.note(f"{PASSAGES_MARK}\n{PASSAGES_END}").tokens
    excerpts: dict[int, tuple[int, ...]] = {}
    fits = _kind(history, query, room)
    missing = (
        seq
        for seq in relevant
        if seq < position
        and seq not in known
        and _missing(history, shown, history.turn_of(seq))
        and fits(seq)
    )
    for seq in _varied(history, missing):
        if left < LEAST:
            break
        if history.entries[seq].tokens > max(left, WHOLE_SHARE * room):
            excerpt = _excerpt(history, seq, query, min(left, int(EXCERPT_SHARE * room)), count)
        else:
            excerpt = _whole(history, seq, left, count)
        if excerpt is not None:
            excerpts[seq], cost = excerpt
            left -= cost
    while excerpts:
        note = retrieved_note(history, position, excerpts)
        if note.note.tokens <= room:
            return note
        excerpts.popitem()
    return None


def _kind(history: History, query: str, room: int) -> Callable[[int], bool]:
    """Which messages may answer a query.

    In a tool run, the log has what was said, and what tools returned next to the call it belongs to. Common
    words match all of it: there, a result must have an id that the query has, and a message some of its
    words: one if it is a question, else several.
    """
    chat, asked, question = is_chat(history, room), frozenset(words(query)), "?" in query
    ids = frozenset(name for name in names_in(query) if any(map(str.isdigit, name)))

    def fits(seq: int) -> bool:
        entry, texts = history.entries[seq], [passage.text for passage in _passages(history, seq)]
        if chat:
            return bool(texts)
        if entry.role == "tool" or entry.answers:
            return any(not ids.isdisjoint(names_in(text)) for text in texts)
        shared = asked.intersection(word for text in texts for word in words(text))
        return len(shared) >= (1 if question else SHARED)

    return fits


def _varied(history: History, seqs: Iterable[int]) -> Iterator[int]:
    """The messages in their order; of those that differ only in numbers, all but the first few come last."""
    alike: Counter[str] = Counter()
    last: list[int] = []
    for seq in seqs:
        text = "\n".join(passage.text for passage in _passages(history, seq))[:COMPARED]
        kind = _NUMBER.sub("#", text)
        alike[kind] += 1
        if alike[kind] <= ALIKE:
            yield seq
        else:
            last.append(seq)
    yield from last


def _missing(history: History, shown: Mapping[int, Chunk], turn: int) -> bool:
    """Whether a turn may be retrieved: not in the window in full, not excluded, without a stand-in."""
    in_full = turn in shown and shown[turn].detail == "full"
    return not in_full and not history.absence(turn) and not history.stand_in(turn)


def _whole(history: History, seq: int, room: int, count: Count) -> tuple[tuple[int, ...], int] | None:
    """No numbers of pieces, which means the whole message, and its tokens; None if it is too long."""
    if history.entries[seq].tokens > room:
        return None
    text = "\n".join(_lines(history, seq, ()))
    cost = count(text) + 1
    return ((), cost) if text and cost <= room else None


def _excerpt(
    history: History, seq: int, query: str, room: int, count: Count
) -> tuple[tuple[int, ...], int] | None:
    """The numbers of the pieces of a message that match best, and their tokens; None if none fits."""
    chosen = _matching(_pieces(history, seq), frozenset(words(query)), room - LABEL, count)
    cost = count("\n".join(_lines(history, seq, chosen))) + 1 if chosen else 0
    return (chosen, cost) if chosen and cost <= room else None


def _matching(pieces: _Pieces, asked: frozenset[str], room: int, count: Count) -> tuple[int, ...]:
    """The numbers of the pieces that share the most of the words asked for, within `room` tokens."""
    chosen: list[int] = []
    for number in pieces.ranked(asked):
        if room <= 0:
            break
        cost = count(pieces.pieces[number][1]) + 3  # a line break, and perhaps a gap
        if cost <= room:
            room -= cost
            chosen.append(number)
    return tuple(sorted(chosen))


def retrieved_note(history: History, position: int, excerpts: Mapping[int, tuple[int, ...]]) -> RetrievedNote:
    """The note with these passages for the request at `position`, as it is sent."""
    lines: list[tuple[str, tuple[int, ...]]] = [(PASSAGES_MARK, ())]
    stated: float | None = None
    times = {seq: history.entries[seq].created_at for seq in sorted(excerpts)}
    asked = history.entries[position].created_at
    known = [time for time in (*times.values(), asked) if time is not None]
    # If all was said within an hour of the request, the time says nothing.
    timed = bool(known) and max(known) - min(known) >= PAUSE
    for seq, time in times.items():
        if timed and time is not None and (stated is None or abs(time - stated) >= PAUSE):
            lines.append((utc(time), ()))
            stated = time
        lines += ((line, (seq,)) for text in _lines(history, seq, excerpts[seq]) for line in text.split("\n"))
    lines.append((PASSAGES_END, ()))
    return RetrievedNote(
        position=position,
        excerpts=dict(excerpts),
        note=history.note("\n".join(line for line, _ in lines)),
        sources=tuple(sources for _, sources in lines),
    )


def utc(seconds: float) -> str:
    """A time as text, in UTC. Presets import no clock, so the calendar is computed here, from 0000-03-01 on.

    >>> utc(1_683_554_160), utc(951_782_400)
    ('2023-05-08 13:56', '2000-02-29 00:00')
    """
    days, rest = divmod(int(seconds), 86_400)
    era, day_of_era = divmod(days + 719_468, 146_097)
    year = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    hour, minute = divmod(rest // 60, 60)
    return f"{400 * era + year + (month <= 2):04}-{month:02}-{day:02} {hour:02}:{minute:02}"


def _lines(history: History, seq: int, numbers: tuple[int, ...]) -> Iterator[str]:
    """The lines of a message in a note; a line that is not indented begins with its number and speaker."""
    passages = _passages(history, seq)
    if not numbers:
        for passage in passages:
            yield _quoted(passage, passage.text)
        return
    pieces, last = _pieces(history, seq).pieces, -1
    for number in numbers:
        passage, text = pieces[number]
        follows = number + 1 in numbers or number + 1 == len(pieces)
        text = text if follows else f"{text} {GAP}"
        if last < 0 or pieces[last][0] is not passage:
            yield _quoted(passage, text)
        else:
            yield f"    {quoted_material(text)}"
        last = number
    yield from filter(None, [history.recall_mark(seq, seq)])


def _quoted(passage: Passage, text: str) -> str:
    plain = quoted_material(text.strip()).replace("\n", "\n    ")
    return f"[{passage.first + 1} {speaker_name(passage.role, passage.author)}] {plain}"


def _passages(history: History, seq: int) -> list[Passage]:
    """What a message says; not its calls, which say nothing without their results: the log has both."""
    (message,) = history.read(seq, seq + 1)
    found = [passage for passage in voices(message, seq) if passage.text.strip()]
    return [passage for passage in found if passage.role != "tool" or not message.calls]


class _Pieces:
    """The sentences of what people said and the lines of everything else, in order."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.pieces = [(passage, piece) for passage in passages for piece in _split(passage)][:MOST]
        self._ranked: tuple[frozenset[str], Sequence[int]] = (frozenset(), ())

    def ranked(self, asked: frozenset[str]) -> Sequence[int]:
        """The numbers of the pieces with any of these words, those with the most first."""
        if self._ranked[0] != asked:
            shared = [len(asked.intersection(words(text))) for _, text in self.pieces]
            matching = (number for number, many in enumerate(shared) if many)
            self._ranked = asked, sorted(matching, key=lambda number: -shared[number])
        return self._ranked[1]


def _pieces(history: History, seq: int) -> _Pieces:
    """The pieces of a message; made once, since rebuilding a window asks for them again and again."""
    made = history.cached(history.turn_of(seq), _by_message)
    if seq not in made:
        made[seq] = _Pieces(_passages(history, seq))
    return made[seq]


def _by_message(history: History, turn: int) -> dict[int, _Pieces]:  # noqa: ARG001 — `cached` passes both
    return {}


def _split(passage: Passage) -> list[str]:
    if passage.role in ("user", "assistant"):
        return sentences(passage.text)
    return [line.rstrip() for line in passage.text.splitlines() if line.strip()]
