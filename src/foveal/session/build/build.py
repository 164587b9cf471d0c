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
from foveal.session.build import material, relevant
from foveal.session.build.layout import filed, held, keep, rates
from foveal.session.summaries.library import Answers
from foveal.session.costs import Request
from foveal.session.arguments import at_most
from foveal.session.inspect.compare import Case, Comparison, compared, named
from foveal.session.state import Core, Layout
from foveal.session.costs import priced
from foveal.session.build.material import Beside, Gathered
from foveal.session.build.manifest_json import kept_with, read_manifest, write_manifest
from foveal.session.build.relevant import retrieved
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
class Wanted:
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

    aim: Target
    fitted: pipeline.Fitted
    entries: Sequence[Entry]
    answers: Answers
    moment: float
    tools: str
    order: pipeline.Order
    history: History
    length: int
    """Messages that the history had."""
    layout: Layout | None = None
    """How the window holds still, where it does."""
    events: tuple[Event, ...] = ()


def build_window(core: Core, wanted: Wanted, fetch: Any) -> Window:
    gathered = gather(core, wanted)
    with core.lock:
        return stored(core, make(core, wanted, gathered), fetch)


def gather(core: Core, wanted: Wanted) -> Gathered:
    """The material of a build. Files may take their time: nothing is locked meanwhile."""
    checked_budget(wanted.budget)
    chosen = _preset(core, wanted)
    if not chosen.knows and wanted.beside == Beside():
        return Gathered()
    with core.lock:
        aim = core.aim(wanted.model, wanted.format, wanted.counter)
    return material.gathered(core, chosen, wanted.beside, _wish(aim, wanted))


def build_context(core: Core, wanted: Wanted) -> SmartContext:
    """The material of a workspace as one text, and no window around it."""
    checked_budget(wanted.budget)
    with core.lock:
        aim = core.aim(wanted.model)
    warn(aim.warnings)
    return material.context(core, wanted.beside, _wish(aim, wanted))


