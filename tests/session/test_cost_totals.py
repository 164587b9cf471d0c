"""What the ledger of a session promises: what its windows cost, and what everything each time would have."""

from __future__ import annotations

from itertools import islice, pairwise, takewhile
from pathlib import Path
from typing import Any, get_args

import pytest

import foveal
from foveal import Foveal, InputError, Session, Window, presets
from foveal.cli.demo import script
from foveal.model import Format
from foveal.session.costs import POINTS
from foveal.session.inspect.builds import list_builds
from foveal.session.inspect.replay import sent
from foveal.session.target import target_for
from foveal.window import Costs

MODEL = "gpt-5"
"""Caches from 1,024 tokens on, for 300 seconds."""
BUDGET = 4_000
OLD, NEW = ["long ago " * 500, "of old " * 500], "and now " * 100


def talk(session: Session, *texts: str) -> None:
    session.extend([{"role": "user", "content": text} for text in texts])


def costs(window: Window) -> Costs:
    found = window.manifest.costs
    assert found is not None
    return found


def answer(session: Session) -> None:
    session.extend([{"role": "assistant", "content": "Done."}])


def looked_at(session: Session, now: float = 0.0, **options: Any) -> Costs:
    """Build a window that no answer follows."""
    return costs(session.build(budget=BUDGET, now=now, **options))


def build(session: Session, now: float = 0.0, **options: Any) -> Costs:
    """Build a window, and add the answer to it."""
    found = looked_at(session, now, **options)
    answer(session)
    return found


def test_the_first_request_is_written_whole(session: Session) -> None:
    talk(session, *OLD)
    window = session.build(budget=BUDGET)
    assert costs(window).managed == costs(window).unmanaged
    assert (costs(window).managed.tokens, costs(window).managed.cached) == (window.tokens, 0)
    assert costs(window).managed.written == window.tokens


def test_where_everything_fits_the_window_costs_what_sending_everything_does(session: Session) -> None:
    talk(session, *OLD)
    before = build(session)
    talk(session, NEW)
    found = build(session, now=10.0)
    assert found.managed == found.unmanaged
    assert found.managed.cached == before.managed.tokens
    assert found.percent == 0


def test_what_the_request_before_did_not_begin_with_is_written(session: Session) -> None:
    talk(session, *OLD)
    build(session)
    talk(session, *OLD)
    found = build(session, now=10.0)
    assert found.managed.cached == 0
    assert found.unmanaged.cached + found.unmanaged.written == found.unmanaged.tokens > BUDGET
    assert found.unmanaged.cached == foveal.count_tokens(
        [{"role": "user", "content": t} for t in OLD], model=MODEL
    )


def test_a_beginning_shorter_than_the_provider_caches_is_not_cached(session: Session) -> None:
    talk(session, NEW)
    build(session)
    talk(session, NEW)
    found = build(session)
    assert (found.managed.cached, found.managed.written) == (0, 0)


@pytest.mark.parametrize(("seconds", "cached"), [(299.0, True), (300.0, False)])
def test_the_cache_forgets_when_its_time_is_over(session: Session, seconds: float, cached: bool) -> None:
    talk(session, *OLD)
    build(session, now=1_000.0)
    found = build(session, now=1_000.0 + seconds)
    assert (bool(found.managed.cached), bool(found.unmanaged.cached)) == (cached, cached)


@pytest.mark.parametrize("options", [{"model": "gpt-5-mini"}, {"system": "Be brief."}, {"tools": [{}]}])
def test_another_model_system_prompt_or_set_of_tools_shares_nothing(
    session: Session, options: dict[str, Any]
) -> None:
    talk(session, *OLD)
    build(session)
    found = build(session, **options)
    assert (found.managed.cached, found.unmanaged.cached) == (0, 0)


def test_two_targets_in_turn_keep_a_cache_each(session: Session) -> None:
    talk(session, *OLD)
    sent = [build(session, model=model).managed.tokens for model in ("gpt-5", "gpt-5-mini")]
    found = [build(session, model=model).managed.cached for model in ("gpt-5", "gpt-5-mini")]
    assert found == sent


def test_of_an_edited_history_only_what_stayed_is_cached(session: Session) -> None:
    history = [{"role": "user", "content": text} for text in (*OLD, NEW)]
    session.sync(history)
    build(session)
    said = [{"role": "user", "content": "rather so"}, {"role": "assistant", "content": "So be it."}]
    session.sync([*history[:2], *said, *said])
    found = build(session)
    assert found.unmanaged.cached == foveal.count_tokens(history[:2], model=MODEL)


