"""Choose what every window has, whatever the preset, and in which form.

    1  system prompts and pinned messages
    2  the newest words of the user, verbatim
    3  the standing requests: the first of the session, and the latest that began something new
    4  the open turn: its calls, and its results in the best form that the rest has room for

Where they exceed the room, they give way in reverse order: results are shortened, then the standing requests
are cut and left out, then the middle of the user's newest words is cut. Words that must be cut leave room for
the standing requests, the open turn and what the preset shows of the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from foveal.errors import InputError
from foveal.model import Chunk
from foveal.pipeline.history import History, is_system
from foveal.pipeline.shorten.turn import least_form_tokens, shortened
from foveal.window import Fixed

REQUESTS_SHARE = 0.25
"""Of the room for messages: the most that standing requests may take beside the newest one."""
OPEN_SHARE = 0.6
"""Of what the other fixed turns leave: the most for the open turn while anything else needs room."""
SHORT_SHARE = 0.1
"""Of the room for messages: words of the user that take no more than this are short."""
WORDS_SHARE = 0.6
"""Of what pins and standing requests leave: the most for the newest words if they must be cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedTurns:
    """The turns that are in the window whatever the preset selects."""

    chunks: Mapping[int, Chunk] = field(default_factory=dict)
    because: Mapping[int, Fixed] = field(default_factory=dict)
    """Why each of them is in."""
    opened: int = -1
    """The open turn: the newest one, which the model answers; -1 where no model does."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """The tokens that the messages of a window may have, and how they are counted."""

    history: History
    opened: int
    tokens: int
    reserved: int
    """Tokens of what else should be in the window."""
    count: Callable[[str], int]

    def left(self, chunks: Mapping[int, Chunk]) -> int:
        """What these turns leave, the notes between them included."""
        notes = self.history.notes_needed([chunks[turn] for turn in sorted(chunks)])
        spent = sum(chunk.tokens for chunk in chunks.values()) + self.history.note_tokens * sum(notes)
        return self.tokens - spent

    def beside(self, chunks: Mapping[int, Chunk], turns: Sequence[int]) -> int:
        """What the chunks leave for these turns, which are among them."""
        return self.left(chunks) + sum(chunks[turn].tokens for turn in turns)

    def others(self, turns: Collection[int]) -> int:
        """What all else needs: the turns that are not among these, and what is beside turns."""
        return self.reserved + _other_tokens(self.history, {*turns, self.opened})

    def least(self, turn: int, *, words: bool = False) -> Chunk:
        """The turn at the price of its shortest form."""
        tokens = least_form_tokens(self.history, turn, self.count, words=words)
        return replace(self.history.chunk(turn), tokens=tokens)

    def shortened(self, turn: int, room: int, *, words: bool = True) -> Chunk | None:
        return shortened(self.history, turn, room, self.count, words=words)


def fixed_turns(
    history: History, room: int, count: Callable[[str], int], *, reserved: int = 0
) -> FixedTurns | None:
    """The fixed turns within `room` tokens; None if not even the shortest form of the open turn fits.

    `reserved`: tokens of what else should be in the window beside turns, attached context for example.
    """
    opened = open_turn(history)
    because: dict[int, Fixed] = dict(history.pinned)
    pinned = {turn: chunk for turn in because if (chunk := history.chunk(turn)).messages}
    asked, requests = _requests(history, opened, {*pinned, opened})
    because |= {**dict.fromkeys(requests, "standing_request"), **dict.fromkeys(asked, "newest_user")}
    because[opened] = "open_turn"
    limits = _Room(history=history, opened=opened, tokens=room, reserved=reserved, count=count)
    for others, words in _alternatives(limits, pinned, asked, requests):
        if form := _open_form(limits, others, words=words):
            chunks = {**others, opened: form}
            newest = [*asked, *([opened] if words and history.newest_words(opened) == opened else [])]
            return FixedTurns(
                chunks=chunks,
                because=because,
                opened=opened,
                warnings=tuple(_warnings(history, chunks, newest, requests)),
            )
    return None


def open_turn(history: History) -> int:
    """The newest turn that can be sent, system prompts aside."""
    for turn in range(len(history) - 1, -1, -1):
        if history.absence(turn):
            continue
        chunk = history.chunk(turn)
        if chunk.messages and not is_system(chunk):
            return turn
    raise InputError(
        f"there is no message to answer among {len(history.entries)}",
        remedy="add a user message before asking for a window",
        field="messages",
    )


def _requests(history: History, opened: int, there: set[int]) -> tuple[list[int], list[int]]:
    """The turn of the user's newest words, and those of the standing requests, without those in `there`."""
    asked, requests = history.newest_words(opened), history.requests(opened)
    # A turn without anything that can be sent is known as empty once it is prepared.
    while not all(history.chunk(turn).messages for turn in (*requests, *([] if asked is None else [asked]))):
        asked, requests = history.newest_words(opened), history.requests(opened)
    found = [asked] if asked is not None and asked not in there else []
    return found, [turn for turn in requests if turn not in there and turn != asked]


