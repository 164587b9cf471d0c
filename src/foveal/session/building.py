"""A session and what is wanted of a window in → the window, stored with its reasons and told to listeners."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from foveal import catalog, presets
from foveal.errors import FovealError, NotFoundError
from foveal.events import Event, HistoryRepaired, Reported, Warned, WindowBuilt
from foveal.model import Conversation, Format
from foveal.pipeline import fit as pipeline
from foveal.pipeline.count import SCALED
from foveal.pipeline.history import History
from foveal.presets import Preset
from foveal.session.answers import Answers
from foveal.session.checks import a_count
from foveal.session.compare import Case, Comparison, compared, named
from foveal.session.core import Core
from foveal.session.records import read_manifest, write_manifest
from foveal.session.retrieving import retrieved
from foveal.session.target import Count, Target, checked_budget, system_messages, tools_text, warn
from foveal.store import BuildRecord
from foveal.window import Manifest, Window


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


def build(core: Core, wanted: Wanted, fetch: Any) -> Window:
    checked_budget(wanted.budget)
    moment = time.time() if wanted.now is None else wanted.now
    tools = tools_text(wanted.tools)
    with core.lock:
        with core.reading():
            aim = core.aim(wanted.model, wanted.format, wanted.counter)
            warn(aim.warnings)
            chosen = presets.find(wanted.preset or core.ledger.head.preset, core.desk.numbers)
            order = aim.order(
                chosen,
                budget=aim.budget(None) if wanted.budget is None else wanted.budget,
                tools=tools,
                task=wanted.task,
                now=moment,
                system=system_messages(wanted.system),
            )
            history, answers = core.ledger.history(aim), core.answers(aim)
            order = replace(order, answer=answers)
            fitted = _fitted(core, history, order, chosen)
            if chosen.retrieves and (past := retrieved(core, history, fitted.manifest, order)):
                fitted = _fitted(core, history, replace(order, retrieved=past), chosen)
            if not chosen.looks_at_all:
                history.release(history.turn_of(_earliest(fitted)) - 1)
            entries = history.entries
        given = Conversation(format=aim.format, messages=(), tools=tools)
        window = aim.window(fitted, given, entries=entries, fetch=fetch)
        _save(core, window.manifest, aim, moment, fitted.reports, answers)
    if core.desk.writer:
        core.desk.worker.wake()
    return window


def _fitted(core: Core, history: History, order: pipeline.Order, preset: Preset) -> pipeline.Fitted:
    """Fit, and file the branch and the time it took; tell a failure where the preset's design does."""
    start = time.perf_counter()
    try:
        fitted = pipeline.fit(history, order)
    except FovealError as error:
        if preset.on_failure:
            told = {"error": type(error).__name__, "what": error.what}
            core.desk.bus.emit([Reported(name=preset.on_failure, session=core.name, payload=told)])
        raise
    manifest = fitted.manifest
    record, metrics = {"branch": str(core.ledger.head.branch)}, dict(manifest.metrics)
    if metrics:
        metrics["duration_ms"] = round(1000 * (time.perf_counter() - start), 3)
        record |= {**manifest.record, "session": core.name, "trace_id": secrets.token_hex(16)}
    return replace(fitted, manifest=replace(manifest, metrics=metrics, record=record))


def _earliest(fitted: pipeline.Fitted) -> int:
    """The first message of the window beyond the fixed ones."""
    fixed = ("system prompt", "pinned")
    return min((d.first for d in fitted.manifest.kept if d.because not in fixed), default=0)


def _save(
    core: Core,
    manifest: Manifest,
    aim: Target,
    moment: float,
    reports: Sequence[tuple[str, Mapping[str, object]]],
    answers: Answers,
) -> None:
    record = BuildRecord(
        number=0,
        created_at=moment,
        preset=manifest.preset,
        model=aim.card.id,
        budget=manifest.budget,
        tokens=manifest.tokens,
        manifest=write_manifest(manifest),
    )
    with core.writing() as events:
        core.ledger.save_counts()
        answers.save()
        number = core.store.save_build(core.id, record)
        events.extend(Reported(name=name, session=core.name, payload=told) for name, told in reports)
        events.extend(_events(core, manifest, number))


def _events(core: Core, manifest: Manifest, number: int) -> Iterator[Event]:
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
        left_out=sum(d.last - d.first + 1 for d in manifest.left_out),
    )


def built(core: Core, number: int | None) -> BuildRecord:
    """One stored build, the newest when no number is given."""
    record = core.store.build(core.id, number)
    if record is not None:
        return record
    newest = core.store.build(core.id)
    if newest is None:
        raise NotFoundError(f"session `{core.name}` has no build yet", remedy="build a window first")
    raise NotFoundError(
        f"session `{core.name}` has no build {number}", remedy=f"name one from 1 to {newest.number}"
    )


def billed(core: Core, input_tokens: int, build: int | None) -> None:
    record = built(core, build)
    name, _, factor = read_manifest(record).counter.partition(SCALED)
    counted = round(record.tokens / float(factor or 1))
    before = core.learned(record.model, name)
    core.store.save_bill(record.model, name, counted=counted, billed=a_count(input_tokens, "input_tokens"))
    if core.learned(record.model, name) != before:
        core.aim_anew()


def compare(core: Core, wanted: Wanted, presets: Sequence[str] | None) -> Comparison:
    checked_budget(wanted.budget)
    chosen = named(presets, core.desk.numbers)
    with core.reading():
        aim = core.aim(wanted.model)
        warn(aim.warnings)
        case = Case(
            aim=aim,
            entries=core.ledger.history(aim).entries,
            fresh=lambda: History(core.ledger.read, aim.frame(core.format)),
            given=Conversation(format=aim.format, messages=()),
            budget=aim.budget(None) if wanted.budget is None else wanted.budget,
            task=wanted.task,
            now=time.time() if wanted.now is None else wanted.now,
            prices=catalog.prices(aim.card.id, extra=core.desk.catalogue),
        )
        return compared(case, chosen)
