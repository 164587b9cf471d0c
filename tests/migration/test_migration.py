"""Old files open for ever, and a new store is what all migrations together make."""

from __future__ import annotations

from contextlib import closing
from importlib.resources import files
from pathlib import Path

import apsw

from foveal.pipeline.turns import erased_key
from foveal.store import SummaryRecord, open_store
from foveal.store.sqlite.migrate import APPLICATION_ID, VERSION, migrate, tenant_number
from foveal.testing import draft

V1 = Path(__file__).with_name("v1.sql")


def schema_of(db: apsw.Connection) -> set[tuple[str, str]]:
    return set(db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


def test_a_new_store_has_the_schema_that_all_steps_make(tmp_path: Path) -> None:
    open_store(tmp_path / "new.db").close()
    stepped = apsw.Connection(":memory:")
    for target in range(1, VERSION + 1):
        migrate(stepped, "stepped", target=target)
    tenant_number(stepped, "default")
    with closing(apsw.Connection(str(tmp_path / "new.db"))) as new:
        assert schema_of(new) == schema_of(stepped)


def test_there_is_one_step_for_every_version() -> None:
    steps = sorted(file.name for file in files("foveal.store.sqlite").joinpath("migrations").iterdir())
    assert steps == [*(f"{number:04}.sql" for number in range(1, VERSION + 1)), "tenant.sql"]


def test_migrating_again_changes_nothing(tmp_path: Path) -> None:
    open_store(tmp_path / "a.db").close()
    before = (tmp_path / "a.db").read_bytes()
    open_store(tmp_path / "a.db").close()
    assert (tmp_path / "a.db").read_bytes() == before


def test_a_failed_step_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(apsw.Connection(str(path))) as db:
        try:
            migrate(db, str(path), target=VERSION + 1)  # no such step
        except FileNotFoundError:
            assert (schema_of(db), db.pragma("user_version")) == (set(), 0)


def test_a_file_of_version_1_opens_with_everything_in_it(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(apsw.Connection(str(path))) as old:
        old.execute(V1.read_text(encoding="utf-8"))
        assert old.pragma("application_id") == APPLICATION_ID
    with closing(open_store(path)) as store:
        session = store.session("work", now=0.0)
        assert [content.body for content in store.messages(session.id) if content][:1] == [
            draft("hello").message.body
        ]
        assert (session.head.length, store.search("hello")[0].id) == (3, "m1")
        assert store.verify().faults == ()


def test_what_version_1_stored_waits_to_be_embedded_mined_and_summarized(tmp_path: Path) -> None:
    with closing(apsw.Connection(str(tmp_path / "old.db"))) as old:
        old.execute(V1.read_text(encoding="utf-8"))
    with closing(open_store(tmp_path / "old.db")) as store:
        waiting = {content.digest for content in store.unembedded("static", limit=9)}
        unmined = {content.digest for content in store.unmined(1, limit=9)}
        assert waiting == unmined > {content.digest for content in store.messages(1) if content}
        assert (list(store.tasks(1)), list(store.compressions(1)), len(waiting)) == ([], [], 4)
        made = SummaryRecord(key="k", text="t", tokens=1, by="llm", level=1, created_at=0.0)
        assert (store.save_summary(made, sorted(waiting)), store.verify().faults) == (True, ())


NOTED = """
    UPDATE entries SET absence = 'left out', stand_in = iif(seq = 2, 'a note', '') WHERE seq IN (0, 1, 2);
    UPDATE entries SET pinned = 1, absence = '' WHERE seq = 1;
"""


def test_a_note_of_version_2_is_linked_to_the_messages_it_covers(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(apsw.Connection(str(path))) as old:
        old.execute(V1.read_text(encoding="utf-8") + NOTED)
    with closing(open_store(path)) as store:
        assert [entry.noted_by for entry in store.entries(1)] == [2, None, 2]


ERASED = """
    UPDATE entries SET absence = 'erased', id = 'xyzzy', calls = '["xyzzy"]', answers = '["~xyzzy"]',
        body = NULL WHERE branch = 2 AND seq = 2;
    INSERT INTO events VALUES (1, 1, 'work', 0.0, 'messages.added', '{"ids": ["m1", "xyzzy"], "tokens": 2}');
    INSERT INTO events VALUES (2, 1, 'work', 0.0, 'messages.added', '{"ids": ["m1"], "tokens": 2}');
    INSERT INTO events VALUES (3, 1, 'work', 0.0, 'history.repaired',
        '{"session":"work","repairs":[{"rule":"missing answer","seq":2,"what":"the call of `xyzzy` …"}]}');
    INSERT INTO builds VALUES (1, 1, 0.0, '', '', 9, 9,
        '{"parts":{"a":1.50},"repairs":[{"rule":"orphan result","seq":2,"what":"a result for `xyzzy` …"}]}');
"""


def test_what_version_4_erased_leaves_no_names_and_ids_either(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(apsw.Connection(str(path))) as old:
        old.execute(V1.read_text(encoding="utf-8"))
        migrate(old, str(path), target=4)
        old.execute(ERASED)
    with closing(open_store(path)) as store:
        entry, build = store.entries(1)[2], store.build(1)
        assert (entry.id, entry.calls, entry.answers) == (
            "m5",
            (erased_key("xyzzy"),),
            (erased_key("~xyzzy"),),
        )
        assert "xyzzy" not in "".join(event.payload for event in store.events())
        assert [event.number for event in store.events()] == [2, 3]
        assert build
        assert build.manifest == (
            '{"parts":{"a":1.50},"repairs":'
            '[{"rule":"orphan result","seq":2,"what":"a tool result had no call"}]}'
        )
        assert store.append(1, [draft("next")], counter="words")[0].id == "m6"


def test_what_version_6_stored_is_not_private(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(apsw.Connection(str(path))) as old:
        old.execute(V1.read_text(encoding="utf-8"))
        migrate(old, str(path), target=6)
    with closing(open_store(path)) as store:
        assert [entry.private for entry in store.entries(1)] == [False, False, False]
        assert store.search("hello")


def test_nothing_of_version_7_was_restored(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(apsw.Connection(str(path))) as old:
        old.execute(V1.read_text(encoding="utf-8"))
        migrate(old, str(path), target=7)
    with closing(open_store(path)) as store:
        store.mark(1, 0, absence="", restored_at=5.0)
        assert [entry.restored_at for entry in store.entries(1)] == [5.0, None, None]


LOGGED = """
    INSERT INTO events (tenant, session, created_at, name, payload, position)
    SELECT 1, column1, 0.0, column2, '{}', row_number() OVER () FROM (VALUES
        ('work', 'messages.added'), ('work', 'context.optimization.success'),
        ('work', 'context.chunks_dropped'),
        ('', 'context.optimization.failed'), ('', 'memory.changed'), ('', 'context.tokens_estimated'));
    UPDATE tenants SET events = 6;
"""


def test_events_of_version_9_that_are_transient_or_of_no_session_are_kept_for_a_while(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(apsw.Connection(str(path))) as old:
        old.execute(V1.read_text(encoding="utf-8"))
        migrate(old, str(path), target=9)
        old.execute(LOGGED)
        migrate(old, str(path))
        kept = old.execute("SELECT retention FROM events ORDER BY position").fetchall()
    assert [retention for (retention,) in kept] == [0, 0, 2, 1, 1, 2]
