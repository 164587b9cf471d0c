"""Invalid arguments are rejected before anything is done, by errors that name them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import foveal
from foveal import Foveal, InputError, Session
from foveal.store import open_store

HELLO = [{"role": "user", "content": "hello"}]
LONG = "a" * 100_000
NO_TEXT: list[Any] = [None, 3, []]
NO_MOMENT: list[Any] = ["yesterday", True, float("nan"), float("inf"), float("-inf"), 1e14, 10**400]


@pytest.mark.parametrize("id", NO_TEXT)
@pytest.mark.parametrize("method", ["recall", "pin", "unpin", "forget"])
def test_an_id_must_be_text(session: Session, method: str, id: Any) -> None:
    with pytest.raises(InputError, match="not text"):
        getattr(session, method)(id)


@pytest.mark.parametrize("id", [3, []])
def test_restore_takes_an_id_or_nothing(session: Session, id: Any) -> None:
    with pytest.raises(InputError, match=r"`id` is .*, not text"):
        session.restore(id)
    assert session.restore(None) == ()


def test_a_number_that_no_store_could_hold_is_refused(session: Session) -> None:
    session.add("user", "hello")
    with pytest.raises(InputError, match="`budget` is above"):
        session.build(budget=10**20)
    with pytest.raises(InputError, match="`limit` is above"):
        session.search("hello", limit=10**20)
    with pytest.raises(InputError, match="`build` is above"):
        session.manifest(10**20)
    with pytest.warns(UserWarning, match="over the limit of `gpt-5`"):
        assert session.build(budget=2**53 - 1).tokens > 0


@pytest.mark.parametrize("now", NO_MOMENT)
def test_now_must_be_a_moment_that_a_calendar_has(session: Session, now: Any) -> None:
    session.add("user", "The login was fixed yesterday.")
    with pytest.raises(InputError, match=r"`now` is .*, not a time"):
        session.search("login yesterday", now=now)
    with pytest.raises(InputError, match=r"`now` is .*, not a time"):
        session.focus("login yesterday", budget=100, now=now)
    with pytest.raises(InputError, match=r"`now` is .*, not a time"):
        session.build(budget=100, now=now)


@pytest.mark.parametrize("now", [0, 1.5, 253_402_300_799])
@pytest.mark.parametrize("when", ["yesterday", "last year", "tomorrow", "3 weeks ago"])
def test_from_the_first_moment_to_the_last_a_query_may_tell_a_time(
    session: Session, now: float, when: str
) -> None:
    session.add("user", "The login was fixed.")
    assert session.search(f"login {when}", now=now)


@pytest.mark.parametrize("budget", [None, "8k", 1.5, True])
def test_the_budget_of_a_focus_must_be_a_whole_number(session: Session, budget: Any) -> None:
    with pytest.raises(InputError, match=r"`budget` is .*, not an integer"):
        session.focus("login", budget=budget)


@pytest.mark.parametrize("question", ["", " \n"])
def test_a_focus_needs_a_question_where_a_search_for_nothing_finds_nothing(
    session: Session, question: str
) -> None:
    session.add("user", "The login was fixed.")
    with pytest.raises(InputError, match=r"`question` is empty"):
        session.focus(question, budget=100)
    assert session.search(question) == ()


def test_a_task_to_build_for_must_be_text(session: Session) -> None:
    session.add("user", "hi")
    with pytest.raises(InputError, match=r"`task` is 3, not text"):
        session.build(budget=100, task=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("preset", [3, ["recent"]])
def test_a_preset_is_named_by_text(fov: Foveal, preset: Any) -> None:
    session = fov.session("work")
    session.add("user", "hi")
    with pytest.raises(InputError, match=r"`preset` is .*, not text"):
        session.build(budget=100, preset=preset)
    with pytest.raises(InputError, match=r"`preset` is .*, not text"):
        fov.session("other", preset=preset)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800"])
def test_a_tasks_name_can_be_shown_as_it_is(session: Session, name: str) -> None:
    with pytest.raises(InputError, match="name: has a NUL character or a lone surrogate"):
        session.start_task(name)
    assert session.tasks() == ()


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: foveal.compare(HELLO, presets=["nope"]), "presets"),
        (lambda: foveal.compare(HELLO, numbers={"reploid": {"recency": "x"}}), "recency"),
        (lambda: foveal.fit(HELLO, numbers=5), "numbers"),  # type: ignore[arg-type]
        (lambda: foveal.fit(HELLO, preset="nope"), "preset"),
        (lambda: foveal.fit(HELLO, format="nope"), "format"),  # type: ignore[arg-type]
        (lambda: foveal.fit(HELLO, model=5), "model"),  # type: ignore[arg-type]
        (lambda: foveal.fit(HELLO, model=[]), "model"),  # type: ignore[arg-type]
        (lambda: foveal.fit(HELLO, model=LONG), "model"),
        (lambda: foveal.fit({"model": LONG, "messages": HELLO}), "model"),
        (lambda: foveal.count_tokens("hello", model=LONG), "model"),
        (lambda: foveal.count_tokens(HELLO, model=5), "model"),  # type: ignore[arg-type]
        (lambda: foveal.fit(HELLO, preset=LONG), "preset"),
        (lambda: foveal.fit(HELLO, task=5), "task"),  # type: ignore[arg-type]
        (lambda: foveal.fit(HELLO, catalogue=5), "catalogue"),  # type: ignore[arg-type]
        (lambda: foveal.count_tokens(HELLO, catalogue=5), "catalogue"),  # type: ignore[arg-type]
        (lambda: foveal.fit(HELLO, tools=[1]), "tools"),
        (lambda: foveal.Foveal(":memory:", tenant=LONG), "tenant"),
        (lambda: foveal.fit(5), "messages"),
        (lambda: foveal.fit("hello"), "messages"),
        (lambda: foveal.Foveal(":memory:", tenant=""), "tenant"),
        (lambda: foveal.Foveal(":memory:", durability="x"), "durability"),  # type: ignore[arg-type]
        (lambda: foveal.Foveal(":memory:", summary_url=5), "summary_url"),  # type: ignore[arg-type]
        (lambda: foveal.Foveal(":memory:", embedder=[]), "embedder"),  # type: ignore[arg-type]
        (lambda: foveal.Foveal(":memory:", counter=5), "counter"),  # type: ignore[arg-type]
        (lambda: foveal.compare(HELLO, presets=5), "presets"),  # type: ignore[arg-type]
        (lambda: foveal.compare(HELLO, task=5), "task"),  # type: ignore[arg-type]
        (lambda: foveal.compare(HELLO, model=[]), "model"),  # type: ignore[arg-type]
        (lambda: foveal.compare(HELLO, now="now"), "now"),  # type: ignore[arg-type]
        (lambda: foveal.fit(HELLO, now=float("nan")), "now"),
        (lambda: foveal.fit(HELLO, model="a\ud800"), "model"),
        (lambda: foveal.fit(HELLO, tools=[[]]), "tools"),
        (lambda: foveal.count_tokens("hello", counter=5), "counter"),  # type: ignore[arg-type]
    ],
)
def test_an_error_about_an_argument_names_it(call: Callable[[], object], field: str) -> None:
    with pytest.raises(foveal.FovealError) as failure:
        call()
    assert failure.value.field == field


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("numbers", 5),
        ("numbers", {}),
        ("count", "words"),
        ("said", 5),
        ("said", "hello"),
        ("said", [5]),
        ("contributors", 5),
        ("contributors", "notes"),
        ("active_files", [5]),
        ("active_files", "a.py"),
        ("task", None),
        ("budget", "8k"),
        ("budget", 1.5),
        ("budget", float("nan")),
        ("budget", -1),
        ("model", 5),
        ("now", "now"),
        ("now", float("nan")),
        ("progress", 5),
    ],
)
def test_an_argument_of_the_wrong_type_for_a_context_is_named(
    tmp_path: Path, field: str, value: object
) -> None:
    with pytest.raises(InputError, match=f"`{field}` is ") as failure:
        foveal.assemble_smart_context(tmp_path, **{field: value})  # type: ignore[arg-type]
    assert failure.value.field == field


@pytest.mark.parametrize("method", ["extend", "sync", "resume"])
def test_messages_may_come_from_a_generator(session: Session, method: str) -> None:
    getattr(session, method)(message for message in HELLO)
    assert session.export() == HELLO
    assert foveal.fit(iter(HELLO)).messages == HELLO


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_call_with_a_number_that_json_does_not_have_is_refused(session: Session, number: float) -> None:
    with pytest.raises(InputError, match="which JSON does not have"):
        session.answer({"type": "tool_use", "id": "t", "name": "recall", "input": {"offset": number}})


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda fov, _: fov.session(LONG), "name"),
        (lambda fov, _: fov.settle("soon"), "seconds"),
        (lambda fov, _: fov.settle(float("nan")), "seconds"),
        (lambda fov, _: fov.settle(-1), "seconds"),
        (lambda fov, _: fov.backup("a\ud800.db"), "path"),
        (lambda fov, _: fov.replay("work", preset="recent", progress=5), "progress"),
        (lambda _, session: session.why("m1", progress=5), "progress"),
        (lambda _, session: session.compare(progress=5), "progress"),
        (lambda _, session: session.compare(presets=5), "presets"),
        (lambda _, session: session.build(budget=100, progress=5), "progress"),
        (lambda _, session: session.build(budget=100, model="a\ud800"), "model"),
        (lambda fov, _: fov.session("other", model=LONG), "model"),
        (lambda fov, _: fov.session("other", model=5), "model"),
        (lambda fov, _: fov.session("other", preset=LONG), "preset"),
        (lambda fov, _: fov.fork("work", LONG), "new"),
        (lambda _, session: session.start_task(LONG), "name"),
        (lambda _, session: session.recall(LONG), "handle"),
        (lambda _, session: session.pin(LONG), "id"),
        (lambda _, session: session.build(budget=100, model=LONG), "model"),
        (lambda _, session: session.extend({"model": LONG, "messages": HELLO}), "model"),
        (lambda _, session: session.add("user", "hello", important="yes"), "important"),
        (lambda _, session: session.add("user", "hello", pinned=1), "pinned"),
    ],
)
def test_a_name_is_short_and_a_mark_is_true_or_false(
    fov: Foveal, call: Callable[[Foveal, Session], object], field: str
) -> None:
    session = fov.session("work")
    session.add("user", "hello")
    with pytest.raises(InputError) as failure:
        call(fov, session)
    assert failure.value.field == field
    assert len(str(failure.value)) < 300
    assert session.stats().messages == 1
    assert [each.name for each in fov.sessions()] == ["work"]


@pytest.mark.parametrize("name", [".", "..", "a\nb", "\x7f", "\x85", "a\0", "\udc80"])
@pytest.mark.parametrize("field", ["name", "new"])
def test_a_new_session_has_a_name_that_a_url_can_carry(fov: Foveal, name: str, field: str) -> None:
    fov.session("work").add("user", "hello")
    with pytest.raises(InputError) as failure:
        fov.session(name) if field == "name" else fov.fork("work", name)
    assert failure.value.field == field
    assert [each.name for each in fov.sessions()] == ["work"]


def test_a_session_that_already_has_such_a_name_is_opened_and_copied_under_another(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "old.db")) as store:
        store.session("..", now=0.0)
    with Foveal(tmp_path / "old.db") as fov:
        fov.session("..").add("user", "hello")
        assert [message["content"] for message in fov.open("..").export()] == ["hello"]
        assert fov.fork("..", "up").export() == fov.open("..").export()
        fov.delete("..")
        assert [each.name for each in fov.sessions()] == ["up"]


def test_no_model_is_an_unknown_one() -> None:
    nothing: Any = None
    assert foveal.fit(HELLO, model=nothing).messages == foveal.fit(HELLO).messages
    assert foveal.count_tokens(HELLO, model=nothing) == foveal.count_tokens(HELLO)


NO_LIST: list[Any] = [None, 5, "app.py", b"x", object(), {}]


@pytest.mark.parametrize("value", NO_LIST)
@pytest.mark.parametrize("field", ["active_files", "contributors"])
def test_lists_are_lists(session: Session, field: str, value: Any) -> None:
    for call in (session.build, session.prompt, partial(session.context, workspace=".")):
        with pytest.raises(InputError) as failure:
            call(**{field: value})
        assert failure.value.field == field


@pytest.mark.parametrize("value", [5, b"x", [], {}, object(), True, "a\0b"])
def test_a_workspace_is_a_path(session: Session, value: Any) -> None:
    for call in (session.build, session.prompt, session.context):
        with pytest.raises(InputError) as failure:
            call(workspace=value)
        assert failure.value.field == "workspace"


@pytest.mark.parametrize("value", [b"x", [], {}, object(), "1", 1.5])
def test_a_build_is_a_number(session: Session, value: Any) -> None:
    for call in (session.manifest, partial(session.why, "m1"), partial(session.diff, b=1)):
        with pytest.raises(InputError):
            call(**{"a" if call.__class__ is partial and "b" in call.keywords else "build": value})


@pytest.mark.parametrize("value", [None, 5, b"x", [], {}, object()])
def test_a_session_has_a_name(value: Any) -> None:
    with Foveal(":memory:") as fov:
        for call in (
            fov.session,
            fov.find,
            fov.open,
            fov.delete,
            partial(fov.fork, new="n"),
            fov.predictions,
        ):
            with pytest.raises(InputError):
                call(value)
        with pytest.raises(InputError):
            fov.replay(value, preset="recent")


@pytest.mark.parametrize("value", [5, [1], object()])
def test_a_counter_is_a_name_or_a_function(session: Session, value: Any) -> None:
    with pytest.raises(InputError) as failure:
        session.build(counter=value)
    assert failure.value.field == "counter"
    with pytest.raises(InputError):
        foveal.fit(HELLO, counter=value)


@pytest.mark.parametrize("value", [[], {}])
def test_a_format_is_a_name(session: Session, value: Any) -> None:
    with pytest.raises(InputError) as failure:
        session.extend(HELLO, format=value)
    assert failure.value.field == "format"


def test_a_backup_is_a_path(session: Session) -> None:
    with Foveal(":memory:") as fov, pytest.raises(InputError, match="`path`"):
        fov.backup("a\0b")
