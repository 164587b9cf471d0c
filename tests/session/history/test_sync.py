"""What a session promises a client that sends its whole history again and again, and other openers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import foveal
from foveal import Foveal, Session
from foveal.errors import InputError, NotFoundError, StoreError
from foveal.events import Event, HistoryForked


def heard(fov: Foveal) -> list[Event]:
    events: list[Event] = []
    fov.subscribe(events.append)
    return events


def contents(window: foveal.Window) -> list[Any]:
    return [message["content"] for message in window.messages]


def lines(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


def test_messages_added_by_the_owner_stay(fov: Foveal, session: Session) -> None:
    session.sync(lines("one"))
    session.add("user", "the rule", pinned=True)
    events = heard(fov)
    session.sync(lines("one", "two"))
    assert contents(session.build(budget=1_000)) == ["one", "the rule", "two"]
    assert not any(isinstance(event, HistoryForked) for event in events)


def test_messages_added_by_the_owner_move_to_a_new_branch(session: Session) -> None:
    session.sync(lines("one", "two"))
    rule = session.add("user", "the rule", pinned=True)
    session.sync(lines("one", "TWO", "three"))
    assert contents(session.build(budget=1_000)) == ["one", "the rule", "TWO", "three"]
    assert session.recall(rule)["content"] == "the rule"
    assert session.stats().pinned == 1


def test_a_message_that_owner_and_client_both_have_is_stored_once(session: Session) -> None:
    session.add("user", "one")
    session.sync(lines("one", "two"))
    assert contents(session.build(budget=1_000)) == ["one", "two"]


def test_marks_follow_the_messages_across_a_fork(session: Session) -> None:
    _, two, three, four, five = session.sync(lines("one", "two", "three", "four", "five"))
    session.pin(three)
    session.forget(four, erase=False)
    session.forget(five)
    session.sync(lines("ONE", "two", "three", "four", "five", "six"))
    assert contents(session.build(budget=1_000)) == ["ONE", "two", "three", "six"]
    assert [entry.id for entry in session.entries()][1:5] == [two, three, four, five]
    assert session.stats().pinned == 1


def test_a_fork_restores_nothing_that_was_erased(fov: Foveal, session: Session, tmp_path: Path) -> None:
    (_, secret) = session.sync(lines("one", "the password is swordfish"))
    session.forget(secret)
    session.sync(lines("ONE", "the password is swordfish"))
    assert session.search("swordfish") == ()
    assert fov.settle()
    assert all(b"swordfish" not in file.read_bytes() for file in tmp_path.iterdir())
    assert fov.verify().clean


def test_what_a_fork_left_can_be_found_recalled_and_erased(session: Session) -> None:
    session.sync(lines("one", "a xyzzy", "three"))
    session.sync(lines("one"))
    (hit,) = session.search("xyzzy")
    assert session.recall(hit.id) == session.recall(hit.handle) == {"role": "user", "content": "a xyzzy"}
    with pytest.raises(NotFoundError, match="on a branch this session has left"):
        session.pin(hit.id)
    assert session.forget(hit.id) == (hit.id,)
    assert session.search("xyzzy") == ()


def test_an_id_never_names_another_message(session: Session) -> None:
    session.sync(lines("one"))
    mine = session.extend(lines("mine"))[0]
    session.sync(lines("one", "client"))
    session.forget(mine)
    assert contents(session.build(budget=1_000)) == ["one", "client"]


def test_forgetting_a_message_leaves_others_with_the_same_text(session: Session) -> None:
    session.extend(lines("yes", "b", "yes"))
    assert session.forget("m3") == ("m3",)
    assert contents(session.build(budget=1_000)) == ["yes", "b"]


def test_two_syncs_at_once_store_a_history_once(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as one, Foveal(tmp_path / "f.db") as two:
        sessions = [one.session("work"), two.session("work")]
        for length in range(1, 20):
            history = lines(*(f"line {n}" for n in range(length)))
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(lambda session, h=history: session.sync(h), sessions))
        assert len(sessions[0].export()) == 19
        assert [e.name for e in one._store.events()].count("history.forked") == 0


def test_an_open_session_sees_the_format_another_opener_found_out(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as one, Foveal(tmp_path / "f.db") as two:
        first, second = one.session("work"), two.session("work")
        blocks = [{"type": "tool_use", "id": "a", "name": "ls", "input": {}}]
        first.extend([*lines("hi"), {"role": "assistant", "content": blocks}])
        assert second.build(budget=1_000).format == "anthropic"


def test_text_blocks_leave_the_format_open(fov: Foveal) -> None:
    session = fov.session("open")
    words = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    use = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "ls", "input": {}}]}
    session.sync([words])
    session.sync([words, use])
    assert session.build(budget=1_000).messages[:2] == [words, use]


def test_nothing_of_a_message_is_stored_when_its_event_cannot_be(session: Session) -> None:
    class Full:
        """A store whose disk is full for events."""

        def __init__(self, store: Any) -> None:
            self._real = store

        def __getattr__(self, name: str) -> Any:
            return getattr(self._real, name)

        def log(self, *_: object, **__: object) -> None:
            raise StoreError("no room", remedy="make some")

    session.add("user", "one")
    real, session._state.store = session._state.store, Full(session._state.store)  # type: ignore[assignment]
    with pytest.raises(StoreError):
        session.add("user", "two")
    session._state.store = real
    session.add("user", "two")
    assert contents(session.build(budget=1_000)) == ["one", "two"]


def test_the_details_given_to_add_are_exported(session: Session) -> None:
    id = session.add("user", "hi", metadata={"topic": "auth"}, timestamp=1_700_000_000.0)
    assert session.recall(id)["metadata"] == {"topic": "auth"}
    assert session.entries()[0].created_at == 1_700_000_000.0


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"role": "robot", "text": "hi"}, "role"),
        ({"role": "user", "text": ""}, "text"),
        ({"role": "user", "text": None}, "text"),
        ({"role": "user", "text": "hi", "kind": "zzz"}, "kind"),
        ({"role": "user", "text": "hi", "level": "zzz"}, "level"),
        ({"role": "user", "text": "hi", "timestamp": "soon"}, "timestamp"),
        ({"role": "user", "text": "hi", "metadata": {"a": object()}}, "metadata"),
    ],
)
def test_add_names_the_argument_that_is_wrong(
    session: Session, arguments: dict[str, Any], names: str
) -> None:
    with pytest.raises(InputError, match=names):
        session.add(**arguments)
    assert session.export() == []


def test_a_request_has_the_system_prompt_and_the_tools_that_were_counted(session: Session) -> None:
    session.add("system", "Be brief.")
    session.add("user", "hi")
    tools = [{"name": "ls", "input_schema": {"type": "object"}}]
    request = session.build(budget=2_000, tools=tools, format="anthropic").request
    assert set(request) == {"messages", "system", "tools"}


def test_a_window_gives_the_handles_of_what_it_left_out(session: Session) -> None:
    session.extend(lines(*(f"message {n}" for n in range(50))))
    window = session.build(budget=24)
    (out,) = window.manifest.left_out
    assert window.recall(window.handles(out)[0])["content"] == "message 0"


def test_a_bill_that_teaches_nothing_new_costs_nothing(fov: Foveal) -> None:
    session = fov.session("claude", model="claude-sonnet-4-5")
    session.add("user", "hello")
    session.build(budget=5_000)
    history = session._state.log.history(session._state.target())
    session.billed(session.build(budget=5_000).tokens // 2)
    session.build(budget=5_000)
    assert session._state.log.history(session._state.target()) is history


def test_a_process_that_only_reads_back_builds_the_same_bytes(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as one, Foveal(tmp_path / "f.db") as two:
        first = one.session("work")
        first.extend([{"role": "user", "content": [{"type": "text", "text": "q", "citations": []}]}])
        built = first.build(budget=100, format="plain").pieces
        assert two.session("work").build(budget=100, format="plain").pieces == built
