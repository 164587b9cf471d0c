"""A history and room in → the newest turns that fit, without a gap.

The walk starts at the open turn and ends at the first turn that does not fit, so it costs the window's
length whatever the history's.
"""

from __future__ import annotations

from collections.abc import Mapping

from foveal.model import Chunk
from foveal.pipeline.history import History, is_system
from foveal.pipeline.select.selection import Selection
from foveal.pipeline.values import Scene


def recent(history: History, fixed: Mapping[int, Chunk], room: int, _: Scene) -> Selection:
    """Walk back from the open turn while `room` lasts; what is fixed is paid for already, notes are not."""
    pins = sorted(turn for turn, chunk in fixed.items() if not is_system(chunk))
    after = fixed[pins.pop()]
    spent, chosen, enough = 0, [], 0
    because_out = ""
    for turn in range(history.turn_of(after.first) - 1, -1, -1):
        if turn in fixed and is_system(fixed[turn]):
            continue
        if turn in fixed:
            pins.pop()
            chunk = fixed[turn]
        elif history.absence(turn) or not (chunk := history.chunk(turn)).messages:
            continue
        else:
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
    return Selection(
        turns=tuple(chosen[:enough]),
        because_in="among the newest turns that fit",
        because_out=because_out or "older than the newest turns that fit",
    )


def _notes(history: History, pins: list[Chunk], first: Chunk, *, spare: int) -> int:
    """Tokens of the notes that the window needs up to its first chosen turn; no look where all would fit."""
    most = history.note_tokens * (len(pins) + 1)
    return most if most <= spare else history.note_tokens * sum(history.joints([*pins, first]))
