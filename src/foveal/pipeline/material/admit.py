"""Material and categories in → the pieces that earn their place in CONTEXT, with what DIALOG can lend.

What is taken never exceeds CONTEXT's part and what was borrowed for it; borrowing makes no room.

Material and a history in → the pieces that earn their place beside it, by the categories that borrow.

CONTEXT has its share of the budget, and what the conversation leaves of DIALOG's: never what it uses.
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
    shared,
    slot_of,
    spare,
)
from foveal.pipeline.material.notes import frame, known, titled
from foveal.pipeline.material.values import Admission, Material
from foveal.pipeline.values import Item, Scene
from foveal.window import Contributed, Slot, Verdict


def by_salience(material: Sequence[Material], slots: Sequence[Slot], *, room: int | None = None) -> Admission:
    """Take pieces by weight x salience; where one does not fit, borrow from DIALOG, else leave it out.

    `slots` have in them what the conversation uses; `room`, where given, limits all pieces together.

    >>> slots = [
    ...     Slot(name=name, floor=0, ideal=50, ceiling=100, allotted=50, used=used)
    ...     for name, used in [(CONTEXT, 0), (DIALOG, 40)]
    ... ]
    >>> files = Material(type="WORKING_FILES", source="a.py", text="…", tokens=55, weight=0.4, salience=0.5)
    >>> by_salience([files], slots).told[0].because
    'weight 0.40 x salience 0.50, 55 tokens, 5 borrowed from DIALOG'
    """
    after, shown, told = tuple(slots), [], []
    for each in sorted(material, key=_order):
        left = _left(after, room)
        missing = max(0, each.tokens - left)
        # Borrowing moves room between categories; a limit on everything it cannot move.
        could = _spare(after, DIALOG) if room is None or each.tokens <= room else 0
        if missing > could:
            told.append(_told(each, "left out", _short(each.tokens, left, could)))
            continue
        _, after = borrow(after, DIALOG, target=CONTEXT, amount=missing)
        lent = f", {missing:,} borrowed from {DIALOG}" if missing else ""
        told.append(_told(each, "kept", f"{each.tokens:,} tokens{lent}"))
        shown.append(each)
        after = _used(after, each.tokens)
        room = None if room is None else room - each.tokens
    return Admission(shown=tuple(shown), told=tuple(told), slots=after)


def _salience(material: Material) -> float:
    """Its salience, which is within 0 and 1."""
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


def _used(slots: Sequence[Slot], tokens: int) -> tuple[Slot, ...]:
    return tuple(replace(slot, used=slot.used + tokens) if slot.name == CONTEXT else slot for slot in slots)


def _short(needed: int, left: int, could: int) -> str:
    return f"needed {needed:,} tokens, {max(0, left):,} were left" + (
        f" and {DIALOG} could lend {could:,}" if could else ""
    )


def _told(material: Material, verdict: Verdict, why: str) -> Contributed:
    return Contributed(
        type=material.type,
        source=material.source,
        tokens=material.tokens,
        weight=material.weight,
        salience=_salience(material),
        verdict=verdict,
        because=f"weight {material.weight:.2f} x salience {_salience(material):.2f}, {why}",
        title=material.title,
    )


def beside(material: Sequence[Material], history: History, room: int, scene: Scene) -> Admission:
    """For presets whose own plan has no categories."""
    return replace(categorized(material, history, room, scene, numbers=PenguinNumbers()), slots=())


def categorized(
    material: Sequence[Material], history: History, room: int, scene: Scene, *, numbers: PenguinNumbers
) -> Admission:
    """The best of the pieces, priced with their titles, and the categories once they are in."""
    pieces = titled(material, scene.count)
    around = frame(history) * len({known(piece) for piece in pieces})
    used = Counter[str]()
    for item in _newest(history, scene.budget):
        used[slot_of(item)] += item.tokens
    slots = [replace(slot, used=used[slot.name]) for slot in shared(scene.budget, numbers)]
    return by_salience(pieces, slots, room=max(0, room - around))


def _newest(history: History, budget: int) -> Iterator[Item]:
    """As much of the history as a window could hold: it costs the window's length, not the history's."""
    for entry in reversed(history.entries):
        if not entry.absence:
            budget -= entry.tokens
            yield _item(entry)
        if budget < 0:
            return


def _item(entry: Entry) -> Item:
    kind = entry.kind or kind_of(entry.role, tool_call=bool(entry.calls), newest_user=False)
    told = json.loads(entry.metadata) if entry.metadata else {}
    return Item(
        index=entry.seq, id=entry.id, role=entry.role, kind=kind, text="", tokens=entry.tokens, metadata=told
    )
