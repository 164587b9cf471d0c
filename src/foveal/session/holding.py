"""A session and a preset that holds still in → the layout its next window begins with, also after a restart.

A layout is stored with the build that made it, as positions and numbers: the words a note tells are read from
the messages again, so nothing that was erased stays in one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from foveal.pipeline.compact.snippets import Snippet, snippets
from foveal.pipeline.history import History
from foveal.pipeline.plan.marks import Rates
from foveal.pipeline.select.digest import note_text
from foveal.pipeline.values import Held
from foveal.presets import Preset
from foveal.session.core import Core
from foveal.session.costs import prices_of
from foveal.session.target import Target

LAYOUT = "layout"
"""Under which a build's record has the layout that it made."""
LOOKED_AT = 200
"""Builds that are looked at for the newest layout."""


def held(core: Core, aim: Target, preset: Preset, history: History) -> Held | None:
    """The layout of the window before; None where messages in it were changed since, or there is none."""
    if not preset.steady:
        return None
    where = _where(core, aim, preset)
    if where not in core.held:
        core.held.clear()  # the session moved on: no other layout is good any more
        core.held[where] = _stored(core, where, history, aim)
    return core.held[where]


def rates(core: Core, aim: Target, preset: Preset) -> Rates | None:
    """What the provider charges for holding still; None where the preset does not."""
    if not preset.steady:
        return None
    found = prices_of(aim.card.id, core.desk.catalogue)
    return Rates(input=found.input, read=found.cache_read, write=found.cache_write) if found else Rates()


def keep(core: Core, aim: Target, preset: Preset, made: Held) -> Mapping[str, str]:
    """Remember a layout; what is to be stored of it, which is nothing for one that was held."""
    where = _where(core, aim, preset)
    before, core.held[where] = core.held.get(where), made
    return {} if before is made else {LAYOUT: _written(where, made)}


def _where(core: Core, aim: Target, preset: Preset) -> str:
    """What a layout is good for: the preset, how notes are written and counted, the messages as they are."""
    head = core.ledger.head
    return f"{preset.name}/{aim.history_key}/{aim.handles}/{head.branch}/{head.version}"


def _written(where: str, layout: Held) -> str:
    told = {str(seq): list(numbers) for seq, numbers in layout.shown.items()}
    return json.dumps(
        {
            "where": where,
            "talk": layout.talk,
            "first": layout.first,
            "kept": list(layout.kept),
            "place": layout.note.first if layout.note else 0,
            "shown": told,
        },
        separators=(",", ":"),
    )


def _stored(core: Core, where: str, history: History, aim: Target) -> Held | None:
    for build in core.store.builds(core.id, limit=LOOKED_AT):
        record = json.loads(build.manifest).get("record") or {}
        if LAYOUT in record and (found := json.loads(record[LAYOUT]))["where"] == where:
            shown = {int(seq): tuple(numbers) for seq, numbers in found["shown"].items()}
            told = [each for seq, numbers in shown.items() for each in _told(history, seq, numbers, aim)]
            place = history.turn_of(found["place"])
            return Held(
                talk=found["talk"],
                first=found["first"],
                kept=tuple(found["kept"]),
                note=history.folded(place, note_text(told), first=min(shown)) if told else None,
                shown=shown,
            )
    return None


def _told(history: History, seq: int, numbers: tuple[int, ...], aim: Target) -> list[Snippet]:
    turn = history.turn_of(seq)
    if history.stand_in(turn):
        (message,) = history.chunk(turn).messages
    else:
        (message,) = history.read(seq, seq + 1)
    found = snippets(message, seq, aim.meter.text)
    return [found[number] for number in numbers]
