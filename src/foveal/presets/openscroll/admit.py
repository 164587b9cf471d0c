"""Choose which material each layer shows, within its negotiated allotment.

Each layer takes the best pieces first. The first piece that does not fit is cut at a line or left out, and
ends its layer. What a layer shows never costs more than its allotment, titles and notes included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from foveal.pipeline.history import History
from foveal.pipeline.kinds import LAYERS
from foveal.pipeline.material.categories import tokens_by_slot
from foveal.pipeline.material.placement import (
    admitted,
    as_item,
    charges,
    frame_tokens,
    is_known,
    layer_of_piece,
    left_out,
    notes,
    price_with_titles,
    revoked,
)
from foveal.pipeline.material.values import Admission, Material
from foveal.pipeline.recipe import items
from foveal.pipeline.values import Item, Scene
from foveal.presets.openscroll.layers import OpenscrollNumbers, slot_of
from foveal.presets.openscroll.plan import layers
from foveal.window import Contributed

LEAST = 40
"""The fewest tokens to which a piece is cut."""


def layered(
    material: Sequence[Material], history: History, room: int, scene: Scene, *, numbers: OpenscrollNumbers
) -> Admission:
    """Negotiate the layers for all material, then fill them."""
    turns = items(history)
    pieces = _ranked(price_with_titles(material, scene.count))
    around = frame_tokens(history)
    offered = tuple(map(as_item, pieces, _with_frames(pieces, around)))
    flat = [item for found in turns.values() for item in found]
    slots = layers(flat, replace(scene, material=offered), numbers=numbers)
    fixed = _fixed(history, turns)
    used = Counter(tokens_by_slot((item for turn in fixed for item in turns[turn]), slot_of))
    free = {slot.name: max(0, slot.allotted - used[slot.name]) for slot in slots}
    filling = _Filling(left=free, room=room - _reserved(history, turns, fixed), around=around)
    for piece in pieces:
        filling.take(piece, scene.count)
    shown, contributed = _exact(history, filling, free)
    return Admission(shown=tuple(shown), contributed=tuple(contributed), slots=slots)


@dataclass(slots=True, kw_only=True)
class _Filling:
    """The pieces shown so far, and what each layer has left."""

    left: Mapping[str, int]
    room: int
    around: int
    shown: list[Material] = field(default_factory=list)
    contributed: list[Contributed] = field(default_factory=list)
    spent: Counter[str] = field(default_factory=Counter)
    begun: set[bool] = field(default_factory=set)
    """The notes that have a piece already; the first piece of a note also pays for its frame."""
    ended: set[str] = field(default_factory=set)

    def take(self, piece: Material, count: Callable[[str], int]) -> None:
        name = layer_of_piece(piece)
        around = 0 if is_known(piece) in self.begun else self.around
        left = min(self.left[name] - self.spent[name], self.room)
        most = 0 if name in self.ended else left - around
        fits = piece if piece.tokens <= most else _cut(piece, most, count)
        if fits is not piece:
            self.ended.add(name)
        if fits is None:
            self.contributed.append(
                left_out(piece, f"{name}, needed {piece.tokens:,} tokens, {max(0, most):,} were left")
            )
            return
        self.begun.add(is_known(piece))
        self.spent[name] += fits.tokens + around
        self.room -= fits.tokens + around
        self.shown.append(fits)
        cut = f", cut from {piece.tokens:,}" if fits is not piece else ""
        because = f"{name}, {fits.tokens:,} tokens{cut}"
        self.contributed.append(admitted(fits, because, f"{name}{cut}"))


def _exact(
    history: History, filling: _Filling, free: Mapping[str, int]
) -> tuple[list[Material], list[Contributed]]:
    """Count the pieces inside their notes, and remove pieces from layers that turn out too large."""
    shown, contributed = filling.shown, filling.contributed
    while shown:
        used = Counter[str]()
        for piece, tokens in zip(shown, charges(shown, notes(history, shown)), strict=True):
            used[layer_of_piece(piece)] += tokens
        over = next((name for name in reversed(LAYERS) if used[name] > free[name]), "")
        if not over:
            break
        last = max(at for at, piece in enumerate(shown) if layer_of_piece(piece) == over)
        because = f"{over}, needed {used[over]:,} tokens with its note, {free[over]:,} were left"
        contributed = revoked(contributed, [shown[last]], because)
        shown = [piece for at, piece in enumerate(shown) if at != last]
    return shown, contributed


def _ranked(pieces: Sequence[Material]) -> list[Material]:
    """In the order of the layers, the best of each layer first."""
    return sorted(pieces, key=lambda piece: (LAYERS.index(layer_of_piece(piece)), -piece.rank))


def _with_frames(pieces: Sequence[Material], around: int) -> list[int]:
    """The cost of each piece; the first of each note includes the note's frame."""
    begun: set[bool] = set()
    costs = []
    for piece in pieces:
        costs.append(piece.tokens + (0 if is_known(piece) in begun else around))
        begun.add(is_known(piece))
    return costs


def _fixed(history: History, turns: Mapping[int, Sequence[Item]]) -> set[int]:
    """Turns that are always in the window: pinned ones and the open one."""
    conversation = [turn for turn, found in turns.items() if found[0].role != "system"]
    return {turn for turn in turns if turn in history.pinned} | set(conversation[-1:])


def _reserved(history: History, turns: Mapping[int, Sequence[Item]], fixed: set[int]) -> int:
    """Room for the user's message, unless its turn is fixed, and for notes that may be needed."""
    free = [item for turn, found in turns.items() if turn not in fixed for item in found]
    prompt = sum(item.tokens for item in free if item.kind == "current_user_prompt")
    return prompt + history.note_tokens * (len(fixed) + 1)


def _cut(piece: Material, room: int, count: Callable[[str], int]) -> Material | None:
    """As many of its first lines as fit; None if there is too little room."""
    if room < LEAST:
        return None
    lines = piece.text.strip().splitlines()

    def shortened(size: int) -> Material:
        (found,) = price_with_titles([replace(piece, text="\n".join((*lines[:size], "[…]")))], count)
        return found

    low, high = 0, 1
    while high < len(lines) and shortened(high).tokens <= room:
        low, high = high, high * 2
    high = min(high, len(lines) - 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if shortened(middle).tokens <= room else (low, middle - 1)
    return shortened(low) if low else None
