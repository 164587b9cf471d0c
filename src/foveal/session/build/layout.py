"""Keep the layout of a session's windows between builds, also across restarts.

A layout is stored with the build that made it, as positions and numbers. The texts of its log are read from
the messages again, so a log never contains what was erased. A build that keeps a layout refers to the build
that made it, whose record alone has the decisions about earlier messages: such a build's record costs what
is new.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from foveal.errors import StoreDamagedError
from foveal.pipeline.history import History
from foveal.pipeline.values import Layout, LogPlan, Rates, RetrievedNote, SharedNote
from foveal.presets import Preset
from foveal.session.build.manifest_json import build_record, read_manifest, sent_length, since
from foveal.session.costs import prices_of
from foveal.session.state import SessionState, StoredLayout
from foveal.session.target import Target
from foveal.store import BuildRecord
from foveal.store.decode import decoding
from foveal.window import Decision
from foveal.wire.jsontext import compact

LAYOUT = "layout"
"""The key of the layout in a build's record."""
LOOKED_AT = 200
"""Builds that are searched for the latest layout."""


def current_layout(state: SessionState, target: Target, preset: Preset) -> Layout | None:
    """The layout of the last window; None if there is none, or messages in it have changed since."""
    if not preset.stable_prefix:
        return None
    key = _key(state, target, preset)
    if key not in state.layouts or state.layouts_since != state.log.head.builds:
        state.layouts.clear()  # the session moved on: the other layouts are outdated
        state.layouts[key] = _stored(state, key, state.log.history(target), target)
        state.layouts_since = state.log.head.builds
    found = state.layouts[key]
    return found.layout if found else None


def rates(state: SessionState, target: Target, preset: Preset) -> Rates | None:
    """The provider's prices for a stable prefix; None for presets without one."""
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
    """Keep a layout, and return what the build's record has to store: nothing if it did not change."""
    key = _key(state, target, preset)
    before = state.layouts.get(key)
    if before and before.build and before.layout == made:
        state.layouts[key] = stored = replace(before, layout=made)
        return stored, {}
    state.layouts[key] = stored = _stored_layout(made)
    return stored, {LAYOUT: _written(key, made)}


def stored_with(state: SessionState, stored: StoredLayout | None, build: int) -> None:
    """Note that a build is stored, with the layout it made."""
    if state.layouts_since == state.log.head.builds:  # no other process built since
        state.layouts_since = build
    for key, found in state.layouts.items():
        if stored and found is stored and not stored.build:
            state.layouts[key] = replace(stored, build=build)


def _key(state: SessionState, target: Target, preset: Preset) -> str:
    """What a layout depends on: the preset, the target, the version of the messages."""
    head = state.log.head
    return f"{preset.name}/{target.history_key}/{target.handles}/{head.branch}/{head.version}"


def _written(key: str, layout: Layout) -> str:
    return compact(
        {
            "where": key,
            "talk": layout.message_budget,
            "first": layout.full_from,
            "kept": list(layout.kept),
            "trimmed": {str(seq): tokens for seq, tokens in layout.trimmed.items()},
            "log": _plan_json(layout.plan) if layout.plan else None,
            "wanted": list(layout.relevant),
            "task": layout.task_hash,
            "brought": [[each.position, _numbered(each.excerpts)] for each in layout.retrieved],
            "shared": [[each.position, [list(key) for key in each.keys]] for each in layout.shared],
            "builds": layout.builds,
        }
    )


def _plan_json(plan: LogPlan) -> dict[str, Any]:
    return {
        "first": plan.first,
        "last": plan.last,
        "since": plan.since,
        "older": plan.older,
        "lines": [[list(at) for at in line] for line in plan.lines],
        "shown": [[*at, *numbers] for at, numbers in plan.shown.items()],
        "rules": [list(at) for at in plan.rules],
    }


def _plan(found: Mapping[str, Any]) -> LogPlan:
    return LogPlan(
        first=found["first"],
        last=found["last"],
        since=found["since"],
        older=found["older"],
        lines=tuple(tuple((seq, part) for seq, part in line) for line in found["lines"]),
        shown={(seq, part): tuple(numbers) for seq, part, *numbers in found["shown"]},
        rules=tuple((seq, part) for seq, part in found["rules"]),
    )


