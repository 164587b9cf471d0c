"""Choose what every window has, whatever the preset, and in which form.

    1  system prompts and pinned messages
    2  the newest words of the user, verbatim
    3  the standing requests: the first of the session, and the latest that began something new
    4  the open turn: its calls, and its results in the best form that the rest has room for

Where they exceed the room, they give way in reverse order: results are shortened, then the standing requests
are cut and left out, then the middle of the user's newest words is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from foveal.errors import InputError
from foveal.model import Chunk
from foveal.pipeline.history import History, is_system
from foveal.pipeline.shorten.turn import least_tokens, shortened
from foveal.window import Fixed

REQUESTS_SHARE = 0.25
"""Of the room for messages: the most that standing requests may take beside the newest one."""
OPEN_SHARE = 0.6
"""Of what the other fixed turns leave: the most for the open turn while anything else needs room."""


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
    tokens: int
    count: Callable[[str], int]

    def left(self, chunks: Mapping[int, Chunk]) -> int:
        """What these turns leave, the notes between them included."""
        notes = self.history.notes_needed([chunks[turn] for turn in sorted(chunks)])
        spent = sum(chunk.tokens for chunk in chunks.values()) + self.history.note_tokens * sum(notes)
        return self.tokens - spent

    def beside(self, chunks: Mapping[int, Chunk], turns: Sequence[int]) -> int:
        """What the chunks leave for these turns, which are among them."""
        return self.left(chunks) + sum(chunks[turn].tokens for turn in turns)

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
    limits = _Room(history=history, tokens=room, count=count)
    for others in _alternatives(limits, pinned, asked, requests, opened):
        if form := _open_form(limits, others, opened, reserved):
            warnings = _warnings(history, others, asked)
            return FixedTurns(
                chunks={**others, opened: form}, because=because, opened=opened, warnings=warnings
            )
    others = {turn: chunk for turn, chunk in pinned.items() if turn != opened}
    whole = history.chunk(opened)
    cut = limits.shortened(opened, limits.beside({**others, opened: whole}, [opened]))
    if cut is None:
        return None
    return FixedTurns(
        chunks={**others, opened: cut},
        because=because,
        opened=opened,
        warnings=(_cut_warning(whole, cut.tokens),),
    )


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
    limits: _Room,
    pinned: Mapping[int, Chunk],
    asked: Sequence[int],
    requests: Sequence[int],
    opened: int,
) -> Iterator[dict[int, Chunk]]:
    """The fixed turns beside the open one, from the best choice to those that leave the most room."""
    history, whole = limits.history, limits.history.chunk(opened)
    base = {turn: chunk for turn, chunk in pinned.items() if turn != opened}
    words = {turn: history.chunk(turn) for turn in asked}
    full = {turn: history.chunk(turn) for turn in requests}
    everything = {**base, **words, **full, opened: whole}
    if limits.left(everything) >= _other_tokens(history, {*everything}):
        yield {**base, **words, **full}
    quarter = int(REQUESTS_SHARE * limits.left(base))
    yield {**base, **words, **_within(limits, requests, quarter)}
    frame = history.frame
    tokens = least_tokens(whole.messages, frame.price, limits.count, render=frame.render)
    least = {**base, opened: replace(whole, tokens=min(tokens, whole.tokens))}
    if requests:
        room = limits.beside({**least, **words, **full}, requests)
        yield {**base, **words, **_within(limits, requests, min(quarter, room))}
        yield {**base, **words}
    for turn in asked:
        cut = limits.shortened(turn, limits.beside({**least, **words}, [turn]))
        yield {**base, turn: cut} if cut else base


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


def _open_form(limits: _Room, others: Mapping[int, Chunk], opened: int, reserved: int) -> Chunk | None:
    """The open turn in the best form that fits next to the others; its user's words are not cut."""
    history, whole = limits.history, limits.history.chunk(opened)
    room = limits.beside({**others, opened: whole}, [opened])
    if whole.tokens > OPEN_SHARE * room:
        share = max(int(OPEN_SHARE * room), room - reserved - _other_tokens(history, {*others, opened}))
        if chunk := limits.shortened(opened, min(share, room), words=False):
            return chunk
    return limits.shortened(opened, room, words=False)


def _other_tokens(history: History, fixed: set[int]) -> int:
    """Stored tokens of the turns that are neither fixed nor absent."""
    spans = [history.span(turn) for turn in fixed]
    spans += [
        (history.span(start)[0], history.span(stop - 1)[1])
        for start, stop, _ in history.absences(0, len(history))
    ]
    return history.tokens - sum(history.between(first, last) for first, last in spans)


def _warnings(history: History, chunks: Mapping[int, Chunk], asked: Sequence[int]) -> tuple[str, ...]:
    whole = {turn: history.chunk(turn) for turn in asked}
    return tuple(
        _cut_warning(whole[turn], chunks[turn].tokens if turn in chunks else 0)
        for turn in asked
        if turn not in chunks or chunks[turn].detail == "trimmed"
    )


def _cut_warning(whole: Chunk, tokens: int) -> str:
    done = f"its middle was cut, {tokens:,} are left" if tokens else "it was left out"
    return f"the newest user message has {whole.tokens:,} tokens, for which there is no room: {done}"
