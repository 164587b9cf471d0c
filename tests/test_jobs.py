"""Background jobs run in small units, yield to callers, survive failures and lose nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import pairwise

import pytest

from foveal.errors import StoreDamagedError
from foveal.jobs import Job, Memo, Pace, Worker, soon

SOON = 10.0
EAGER = Pace(quiet=0.0, first_retry=0.01, last_retry=0.02)


@contextmanager
def worker(*jobs: Job, pace: Pace = EAGER, errors: list[str] | None = None) -> Iterator[Worker]:
    reported = [] if errors is None else errors
    named = {f"job {number}": job for number, job in enumerate(jobs)}
    with closing(
        Worker(named, on_error=lambda name, error: reported.append(f"{name}: {error}"), pace=pace)
    ) as made:
        yield made


def units(done: list[str], *names: str) -> Job:
    """Does one of the names with each unit."""
    left = list(names)

    def job() -> float | None:
        if left:
            done.append(left.pop(0))
        return soon(more=bool(left))

    return job


def failing(times: int) -> Job:
    left = [ValueError(f"error {number}") for number in range(times)]

    def job() -> float | None:
        if left:
            raise left.pop(0)
        return None

    return job


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + SOON
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.002)
    return condition()


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "foveal-worker"]


def test_every_unit_is_done_and_jobs_take_turns() -> None:
    done: list[str] = []
    with worker(units(done, "a1", "a2", "a3"), units(done, "b1", "b2")) as jobs:
        assert jobs.drain(SOON)
    assert done == ["a1", "b1", "a2", "b2", "a3"]


def test_there_is_a_thread_only_while_there_is_work() -> None:
    done: list[str] = []
    with worker(units(done, "a")) as jobs:
        assert threads() == []
        jobs.wake()
        assert eventually(lambda: done == ["a"] and not threads())
        jobs.wake()
        assert jobs.drain(SOON)


def test_work_that_appears_while_a_unit_is_done_is_not_missed() -> None:
    started, go, done = threading.Event(), threading.Event(), list[int]()

    def job() -> float | None:
        started.set()
        assert go.wait(SOON)
        done.append(1)
        return None

    with worker(job) as jobs:
        jobs.wake()
        assert started.wait(SOON)
        jobs.wake()
        go.set()
        assert eventually(lambda: len(done) == 2)


def test_it_waits_until_the_store_is_quiet() -> None:
    done: list[str] = []
    with worker(units(done, "a"), pace=Pace(quiet=60.0, patience=120.0)) as jobs:
        jobs.busy()
        jobs.wake()
        time.sleep(0.05)
        assert done == []
        assert jobs.drain(SOON)
    assert done == ["a"]


def test_under_constant_use_the_work_goes_on() -> None:
    done: list[str] = []
    with worker(units(done, "a", "b"), pace=Pace(quiet=60.0, patience=0.05)) as jobs:
        jobs.busy()
        jobs.wake()
        assert eventually(lambda: done == ["a", "b"])


def test_a_failure_is_reported_and_retried_and_stops_no_other_job() -> None:
    done, errors = list[str](), list[str]()
    with worker(failing(2), units(done, "a", "b", "c"), errors=errors) as jobs:
        jobs.wake()
        assert eventually(lambda: len(errors) == 2 and len(done) == 3)
        assert eventually(lambda: jobs.drain(SOON))
    assert errors == ["job 0: error 0", "job 0: error 1"]


def test_a_job_that_keeps_failing_is_tried_less_and_less() -> None:
    tried: list[float] = []

    def job() -> float | None:
        tried.append(time.monotonic())
        raise ValueError

    with worker(job, pace=Pace(quiet=0.0, first_retry=0.02, last_retry=60.0)) as jobs:
        jobs.wake()
        assert eventually(lambda: len(tried) == 4)
    pauses = [after - before for before, after in pairwise(tried)]
    assert [pause >= least for pause, least in zip(pauses, (0.02, 0.04, 0.08), strict=True)] == [True] * 3


def test_draining_says_when_something_failed_and_does_the_rest() -> None:
    done: list[str] = []
    with worker(failing(9), units(done, "a", "b"), pace=Pace(quiet=0.0, first_retry=60.0)) as jobs:
        assert not jobs.drain(SOON)
    assert done == ["a", "b"]


def test_draining_ends_where_the_store_is_damaged() -> None:
    def damaged() -> float | None:
        raise StoreDamagedError("the store is damaged", remedy="restore a copy")

    def endless() -> float | None:
        time.sleep(0.01)
        return 0.0

    started = time.monotonic()
    with worker(damaged, endless) as jobs:
        assert not jobs.drain(SOON)
    assert time.monotonic() - started < SOON / 2


def test_draining_gives_up_when_its_time_is_over() -> None:
    go = threading.Event()
    with worker(lambda: None if go.wait(SOON) else 0.0) as jobs:
        assert not jobs.drain(0.02)
        go.set()
        assert jobs.drain(SOON)


def test_closing_waits_for_the_running_unit_and_starts_no_other() -> None:
    started, done = threading.Event(), list[str]()

    def job() -> float | None:
        started.set()
        time.sleep(0.05)
        done.append("whole")
        return 0.0

    with worker(job) as jobs:
        jobs.wake()
        assert started.wait(SOON)
    assert (done, threads()) == (["whole"], [])


def test_what_is_closed_stays_closed() -> None:
    done: list[str] = []
    with worker(units(done, "a")) as jobs:
        jobs.close()
        jobs.wake()
        assert (jobs.drain(SOON), threads()) == (False, [])
    assert done == []


def test_a_job_may_close_its_own_worker() -> None:
    def closing_job() -> float | None:
        jobs.close()
        return 0.0

    with worker(closing_job) as jobs:
        jobs.wake()
        assert eventually(lambda: not threads())


def test_no_jobs_are_done_at_once() -> None:
    with worker() as jobs:
        assert jobs.drain(0)


def memo(*, most: int = 2) -> tuple[Memo[str], list[float]]:
    now = [0.0]
    return Memo(30.0, most, clock=lambda: now[0]), now


def test_a_memo_remembers_for_its_time_and_no_longer() -> None:
    kept, now = memo()
    kept.put("a", "1")
    now[0] = 29.9
    assert kept.get("a") == "1"
    now[0] = 30.0
    assert kept.get("a") is None


def test_a_memo_returns_many_values_at_once_and_counts_them_as_used() -> None:
    kept, now = memo()
    kept.put("a", "1")
    kept.put("b", "2")
    assert kept.get_all(["b", "none", "a"]) == ["2", None, "1"]
    kept.put("c", "3")
    assert (kept.get_all(["a", "b", "c"]), len(kept)) == (["1", None, "3"], 2)
    now[0] = 30.0
    assert (kept.get_all(["a", "c"]), len(kept)) == ([None, None], 0)


def test_a_full_memo_forgets_the_least_recently_used() -> None:
    kept, _ = memo()
    for key in "ab":
        kept.put(key, key)
    kept.get("a")
    kept.put("c", "c")
    assert [kept.get(key) for key in "abc"] == ["a", None, "c"]


def test_a_memo_takes_the_newest_value_and_can_forget_all() -> None:
    kept, _ = memo()
    kept.put("a", "1")
    kept.put("a", "2")
    assert kept.get("a") == "2"
    kept.clear()
    assert kept.get("a") is None


@pytest.mark.parametrize("most", [0, 1, 5])
def test_a_memo_never_holds_more_than_its_most(most: int) -> None:
    kept, _ = memo(most=most)
    for number in range(20):
        kept.put(str(number), "x")
    assert sum(kept.get(str(number)) is not None for number in range(20)) == most


def test_a_job_that_says_when_there_will_be_work_is_done_again_then() -> None:
    done: list[float] = []

    def job() -> float | None:
        done.append(time.monotonic())
        return 0.05 if len(done) == 1 else None

    with worker(job) as jobs:
        jobs.wake()
        assert eventually(lambda: len(done) == 2)
        assert done[1] - done[0] >= 0.05
        assert eventually(lambda: "foveal-worker" not in threads())


def test_work_that_is_due_later_is_not_waited_for_and_done_at_once_when_it_is_requested() -> None:
    done: list[str] = []

    def job() -> float | None:
        done.append("unit")
        return 600.0

    with worker(job) as jobs:
        assert jobs.drain(SOON)
        assert jobs.drain(SOON)
        assert done == ["unit", "unit"]


def test_work_that_became_due_waits_for_quiet_like_any_other() -> None:
    done: list[str] = []

    def job() -> float | None:
        done.append("unit")
        return 0.05 if len(done) == 1 else None

    with worker(job, pace=Pace(quiet=60.0, patience=120.0)) as jobs:
        jobs.wake()
        assert eventually(lambda: len(done) == 1)
        jobs.busy()
        time.sleep(0.2)
        assert done == ["unit"]
        assert not jobs.quiet
