"""Knowledge in a SQLite file: erased data is gone from it, and finding unread messages costs what is new."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from foveal.store import BundleRecord, Knowledge, MemoryRecord, Mention, Store, open_store
from foveal.store.sqlite import things
from foveal.testing import draft
from foveal.testing.samples import digest

SECRET = "xyzzyplugh"
MAYA = Mention(kind="entity", slug="maya", name="Maya", type="person")
EXPLICIT = MemoryRecord(
    key="k",
    kind="fact",
    text=f"I am {SECRET}.",
    origin="user",
    confirmed=True,
    explicit=True,
    created_at=0.0,
    updated_at=0.0,
)
BUNDLE = BundleRecord(
    kind="identity", subject="", depth="deep", text=f"{SECRET} again", tokens=1, version="v", compiled_at=0.0
)


def opened(path: Path, *texts: str) -> tuple[Store, int]:
    store = open_store(path)
    session = store.session("work", now=0.0).id
    store.append(session, [draft(text) for text in texts], counter="words")
    return store, session


def holds_secret(path: Path) -> bool:
    return any(SECRET.encode() in file.read_bytes() for file in path.parent.iterdir())


def changed(path: Path, sql: str) -> None:
    with closing(apsw.Connection(str(path))) as db:
        db.execute(sql)


def forgotten(known: Knowledge, number: int) -> None:
    known.forget_memory(number, now=9.0)


def edited(known: Knowledge, number: int) -> None:
    known.save_memory(replace(EXPLICIT, number=number, key="other", text="I am nobody."))


@pytest.mark.parametrize("change", [forgotten, edited])
def test_no_byte_of_a_forgotten_memory_is_left(
    change: Callable[[Knowledge, int], None], tmp_path: Path
) -> None:
    store, _ = opened(tmp_path / "a.db")
    with closing(store):
        kept = store.knowledge.save_memory(EXPLICIT) or EXPLICIT
        store.knowledge.save_bundles([BUNDLE], as_of=store.knowledge.forget_count())
        assert holds_secret(tmp_path / "a.db")
        change(store.knowledge, kept.number)
        store.overwrite_remains()
        assert not holds_secret(tmp_path / "a.db")


def test_no_byte_of_knowledge_from_an_erased_message_is_left(tmp_path: Path) -> None:
    store, session = opened(tmp_path / "a.db", "harmless")
    with closing(store):
        said = replace(EXPLICIT, explicit=False)
        store.knowledge.save_memory(said, session=session, digest=digest("harmless"))
        named = replace(MAYA, slug=SECRET, name=SECRET.title())
        store.knowledge.save_mentions(session, {digest("harmless"): [named]})
        store.erase(session, "m1")
        store.overwrite_remains()
        assert not holds_secret(tmp_path / "a.db")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("DROP TRIGGER thing_unmentioned; DELETE FROM mentions WHERE number > 0", "thing 1 is still there"),
        ("DROP TRIGGER memory_unsaid; DELETE FROM memory_sources", "memory 1 is still there"),
        ("UPDATE engagements SET mentions = 7", "the mentions of thing 1 do not add up"),
        ("UPDATE contents SET body = NULL", "a mention of content"),
    ],
)
def test_verify_names_knowledge_without_a_source(damage: str, problem: str, tmp_path: Path) -> None:
    store, session = opened(tmp_path / "a.db", "a")
    with closing(store):
        store.knowledge.save_mentions(session, {digest("a"): [MAYA]})
        store.knowledge.save_memory(replace(EXPLICIT, explicit=False), session=session, digest=digest("a"))
        assert store.verify().faults == ()
        changed(tmp_path / "a.db", damage)
        assert any(each.startswith(problem) for each in store.verify().faults)


def test_a_backup_has_the_knowledge(tmp_path: Path) -> None:
    store, session = opened(tmp_path / "a.db", "a")
    with closing(store):
        store.knowledge.save_memory(EXPLICIT)
        store.knowledge.save_mentions(session, {digest("a"): [MAYA]})
        store.backup(str(tmp_path / "copy.db"))
        with closing(open_store(tmp_path / "copy.db")) as copy:
            assert list(copy.knowledge.memories()) == list(store.knowledge.memories())
            assert list(copy.knowledge.things()) == list(store.knowledge.things())


def test_text_that_cannot_be_encoded_is_kept_in_its_escaped_form(tmp_path: Path) -> None:
    store, session = opened(tmp_path / "a.db", "a")
    with closing(store):
        kept = store.knowledge.save_memory(replace(EXPLICIT, text="I am \ud800."))
        store.knowledge.save_mentions(session, {digest("a"): [replace(MAYA, slug="\ud800", name="\ud800")]})
        assert (kept and kept.text, store.knowledge.things()[0].name) == ("I am \\ud800.", "\\ud800")


def test_finding_unread_messages_reads_only_new_ones(tmp_path: Path) -> None:
    texts = [f"note {n}" for n in range(2_000)]
    store, session = opened(tmp_path / "a.db", *texts)
    with closing(store):
        store.knowledge.save_mentions(session, {digest(text): [] for text in texts})
        store.append(session, [draft("new")], counter="words")
        assert [each.digest for each in store.knowledge.unread(limit=9)] == [digest("new")]
        assert pages_read(tmp_path / "a.db") < 100
        changed(tmp_path / "a.db", "UPDATE branches SET read_to = 0")
        assert pages_read(tmp_path / "a.db") > 2_000


def pages_read(path: Path) -> int:
    """How many pages the question for what is unread looks at."""
    with closing(apsw.Connection(str(path))) as db:
        list(db.execute("SELECT * FROM sqlite_schema"))
        before = db.status(apsw.SQLITE_DBSTATUS_CACHE_HIT)[0]
        list(db.execute(things._UNREAD, (1, 9, None)))
        return int(db.status(apsw.SQLITE_DBSTATUS_CACHE_HIT)[0] - before)
