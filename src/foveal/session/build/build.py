"""A session and what is wanted of a window in → the window, stored with its reasons and told to listeners."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from foveal import catalog, presets
from foveal.errors import FovealError, NotFoundError
from foveal.events import Event, HistoryRepaired, Reported, Warned, WindowBuilt
from foveal.model import Conversation, Entry, Format
from foveal.pipeline import fit as pipeline
from foveal.pipeline.history import History
from foveal.presets import Preset
from foveal.session.arguments import at_most
from foveal.session.build import material, relevant
from foveal.session.build.layout import current_layout, filed, keep, rates
from foveal.session.build.manifest_json import kept_with, read_manifest, write_manifest
from foveal.session.build.material import Beside, Gathered
from foveal.session.build.relevant import retrieved
from foveal.session.costs import Request, priced
from foveal.session.inspect.compare import Case, Comparison, compared, named
from foveal.session.state import SessionState, StoredLayout
from foveal.session.summaries.library import Answers
from foveal.session.target import Count, Target, checked_budget, system_messages, tools_text, warn
from foveal.store import BuildRecord
from foveal.window import Costs, Manifest, Window

if TYPE_CHECKING:
    from foveal.sources.assemble import SmartContext

TASK = "task"
"""In a build's record: somebody named what the window is for. The words themselves are not stored."""
HANDLES = "handles"
"""Likewise: its notes show handles, for an agent that has the tool to recall them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What a caller may say of one build."""

    task: str = ""
    budget: int | None = None
    model: str = ""
    preset: str = ""
    tools: Any = None
    system: str | None = None
    format: Format | None = None
    now: float | None = None
    counter: str | Count | None = None
    beside: Beside = field(default_factory=Beside)
    """What of a workspace belongs beside the conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A window's content that is not stored yet."""

    target: Target
    fitted: pipeline.Fitted
    entries: Sequence[Entry]
    answers: Answers
    moment: float
    tools: str
    order: pipeline.Order
    history: History
    length: int
    """Messages that the history had."""
    stored: StoredLayout | None = None
    """How the window holds still, where it does."""
    events: tuple[Event, ...] = ()


def build_window(state: SessionState, wanted: BuildRequest, fetch: Any) -> Window:
    gathered = gather(state, wanted)
    with state.lock:
        return store_window(state, make(state, wanted, gathered), fetch)


def gather(state: SessionState, wanted: BuildRequest) -> Gathered:
    """The material of a build. Files may take their time: nothing is locked meanwhile."""
    checked_budget(wanted.budget)
    chosen = _preset(state, wanted)
    if not chosen.knows and wanted.beside == Beside():
        return Gathered()
    with state.lock:
        target = state.target(wanted.model, wanted.format, wanted.counter)
    return material.gathered(state, chosen, wanted.beside, _wish(target, wanted))


def build_context(state: SessionState, wanted: BuildRequest) -> SmartContext:
    """The material of a workspace as one text, and no window around it."""
    checked_budget(wanted.budget)
    with state.lock:
        target = state.target(wanted.model)
    warn(target.warnings)
    return material.context(state, wanted.beside, _wish(target, wanted))


