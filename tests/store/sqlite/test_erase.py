"""What is erased is gone from the file itself, not only from answers."""

from __future__ import annotations

import json
import random
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from foveal.events import MessageMarked, Warned
from foveal.model import handle_of
from foveal.store import Store, SummaryRecord, open_store
from foveal.testing import draft
from foveal.testing.samples import digest

SECRET = "xyzzyplugh"


def filled(path: Path, secret: str) -> tuple[Store, int]:
    store = open_store(path)
    session = store.session("work", now=0.0).id
    texts = [f"message {n}" for n in range(50)] + [secret] + [f"more {n}" for n in range(50)]
    for text in texts:
        store.append(session, [draft(text)], counter="words")
    return store, session


def holds_secret(path: Path) -> bool:
    # The index stores a word without what it shares with the word before: look for its tail.
    return any(SECRET[3:].encode() in file.read_bytes() for file in path.parent.iterdir())


@pytest.mark.parametrize("secret", [f"the key is {SECRET}", f"{SECRET} " * 5_000], ids=["short", "long"])
def test_no_byte_of_an_erased_message_is_left(secret: str, tmp_path: Path) -> None:
    store, session = filled(tmp_path / "a.db", secret)
    with closing(store):
        assert holds_secret(tmp_path / "a.db")
        store.erase(session, "m51")
        assert not holds_secret(tmp_path / "a.db")


def test_no_byte_of_a_deleted_session_is_left(tmp_path: Path) -> None:
    store, session = filled(tmp_path / "a.db", SECRET)
    with closing(store):
        store.delete_session(session)
        assert not holds_secret(tmp_path / "a.db")
        assert store.verify().clean


def test_another_process_that_only_read_does_not_keep_it(tmp_path: Path) -> None:
    store, session = filled(tmp_path / "a.db", SECRET)
    with closing(store), closing(open_store(tmp_path / "a.db")) as other:
        assert len(other.search(SECRET)) == 1
        store.erase(session, "m51")
        assert (len(other.search(SECRET)), holds_secret(tmp_path / "a.db")) == (0, False)


def test_what_a_reader_kept_in_the_log_goes_with_the_next_change(tmp_path: Path) -> None:
    store, session = filled(tmp_path / "a.db", SECRET)
    store.close()
    with closing(open_store(tmp_path / "a.db", wait_seconds=0.05)) as store:
        with closing(open_store(tmp_path / "a.db")) as reader, reader.transaction(write=False):
            assert len(reader.search(SECRET)) == 1
            store.erase(session, "m51")
        assert holds_secret(tmp_path / "a.db")
        with store.transaction():
            pass
        assert not holds_secret(tmp_path / "a.db")


def test_rows_that_moved_to_other_pages_leave_no_copies(tmp_path: Path) -> None:
    """Rows of several sessions share pages, which are split and joined as rows come, grow and go."""
    dice, texts = random.Random(1), [f"message {number}" for number in range(200)]
    with closing(open_store(tmp_path / "a.db")) as store:
        with store.transaction():
            sessions = [store.session(f"s{number}", now=0.0).id for number in range(4)]
            for number, text in enumerate(texts):
                message = replace(draft(text).message, metadata={"k": SECRET * dice.randint(1, 60)})
                store.append(sessions[number % 4], [replace(draft(text), message=message)], counter="words")
            for _ in range(66):
                session, seq = dice.choice(sessions), dice.randrange(50)
                store.mark(session, seq, absence="left out", stand_in="y" * dice.randint(1, 900))
        with store.transaction():
            for number in dice.sample(range(200), k=200):
                store.erase(sessions[number % 4], handle_of(draft(texts[number]).message.digest))
        store.backup(str(tmp_path / "b.db"))
        assert not holds_secret(tmp_path / "a.db")


def test_no_byte_of_derived_data_is_left(tmp_path: Path) -> None:
    store, session = filled(tmp_path / "a.db", "harmless")
    said = digest("harmless")
    record = SummaryRecord(key="k", text=f"made of {SECRET}", tokens=3, by="llm", level=1, created_at=0.0)
    with closing(store):
        store.save_summary(record, [digest("more 1"), said])
        store.save_records(session, {said: [("decision", SECRET)]})
        store.save_vectors({said: SECRET.ljust(16).encode()}, "static")
        assert holds_secret(tmp_path / "a.db")
        store.erase(session, "m51")
        assert (holds_secret(tmp_path / "a.db"), store.verify().faults) == (False, ())


def test_no_byte_of_a_tasks_summary_is_left(tmp_path: Path) -> None:
    store, session = filled(tmp_path / "a.db", "harmless")
    with closing(store):
        task = store.start_task(session, "work", now=0.0)
        store.append(session, [draft("the last")], counter="words")
        store.end_task(session, now=0.0)
        assert store.save_task_summary(session, task.number, SECRET)
        store.erase(session, "m102")
        assert not holds_secret(tmp_path / "a.db")


@pytest.mark.parametrize(
    "payload",
    ['\'{"id": "own-id"\'', '\'{"id": "other\'', "CAST(x'7b22ff223a226f776e2d6964227d' AS TEXT)"],
)
def test_a_damaged_event_is_deleted_with_what_is_erased(payload: str, tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "a.db")) as store:
        session = store.session("work", now=0.0).id
        one = draft("one")
        store.append(session, [replace(one, message=replace(one.message, id="own-id"))], counter="words")
        store.log("work", [Warned(session="work", text="w")] * 2, now=1.0)
        with closing(apsw.Connection(str(tmp_path / "a.db"))) as db:
            db.execute(
                f"UPDATE events SET payload = {payload}, name = 'context:summarized' WHERE position = 1"
            )
        assert store.erase(session, "own-id") == ["m2"]
        assert [event.number for event in store.events()] == [2]


def test_an_erased_message_is_renamed_in_every_event_that_names_it(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "a.db")) as store:
        session = store.session("work", now=0.0).id
        drafts = [replace(one, message=replace(one.message, id="own-id")) for one in [draft("one")] * 2]
        store.append(session, drafts[:1], counter="words")
        store.append(session, drafts[1:], counter="words", at=0)  # a copy on an abandoned branch
        store.log(
            "work", [MessageMarked(session="work", id=id, mark="pinned") for id in ("own-id", "m9")], now=1.0
        )
        (now,) = store.erase(session, "own-id")
        assert [json.loads(event.payload)["id"] for event in store.events()] == [now, "m9"]
