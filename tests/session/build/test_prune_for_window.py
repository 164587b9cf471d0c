"""What the preset `reploid` does to a session above 80% of its limit: it prunes it before a build."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from foveal import Foveal, Session
from foveal.errors import BudgetError
from foveal.events import Event, Reported
from foveal.pipeline import fit as pipeline
from foveal.presets import PRESETS
from foveal.session.history import marks

BUDGET = 5_000


@pytest.fixture
def full(fov: Foveal) -> Session:
    """A system prompt and 50 messages: 96% of the budget."""
    session = fov.session("full", model="gpt-5", preset="reploid")
    session.add("system", "Be brief.")
    session.extend(
        [{"role": ("user", "assistant")[n % 2], "content": f"{n} " + "word " * 89} for n in range(50)]
    )
    return session


def reports(fov: Foveal) -> list[Reported]:
    found: list[Reported] = []

    def keep(event: Event) -> None:
        if isinstance(event, Reported):
            found.append(event)

    fov.subscribe(keep)
    return found


def test_a_history_above_80_percent_is_pruned_to_that_by_a_build(full: Session) -> None:
    assert 90 < 100 * full.build(budget=10 * BUDGET).tokens / BUDGET < 100
    window = full.build(budget=BUDGET)
    assert 0.75 * BUDGET < window.tokens <= 0.8 * BUDGET
    assert [entry.id for entry in full.archive()]


def test_it_prunes_what_a_prune_by_hand_would(fov: Foveal, full: Session) -> None:
    by_hand = full.prune(int(0.8 * BUDGET), dry_run=True)
    full.build(budget=BUDGET)
    assert tuple(entry.id for entry in full.archive()) == by_hand.ids


def test_a_history_of_80_percent_is_left_as_it_is(full: Session) -> None:
    tokens = full.build(budget=100_000).tokens
    full.build(budget=-(-tokens * 10 // 8))
    assert full.archive() == ()


def test_without_a_budget_the_limit_is_the_models(fov: Foveal) -> None:
    session = fov.session("long", model="gpt-4", preset="reploid")  # takes 8,192 tokens
    session.extend([{"role": "user", "content": f"{n} " + "word " * 400} for n in range(18)])
    assert session.stats().percent > 80
    session.build()
    assert 70 < session.stats().percent <= 80
    assert session.archive()


def test_a_budget_that_is_given_is_the_limit_even_if_it_is_what_the_model_leaves(fov: Foveal) -> None:
    session = fov.session("long", model="gpt-5", preset="reploid")
    session.add("user", "hello")
    usual = session.build().budget
    assert (usual, session.stats().used_limit) == (272_000, 400_000)
    for given in (usual, usual - 1):
        session.build(budget=given)
        assert session.stats().used_limit == given


def test_a_history_is_pruned_to_a_given_budget_even_if_it_is_what_the_model_leaves(fov: Foveal) -> None:
    session = fov.session("long", model="gpt-4", preset="reploid")  # takes 8,192 tokens, answers with as many
    session.extend([{"role": "user", "content": f"{n} " + "word " * 89} for n in range(40)])
    usual = session.build().budget
    assert (usual, session.archive()) == (4_096, ())
    session.build(budget=usual)
    assert session.archive()


def test_it_is_planned_outside_of_the_transaction_that_changes_the_history(
    full: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit, fitted = pipeline.fit, list[str]()

    def watched(*arguments: Any) -> pipeline.Fitted:
        with closing(apsw.Connection(str(tmp_path / "foveal.db"))) as another:
            another.execute("BEGIN IMMEDIATE; ROLLBACK")  # raises BusyError where someone is writing
        fitted.append("without a lock")
        return fit(*arguments)

    monkeypatch.setattr(pipeline, "fit", watched)
    full.build(budget=BUDGET)
    assert len(fitted) == 3  # the window, the pruning, the window without what was pruned
    full.prune(1_000)
    assert len(full.archive()) > 30


def test_where_pins_alone_take_more_no_pruning_is_planned(
    full: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    for id in [entry.id for entry in full.entries()][:46]:
        full.pin(id)
    planned: list[str] = []
    monkeypatch.setattr(marks, "_least_important", lambda *_: planned.append("planned"))
    assert full.build(budget=BUDGET).tokens > 0.8 * BUDGET
    assert planned == []


def test_the_pruned_are_archived_and_reported_and_restored(fov: Foveal, full: Session) -> None:
    heard = reports(fov)
    full.build(budget=BUDGET)
    (event,) = heard
    archived = [entry.id for entry in full.archive()]
    assert (event.name, event.payload["removed"]) == ("context:pruned", len(archived))
    assert event.payload["token_reduction"] == event.payload["original"] - event.payload["final"]  # type: ignore[operator]
    assert list(full.restore()) == archived
    assert full.archive() == ()


def test_the_build_says_of_each_with_its_importance_why_it_was_pruned(full: Session) -> None:
    manifest = full.build(budget=BUDGET).manifest
    seqs = [seq for decision in manifest.decisions for seq in range(decision.first, decision.last + 1)]
    assert seqs == list(range(len(full.entries())))
    pruned = manifest.left_out
    for decision in pruned:
        assert decision.score
        assert (decision.code, sorted(decision.numbers)) == ("pruned", ["left", "missing", "needed"])
        needed = f"pruned: needed {decision.numbers['needed']} tokens, {decision.numbers['left']} were left"
        assert decision.because == f"importance {decision.score.total:.1f}, {needed}"
        assert decision.brief == needed
    assert full.manifest().left_out == pruned
    why = full.why(full.archive()[-1].id)
    assert why.decision.code == "pruned"
    assert why.otherwise == "`restore` lets it in again"


def test_what_was_left_out_before_keeps_its_own_reason(full: Session) -> None:
    full.prune(int(0.9 * BUDGET))
    earlier = {entry.id for entry in full.archive()}
    full.extend([{"role": "user", "content": "word " * 300}])
    manifest = full.build(budget=BUDGET).manifest
    entries = full.entries()
    because = {
        entries[seq].id: decision.because
        for decision in manifest.left_out
        for seq in range(decision.first, decision.last + 1)
    }
    assert {id for id, why in because.items() if "pruned: " not in why} == earlier
    assert len(because) == len(full.archive()) > len(earlier)


def test_where_what_must_stay_takes_more_nothing_is_pruned_and_a_window_is_built(fov: Foveal) -> None:
    session = fov.session("large", model="gpt-5", preset="reploid")
    session.extend([{"role": "user", "content": "hello"}, {"role": "user", "content": "word " * 950}])
    assert session.build(budget=1_000).tokens <= 1_000
    assert session.archive() == ()
    with pytest.raises(BudgetError):
        session.build(budget=10)


def test_the_numbers_of_the_preset_decide_when_and_what() -> None:
    with Foveal(":memory:", numbers={"reploid": {"target": 0.5, "error": 90}}) as fov:
        session = fov.session("half", model="gpt-5", preset="reploid")
        session.extend([{"role": "user", "content": f"ERROR {n} " + "word " * 90} for n in range(10)])
        session.extend([{"role": "user", "content": f"{n} " + "word " * 90} for n in range(10)])
        window = session.build(budget=3_000)
        assert (window.tokens <= 1_500, session.stats().full_at) == (True, 0.5)
        assert sum("ERROR" in str(message) for message in window.messages) == 10


@pytest.mark.parametrize("preset", sorted(set(PRESETS) - {"fifth", "reploid"}))
def test_builds_with_another_preset_prune_nothing(full: Session, preset: str) -> None:
    full.build(budget=BUDGET, preset=preset)
    assert full.archive() == ()


def test_what_only_looks_at_the_session_prunes_nothing(fov: Foveal, full: Session) -> None:
    heard = reports(fov)
    full.build(budget=10 * BUDGET)
    full.compare(budget=BUDGET)
    fov.replay("full", preset="reploid", budget=BUDGET)
    full.why("m3")
    full.focus("word", budget=BUDGET)
    full.prune(BUDGET // 2, dry_run=True)
    full.stats()
    assert (full.archive(), heard) == ((), [])


# Stats


def used(session: Session) -> tuple[int, int, bool]:
    found = session.stats()
    return found.used_tokens, found.used_limit, found.needs_pruning


def test_stats_of_a_pruned_history_say_so_before_the_next_build(full: Session) -> None:
    full.build(budget=BUDGET)
    full.restore()
    tokens = full.build(budget=10 * BUDGET).tokens
    assert used(full) == (tokens, 10 * BUDGET, False)
    full.prune(1_000)
    assert used(full)[0] <= 1_000
    full.restore()
    assert used(full)[0] == tokens


def test_new_messages_count_before_the_next_build(full: Session) -> None:
    full.build(budget=BUDGET)
    tokens, limit, warns = used(full)
    assert (tokens <= 0.8 * BUDGET, limit, warns) == (True, BUDGET, False)
    id = full.add("user", "word " * 600)
    (added,) = [entry.tokens for entry in full.entries() if entry.id == id]
    assert used(full) == (tokens + added, BUDGET, True)


@pytest.mark.parametrize("preset", sorted(set(PRESETS) - {"fifth", "reploid"}))
def test_with_other_presets_the_newest_window_counts_without_what_was_left_out_since(
    full: Session, preset: str
) -> None:
    window = full.build(budget=4 * BUDGET // 5, preset=preset)
    assert used(full)[:2] == (window.tokens, 4 * BUDGET // 5)
    full.prune(1_000)
    assert used(full)[0] <= 1_000


def test_tools_of_the_newest_window_stay_counted(full: Session) -> None:
    tools = [{"type": "function", "function": {"name": "look", "description": "word " * 300}}]
    window = full.build(budget=10 * BUDGET, preset="recent", tools=tools)
    assert used(full)[0] == window.tokens


def test_before_the_first_build_the_history_is_a_share_of_the_models_limit(full: Session) -> None:
    found = full.stats()
    assert (found.used_limit, found.needs_pruning) == (found.limit, False)
    assert found.used_tokens == found.tokens + 3


def test_a_session_of_another_preset_is_not_said_to_prune_itself(fov: Foveal) -> None:
    session = fov.session("other", model="gpt-5")
    session.extend([{"role": "user", "content": f"{n} " + "word " * 89} for n in range(50)])
    session.build(budget=BUDGET, preset="reploid")
    found = session.stats()
    assert (found.manages, found.absent) == ("", 0)
    assert found.percent <= 100