def _wish(aim: Target, wanted: Wanted) -> material.Wish:
    now = time.time() if wanted.now is None else wanted.now
    return material.Wish(task=wanted.task, budget=_budget(aim, wanted), count=aim.meter.text, now=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A window that is being chosen: for whom, how, and of what."""

    aim: Target
    preset: Preset
    order: pipeline.Order
    history: History
    answers: Answers
    tools: str


def make(core: Core, wanted: Wanted, gathered: Gathered) -> Made:
    """Choose what is in the window. Whoever asks holds the session."""
    with core.reading():
        draft = _drafted(core, wanted, gathered)
        if not (draft.preset.steady and relevant.due(draft.history, draft.order)):
            return _made(core, draft, gathered)
    # Who searches may write an index, in transactions of its own; others may have written meanwhile.
    found = relevant.relevant(core, draft.history, draft.order)
    with core.reading():
        draft = _drafted(core, wanted, gathered)
        draft = replace(draft, order=replace(draft.order, relevant=found))
        return _made(core, draft, gathered)


def _drafted(core: Core, wanted: Wanted, gathered: Gathered) -> _Draft:
    tools = tools_text(wanted.tools)
    aim = core.aim(wanted.model, wanted.format, wanted.counter).with_tools(tools)
    warn(aim.warnings)
    chosen = _preset(core, wanted)
    order = aim.order(
        chosen,
        budget=_budget(aim, wanted),
        tools=tools,
        task=wanted.task,
        now=time.time() if wanted.now is None else wanted.now,
        system=system_messages(wanted.system),
    )
    history, answers = core.ledger.history(aim), core.answers(aim)
    order = replace(
        order,
        answer=answers,
        material=gathered.material,
        admit=chosen.admit,
        held=held(core, aim, chosen),
        rates=rates(core, aim, chosen),
    )
    return _Draft(aim=aim, preset=chosen, order=order, history=history, answers=answers, tools=tools)


def _made(core: Core, draft: _Draft, gathered: Gathered) -> Made:
    """The window with what it is filed under; turns that it moved past are let go of."""
    preset, history, layout = draft.preset, draft.history, None
    fitted, took = _fitted(core, draft)
    if preset.retrieves and (past := retrieved(core, history, fitted.manifest, draft.order)):
        fitted, took = _fitted(core, replace(draft, order=replace(draft.order, retrieved=past)))
    record = _record(core, draft, fitted.manifest)
    if fitted.held:
        layout, written = keep(core, draft.aim, preset, fitted.held)
        record |= written
    if not (preset.looks_at_all or (layout and layout.build)):  # one that holds still moves past nothing
        history.release(history.turn_of(_earliest(fitted)) - 1)
    stored_manifest = fitted.manifest
    manifest = replace(
        stored_manifest,
        record=record,
        contributed=(*stored_manifest.contributed, *gathered.left_out),
        metrics={**stored_manifest.metrics, "duration_ms": took} if stored_manifest.metrics else {},
    )
    return Made(
        aim=draft.aim,
        fitted=replace(fitted, manifest=manifest),
        entries=history.entries,
        answers=draft.answers,
        moment=draft.order.now,
        tools=draft.tools,
        order=draft.order,
        history=history,
        length=len(history.entries),
        layout=layout,
        events=gathered.events,
    )


def stored(core: Core, made: Made, fetch: Any) -> Window:
    """The window, once it is filed and told."""
    given = Conversation(format=made.aim.format, messages=(), tools=made.tools)
    followed = made.order.rates is not None
    window = made.aim.window(made.fitted, given, entries=made.entries, fetch=fetch, followed=followed)
    costs = _save(core, window.manifest, made)
    if core.desk.writer:
        core.desk.worker.wake()
    return replace(window, tell=partial(_costed, core, window.manifest, costs, window.model))


def _preset(core: Core, wanted: Wanted) -> Preset:
    return presets.find(wanted.preset or core.ledger.head.preset, core.desk.numbers)


def _budget(aim: Target, wanted: Wanted) -> int:
    return aim.budget(None) if wanted.budget is None else wanted.budget


def _fitted(core: Core, draft: _Draft) -> tuple[pipeline.Fitted, float]:
    """Fit, and the milliseconds it took; tell a failure where the preset's design does."""
    start = time.perf_counter()
    try:
        fitted = pipeline.fit(draft.history, draft.order)
    except FovealError as error:
        if draft.preset.on_failure:
            stored_manifest = {"error": type(error).__name__, "what": error.what}
            core.desk.bus.emit([Reported(name=draft.preset.on_failure, session=core.name, payload=stored_manifest)])
        raise
    return fitted, round(1000 * (time.perf_counter() - start), 3)


def _record(core: Core, draft: _Draft, manifest: Manifest) -> dict[str, str]:
    """What a build is filed under."""
    record = {"branch": str(core.ledger.head.branch)}
    record |= {TASK: "given"} if draft.order.task else {}
    record |= {HANDLES: "shown"} if draft.history.frame.handles else {}
    if manifest.metrics:
        record |= {**manifest.record, "session": core.name, "trace_id": secrets.token_hex(16)}
    return record


def _earliest(fitted: pipeline.Fitted) -> int:
    """The first message that this window, beyond what is fixed, or the next layout looks at."""
    if fitted.held and fitted.held.reach:
        return fitted.held.reach
    fixed = ("system prompt", "pinned")
    return min((d.first for d in fitted.manifest.kept if d.because not in fixed), default=0)


def _save(core: Core, manifest: Manifest, made: Made) -> Costs:
    with core.writing() as events:
        core.ledger.save_counts()
        made.answers.save()
        core.books.catch_up(core.ledger.head, partial(core.store.build, core.id))
        booked = core.books.book(_request(made), made.moment)
        record = BuildRecord(
            number=0,
            created_at=made.moment,
            preset=manifest.preset,
            model=made.aim.card.id,
            budget=manifest.budget,
            tokens=manifest.tokens,
            manifest=write_manifest(manifest, booked, made.layout),
        )
        number = core.store.save_build(core.id, record)
        events.extend(made.events)
        reports = made.fitted.reports
        events.extend(Reported(name=name, session=core.name, payload=stored_manifest) for name, stored_manifest in reports)
        events.extend(_events(core, manifest, made.layout, number))
    core.books.file(booked, number)
    filed(core, made.layout, number)
    return booked.costs


def _request(made: Made) -> Request:
    return Request(
        aim=made.aim,
        order=made.order,
        fitted=made.fitted,
        tools=made.tools,
        history=made.history,
        length=made.length,
    )


def _costed(core: Core, manifest: Manifest, costs: Costs, model: str) -> Manifest:
    return _told(core, replace(manifest, costs=costs), model)


def _told(core: Core, manifest: Manifest, model: str) -> Manifest:
    """The manifest with what the window costs in dollars: prices are looked up when somebody asks."""
    costs = manifest.costs
    return replace(manifest, costs=priced(costs, model, core.desk.catalogue)) if costs else manifest


def stored_manifest(core: Core, number: int | None) -> Manifest:
    """The manifest of a stored build, the newest when no number is given."""
    from foveal.session.knowledge.profile import titled

    record = built(core, number)
    return _told(core, titled(core.store, read_manifest(core, record)), record.model)


def _events(core: Core, manifest: Manifest, layout: Layout | None, number: int) -> Iterator[Event]:
    """What a build tells: warnings, repairs that were not told before, the window."""
    branch = core.ledger.head.branch
    new = tuple(r for r in manifest.repairs if (branch, r.seq, r.rule) not in core.repaired)
    core.repaired |= {(branch, r.seq, r.rule) for r in new}
    for text in manifest.warnings:
        yield Warned(session=core.name, text=text)
    if new:
        yield HistoryRepaired(session=core.name, repairs=new)
    yield WindowBuilt(
        session=core.name,
        build=number,
        preset=manifest.preset,
        tokens=manifest.tokens,
        budget=manifest.budget,
        left_out=_left_out(manifest, layout),
    )


def _left_out(manifest: Manifest, layout: Layout | None) -> int:
    """Messages that are not in the window; those of a layout's past are counted already."""
    known, past = (layout.left_out, layout.past) if layout else (0, 0)
    new = manifest.decisions[past:]
    return known + sum(d.last - d.first + 1 for d in new if d.verdict == "left out")


def built(core: Core, number: int | None) -> BuildRecord:
    """One stored build, the newest when no number is given."""
    record = core.store.build(core.id, number if number is None else at_most(number, "build"))
    if record is not None:
        return record
    newest = core.store.build(core.id)
    if newest is None:
        raise NotFoundError(f"session `{core.name}` has no build yet", remedy="build a window first")
    raise NotFoundError(
        f"session `{core.name}` has no build {number}", remedy=f"name one from 1 to {newest.number}"
    )


def compare_presets(core: Core, wanted: Wanted, presets: Sequence[str] | None) -> Comparison:
    checked_budget(wanted.budget)
    chosen = named(presets, core.desk.numbers)
    with core.reading():
        newest = core.store.build(core.id)
        handles = newest is not None and HANDLES in kept_with(newest)
        aim = replace(core.aim(wanted.model), handles=handles)
        warn(aim.warnings)
        case = Case(
            aim=aim,
            rates=lambda preset: rates(core, aim, preset),
            held=lambda preset: held(core, aim, preset),
            entries=core.ledger.entries,
            fresh=lambda: History(core.ledger.read, aim.frame(core.format)),
            given=Conversation(format=aim.format, messages=()),
            budget=_budget(aim, wanted),
            task=wanted.task,
            now=time.time() if wanted.now is None else wanted.now,
            prices=catalog.prices(aim.card.id, extra=core.desk.catalogue),
        )
        return compared(case, chosen)
