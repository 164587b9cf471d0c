"""What `verify` finds, and what a backup contains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from foveal.errors import StoreError
from foveal.store import Store, SummaryRecord, open_store
from foveal.testing import draft
from foveal.testing.samples import digest, vector

SAID = SummaryRecord(key="key", text="the whole of it", tokens=4, by="llm", level=1, created_at=0.0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path / "a.db")
    session = store.session("work", now=0.0).id
    store.append(session, [draft(f"message {n}") for n in range(10)], counter="words")
    store.append(session, [draft("other"), draft("end")], counter="words", at=5)
    store.save_summary(SAID, [digest("other"), digest("end")])
    store.save_vectors({digest("end"): vector(1, 0), digest("other"): vector(0, 1)}, "static")
    store.save_records(session, {digest("end"): [("decision", "end it")]})
    store.start_task(session, "work", now=0.0)
    yield store
    store.close()


def problems_after(store: Store, path: Path, sql: str) -> str:
    other = apsw.Connection(str(path))
    other.execute(sql)
    other.close()
    return "\n".join(store.verify().faults)


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ('UPDATE contents SET body = \'{"role": "x"}\' WHERE id = 3', "was changed"),
        ("UPDATE contents SET body = 'no json' WHERE id = 3", "was changed"),
        ("UPDATE entries SET body = '{}' WHERE seq = 2", "was changed"),
        ("UPDATE contents SET body = NULL WHERE id = 3", "message 2 of session 'work' has lost its content"),
        ("UPDATE entries SET digest = 'x' WHERE seq = 2", "message 2 of session 'work' has lost its content"),
        ("DELETE FROM contents WHERE id = 3", "points to nothing in contents"),
        ("DELETE FROM entries WHERE seq = 3", "branch 1 of session 'work' has 9 messages from 0 to 10"),
        ("DELETE FROM entries WHERE seq = 6", "branch 2 of session 'work' has 1 messages from 5 to 6"),
        ("DELETE FROM words_1 WHERE rowid = 3", "cannot be found by search"),
        ("UPDATE summaries SET text = 'half of'", "summary key was changed: its hash differs"),
        ("DELETE FROM summary_sources WHERE number = 0", "summary key has lost its sources"),
        ("DELETE FROM summary_sources", "summary key has lost its sources"),
        ("UPDATE contents SET body = NULL WHERE id = 12", "a summary of content"),
        ("UPDATE contents SET body = NULL WHERE id = 12", "a vector of content"),
        ("UPDATE contents SET body = NULL WHERE id = 12", "a record of content"),
        ("UPDATE records SET session = 99", "points to nothing in sessions"),
        ("UPDATE vectors SET vector = x'00' WHERE id = 1", "the 2 vectors of embedder 'static' are not all"),
        ("UPDATE vectors SET content = 99 WHERE id = 1", "points to nothing in contents"),
        (
            "UPDATE entries SET created_at = 5e14 WHERE seq = 2",
            "session 'work' has a message that cannot be read",
        ),
        ("UPDATE entries SET created_at = 5e14 WHERE seq = 7", "`created_at` of a Entry is an invalid float"),
        ("UPDATE tasks SET ended_at = 1.0", "task 1 of session 'work' has an invalid range of messages"),
        ("UPDATE tasks SET ended_at = 1.0, last = 99", "task 1 of session 'work' has an invalid range"),
    ],
)
def test_verify_names_the_problem(sql: str, problem: str, store: Store, tmp_path: Path) -> None:
    assert store.verify().faults == ()
    assert problem in problems_after(store, tmp_path / "a.db", sql)


def test_a_backup_has_everything_and_is_one_file(store: Store, tmp_path: Path) -> None:
    store.backup(str(tmp_path / "b.db"))
    copy = open_store(tmp_path / "b.db")
    assert copy.sessions() == store.sessions()
    assert copy.messages(1) == store.messages(1)
    assert (copy.summary("key"), copy.tasks(1)) == (SAID, store.tasks(1))
    assert copy.verify().clean
    copy.close()
    assert sorted(file.name for file in tmp_path.glob("b.db*")) == ["b.db"]


def test_a_backup_is_for_its_owner_alone(store: Store, tmp_path: Path) -> None:
    store.backup(str(tmp_path / "b.db"))
    assert (tmp_path / "b.db").stat().st_mode & 0o777 == 0o600


def test_a_backup_never_overwrites(store: Store, tmp_path: Path) -> None:
    (tmp_path / "b.db").write_text("precious")
    with pytest.raises(StoreError, match="exists"):
        store.backup(str(tmp_path / "b.db"))
    assert (tmp_path / "b.db").read_text() == "precious"


def test_a_backup_to_a_missing_folder_is_refused_by_name(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nowhere/b\.db: No such file or directory"):
        store.backup(str(tmp_path / "nowhere" / "b.db"))


def test_a_backup_is_made_while_another_writes(store: Store, tmp_path: Path) -> None:
    writer = apsw.Connection(str(tmp_path / "a.db"))
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE sessions SET model = 'half-done'")
    store.backup(str(tmp_path / "b.db"))
    writer.execute("COMMIT")
    writer.close()
    copy = open_store(tmp_path / "b.db")
    assert copy.sessions()[0].model == ""
    copy.close()


def test_a_store_in_memory_can_be_backed_up(tmp_path: Path) -> None:
    store = open_store(":memory:")
    store.session("work", now=0.0)
    store.backup(str(tmp_path / "b.db"))
    copy = open_store(tmp_path / "b.db")
    assert [record.name for record in copy.sessions()] == ["work"]
    copy.close()
