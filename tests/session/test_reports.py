"""What is promised of the events of a preset's design, and of the records of optimizations among them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from foveal import Foveal, operations, presets
from foveal.errors import BudgetError, ConfigError, InputError, StoreError
from foveal.events import Event, Reported, Warned
from foveal.pipeline.recipe import Recipe, Report
from foveal.session.inspect.builds import events_after

OPTIMIZE = operations.example("context_optimize")
PRUNED = [{"role": "user", "content": f"{n} the quick brown fox"} for n in range(5)]


@pytest.fixture
def fov(tmp_path: Path) -> Iterator[Foveal]:
    with Foveal(tmp_path / "foveal.db") as fov:
        yield fov


def heard(fov: Foveal) -> list[Event]:
    found: list[Event] = []
    fov.subscribe(found.append)
    return found


def refuse_events(folder: Path) -> None:
    """Let every later attempt to store an event fail."""
    with sqlite3.connect(folder / "foveal.db") as db:
        db.execute(
            "CREATE TRIGGER no_events BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )


def test_a_preset_may_report_events_and_have_no_metrics(fov: Foveal, monkeypatch: pytest.MonkeyPatch) -> None:
    reploid = presets.find("reploid")
    assert isinstance(reploid.select, Recipe)
    silent = Report(metrics={}, events=(("my.event", {"x": 1}),))
    noisy = replace(reploid, name="noisy", select=replace(reploid.select, report=lambda *_: silent))
    monkeypatch.setitem(presets.PRESETS, "noisy", noisy)
    events = heard(fov)
    session = fov.session("work")
    session.add("user", "hello")
    session.build(budget=100, preset="noisy")
    (event,) = [each for each in events if isinstance(each, Reported)]
    assert (event.name, event.payload["x"], event.payload["operation"]) == ("my.event", 1, "build")


def test_the_events_and_the_manifest_of_a_build_name_the_same_run(fov: Foveal) -> None:
    events = heard(fov)
    session = fov.session("work")
    session.add("user", "hello")
    manifest = session.build(budget=100, preset="omar").manifest
    for event in events:
        if isinstance(event, Reported):
            assert event.payload["trace_id"] == manifest.record["trace_id"]
            assert event.payload["duration_ms"] == manifest.metrics["duration_ms"]


def test_only_the_record_of_a_run_and_its_failure_are_kept_for_good(fov: Foveal) -> None:
    events = heard(fov)
    session = fov.session("work")
    session.add("user", "hello " * 50)
    session.build(budget=1_000, preset="omar")
    operations.run_in(fov, "context_optimize", OPTIMIZE)
    with pytest.raises(BudgetError):
        session.build(budget=5, preset="omar")
    with pytest.raises(InputError):
        operations.run_in(fov, "context_optimize", {})
    operations.run_in(fov, "context_estimate_tokens", {"text": "hello"})
    operations.run_in(fov, "history_prune", {"messages": PRUNED, "max_tokens": 20})
    reports = [each for each in events if isinstance(each, Reported)]
    assert [each.name for each in reports if not each.transient] == [
        "context.optimization.success",
        "context.optimization.success",
        "context.optimization.failed",
        "context.optimization.failed",
    ]
    assert {"context.budget.resolved", "context.tokens_estimated", "context:pruned"} <= {
        each.name for each in reports if each.transient
    }


def test_an_operation_does_not_fail_because_its_events_cannot_be_stored(fov: Foveal, tmp_path: Path) -> None:
    events = heard(fov)
    refuse_events(tmp_path)
    assert operations.run_in(fov, "context_optimize", OPTIMIZE) == operations.run(
        "context_optimize", OPTIMIZE
    )
    *reports, warning = events
    assert reports[-1].name == "context.optimization.success"
    assert isinstance(warning, Warned)
    assert warning.text.startswith("the events of `context_optimize` are not stored: ")


def test_a_caller_gets_the_error_of_the_run_and_not_that_of_the_store(fov: Foveal, tmp_path: Path) -> None:
    session = fov.session("work")
    session.add("user", "hello " * 50)
    refuse_events(tmp_path)
    with pytest.raises(BudgetError):
        session.build(budget=5, preset="omar")
    with pytest.raises(InputError, match="`available_tokens`"):
        operations.run_in(fov, "context_optimize", OPTIMIZE | {"available_tokens": -1})


def test_every_error_of_a_run_is_reported_be_it_a_build_or_an_operation(fov: Foveal) -> None:
    fov.session("work").add("user", "hello")
    events = heard(fov)
    with pytest.raises(ConfigError):
        fov.session("work").build(budget=100, preset="omar", counter="no such counter")
    assert [event.name for event in events] == ["context.optimization.failed"]


def test_a_failure_belongs_to_the_session_of_its_request(fov: Foveal) -> None:
    for given in ({"session_id": "acme"}, {"session_id": 7}, {}):
        with pytest.raises(InputError):
            operations.run_in(fov, "context_optimize", OPTIMIZE | {"available_tokens": -1} | given)
    assert [each.session for each in events_after(fov, after=0, limit=10)] == ["acme", "", ""]


def test_a_damaged_record_is_refused_and_an_event_without_one_is_left_out(
    fov: Foveal, tmp_path: Path
) -> None:
    operations.run_in(fov, "context_optimize", OPTIMIZE)
    assert len(fov.optimizations().optimizations) == 1
    for stored, found in (("{}", 0), (json.dumps([]), None)):
        with sqlite3.connect(tmp_path / "foveal.db") as db:
            db.execute("UPDATE events SET payload = ?", (stored,))
        if found is not None:
            assert len(fov.optimizations().optimizations) == found
        else:
            with pytest.raises(StoreError, match="cannot be read"):
                fov.optimizations()