def _wish(target: Target, wanted: BuildRequest) -> material.Wish:
    now = time.time() if wanted.now is None else wanted.now
    return material.Wish(task=wanted.task, budget=_budget(target, wanted), count=target.meter.text, now=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A window that is being chosen: for whom, how, and of what."""

    target: Target
    preset: Preset
    order: pipeline.Order
    history: History
    answers: Answers
    tools: str


def make(state: SessionState, wanted: BuildRequest, gathered: Gathered) -> Made:
    """Choose what is in the window. Whoever asks holds the session."""
    with state.reading():
        draft = _drafted(state, wanted, gathered)
        if not (draft.preset.stable_prefix and relevant.due(draft.history, draft.order)):
            return _made(state, draft, gathered)
    # Who searches may write an index, in transactions of its own; others may have written meanwhile.
    found = relevant.relevant(state, draft.history, draft.order)
    with state.reading():
        draft = _drafted(state, wanted, gathered)
        draft = replace(draft, order=replace(draft.order, relevant=found))
        return _made(state, draft, gathered)


def _drafted(state: SessionState, wanted: BuildRequest, gathered: Gathered) -> _Draft:
    tools = tools_text(wanted.tools)
    target = state.target(wanted.model, wanted.format, wanted.counter).with_tools(tools)
    warn(target.warnings)
    chosen = _preset(state, wanted)
    order = target.order(
        chosen,
        budget=_budget(target, wanted),
        tools=tools,
        task=wanted.task,
        now=time.time() if wanted.now is None else wanted.now,
        system=system_messages(wanted.system),
    )
    history, answers = state.log.history(target), state.answers(target)
    order = replace(
        order,
        answer=answers,
        material=gathered.material,
        admit=chosen.admit,
        layout=current_layout(state, target, chosen),
        rates=rates(state, target, chosen),
    )
    return _Draft(target=target, preset=chosen, order=order, history=history, answers=answers, tools=tools)


def _made(state: SessionState, draft: _Draft, gathered: Gathered) -> Made:
    """The window with what it is filed under; turns that it moved past are let go of."""
    preset, history, stored = draft.preset, draft.history, None
    fitted, took = _fitted(state, draft)
    if preset.retrieves and (past := retrieved(state, history, fitted.manifest, draft.order)):
        fitted, took = _fitted(state, replace(draft, order=replace(draft.order, retrieved=past)))
    record = _record(state, draft, fitted.manifest)
    if fitted.layout:
        stored, written = keep(state, draft.target, preset, fitted.layout)
        record |= written
    if not (preset.looks_at_all or (stored and stored.build)):  # one that holds still moves past nothing
        history.release(history.turn_of(_earliest(fitted)) - 1)
    stored_manifest = fitted.manifest
    manifest = replace(
        stored_manifest,
        record=record,
        contributed=(*stored_manifest.contributed, *gathered.left_out),
        metrics={**stored_manifest.metrics, "duration_ms": took} if stored_manifest.metrics else {},
    )
    return Made(
        target=draft.target,
        fitted=replace(fitted, manifest=manifest),
        entries=history.entries,
        answers=draft.answers,
        moment=draft.order.now,
        tools=draft.tools,
        order=draft.order,
        history=history,
        length=len(history.entries),
        stored=stored,
        events=gathered.events,
    )


def store_window(state: SessionState, made: Made, fetch: Any) -> Window:
    """The window, once it is filed and told."""
    given = Conversation(format=made.target.format, messages=(), tools=made.tools)
    followed = made.order.rates is not None
    window = made.target.window(made.fitted, given, entries=made.entries, fetch=fetch, followed=followed)
    costs = _save(state, window.manifest, made)
    if state.resources.writer:
        state.resources.worker.wake()
    return replace(window, account=partial(_costed, state, window.manifest, costs, window.model))


def _preset(state: SessionState, wanted: BuildRequest) -> Preset:
    return presets.find(wanted.preset or state.log.head.preset, state.resources.numbers)


def _budget(target: Target, wanted: BuildRequest) -> int:
    return target.budget(None) if wanted.budget is None else wanted.budget


def _fitted(state: SessionState, draft: _Draft) -> tuple[pipeline.Fitted, float]:
    """Fit, and the milliseconds it took; tell a failure where the preset's design does."""
    start = time.perf_counter()
    try:
        fitted = pipeline.fit(draft.history, draft.order)
    except FovealError as error:
        if draft.preset.on_failure:
            stored_manifest = {"error": type(error).__name__, "what": error.what}
            state.resources.bus.emit(
                [Reported(name=draft.preset.on_failure, session=state.name, payload=stored_manifest)]
            )
        raise
    return fitted, round(1000 * (time.perf_counter() - start), 3)


def _record(state: SessionState, draft: _Draft, manifest: Manifest) -> dict[str, str]:
    """What a build is filed under."""
    record = {"branch": str(state.log.head.branch)}
    record |= {TASK: "given"} if draft.order.task else {}
    record |= {HANDLES: "shown"} if draft.history.frame.handles else {}
    if manifest.metrics:
        record |= {**manifest.record, "session": state.name, "trace_id": secrets.token_hex(16)}
    return record


def _earliest(fitted: pipeline.Fitted) -> int:
    """The first message that this window, beyond what is fixed, or the next layout looks at."""
    if fitted.layout and fitted.layout.reach:
        return fitted.layout.reach
    fixed = ("system prompt", "pinned")
    return min((d.first for d in fitted.manifest.kept if d.because not in fixed), default=0)


def _save(state: SessionState, manifest: Manifest, made: Made) -> Costs:
    with state.writing() as events:
        state.log.save_counts()
        made.answers.save()
        state.cost_totals.catch_up(state.log.head, partial(state.store.build, state.id))
        booked = state.cost_totals.book(_request(made), made.moment)
        record = BuildRecord(
            number=0,
            created_at=made.moment,
            preset=manifest.preset,
            model=made.target.card.id,
            budget=manifest.budget,
            tokens=manifest.tokens,
            manifest=write_manifest(manifest, booked, made.stored),
        )
        number = state.store.save_build(state.id, record)
        events.extend(made.events)
        reports = made.fitted.reports
        events.extend(
            Reported(name=name, session=state.name, payload=stored_manifest)
            for name, stored_manifest in reports
        )
        events.extend(_events(state, manifest, made.stored, number))
    state.cost_totals.file(booked, number)
    filed(state, made.stored, number)
    return booked.costs


def _request(made: Made) -> Request:
    return Request(
        target=made.target,
        order=made.order,
        fitted=made.fitted,
        tools=made.tools,
        history=made.history,
        length=made.length,
    )


def _costed(state: SessionState, manifest: Manifest, costs: Costs, model: str) -> Manifest:
    return _told(state, replace(manifest, costs=costs), model)


def _told(state: SessionState, manifest: Manifest, model: str) -> Manifest:
    """The manifest with what the window costs in dollars: prices are looked up when somebody asks."""
    costs = manifest.costs
    return replace(manifest, costs=priced(costs, model, state.resources.catalogue)) if costs else manifest


def stored_manifest(state: SessionState, number: int | None) -> Manifest:
    """The manifest of a stored build, the newest when no number is given."""
    from foveal.session.knowledge.profile import titled

    record = built(state, number)
    return _told(state, titled(state.store, read_manifest(state, record)), record.model)


def _events(
    state: SessionState, manifest: Manifest, stored: StoredLayout | None, number: int
) -> Iterator[Event]:
    """What a build tells: warnings, repairs that were not told before, the window."""
    branch = state.log.head.branch
    new = tuple(r for r in manifest.repairs if (branch, r.seq, r.rule) not in state.repaired)
    state.repaired |= {(branch, r.seq, r.rule) for r in new}
    for text in manifest.warnings:
        yield Warned(session=state.name, text=text)
    if new:
        yield HistoryRepaired(session=state.name, repairs=new)
    yield WindowBuilt(
        session=state.name,
        build=number,
        preset=manifest.preset,
        tokens=manifest.tokens,
        budget=manifest.budget,
        left_out=_left_out(manifest, stored),
    )


def _left_out(manifest: Manifest, stored: StoredLayout | None) -> int:
    """Messages that are not in the window; those of a layout's past are counted already."""
    known, past = (stored.left_out, stored.past) if stored else (0, 0)
    new = manifest.decisions[past:]
    return known + sum(d.last - d.first + 1 for d in new if d.verdict == "left out")


def built(state: SessionState, number: int | None) -> BuildRecord:
    """One stored build, the newest when no number is given."""
    record = state.store.build(state.id, number if number is None else at_most(number, "build"))
    if record is not None:
        return record
    newest = state.store.build(state.id)
    if newest is None:
        raise NotFoundError(f"session `{state.name}` has no build yet", remedy="build a window first")
    raise NotFoundError(
        f"session `{state.name}` has no build {number}", remedy=f"name one from 1 to {newest.number}"
    )


def compare_presets(state: SessionState, wanted: BuildRequest, presets: Sequence[str] | None) -> Comparison:
    checked_budget(wanted.budget)
    chosen = named(presets, state.resources.numbers)
    with state.reading():
        newest = state.store.build(state.id)
        handles = newest is not None and HANDLES in kept_with(newest)
        target = replace(state.target(wanted.model), handles=handles)
        warn(target.warnings)
        case = Case(
            target=target,
            rates=lambda preset: rates(state, target, preset),
            layout=lambda preset: current_layout(state, target, preset),
            entries=state.log.entries,
            fresh=lambda: History(state.log.read, target.frame(state.format)),
            given=Conversation(format=target.format, messages=()),
            budget=_budget(target, wanted),
            task=wanted.task,
            now=time.time() if wanted.now is None else wanted.now,
            prices=catalog.prices(target.card.id, extra=state.resources.catalogue),
        )
        return compared(case, chosen)
