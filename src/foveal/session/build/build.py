"""Build a window for a session: gather the material, fit the history, store the build with its reasons."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from foveal.errors import BudgetError, FovealError, NotFoundError
from foveal.events import Event, HistoryRepaired, Warned, WindowBuilt
from foveal.model import Conversation
from foveal.pipeline import fit as pipeline
from foveal.pipeline.account import with_pruning
from foveal.pipeline.history import History
from foveal.presets import Preset
from foveal.session.arguments import at_most
from foveal.session.budget import GIVEN_BUDGET, budget_for
from foveal.session.build.layout import current_layout, keep, rates, stored_with
from foveal.session.build.manage import manage_history
from foveal.session.build.manifest_json import read_manifest, write_manifest
from foveal.session.build.material import beyond_share, gather, within_share
from foveal.session.build.values import BuildRequest, Gathered
from foveal.session.costs import OutgoingRequest, priced
from foveal.session.reports import Run, report_failure, reported
from foveal.session.search.similarity import similarities_to
from foveal.session.state import SessionState, StoredLayout
from foveal.session.summaries.library import Answers
from foveal.session.target import Target, system_messages, tools_text, warn
from foveal.store import BuildRecord
from foveal.window import FIXED, Costs, Decision, Manifest, Window

if TYPE_CHECKING:
    from foveal.session.pool.memory import Pooled

TASK = "task"
"""In a build's record: the caller named a task. Its text is not stored."""
HANDLES = "handles"
"""In a build's record: its notes show handles, for an agent that has the recall tool."""


BUILD = "build"
"""The operation that the events of a build name."""
DURATION = "duration_ms"
"""In a build's metrics, for presets that have any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A window that is being built: its target, its preset and the pipeline's input."""

    target: Target
    preset: Preset
    order: pipeline.Order
    history: History
    answers: Answers
    tools: str
    given_budget: int | None
    """None: the order has what the model's limit leaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A window that is not stored yet."""

    outgoing: OutgoingRequest
    answers: Answers
    stored: StoredLayout | None = None
    """The layout that the next window keeps, if the preset has a stable prefix."""
    events: tuple[Event, ...] = ()
    run: Run

    @property
    def moment(self) -> float:
        return self.outgoing.order.scene.now


def build_window(state: SessionState, request: BuildRequest, fetch: Any) -> Window:
    gathered = gather(state, request)
    with _reported_failure(state, request.preset), state.lock:
        made = make(state, request, gathered)
        # A window that cannot be made raises above, before anything has changed.
        managed = manage_history(state, made.outgoing, request.budget)
        if managed.changed:
            made = _explained(make(state, request, gathered), managed.pruned)
        return store_window(state, made, fetch)


def _explained(made: Made, pruned: Sequence[Decision]) -> Made:
    """The window with the decisions that left messages out of the history for it."""
    outgoing = made.outgoing
    manifest = outgoing.fitted.manifest
    decisions = with_pruning(outgoing.history, manifest.decisions, pruned)
    fitted = replace(outgoing.fitted, manifest=replace(manifest, decisions=decisions))
    return replace(made, outgoing=replace(outgoing, fitted=fitted))


@contextmanager
def _reported_failure(state: SessionState, preset: str) -> Iterator[None]:
    """Emit the event of the preset's design if no window can be made."""
    began = time.perf_counter()
    try:
        yield
    except FovealError as error:
        on_failure = state.preset(preset).on_failure
        report_failure(state.resources, state.name, on_failure, error, Run.since(BUILD, began))
        raise


def make(state: SessionState, request: BuildRequest, gathered: Gathered) -> Made:
    """Select what is in the window. The caller holds the session's lock."""
    from foveal.session.build.relevant import relevant, searches

    with state.reading():
        draft = _draft(state, request, gathered)
        if not (draft.preset.stable_prefix and searches(draft.history, draft.order.scene)):
            return _made(state, draft, gathered)
    # The search may write its index in transactions of its own, and other processes may write meanwhile.
    found = relevant(state, draft.history, draft.order.scene)
    with state.reading():
        draft = _draft(state, request, gathered)
        scene = replace(draft.order.scene, relevant=found)
        return _made(state, replace(draft, order=replace(draft.order, scene=scene)), gathered)


