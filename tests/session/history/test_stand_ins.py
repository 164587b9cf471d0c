"""What notes promise: each knows the messages it covers, and no other process waits for one."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from foveal import Foveal, Session
from foveal.pipeline.summarize.values import Answer
from foveal.session.history import stand_ins
from foveal.testing.model_server import ModelServer, Reply

TOPIC = "the login flow of src/auth.js drops the session cookie when the token expires"


@pytest.fixture
def talk(session: Session) -> Session:
    """Twelve messages, m1 to m12."""
    for number in range(6):
        session.add("user", f"Round {number}: {TOPIC}, and I would like to know why that happens there.")
        session.add("assistant", f"Round {number}: I read {TOPIC}; its key for JWT is in vault-{number}.")
    return session


def ids(first: int, last: int) -> tuple[str, ...]:
    return tuple(f"m{number}" for number in range(first, last + 1))


def left_out(session: Session) -> tuple[str, ...]:
    return tuple(entry.id for entry in session.archive())


@pytest.mark.parametrize("gone", ["m1", "m4"])
def test_a_message_left_out_on_request_next_to_or_among_them_is_not_covered(talk: Session, gone: str) -> None:
    talk.forget(gone, erase=False)
    talk.summarize(keep=2)
    assert talk.restore("m3") == tuple(id for id in ids(1, 10) if id != gone)
    assert left_out(talk) == (gone,)


def test_it_can_be_restored_alone_and_the_note_stays(talk: Session) -> None:
    talk.forget("m1", erase=False)
    talk.summarize(keep=2)
    assert talk.restore("m1") == ("m1",)
    assert left_out(talk) == ids(2, 10)


def test_a_message_left_out_after_a_note_was_written_is_not_covered_either(talk: Session) -> None:
    talk.summarize(keep=4)
    talk.forget("m9", erase=False)
    assert talk.restore("m9") == ("m9",)
    assert left_out(talk) == ids(1, 8)


def test_a_note_in_place_of_a_note_covers_all_messages(talk: Session) -> None:
    talk.summarize(keep=8)
    talk.summarize(keep=2)
    assert talk.restore("m1") == ids(1, 10)
    assert left_out(talk) == ()


def test_an_unpinned_message_among_them_does_not_split_a_note(talk: Session) -> None:
    talk.pin("m4")
    talk.summarize(keep=2)
    talk.unpin("m4")
    assert talk.restore("m1") == (*ids(1, 3), *ids(5, 10))


def test_a_note_covers_messages_on_both_sides_of_a_pinned_one(talk: Session) -> None:
    talk.summarize(keep=8)
    talk.pin("m4")
    talk.restore("m1")
    talk.summarize(keep=2)
    assert (talk.restore("m9"), left_out(talk)) == ((*ids(1, 3), *ids(5, 10)), ())


def test_a_message_left_out_on_request_next_to_a_note_is_not_restored_with_it(talk: Session) -> None:
    talk.forget("m2", erase=False)
    talk.summarize(keep=2)
    talk.add("user", "Which vault was it, vault-0 or vault-1?")
    shown = repr(talk.build(preset="fifth", budget=1_200).messages)
    assert ("is in vault-0" in shown, "is in vault-1" in shown) == (False, True)


def test_erasing_one_of_them_leaves_the_others_covered(talk: Session) -> None:
    talk.forget("m1", erase=False)
    talk.summarize(keep=2)
    talk.forget("m10")
    assert talk.restore("m5") == ids(2, 9)


# Planning


@pytest.fixture
def other(session: Session, tmp_path: Path) -> Iterator[Session]:
    """The same session, as another program sees it."""
    session.add("user", "hello")
    with Foveal(tmp_path / "foveal.db") as another:
        yield another.session("work")


def planned(session: Session, meanwhile: Callable[[int], object]) -> int:
    """How often a plan is made, when something is done while it is made for the nth time."""
    made: list[int] = []

    def plan(answer: Answer) -> int:
        made.append(len(made) + 1)
        meanwhile(made[-1])
        return made[-1]

    state = session._state
    assert stand_ins.plan_and_apply(state, state.target(), plan, lambda last, _: last) == len(made)
    return len(made)


def test_a_plan_is_used_although_messages_were_added_meanwhile(session: Session, other: Session) -> None:
    assert planned(session, lambda _: other.add("user", "meanwhile")) == 1
    assert len(session.entries()) == 2


def test_a_plan_is_made_again_when_the_messages_it_is_based_on_changed(
    session: Session, other: Session
) -> None:
    assert planned(session, lambda nth: nth == 1 and other.pin("m1")) == 2


def test_the_last_plan_is_made_while_others_wait(session: Session, other: Session) -> None:
    assert planned(session, lambda nth: nth <= stand_ins.PLANS and other.pin("m1")) == stand_ins.PLANS + 1


ADDING = """
import sys
from foveal import Foveal
with Foveal(sys.argv[1]) as fov:
    session = fov.session("work")
    print("ready", flush=True)
    sys.stdin.readline()
    print(session.add("user", "from elsewhere"), flush=True)
"""
WRITTEN = "The login in src/auth.js loses its cookie, says the model."


@pytest.fixture
def slow() -> Iterator[ModelServer]:
    with ModelServer(Reply(text=WRITTEN, seconds=2.0)) as server:
        yield server


def test_another_process_adds_while_a_model_writes_the_summary_of_a_task(
    slow: ModelServer, tmp_path: Path
) -> None:
    path = tmp_path / "f.db"
    with Foveal(path, summary_url=slow.url, summary_model="small") as fov:
        session = fov.session("work", model="gpt-5")
        session.start_task("fix the login")
        session.extend([{"role": "user", "content": TOPIC}] * 30)
        writing = threading.Thread(target=session.complete_task)
        assert added_during(writing, slow, path) == "m31"
        (task,) = session.tasks()
        assert (task.summary, len(slow.received)) == (WRITTEN, 2)  # what is to be answered is another message


def added_during(writing: threading.Thread, slow: ModelServer, path: Path) -> str:
    """The id of what another process added before the model had answered."""
    command = [sys.executable, "-c", ADDING, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        writing.start()
        while not slow.received:
            time.sleep(0.01)
        process.stdin.write("now\n")
        process.stdin.flush()
        added = process.stdout.readline().strip()
        assert writing.is_alive()
        writing.join()
    return added
