"""A preset of another package: the oldest turns that fit, so that the prompt always begins the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from foveal.model import Chunk
from foveal.pipeline.history import History
from foveal.pipeline.values import Scene, Selection
from foveal.presets import Preset


def select_oldest(history: History, fixed: Mapping[int, Chunk], room: int, _scene: Scene) -> Selection:
    """Walk forward from the oldest turn while `room` lasts; each turn may need a note before it."""
    chosen = []
    for turn in range(len(history)):
        if turn in fixed or history.absence(turn) or not (chunk := history.chunk(turn)).messages:
            continue
        room -= chunk.tokens + 2 * history.note_tokens
        if room < 0:
            break
        chosen.append(turn)
    return Selection(
        turns=tuple(chosen),
        because_in="among the oldest turns that fit",
        because_out="newer than the oldest turns that fit",
    )


OLDEST = Preset(name="oldest", about="the oldest turns that fit", select=select_oldest)


def make() -> Preset:
    """An entry point may also name a function that makes the preset."""
    return replace(OLDEST, name="oldest_made")


def nothing() -> None:
    """What a broken plugin returns."""