def _draft(state: SessionState, request: BuildRequest, gathered: Gathered) -> _Draft:
    tools = tools_text(request.tools)
    target = state.target(request.model, request.format, request.counter).with_tools(tools)
    preset, answers = state.preset(request.preset), state.answers(target)
    order = target.order(
        preset,
        budget=within_share(budget_for(target.card, request.budget), gathered.pooled),
        tools=tools,
        task=request.task,
        now=request.moment,
        system=system_messages(request.system),
    )
    warn(order.warnings)
    history = state.log.history(target)
    scene = replace(
        order.scene,
        answer=answers,
        layout=current_layout(state, target, preset),
        rates=rates(state, target, preset),
        similarities=similarities_to(preset, history, request.task, state=state),
    )
    return _Draft(
        target=target,
        preset=preset,
        order=replace(order, scene=scene, material=gathered.material, admit=preset.admit),
        history=history,
        answers=answers,
        tools=tools,
        given_budget=request.budget,
    )


def _made(state: SessionState, draft: _Draft, gathered: Gathered) -> Made:
    """Fit the draft, with what it retrieves; drop the prepared turns that its window has moved past."""
    from foveal.session.build.relevant import retrieved

    preset, history, stored = draft.preset, draft.history, None
    draft, fitted, run = _fitted_with_pool(draft, gathered.pooled)
    if preset.retrieves and (past := retrieved(state, history, fitted.manifest, draft.order.scene)):
        draft = replace(draft, order=replace(draft.order, retrieved=past))
        fitted, run = _fitted(draft)
    record = _record(state, draft, fitted.manifest, run)
    if fitted.layout:
        made = replace(fitted.layout, shared=fitted.shared)
        stored, written = keep(state, draft.target, preset, made)
        record |= written
    if not (preset.looks_at_all or (stored and stored.build)):  # a kept layout moves past nothing
        history.release(history.turn_of(_earliest(fitted)) - 1)
    manifest = fitted.manifest
    manifest = replace(
        manifest,
        record=record,
        contributed=(*manifest.contributed, *gathered.left_out),
        metrics={**manifest.metrics, DURATION: run.milliseconds} if manifest.metrics else {},
        share=gathered.pooled.share if gathered.pooled else None,
    )
    outgoing = OutgoingRequest(
        target=draft.target,
        order=draft.order,
        fitted=replace(fitted, manifest=manifest),
        tools=draft.tools,
        history=history,
        length=len(history.entries),
    )
    return Made(outgoing=outgoing, answers=draft.answers, stored=stored, events=gathered.events, run=run)


def store_window(state: SessionState, made: Made, fetch: Any) -> Window:
    """Store the build and return its window."""
    outgoing = made.outgoing
    given = Conversation(format=outgoing.target.format, messages=(), tools=outgoing.tools)
    window = outgoing.target.window(
        outgoing.fitted,
        given,
        entries=outgoing.history.entries,
        fetch=fetch,
        followed=outgoing.order.scene.rates is not None,
    )
    costs = _save(state, window.manifest, made)
    if state.resources.writer:
        state.resources.worker.wake()
    manifest = replace(window.manifest, costs=costs)
    return replace(window, account=partial(_with_dollars, state, manifest, window.model))


def _fitted(draft: _Draft) -> tuple[pipeline.Fitted, Run]:
    """Fit the draft as one run."""
    began = time.perf_counter()
    fitted = pipeline.fit(draft.history, draft.order)
    return fitted, Run.since(BUILD, began, record=draft.preset.record)


def _fitted_with_pool(draft: _Draft, pool: Pooled | None) -> tuple[_Draft, pipeline.Fitted, Run]:
    """Fit the draft with what the session's pool shares; a new layout has one note of it."""
    if pool is None:
        return draft, *_fitted(draft)
    try:
        return _fitted_with_notes(draft, pool)
    except BudgetError as error:
        if draft.order.budget < max(1, pool.share.tokens) or not pool.share.budget:
            raise
        raise beyond_share(error, pool) from None


