"""A session and a preset that holds still in → the layout its next window begins with, also after a restart.

A layout is stored with the build that made it, as positions and numbers: the words a note tells are read from
the messages again, so nothing that was erased stays in one. Builds that hold still name that build, and the
decisions about what was before it stand in its record alone: such a build's record costs what is new.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from foveal.presets.foveal.snippets import Snippet, snippets
from foveal.pipeline.history import History
from foveal.pipeline.values import Rates
from foveal.presets.foveal.digest import note_text
from foveal.presets.foveal.recall import note_of
from foveal.pipeline.values import Brought, Held
from foveal.presets import Preset
from foveal.session.state import Core, Layout
from foveal.session.costs import prices_of
from foveal.session.build.manifest_json import kept_with, read_manifest, sent_length, since
from foveal.session.target import Target
from foveal.store import BuildRecord
from foveal.window import Decision
from foveal.wire.jsontext import compact

LAYOUT = "layout"
"""Under which a build's record has the layout that it made."""
LOOKED_AT = 200
"""Builds that are looked at for the newest layout."""


def held(core: Core, aim: Target, preset: Preset) -> Held | None:
    """The layout of the window before; None where messages in it were changed since, or there is none."""
    if not preset.steady:
        return None
    where = _where(core, aim, preset)
    if where not in core.held or core.held_since != core.ledger.head.builds:
        core.held.clear()  # the session moved on: no other layout is good any more
        core.held[where] = _stored(core, where, core.ledger.history(aim), aim)
        core.held_since = core.ledger.head.builds
    found = core.held[where]
    return found.held if found else None


def rates(core: Core, aim: Target, preset: Preset) -> Rates | None:
    """What the provider charges for holding still; None where the preset does not."""
    if not preset.steady:
        return None
    found = prices_of(aim.card.id, core.desk.catalogue)
    seconds = aim.card.cache_ttl
    if found is None:
        return Rates(seconds=seconds)
    return Rates(input=found.input, read=found.cache_read, write=found.cache_write, seconds=seconds)


def keep(core: Core, aim: Target, preset: Preset, made: Held) -> tuple[Layout, Mapping[str, str]]:
    """Remember a layout; what is to be stored of it, which is nothing for one that was held."""
    where = _where(core, aim, preset)
    before = core.held.get(where)
    if before and before.build and before.held == made:
        core.held[where] = layout = replace(before, held=made)
        return layout, {}
    core.held[where] = layout = _layout(made)
    return layout, {LAYOUT: _written(where, made)}


def filed(core: Core, layout: Layout | None, build: int) -> None:
    """Take in that a build is stored, and with which layout."""
    if core.held_since == core.ledger.head.builds:  # as it was before this build
        core.held_since = build
    for where, found in core.held.items():
        if layout and found is layout and not layout.build:
            core.held[where] = replace(layout, build=build)


def _where(core: Core, aim: Target, preset: Preset) -> str:
    """What a layout is good for: the preset, how notes are written and counted, the messages as they are."""
    head = core.ledger.head
    return f"{preset.name}/{aim.history_key}/{aim.handles}/{head.branch}/{head.version}"


def _written(where: str, layout: Held) -> str:
    told = _numbered(layout.shown)
    return compact(
        {
            "where": where,
            "talk": layout.talk,
            "first": layout.first,
            "kept": list(layout.kept),
            "place": layout.note.first if layout.note else 0,
            "shown": told,
            "wanted": list(layout.wanted),
            "task": layout.task,
            "brought": [[each.place, _numbered(each.shown)] for each in layout.brought],
        }
    )


def _numbered(shown: Mapping[int, tuple[int, ...]]) -> dict[str, list[int]]:
    return {str(seq): list(numbers) for seq, numbers in shown.items()}


def _stored(core: Core, where: str, history: History, aim: Target) -> Layout | None:
    known = set()
    for build in core.store.builds(core.id, limit=LOOKED_AT):
        number = since(build) or build.number
        if number in known:
            continue
        known.add(number)  # the first that has a layout is the newest, so it says how far that was sent
        maker = build if number == build.number else core.store.build(core.id, number)
        if maker and (found := _layout_of(maker)).get("where") == where:
            try:
                held = replace(_read(found, history, aim), length=sent_length(build), moment=build.created_at)
            except IndexError:  # another version cut the messages into fewer snippets
                return None
            past = _decided(core, maker, held.first)
            return _layout(replace(held, decided=past, settled=held.first), maker.number)
    return None


def _layout_of(build: BuildRecord) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(kept_with(build).get(LAYOUT, "{}"))
    return found


def _decided(core: Core, maker: BuildRecord, first: int) -> tuple[Decision, ...]:
    return tuple(each for each in read_manifest(core, maker).decisions if each.first < first)


def _layout(held: Held, build: int = 0) -> Layout:
    past = [decision for decision in held.decided if decision.first < held.first]
    left_out = sum(each.last - each.first + 1 for each in past if each.verdict == "left out")
    return Layout(held=held, past=len(past), left_out=left_out, build=build)


def _read(found: Mapping[str, Any], history: History, aim: Target) -> Held:
    shown = {int(seq): tuple(numbers) for seq, numbers in found["shown"].items()}
    told = [each for seq, numbers in shown.items() for each in _told(history, seq, numbers, aim)]
    place = history.turn_of(found["place"])
    return Held(
        talk=found["talk"],
        first=found["first"],
        kept=tuple(found["kept"]),
        note=history.folded(place, note_text(told), first=min(shown)) if told else None,
        shown=shown,
        brought=tuple(_brought(history, aim, *each) for each in found.get("brought", ())),
        wanted=tuple(found.get("wanted", ())),
        task=found.get("task", ""),
    )


def _brought(history: History, aim: Target, place: int, told: Mapping[str, list[int]]) -> Brought:
    shown = {int(seq): tuple(numbers) for seq, numbers in told.items()}
    return Brought(place=place, shown=shown, note=note_of(history, shown, aim.meter.text))


def _told(history: History, seq: int, numbers: tuple[int, ...], aim: Target) -> list[Snippet]:
    turn = history.turn_of(seq)
    if history.stand_in(turn):
        (message,) = history.chunk(turn).messages
    else:
        (message,) = history.read(seq, seq + 1)
    found = snippets(message, seq, aim.meter.text)
    return [found[number] for number in numbers]
