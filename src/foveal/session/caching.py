"""A chosen window in → which of its pieces end where a cache marker belongs.

For a provider that caches by markers. It needs no note of ours between two turns, so pieces can be counted
from the end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from foveal import wire
from foveal.model import Chunk, Message
from foveal.pipeline.fit import Fitted


def still(fitted: Fitted) -> int:
    """How many pieces at the beginning are the part of a layout that nothing is appended to."""
    first = fitted.held.first if fitted.held else 0
    before = [at for at, chunk in enumerate(fitted.chunks) if 0 <= chunk.first < first]
    return _ends(fitted)[before[-1]] if before else 0


def moved(fitted: Fitted, messages: Sequence[Message]) -> tuple[str, ...]:
    """The pieces, where a marker of a client's message that is not in ends the nearest before it that is."""
    ends = _ends(fitted)
    shown = [(chunk.first, at) for at, chunk in enumerate(fitted.chunks) if chunk.first >= 0 and chunk.pieces]
    places: dict[int, str] = {}
    for seq, message in enumerate(messages):
        markers = wire.markers_in(message.body) if message.role != "system" else []
        before = bisect_right(shown, (seq, len(ends))) - 1
        if markers and before >= 0 and not _holds(fitted.chunks[shown[before][1]], seq):
            places.setdefault(ends[shown[before][1]] - 1, markers[0])
    return wire.move_markers(fitted.pieces, places) if places else fitted.pieces


def _holds(chunk: Chunk, seq: int) -> bool:
    return seq <= chunk.last and chunk.detail in ("full", "trimmed")


def _ends(fitted: Fitted) -> list[int]:
    """By chunk: how many pieces there are up to its end."""
    behind = accumulate((len(chunk.pieces) for chunk in reversed(fitted.chunks)), initial=0)
    return [len(fitted.pieces) - count for count in behind][-2::-1]