def _fitted_with_notes(draft: _Draft, pool: Pooled) -> tuple[_Draft, pipeline.Fitted, Run]:
    from foveal.session.pool.notes import first_note, shared_notes

    scene, history = draft.order.scene, draft.history
    before = scene.layout
    notes = shared_notes(pool, before, history, scene.budget, scene.count)
    draft = replace(draft, order=replace(draft.order, shared=notes))
    fitted, run = _fitted(draft)
    renewed = fitted.layout is not None and before is not None and fitted.layout.shared != before.shared
    if renewed:
        notes = first_note(pool, history, scene.budget, scene.count)
        draft = replace(draft, order=replace(draft.order, shared=notes))
        fitted, again = _fitted(draft)
        run = replace(again, milliseconds=run.milliseconds + again.milliseconds)
    return draft, fitted, run


def _record(state: SessionState, draft: _Draft, manifest: Manifest, run: Run) -> dict[str, str]:
    """What the store keeps about a build beside its decisions."""
    record = {"branch": str(state.log.head.branch)}
    record |= {TASK: "given"} if draft.order.scene.task else {}
    record |= {GIVEN_BUDGET: "given"} if draft.given_budget is not None else {}
    record |= {HANDLES: "shown"} if draft.history.frame.handles else {}
    if manifest.metrics:
        record |= {**manifest.record, "session": state.name, "trace_id": run.trace_id}
    return record


def _earliest(fitted: pipeline.Fitted) -> int:
    """The first message, beyond what is fixed, that this window or the next layout needs."""
    if fitted.layout:
        return fitted.layout.excerpts_from
    kept = (d.first for d in fitted.manifest.kept if d.code == "open_turn" or d.code not in FIXED)
    return min(kept, default=0)


def _save(state: SessionState, manifest: Manifest, made: Made) -> Costs:
    with state.writing() as events:
        state.log.save_counts()
        made.answers.save()
        if made.outgoing.order.scene.similarities:
            _save_vectors(state)
        state.cost_totals.catch_up(state.log.head, partial(state.store.build, state.id))
        entry, totals = state.cost_totals.entry(made.outgoing, made.moment)
        record = BuildRecord(
            number=0,
            created_at=made.moment,
            preset=manifest.preset,
            model=made.outgoing.target.card.id,
            budget=manifest.budget,
            tokens=manifest.tokens,
            manifest=write_manifest(manifest, totals, made.stored),
        )
        number = state.store.save_build(state.id, record)
        events.extend(made.events)
        events.extend(reported(state.name, made.outgoing.fitted.reports, made.run))
        events.extend(_events(state, manifest, made.stored, number))
    state.cost_totals.commit(totals, number)
    stored_with(state, made.stored, number)
    return entry.costs


def _save_vectors(state: SessionState) -> None:
    from foveal.session.search.similarity import Similarity

    state.part(Similarity).save()


def _with_dollars(state: SessionState, manifest: Manifest, model: str) -> Manifest:
    """The manifest with costs in dollars: prices are looked up when a caller reads it."""
    costs = manifest.costs
    return replace(manifest, costs=priced(costs, model, state.resources.catalogue)) if costs else manifest


def stored_manifest(state: SessionState, number: int | None) -> Manifest:
    """The manifest of a stored build, by default of the latest."""
    from foveal.session.knowledge.profile import titled

    record = stored_build(state, number)
    return _with_dollars(state, titled(state.store, read_manifest(state, record)), record.model)


def _events(
    state: SessionState, manifest: Manifest, stored: StoredLayout | None, number: int
) -> Iterator[Event]:
    """The events of a build: its warnings, repairs that no event has reported yet, the window."""
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
    """The number of messages that are not in the window; those of a layout's past are counted already."""
    known, past = (stored.left_out, stored.past) if stored else (0, 0)
    new = manifest.decisions[past:]
    return known + sum(d.last - d.first + 1 for d in new if d.verdict == "left out")


def stored_build(state: SessionState, number: int | None) -> BuildRecord:
    """One stored build, by default the latest."""
    record = state.store.build(state.id, number if number is None else at_most(number, "build"))
    if record is not None:
        return record
    latest = state.store.build(state.id)
    if latest is None:
        raise NotFoundError(f"session `{state.name}` has no build yet", remedy="build a window first")
    raise NotFoundError(
        f"session `{state.name}` has no build {number}", remedy=f"name a build from 1 to {latest.number}"
    )