def _numbered(shown: Mapping[int, tuple[int, ...]]) -> dict[str, list[int]]:
    return {str(seq): list(numbers) for seq, numbers in shown.items()}


def _stored(state: SessionState, key: str, history: History, target: Target) -> StoredLayout | None:
    known = set()
    for build in state.store.builds(state.id, limit=LOOKED_AT):
        number = since(build) or build.number
        if number in known:
            continue
        known.add(number)  # the first one found is the latest, so it says how far the layout was sent
        maker = build if number == build.number else state.store.build(state.id, number)
        if maker and (found := _layout_json(maker)).get("where") == key:
            read = _read(found, history, target)
            if read is None:
                return None
            layout = replace(
                read,
                builds=read.builds + build.number - maker.number,
                length=sent_length(build),
                used_at=build.created_at,
            )
            past = _decided(state, maker, layout.full_from)
            return _stored_layout(
                replace(layout, decisions=past, decided_until=layout.full_from), maker.number
            )
    return None


def layout_of(state: SessionState, build: BuildRecord, history: History, target: Target) -> Layout | None:
    """The layout of a stored build with its notes written again; None if that is no longer possible."""
    maker = state.store.build(state.id, since(build) or build.number)
    found = _layout_json(maker) if maker else {}
    return _read(found, history, target) if found else None


def _layout_json(build: BuildRecord) -> dict[str, Any]:
    with decoding(f"the layout of build {build.number}"):
        return dict(json.loads(build_record(build).get(LAYOUT, "{}")).items())


def _decided(state: SessionState, maker: BuildRecord, first: int) -> tuple[Decision, ...]:
    return tuple(each for each in read_manifest(state, maker).decisions if each.first < first)


def _stored_layout(layout: Layout, build: int = 0) -> StoredLayout:
    past = [decision for decision in layout.decisions if decision.first < layout.full_from]
    left_out = sum(each.last - each.first + 1 for each in past if each.verdict == "left out")
    return StoredLayout(layout=layout, past=len(past), left_out=left_out, build=build)


def _read(found: Mapping[str, Any], history: History, target: Target) -> Layout | None:
    """The layout with its notes; None if another version of Foveal wrote it, or read other log entries."""
    try:
        with decoding("the layout of a build"):
            return _layout(found, history, target)
    except StoreDamagedError as damage:
        if isinstance(damage.__cause__, LookupError):
            return None
        raise


def _layout(found: Mapping[str, Any], history: History, target: Target) -> Layout:
    from foveal.presets.foveal.logbook import Logbook, logged_turns

    layout = Layout(
        message_budget=int(found["talk"]),
        full_from=int(found["first"]),
        kept=tuple(map(int, found["kept"])),
        trimmed={int(seq): int(tokens) for seq, tokens in found["trimmed"].items()},
        builds=int(found["builds"]),
        retrieved=tuple(_retrieved_note(history, *each) for each in found.get("brought", ())),
        shared=tuple(_shared_note(*each) for each in found.get("shared", ())),
        relevant=tuple(found.get("wanted", ())),
        task_hash=found.get("task", ""),
    )
    if not found["log"]:
        return layout
    plan = _plan(found["log"])
    turns = logged_turns(history, plan, layout)
    book = Logbook.read(history, turns, target.meter.text, since=plan.since, older=plan.older)
    return replace(layout, plan=plan, notes=book.notes(history, plan, layout.full_from, layout.kept))


def _shared_note(position: int, keys: Sequence[tuple[int, int, int, str]]) -> SharedNote:
    """Which facts a note has; their words are read again from the messages of the agents that said them."""
    return SharedNote(
        position=int(position),
        keys=tuple((int(session), int(seq), int(part), str(digest)) for session, seq, part, digest in keys),
    )


def _retrieved_note(history: History, position: int, stored: Mapping[str, list[int]]) -> RetrievedNote:
    from foveal.presets.foveal.retrieve import retrieved_note

    shown = {int(seq): tuple(numbers) for seq, numbers in stored.items()}
    return retrieved_note(history, position, shown)
