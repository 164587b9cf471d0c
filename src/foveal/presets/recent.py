"""The sliding window: the system prompt, the pins, and the newest turns that fit.

A history and room in → the newest turns that fit, without a gap.

The walk starts at the open turn and ends at the first turn that does not fit, so it costs the window's
length whatever the history's. With short forms, older turns stand in less words, so that more of them fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from foveal.model import Chunk
from foveal.pipeline.history import History, is_system
from foveal.pipeline.shorten.turn import shorten_turn
from foveal.pipeline.values import Scene, Selection
from foveal.presets.base import Preset

_OLDER = "older than the newest turns that fit"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentNumbers:
    """What can be set about the sliding window."""

    short_forms: bool = False
    """Show older turns in short form."""
    full_share: float = 0.6
    """Of the room, for the newest turns in full, where older ones are short."""
    short_share: float = 0.25
    """Of a turn's tokens, for its short form."""
    short_least: int = 32
    """Tokens; a turn that is not larger stays as it is."""


def newest(
    history: History, fixed: Mapping[int, Chunk], room: int, scene: Scene, *, numbers: RecentNumbers
) -> Selection:
    """Walk back from the open turn while `room` lasts; what is fixed is paid for already, notes are not.

    Where everything fits in full, nothing is short.
    """
    if numbers.short_forms:
        whole = _walked(history, fixed, room, scene, numbers=replace(numbers, short_forms=False))
        if not whole.because_out:
            return whole
    found = _walked(history, fixed, room, scene, numbers=numbers)
    return replace(found, because_out=found.because_out or _OLDER)


def _walked(
    history: History, fixed: Mapping[int, Chunk], room: int, scene: Scene, *, numbers: RecentNumbers
) -> Selection:
    """The choice; no reason for the rest where there is none."""
    pins = sorted(turn for turn, chunk in fixed.items() if not is_system(chunk))
    after = fixed[pins.pop()]
    walk = _Walk(history=history, numbers=numbers, scene=scene, room=room)
    spent, chosen, enough = 0, [], 0
    because_out = ""
    for turn in range(history.turn_of(after.first) - 1, -1, -1):
        if turn in fixed and is_system(fixed[turn]):
            continue
        if turn in fixed:
            pins.pop()
            chunk = fixed[turn]
        elif history.absence(turn) or not history.chunk(turn).messages:
            continue
        else:
            chunk = walk.form(turn, spent)
            chosen.append(turn)
            spent += chunk.tokens
        spent += history.note_tokens * history.joint(chunk, after)
        after = chunk
        if spent + _notes(history, [fixed[pin] for pin in pins], after, spare=room - spent) <= room:
            enough = len(chosen)
        elif spent > room:
            left = room - spent + chunk.tokens
            because_out = f"the next turn needed {chunk.tokens:,} tokens, {left:,} were left"
            break
    turns = tuple(chosen[:enough])
    forms = {turn: form for turn, form in walk.forms.items() if turn in turns}
    return Selection(
        turns=turns,
        because_in="among the newest turns that fit",
        because_out=because_out or _OLDER * (enough < len(chosen)),
        reasons={turn: _short_because(history, turn, form) for turn, form in forms.items()},
        forms=forms,
    )


class _Walk:
    """The forms that turns take on the way back: in full at first, then short for good."""

    def __init__(self, *, history: History, numbers: RecentNumbers, scene: Scene, room: int) -> None:
        self.forms: dict[int, Chunk] = {}
        self._history, self._numbers, self._scene = history, numbers, scene
        self._full = room * numbers.full_share if numbers.short_forms else room + 1

    def form(self, turn: int, spent: int) -> Chunk:
        chunk = self._history.chunk(turn)
        if spent + chunk.tokens <= self._full or not self._numbers.short_forms:
            return chunk
        self._full = 0
        short = self._history.remembered(turn, self._short)
        if short is None:
            return chunk
        self.forms[turn] = short
        return short

    def _short(self, history: History, turn: int) -> Chunk | None:
        chunk, frame = history.chunk(turn), history.frame
        room = max(self._numbers.short_least, int(chunk.tokens * self._numbers.short_share))
        if chunk.tokens <= room or chunk.detail != "full":
            return None
        words = shorten_turn(
            chunk.messages,
            room,
            price=frame.price,
            render=frame.render,
            count=self._scene.count,
            mark=history.marks(chunk),
        )
        return None if words is None else history.reword(chunk, words)


def _short_because(history: History, turn: int, form: Chunk) -> str:
    whole = history.chunk(turn).tokens
    return f"among the newest turns that fit; in short form, {form.tokens:,} of {whole:,} tokens"


def _notes(history: History, pins: list[Chunk], first: Chunk, *, spare: int) -> int:
    """Tokens of the notes that the window needs up to its first chosen turn; no look where all would fit."""
    most = history.note_tokens * (len(pins) + 1)
    return most if most <= spare else history.note_tokens * sum(history.joints([*pins, first]))


def recent(numbers: RecentNumbers) -> Preset:
    return Preset(
        name="recent",
        about="system prompt, pins and the newest turns that fit",
        select=partial(newest, numbers=numbers),
    )
