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

from foveal.pipeline.history import History
from foveal.pipeline.values import Layout, Rates, RetrievedNote
from foveal.presets import Preset
from foveal.presets.foveal.digest import note_text
from foveal.presets.foveal.retrieve import retrieved_note
from foveal.presets.foveal.snippets import Snippet, snippets
from foveal.session.build.manifest_json import kept_with, read_manifest, sent_length, since
from foveal.session.costs import prices_of
from foveal.session.state import SessionState, StoredLayout
from foveal.session.target import Target
from foveal.store import BuildRecord
from foveal.window import Decision
from foveal.wire.jsontext import compact

LAYOUT = "layout"
"""Under which a build's record has the layout that it made."""
LOOKED_AT = 200
"""Builds that are looked at for the newest layout."""


def current_layout(state: SessionState, target: Target, preset: Preset) -> Layout | None:
    """The layout of the window before; None where messages in it were changed since, or there is none."""
    if not preset.stable_prefix:
        return None
    where = _where(state, target, preset)
    if where not in state.layouts or state.layouts_since != state.log.head.builds:
        state.layouts.clear()  # the session moved on: no other layout is good any more
        state.layouts[where] = _stored(state, where, state.log.history(target), target)
        state.layouts_since = state.log.head.builds
    found = state.layouts[where]
    return found.layout if found else None


def rates(state: SessionState, target: Target, preset: Preset) -> Rates | None:
    """What the provider charges for holding still; None where the preset does not."""
    if not preset.stable_prefix:
        return None
    found = prices_of(target.card.id, state.resources.catalogue)
    seconds = target.card.cache_ttl
    if found is None:
        return Rates(seconds=seconds)
    return Rates(input=found.input, read=found.cache_read, write=found.cache_write, seconds=seconds)


def keep(
    state: SessionState, target: Target, preset: Preset, made: Layout
) -> tuple[StoredLayout, Mapping[str, str]]:
    """Remember a layout; what is to be stored of it, which is nothing for one that was held."""
    where = _where(state, target, preset)
    before = state.layouts.get(where)
    if before and before.build and before.layout == made:
        state.layouts[where] = stored = replace(before, layout=made)
        return stored, {}
    state.layouts[where] = stored = _layout(made)
    return stored, {LAYOUT: _written(where, made)}


def filed(state: SessionState, stored: StoredLayout | None, build: int) -> None:
    """Take in that a build is stored, and with which layout."""
    if state.layouts_since == state.log.head.builds:  # as it was before this build
        state.layouts_since = build
    for where, found in state.layouts.items():
        if stored and found is stored and not stored.build:
            state.layouts[where] = replace(stored, build=build)


def _where(state: SessionState, target: Target, preset: Preset) -> str:
    """What a layout is good for: the preset, how notes are written and counted, the messages as they are."""
    head = state.log.head
    return f"{preset.name}/{target.history_key}/{target.handles}/{head.branch}/{head.version}"


def _written(where: str, stored: Layout) -> str:
    told = _numbered(stored.excerpts)
    return compact(
        {
            "where": where,
            "talk": stored.message_budget,
            "first": stored.full_from,
            "kept": list(stored.kept),
            "place": stored.note.first if stored.note else 0,
            "shown": told,
            "wanted": list(stored.relevant),
            "task": stored.task_hash,
            "brought": [[each.position, _numbered(each.excerpts)] for each in stored.retrieved],
        }
    )


def _numbered(shown: Mapping[int, tuple[int, ...]]) -> dict[str, list[int]]:
    return {str(seq): list(numbers) for seq, numbers in shown.items()}


def _stored(state: SessionState, where: str, history: History, target: Target) -> StoredLayout | None:
    known = set()
    for build in state.store.builds(state.id, limit=LOOKED_AT):
        number = since(build) or build.number
        if number in known:
            continue
        known.add(number)  # the first that has a layout is the newest, so it says how far that was sent
        maker = build if number == build.number else state.store.build(state.id, number)
        if maker and (found := _layout_of(maker)).get("where") == where:
            try:
                layout = replace(
                    _read(found, history, target), length=sent_length(build), used_at=build.created_at
                )
            except IndexError:  # another version cut the messages into fewer snippets
                return None
            past = _decided(state, maker, layout.full_from)
            return _layout(replace(layout, decisions=past, decided_until=layout.full_from), maker.number)
    return None


def _layout_of(build: BuildRecord) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(kept_with(build).get(LAYOUT, "{}"))
    return found


def _decided(state: SessionState, maker: BuildRecord, first: int) -> tuple[Decision, ...]:
    return tuple(each for each in read_manifest(state, maker).decisions if each.first < first)


def _layout(layout: Layout, build: int = 0) -> StoredLayout:
    past = [decision for decision in layout.decisions if decision.first < layout.full_from]
    left_out = sum(each.last - each.first + 1 for each in past if each.verdict == "left out")
    return StoredLayout(layout=layout, past=len(past), left_out=left_out, build=build)


def _read(found: Mapping[str, Any], history: History, target: Target) -> Layout:
    shown = {int(seq): tuple(numbers) for seq, numbers in found["shown"].items()}
    told = [each for seq, numbers in shown.items() for each in _told(history, seq, numbers, target)]
    place = history.turn_of(found["place"])
    return Layout(
        message_budget=found["talk"],
        full_from=found["first"],
        kept=tuple(found["kept"]),
        note=history.folded(place, note_text(told), first=min(shown)) if told else None,
        excerpts=shown,
        retrieved=tuple(_brought(history, target, *each) for each in found.get("brought", ())),
        relevant=tuple(found.get("wanted", ())),
        task_hash=found.get("task", ""),
    )


def _brought(history: History, target: Target, place: int, told: Mapping[str, list[int]]) -> RetrievedNote:
    shown = {int(seq): tuple(numbers) for seq, numbers in told.items()}
    return RetrievedNote(
        position=place, excerpts=shown, note=retrieved_note(history, shown, target.meter.text)
    )


def _told(history: History, seq: int, numbers: tuple[int, ...], target: Target) -> list[Snippet]:
    turn = history.turn_of(seq)
    if history.stand_in(turn):
        (message,) = history.chunk(turn).messages
    else:
        (message,) = history.read(seq, seq + 1)
    found = snippets(message, seq, target.meter.text)
    return [found[number] for number in numbers]
