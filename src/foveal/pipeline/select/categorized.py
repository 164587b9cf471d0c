"""Material and a history in → the pieces that earn their place beside it, by the categories that borrow.

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
from foveal.pipeline.material import Admission, Material
from foveal.pipeline.placing import frame, known, titled
from foveal.pipeline.plan.categories import PenguinNumbers, shared, slot_of
from foveal.pipeline.select.salience import by_salience
from foveal.pipeline.values import Item, Scene


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
