"""Choose the material that a window shows, by weight and salience within the CONTEXT category.

CONTEXT has its share of the budget and may borrow what the conversation leaves of DIALOG's share, never what
it uses. Admitted pieces never exceed CONTEXT's share and what was borrowed for it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from foveal.model import Entry
from foveal.pipeline.history import History
from foveal.pipeline.kinds import kind_of
from foveal.pipeline.material.categories import (
    CONTEXT,
    DIALOG,
    PenguinNumbers,
    borrow,
    category_slots,
    slot_of,
    spare,
)
from foveal.pipeline.material.placement import (
    admitted,
    frame_tokens,
    is_known,
    left_out,
    price_with_titles,
)
from foveal.pipeline.material.values import MEMORIES, Admission, Material
from foveal.pipeline.values import Item, Scene
from foveal.window import Contributed, Slot, Verdict

MEMORY_SHARE = 10
"""What the user asked to remember takes at most this fraction of the budget."""


def admit_by_default(material: Sequence[Material], history: History, room: int, scene: Scene) -> Admission:
    """Admit for presets whose own plan has no categories."""
    return replace(admit_by_category(material, history, room, scene, numbers=PenguinNumbers()), slots=())


def admit_memories_first(
    material: Sequence[Material], history: History, room: int, scene: Scene
) -> Admission:
    """Admit what the user asked to remember before anything else, and the rest by default."""
    memories = [piece for piece in material if piece.type == MEMORIES]
    pieces = price_with_titles(memories, scene.count)
    needed = sum(piece.tokens for piece in pieces) + frame_tokens(history) * bool(pieces)
    others = [piece for piece in material if piece.type != MEMORIES]
    most = scene.budget // MEMORY_SHARE
    if needed > room:
        because = f"needed {needed:,} tokens, {max(0, room):,} were left"
        contributed, shown = [left_out(piece, because) for piece in pieces], []
    else:
        because = (
            f"what the user asked to remember: {needed:,} tokens of at most {most:,}, a tenth of the budget"
        )
        contributed, shown = [admitted(piece, because) for piece in pieces], pieces
        room -= needed
    rest = admit_by_default(others, history, room, scene) if others else Admission()
    return replace(rest, shown=(*shown, *rest.shown), contributed=(*contributed, *rest.contributed))


def admit_by_category(
    material: Sequence[Material], history: History, room: int, scene: Scene, *, numbers: PenguinNumbers
) -> Admission:
    """Admit the best pieces, priced with their titles, and report the categories with them in."""
    pieces = price_with_titles(material, scene.count)
    frames = frame_tokens(history) * len({is_known(piece) for piece in pieces})
    used = Counter[str]()
    for item in _newest(history, scene.budget):
        used[slot_of(item)] += item.tokens
    slots = [replace(slot, used=used[slot.name]) for slot in category_slots(scene.budget, numbers)]
    return admit_by_salience(pieces, slots, room=max(0, room - frames))


def _newest(history: History, budget: int) -> Iterator[Item]:
    """As much of the history as a window could hold, so the cost does not grow with the history."""
    for entry in reversed(history.entries):
        if not entry.absence:
            budget -= entry.tokens
            yield _item(entry)
        if budget < 0:
            return


def _item(entry: Entry) -> Item:
    return Item(
        index=entry.seq,
        id=entry.id,
        role=entry.role,
        kind=entry.kind or kind_of(entry.role, tool_call=bool(entry.calls), newest_user=False),
        text="",
        tokens=entry.tokens,
        metadata=json.loads(entry.metadata) if entry.metadata else {},
    )


def admit_by_salience(
    material: Sequence[Material], slots: Sequence[Slot], *, room: int | None = None
) -> Admission:
    """Admit pieces by weight x salience; where one does not fit, borrow from DIALOG, else leave it out.

    `slots` include what the conversation uses; `room`, where given, limits all pieces together.

    >>> slots = [
    ...     Slot(name=name, floor=0, ideal=50, ceiling=100, allotted=50, used=used)
    ...     for name, used in [(CONTEXT, 0), (DIALOG, 40)]
    ... ]
    >>> files = Material(type="WORKING_FILES", source="a.py", text="…", tokens=55, weight=0.4, salience=0.5)
    >>> admit_by_salience([files], slots).contributed[0].because
    'weight 0.40 x salience 0.50, 55 tokens, 5 borrowed from DIALOG'
    """
    after, shown, contributed = tuple(slots), [], []
    for piece in sorted(material, key=_order):
        left = _left(after, room)
        missing = max(0, piece.tokens - left)
        # Borrowing moves room between categories, but cannot raise the limit on everything.
        lendable = _spare(after, DIALOG) if room is None or piece.tokens <= room else 0
        if missing > lendable:
            lack = _lack(piece.tokens, left, lendable)
            contributed.append(_contributed(piece, "left out", lack, brief=lack))
            continue
        _, after = borrow(after, DIALOG, target=CONTEXT, amount=missing)
        lent = f"{missing:,} borrowed from {DIALOG}" if missing else ""
        words = ", ".join(filter(None, (f"{piece.tokens:,} tokens", lent)))
        contributed.append(_contributed(piece, "kept", words, brief=lent))
        shown.append(piece)
        after = _with_context_used(after, piece.tokens)
        room = None if room is None else room - piece.tokens
    return Admission(shown=tuple(shown), contributed=tuple(contributed), slots=after)


def _salience(material: Material) -> float:
    return min(1.0, max(0.0, material.salience))


def _order(material: Material) -> tuple[float, float]:
    """Best first; of equals the one of more weight, else the one that came first."""
    return -material.weight * _salience(material), -material.weight


def _left(slots: Sequence[Slot], room: int | None) -> int:
    """What CONTEXT has left; below 0 when it is over-full."""
    own = next((slot.allotted - slot.used for slot in slots if slot.name == CONTEXT), 0)
    return own if room is None else min(own, room)


def _spare(slots: Sequence[Slot], name: str) -> int:
    return next((spare(slot) for slot in slots if slot.name == name), 0)


def _with_context_used(slots: Sequence[Slot], tokens: int) -> tuple[Slot, ...]:
    return tuple(replace(slot, used=slot.used + tokens) if slot.name == CONTEXT else slot for slot in slots)


def _lack(needed: int, left: int, lendable: int) -> str:
    return f"needed {needed:,} tokens, {max(0, left):,} were left" + (
        f" and {DIALOG} could lend {lendable:,}" if lendable else ""
    )


def _contributed(piece: Material, verdict: Verdict, why: str, *, brief: str) -> Contributed:
    salience = _salience(piece)
    because = f"weight {piece.weight:.2f} x salience {salience:.2f}, {why}"
    return replace(left_out(piece, because, brief), verdict=verdict, salience=salience)
