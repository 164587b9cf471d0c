"""Keep a sliding window: the system prompt, the pins, and the newest turns that fit, without a gap.

The walk starts at the open turn and ends at the first turn that does not fit, so its cost depends on the
length of the window, not of the history. With short forms, older turns are shortened so that more fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from foveal.model import Chunk
from foveal.pipeline.history import History, is_system
from foveal.pipeline.reasons import Reason, no_room
from foveal.pipeline.shorten.turn import shorten_turn
from foveal.pipeline.values import Scene, Selection
from foveal.presets.base import Preset

_FIT = "among the newest turns that fit"
_OLDER = "older than the newest turns that fit"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentNumbers:
    """The numbers of the sliding window."""

    short_forms: bool = False
    """Show older turns in short form."""
    full_share: float = 0.6
    """Share of the room for the newest turns in full, if older ones are shortened."""
    short_share: float = 0.25
    """Share of a turn's tokens that its short form may have."""
    short_least: int = 32
    """Tokens up to which a turn is not shortened."""


def newest(
    history: History, fixed: Mapping[int, Chunk], room: int, scene: Scene, *, numbers: RecentNumbers
) -> Selection:
    """Walk back from the open turn while `room` lasts; nothing is shortened if everything fits in full.

    `room` excludes the fixed turns, but not the notes between them.
    """
    if numbers.short_forms:
        in_full, all_fit = _walk_back(
            history, fixed, room, scene, numbers=replace(numbers, short_forms=False)
        )
        if all_fit:
            return in_full
    return _walk_back(history, fixed, room, scene, numbers=numbers)[0]


def _walk_back(
    history: History, fixed: Mapping[int, Chunk], room: int, scene: Scene, *, numbers: RecentNumbers
) -> tuple[Selection, bool]:
    """The selection, and whether it has all turns."""
    pins = sorted(turn for turn, chunk in fixed.items() if not is_system(chunk))
    after = fixed[pins.pop()]
    forms = _Forms(history=history, numbers=numbers, scene=scene, room=room)
    spent, chosen, enough = 0, [], 0
    because_out: Reason | str = _OLDER
    ended = False
    for turn in range(history.turn_of(after.first) - 1, -1, -1):
        if turn in fixed and is_system(fixed[turn]):
            continue
        if turn in fixed:
            pins.pop()
            chunk = fixed[turn]
        elif history.absence(turn) or not history.chunk(turn).messages:
            continue
        else:
            chunk = forms.of(turn, spent)
            chosen.append(turn)
            spent += chunk.tokens
        spent += history.note_tokens * history.needs_note(chunk, after)
        after = chunk
        if spent + _note_tokens(history, [fixed[pin] for pin in pins], after, spare=room - spent) <= room:
            enough = len(chosen)
        elif spent > room:
            left = room - spent + chunk.tokens
            words = f"the next turn needed {chunk.tokens:,} tokens, {left:,} were left"
            because_out, ended = no_room(needed=chunk.tokens, left=left, words=words), True
            break
    turns = tuple(chosen[:enough])
    short = {turn: form for turn, form in forms.short.items() if turn in turns}
    selection = Selection(
        turns=turns,
        because_in=_FIT,
        because_out=because_out,
        reasons={turn: _short_because(history, turn, form) for turn, form in short.items()},
        forms=short,
    )
    return selection, not ended and enough == len(chosen)


class _Forms:
    """The forms of turns on the way back: in full while their share of the room lasts, then all short."""

    def __init__(self, *, history: History, numbers: RecentNumbers, scene: Scene, room: int) -> None:
        self.short: dict[int, Chunk] = {}
        self._history, self._numbers, self._scene = history, numbers, scene
        self._room_in_full = room * numbers.full_share if numbers.short_forms else room + 1

    def of(self, turn: int, spent: int) -> Chunk:
        chunk = self._history.chunk(turn)
        if spent + chunk.tokens <= self._room_in_full or not self._numbers.short_forms:
            return chunk
        self._room_in_full = 0
        short = self._history.cached(turn, self._shortened)
        if short is None:
            return chunk
        self.short[turn] = short
        return short

    def _shortened(self, history: History, turn: int) -> Chunk | None:
        chunk, frame = history.chunk(turn), history.frame
        room = max(self._numbers.short_least, int(chunk.tokens * self._numbers.short_share))
        if chunk.tokens <= room or chunk.detail != "full":
            return None
        messages = shorten_turn(
            chunk.messages,
            room,
            price=frame.price,
            render=frame.render,
            count=self._scene.count,
            mark=history.marks(chunk),
        )
        return None if messages is None else history.reword(chunk, messages)


def _short_because(history: History, turn: int, form: Chunk) -> Reason:
    in_full = history.chunk(turn).tokens
    words = f"{_FIT}; in short form, {form.tokens:,} of {in_full:,} tokens"
    return Reason(code="selected", words=words)


def _note_tokens(history: History, pins: list[Chunk], first: Chunk, *, spare: int) -> int:
    """Tokens of the notes up to the first chosen turn; an upper bound if even that fits into `spare`."""
    most = history.note_tokens * (len(pins) + 1)
    return most if most <= spare else history.note_tokens * sum(history.notes_needed([*pins, first]))


def recent(numbers: RecentNumbers = RecentNumbers()) -> Preset:
    return Preset(
        name="recent",
        about="system prompt, pins and the newest turns that fit",
        select=partial(newest, numbers=numbers),
    )