def _alternatives(
    limits: _Room, pinned: Mapping[int, Chunk], asked: Sequence[int], requests: Sequence[int]
) -> Iterator[tuple[dict[int, Chunk], bool]]:
    """The fixed turns beside the open one, from the best choice to those that leave the most room.

    With each of them, whether words of the user in the open turn may be cut.
    """
    history, opened = limits.history, limits.opened
    base = {turn: chunk for turn, chunk in pinned.items() if turn != opened}
    words = {turn: history.chunk(turn) for turn in asked}
    full = {turn: history.chunk(turn) for turn in requests}
    everything = {**base, **words, **full, opened: history.chunk(opened)}
    if limits.left(everything) >= _other_tokens(history, {*everything}):
        yield {**base, **words, **full}, False
    quarter = int(REQUESTS_SHARE * limits.left(base))
    newest = {**base, opened: history.chunk(opened)}
    said = [*asked, *requests]
    short = sum(history.chunk(turn).tokens for turn in said) <= SHORT_SHARE * limits.left(base)
    if history.is_output(opened) and limits.left(newest) >= 0 and not short:
        # It has the user's role: a message that fits is not changed, but for the sake of a short request.
        room = limits.beside({**newest, **words, **full}, said)
        yield {**base, **_within(limits, said, max(room, 0))}, False
    yield {**base, **words, **_within(limits, requests, quarter)}, False
    if requests:
        least = {**base, opened: limits.least(opened)}
        room = limits.beside({**least, **words, **full}, requests)
        yield {**base, **words, **_within(limits, requests, min(quarter, room))}, False
        yield {**base, **words}, False
    # Words that fit in no form above are cut, also for the sake of the requests.
    for standing in _standing(limits, base, asked, requests, quarter):
        cut = {turn: _cut_words(limits, {**base, **standing}, turn) for turn in asked}
        found = {turn: chunk for turn, chunk in cut.items() if chunk}
        if len(found) == len(asked):
            yield {**base, **standing, **found}, not asked
    yield base, True


def _standing(
    limits: _Room, base: Mapping[int, Chunk], asked: Sequence[int], requests: Sequence[int], quarter: int
) -> Iterator[dict[int, Chunk]]:
    """The standing requests beside words that are cut: within their share, within the room, or none."""
    if requests:
        yield _within(limits, requests, quarter)
        least = {turn: limits.least(turn, words=True) for turn in (*asked, limits.opened)}
        full = {turn: limits.history.chunk(turn) for turn in requests}
        room = limits.beside({**base, **least, **full}, requests)
        yield _within(limits, requests, min(quarter, room))
    yield {}


def _cut_words(limits: _Room, others: Mapping[int, Chunk], turn: int) -> Chunk | None:
    """The newest words in the longest form that leaves room for the open turn and the rest."""
    history, opened = limits.history, limits.opened
    room = limits.beside({**others, turn: history.chunk(turn), opened: history.chunk(opened)}, [turn, opened])
    rest = history.chunk(opened).tokens + limits.others({*others, turn})
    share = max(int(WORDS_SHARE * room), room - rest)
    return limits.shortened(turn, min(share, room - limits.least(opened).tokens))


def _within(limits: _Room, turns: Sequence[int], room: int) -> dict[int, Chunk]:
    """The turns within `room` tokens together, the shorter ones in full, the others cut or left out."""
    found: dict[int, Chunk] = {}
    shortest = sorted(turns, key=lambda turn: (limits.history.chunk(turn).tokens, -turn))
    for at, turn in enumerate(shortest):
        chunk = limits.shortened(turn, room // (len(shortest) - at))
        if chunk:
            found[turn] = chunk
            room -= chunk.tokens
    return found


def _open_form(limits: _Room, others: Mapping[int, Chunk], *, words: bool) -> Chunk | None:
    """The open turn in the best form that fits next to the others."""
    opened = limits.opened
    whole = limits.history.chunk(opened)
    room = limits.beside({**others, opened: whole}, [opened])
    if whole.tokens > OPEN_SHARE * room and not (limits.history.is_output(opened) and whole.tokens <= room):
        share = max(int(OPEN_SHARE * room), room - limits.others(others.keys()))
        if chunk := limits.shortened(opened, min(share, room), words=words):
            return chunk
    return limits.shortened(opened, room, words=words)


def _other_tokens(history: History, fixed: set[int]) -> int:
    """Stored tokens of the turns that are neither fixed nor absent.

    Empty ones count too: they are known only once they are prepared, and no window depends on what was.
    """
    spans = [history.span(turn) for turn in fixed]
    spans += [
        (history.span(start)[0], history.span(stop - 1)[1])
        for start, stop, why in history.absences(0, len(history))
        if why != "empty"
    ]
    return history.tokens - sum(history.between(first, last) for first, last in spans)


def _warnings(
    history: History, chunks: Mapping[int, Chunk], newest: Sequence[int], requests: Sequence[int]
) -> Iterator[str]:
    """One for each of the user's messages that is cut or left out."""
    for turn in (*newest, *requests):
        chunk = chunks.get(turn)
        if chunk and chunk.detail != "trimmed":
            continue
        whole = history.chunk(turn)
        what = "newest user message" if turn in newest else f"standing request (message {whole.first + 1:,})"
        done = f"its middle was cut, {chunk.tokens:,} are left" if chunk else "it was left out"
        yield f"the {what} has {whole.tokens:,} tokens, for which there is no room: {done}"