def test_the_next_process_finds_what_was_sent(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as fov:
        talk(first := fov.session("work", model=MODEL), *OLD)
        sent = build(first).managed.tokens
    with Foveal(tmp_path / "f.db") as fov:
        talk(again := fov.session("work"), NEW)
        found = build(again, now=5.0)
        assert found.managed == found.unmanaged
        assert found.managed.cached == sent
        stats = again.stats().costs
    assert stats is not None
    assert (stats.managed.requests, stats.managed.tokens) == (2, sent + found.managed.tokens)


def test_of_a_stored_window_that_was_cut_short_an_eighth_at_most_is_overlooked(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as fov:
        talk(first := fov.session("work", model=MODEL), *(f"line {n} " * 20 for n in range(48)))
        last = first.entries()[-1].id
        sent = build(first).managed.tokens
        first.forget(last)
    with Foveal(tmp_path / "f.db") as fov:
        found = build(fov.session("work"))
    assert sent * (1 - 1.5 / POINTS) < found.managed.cached < sent


def test_two_processes_add_to_the_same_sums(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as here, Foveal(tmp_path / "f.db") as there:
        one, other = here.session("work", model=MODEL), there.session("work", model=MODEL)
        talk(one, *OLD)
        made = [build(each) for each in (one, other, one, other)]
        stats = [each.stats().costs for each in (one, other)]
    assert stats[0] == stats[1] == made[0] + made[1] + made[2] + made[3]
    assert [bool(each.managed.cached) for each in made] == [False, True, True, True]


def test_only_the_latest_build_before_an_answer_counts_as_a_request(session: Session) -> None:
    talk(session, *OLD)
    looked_at(session)
    sent = looked_at(session, model="gpt-5-mini")
    assert (session.stats().costs, session.stats().pending) == (None, True)
    answer(session)
    assert (session.stats().costs, session.stats().pending) == (sent, False)
    looked_at(session)
    assert (session.stats().costs, session.stats().pending) == (sent, True)


def test_the_cache_has_nothing_of_a_window_that_was_only_looked_at(session: Session) -> None:
    talk(session, *OLD)
    looked_at(session)
    assert looked_at(session, now=1.0).managed.cached == 0


def test_what_another_process_looks_at_changes_no_costs(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as here:
        talk(session := here.session("work", model=MODEL), *OLD)
        sent = build(session)
        with Foveal(tmp_path / "f.db") as there:
            looked_at(there.session("work"))
        last = build(session, now=1.0)
        assert last.managed.cached == sent.managed.tokens
    with Foveal(tmp_path / "f.db") as fov:
        assert fov.session("work").stats().costs == sent + last


def test_a_build_whose_usage_was_reported_counts_without_an_answer(session: Session) -> None:
    talk(session, *OLD)
    reported, latest = looked_at(session), looked_at(session)
    session.billed(2_000, build=1)
    found = session.stats().costs
    assert found is not None
    assert (found.managed, found.billed and found.billed.requests) == (reported.managed, 1)
    session.billed(2_000, build=1)
    session.billed(2_000)
    found = session.stats().costs
    assert found is not None
    assert (found.managed, found.billed and found.billed.requests) == (
        reported.managed + latest.managed,
        3,
    )


def test_an_answered_build_whose_usage_is_reported_late_counts_once(session: Session) -> None:
    talk(session, *OLD)
    sent = [build(session), build(session)]
    session.billed(2_000, build=1)
    session.billed(2_000, build=2)
    build(session)
    found = session.stats().costs
    assert found is not None
    assert found.managed.requests == len(sent) + 1


def test_the_list_of_builds_says_which_were_requests(session: Session) -> None:
    talk(session, *OLD)
    looked_at(session)
    build(session)
    looked_at(session)
    looked_at(session)
    session.billed(2_000, build=3)
    assert [each.requested for each in list_builds(session).builds] == [False, True, True, False]
    assert [each.requested for each in list_builds(session, before=3).builds] == [True, False]


def test_a_build_that_fails_is_in_no_book(session: Session) -> None:
    talk(session, *OLD)
    found = build(session)
    with pytest.raises(foveal.BudgetError):
        session.build(budget=5)
    assert session.stats().costs == found


def test_a_record_does_not_grow_with_the_history(session: Session) -> None:
    def size(batches: int) -> int:
        for _ in range(batches):
            talk(session, *(f"line {n} " * 20 for n in range(200)))
        build(session)
        record = session._state.store.build(session._state.id)
        assert record is not None
        return len(record.manifest)

    size(5)  # the log reaches no further, and the passages have their share
    sizes = [size(batches) for batches in (2, 2, 4, 8)]
    assert max(sizes) - min(sizes) < 50


def test_what_the_provider_charged_stands_beside_what_was_predicted(session: Session) -> None:
    talk(session, *OLD)
    build(session)
    session.billed(2_000, cached_tokens=1_500)
    stats = session.stats().costs
    assert stats is not None
    assert stats.billed is not None
    assert (stats.billed.requests, stats.billed.tokens, stats.billed.cached) == (1, 2_000, 1_500)
    assert stats.billed.dollars == pytest.approx((1_500 * 0.125 + 500 * 1.25) / 1e6)


def test_a_report_without_the_cache_is_read_as_predicted(session: Session) -> None:
    talk(session, *OLD)
    build(session)
    cached = build(session, now=1.0).managed.cached
    session.billed(cached + 10)
    stats = session.stats().costs
    assert stats is not None
    assert stats.billed is not None
    assert (stats.billed.cached, stats.billed.written) == (cached, 10)


def test_a_bill_is_stored_with_the_build_it_is_for(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as fov:
        talk(session := fov.session("work", model=MODEL), *OLD)
        build(session)
        build(session)
        session.billed(2_000, cached_tokens=0, build=1)
        reported, bill = session.stats().costs, session.manifest(1).costs
    with Foveal(tmp_path / "f.db") as fov:
        assert fov.session("work").stats().costs == reported
    assert reported is not None
    assert bill is not None
    assert reported.billed == bill.billed
    assert bill.billed is not None


def test_a_bill_that_another_process_reports_is_in_the_sums(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as here, Foveal(tmp_path / "f.db") as there:
        one, other = here.session("work", model=MODEL), there.session("work", model=MODEL)
        talk(one, *OLD)
        build(one)
        other.billed(2_000)
        cached = build(one, now=1.0).managed.cached
        stats = one.stats().costs
    assert stats is not None
    assert stats.billed is not None
    assert (stats.billed.tokens, bool(cached)) == (2_000, True)


@pytest.mark.parametrize(
    ("cached", "written", "what"),
    [
        (-1, None, "`cached_tokens` is -1"),
        (None, 1.5, "`cache_write_tokens` is 1.5"),
        (60, 41, "add up to 101"),
    ],
)
def test_a_bill_that_cannot_be_is_refused(session: Session, cached: Any, written: Any, what: str) -> None:
    talk(session, *OLD)
    build(session)
    with pytest.raises(InputError, match=what):
        session.billed(100, cached_tokens=cached, cache_write_tokens=written)


def test_a_model_without_prices_has_costs_in_tokens_alone(fov: Foveal) -> None:
    talk(session := fov.session("free"), *OLD, NEW)
    found = costs(session.build(budget=2_000))
    assert (found.managed.dollars, found.saved) == (None, None)
    assert found.percent == pytest.approx(100 * (1 - found.managed.tokens / found.unmanaged.tokens))


def test_a_window_of_no_session_has_no_costs() -> None:
    assert foveal.fit([{"role": "user", "content": "Hi"}], model=MODEL).manifest.costs is None


def test_a_stored_build_has_the_costs_of_its_window(session: Session) -> None:
    talk(session, *OLD)
    assert build(session) == session.manifest().costs


def shared(before: Window | None, window: Window) -> int:
    """Tokens that two requests begin with, as their provider reads them."""
    old, new = (sent(w) for w in (before or window, window))
    pairs = zip(old if before else (), new, strict=False)
    same = [b for _, b in takewhile(lambda p: (p[0].role, p[0].digest) == (p[1].role, p[1].digest), pairs)]
    tokens = target_for(MODEL, window.format).price(same, "") if same else 0
    return tokens if tokens >= 1_024 else 0


@pytest.mark.parametrize("preset", presets.PRESETS)
@pytest.mark.parametrize("format", get_args(Format))
def test_the_cached_tokens_are_those_of_the_messages_that_two_requests_begin_with(
    fov: Foveal, preset: str, format: Format
) -> None:
    session, before = fov.session("demo", model=MODEL, preset=preset), None
    for at, (message, following) in enumerate(islice(pairwise(script.messages()), 24)):
        session.extend([message])
        if following["role"] == "assistant":
            window = session.build(budget=3_000, now=float(at), format=format)
            assert costs(window).managed.cached == shared(before, window)
            before = window


def test_what_the_model_would_not_have_accepted_is_not_counted_as_saved(fov: Foveal) -> None:
    session = fov.session("long", model="gpt-4")
    talk(session, *("long ago " * 2_000 for _ in range(6)), "And now?")
    found = costs(session.build(budget=BUDGET))
    assert session.stats().tokens > found.unmanaged.tokens == 8_192
    answer(session)
    found = build(session)
    assert (found.unmanaged.tokens, found.unmanaged.cached) == (8_192, 8_192)
    total = session.stats().costs
    assert total is not None
    assert total.unmanaged.tokens == 2 * 8_192


def test_a_model_with_a_limit_of_its_own_for_input_is_asked_no_more(fov: Foveal) -> None:
    session = fov.session("long", model=MODEL)
    talk(session, *("long ago " * 20_000 for _ in range(12)), "And now?")
    assert session.stats().tokens > session.stats().limit > 272_000
    assert looked_at(session).unmanaged.tokens == 272_000
