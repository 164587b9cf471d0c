"""The laws hold whatever a session remembers: tasks, notes and retrieval break no window and lose nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np  # noqa: F401 — hypothesis looks at it, and a worker must not be importing it meanwhile
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foveal
from foveal import Foveal, Session, wire
from foveal.errors import BudgetError, InputError, NotFoundError
from foveal.model import Format
from foveal.window import Window
from strategies import FORMATS, histories

pytestmark = pytest.mark.soak
FEWER = settings(max_examples=settings.default.max_examples // 10)
BUDGETS = st.integers(1, 2_000)
PRESETS = st.sampled_from(["fifth", "fifth", "recent", "openscroll", "reploid"])
TEXTS = (
    "We decided to use JWT for the login in src/auth.js, because cookies expire too early there. " * 4,
    "ConnectionError: replica db-7 refused the handshake\nIt happens at every start of the service. " * 3,
    "The replica is fixed now: I raised max_connections in pool.toml, and all tests pass again. " * 3,
    "What was the outcome of task 1, and which token does src/auth.js use after the login now? " * 3,
)
LONG = st.builds("{}{}".format, st.sampled_from(TEXTS), st.integers(0, 99))
Act = Callable[[Session, st.DataObject], object]


def one_of(session: Session, data: st.DataObject) -> str:
    entries = session.entries()
    return entries[data.draw(st.integers(0, len(entries) - 1))].id if entries else "m1"


TALK: tuple[Act, ...] = (
    lambda session, data: session.add("user", data.draw(LONG)),
    lambda session, data: session.add("user", data.draw(LONG)),
    lambda session, data: session.add("assistant", data.draw(LONG)),
)
CARE: tuple[Act, ...] = (
    lambda session, data: session.start_task(data.draw(LONG)[:40]),
    lambda session, _: session.complete_task(),
    lambda session, data: session.compress(data.draw(BUDGETS)),
    lambda session, data: session.summarize(data.draw(st.integers(0, 4))),
    lambda session, data: session.prune(data.draw(BUDGETS)),
    lambda session, data: session.restore(one_of(session, data)),
    lambda session, _: session.restore(),
    lambda session, data: session.forget(one_of(session, data), erase=False),
    lambda session, data: session.forget(one_of(session, data)),
    lambda session, data: session.pin(one_of(session, data)),
    lambda session, data: session.unpin(one_of(session, data)),
    lambda session, _: session.records(),
    lambda session, data: session.build(budget=data.draw(BUDGETS), preset=data.draw(PRESETS)),
)


def acts(format: Format) -> tuple[Act, ...]:
    """What may happen to a session."""
    return (
        *TALK,
        *CARE,
        lambda session, data: session.extend(data.draw(histories(format, broken=True)), format=format),
        lambda session, data: session.sync(data.draw(histories(format)), format=format),
    )


def lived(session: Session, format: Format, data: st.DataObject) -> None:
    """Let things happen; what is refused has not happened."""
    for happens in data.draw(st.lists(st.sampled_from(acts(format)), min_size=3, max_size=16)):
        try:
            happens(session, data)
        except (BudgetError, InputError, NotFoundError):
            continue


def built(session: Session, data: st.DataObject) -> Window | None:
    """A window after something of the past was mentioned, or None where there is no room for one."""
    session.add("user", data.draw(LONG))
    session.summarize(keep=1)
    session.add("user", data.draw(LONG))
    try:
        return session.build(budget=data.draw(BUDGETS), preset=data.draw(PRESETS))
    except (BudgetError, InputError):
        return None


@pytest.mark.parametrize("format", FORMATS)
@FEWER
@given(data=st.data())
def test_whatever_is_remembered_a_window_keeps_the_laws(format: Format, data: st.DataObject) -> None:
    with Foveal(":memory:", embedder="none") as fov:
        session = fov.session("work", model="gpt-5")
        lived(session, format, data)
        window = built(session, data)
        if window is None:
            return
        counted = foveal.count_tokens(window.request, model="gpt-5", format=window.format)
        assert window.tokens == sum(window.manifest.parts.values()) == counted <= window.budget
        assert set(wire.check(window.request, window.format)) <= {"ends_with_assistant"}
        covered = [seq for d in window.manifest.decisions for seq in range(d.first, d.last + 1)]
        assert covered == list(range(len(session.entries())))
        assert window.manifest.parts.get("retrieved", 0) <= window.budget // 5


@pytest.mark.parametrize("format", FORMATS)
@FEWER
@given(data=st.data())
def test_whatever_is_remembered_all_of_it_comes_back(format: Format, data: st.DataObject) -> None:
    with Foveal(":memory:", embedder="none") as fov:
        session = fov.session("work", model="gpt-5")
        lived(session, format, data)
        before = session.export()
        assert all(entry.absence == "left out" for entry in session.entries() if entry.stand_in)
        session.restore()
        assert (session.archive(), [e for e in session.entries() if e.stand_in]) == ((), [])
        assert session.export() == before
        assert fov.verify().clean


@FEWER
@given(data=st.data())
def test_restoring_any_message_leaves_no_note_that_covers_it(data: st.DataObject) -> None:
    with Foveal(":memory:", embedder="none") as fov:
        session = fov.session("work", model="gpt-5")
        lived(session, "openai", data)
        for entry in session.archive()[:3]:
            notes = {each.stand_in for each in session.entries() if each.stand_in}
            back = session.restore(entry.id)
            gone = notes - {each.stand_in for each in session.entries() if each.stand_in}
            assert entry.id in back or entry.id not in {each.id for each in session.archive()}
            assert len(gone) <= 1


@FEWER
@given(data=st.data())
def test_what_is_erased_is_in_no_note_no_summary_and_no_record(data: st.DataObject) -> None:
    secret = "We decided that the password of the vault is hunter2hunter2, and that nobody may know it."
    with Foveal(":memory:", embedder="none") as fov:
        session = fov.session("work", model="gpt-5")
        lived(session, "openai", data)
        place = session.add("user", secret)
        lived(session, "openai", data)
        session.forget(place)
        everything = (session.tasks(), session.records(), session.entries(), session.stats())
        assert "hunter2hunter2" not in repr(everything)
