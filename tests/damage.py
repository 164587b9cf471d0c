"""Ways in which a store file is damaged: bytes, pages and rows. Each is drawn from a seeded generator."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import apsw

from foveal import Foveal

PAGE = 4096
Damage = Callable[[Path, Random], str]

CALLS = [
    {"role": "system", "content": "You fix bugs. Never edit the tests."},
    {"role": "user", "content": "Fix the login bug in auth.js. Use port 8081 from now on, not 8080."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "Bash", "arguments": '{"command": "npm test"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "FAIL auth.test.js: expected 200, got 500\n" * 30},
    {
        "role": "assistant",
        "content": "We decided to use JWT. The server returns 500 because the key is empty.",
    },
]
BLOCKS = [
    {"role": "user", "content": [{"type": "text", "text": "My name is Ada and I prefer tabs."}]},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t1", "name": "read_file", "input": {"p": 1}}],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x = 1\n" * 50}]},
    {"role": "assistant", "content": [{"type": "text", "text": "The file sets x to 1."}]},
]
PRESETS = ("foveal", "recent", "openscroll", "penguin", "omar", "reploid", "fifth")


def filled(path: Path) -> Path:
    """A store with something in each table."""
    with Foveal(path) as fov:
        session = fov.session("work", model="gpt-5")
        session.extend(CALLS, format="openai")
        session.start_task("auth")
        for number in range(12):
            session.add("user", f"step {number}: check module_{number}.py again " + "and the rest " * 20)
            session.add("assistant", f"module_{number}.py is checked; Kubernetes and Redis are up. " * 8)
        session.complete_task()
        session.add("user", "why did Redis fail?", pinned=True, metadata={"a": 1}, timestamp=1.7e9)
        for preset in PRESETS:
            session.build(preset=preset, budget=900, now=1.7e9)
        session.billed(800)
        session.compress(600)
        history = session.export()
        session.sync([*history[:6], {"role": "user", "content": "another way"}])
        session.build(budget=900, now=1.7e9)
        session.records()
        other = fov.session("other", model="claude-sonnet-4-5")
        other.extend(BLOCKS, format="anthropic")
        other.forget(other.entries()[-1].id)
        fov.remember("I live in Vienna.")
        fov.fork("work", "copy", messages=4)
        fov.presence({"active_conversation": "work"}, session="work", now=1.7e9)
        fov.settle()
        fov.profile(now=1.7e9)
    return path


def damage(path: Path, random: Random) -> str:
    """Damage the file in one to three ways and return what was done."""
    ways = random.choices(list(WAYS), weights=list(WAYS.values()), k=random.choice((1, 1, 2, 3)))
    return "; ".join(way(path, random) for way in ways if path.is_file())


def _flipped(path: Path, random: Random) -> str:
    content, count = bytearray(path.read_bytes()), random.choice((1, 3, 20, 200))
    for _ in range(count if content else 0):
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    path.write_bytes(content)
    return f"flipped {count} bits"


def _garbled_text(path: Path, random: Random) -> str:
    """Bytes that no UTF-8 has, where there was text."""
    content, count = bytearray(path.read_bytes()), random.choice((1, 5, 40))
    letters = [at for at in range(len(content)) if 97 <= content[at] <= 122]
    for at in random.sample(letters, min(count, len(letters))):
        content[at] = random.choice((0xFF, 0x00, 0xC3, 0x22, 0x7B))
    path.write_bytes(content)
    return f"garbled {count} letters"


def _overwritten(path: Path, random: Random) -> str:
    pages = path.stat().st_size // PAGE
    at, count = random.randrange(max(1, pages)), random.choice((1, 1, 3))
    with path.open("r+b") as file:
        file.seek(at * PAGE)
        file.write(random.choice((bytes(PAGE), b"\x5a" * PAGE, random.randbytes(PAGE))) * count)
    return f"overwrote {count} pages at {at}"


def _swapped(path: Path, random: Random) -> str:
    content = path.read_bytes()
    pages = [content[at : at + PAGE] for at in range(0, len(content), PAGE)]
    if len(pages) > 2:
        one, two = random.sample(range(random.choice((0, 1)), len(pages)), 2)
        pages[one], pages[two] = pages[two], pages[one]
    path.write_bytes(b"".join(pages))
    return "swapped two pages"


def _truncated(path: Path, random: Random) -> str:
    size = random.choice((0, 50, 512, PAGE, random.randrange(path.stat().st_size + 1)))
    with path.open("r+b") as file:
        file.truncate(min(size, path.stat().st_size))
    return f"truncated to {size}"


def _header(path: Path, random: Random) -> str:
    at = random.randrange(100)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(random.randbytes(random.choice((1, 2, 4))))
    return f"header at {at}"


def _other_log(path: Path, random: Random) -> str:
    """A write-ahead log, and its index, that are not this file's."""
    for ending in random.choice((("-wal",), ("-shm",), ("-wal", "-shm"))):
        path.with_name(path.name + ending).write_bytes(random.randbytes(random.choice((32, 5_000, 40_000))))
    return "log of garbage"


_VALUES = (
    "NULL",
    "0",
    "-1",
    "99",
    "9223372036854775807",
    "-9223372036854775808",
    "1e300",
    "9e999",
    "0.5",
    "''",
    "'x'",
    "'{'",
    "'[1]'",
    "'[[[]]]'",
    "'{}'",
    "'{\"since\":[99,3]}'",
    "'null'",
    "x'00ff'",
    "CAST(x'22ff22' AS TEXT)",
    "CAST(x'61006200' AS TEXT)",
    "x''",
)


def _edited(path: Path, random: Random) -> str:
    """Any value in any column, also where the schema forbids it."""
    return _with_schema_off(path, lambda db: _edit(db, random))


def _edit(db: apsw.Connection, random: Random) -> str:
    done = []
    for _ in range(random.choice((1, 2, 5))):
        table = random.choice(_tables(db))
        columns = [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]
        column, value = random.choice(columns), random.choice(_VALUES)
        row = f"(SELECT min(abs(random() % (1 + count(*)))) FROM {table})"
        which = random.choice(("", f"WHERE rowid IN (SELECT rowid FROM {table} LIMIT 1 OFFSET {row})"))
        if "WITHOUT ROWID" in str(db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).get):
            which = ""
        _try(db, f"UPDATE OR IGNORE {table} SET {column} = {value} {which}")
        done.append(f"{table}.{column} = {value}" + (" in one row" if which else ""))
    return ", ".join(done)


def _cut_json(path: Path, random: Random) -> str:
    """JSON in a column that lost, gained or changed a part."""
    table, column = random.choice(
        (("builds", "manifest"), ("contents", "body"), ("entries", "metadata"), ("entries", "calls"),
         ("entries", "answers"), ("events", "payload"))
    )  # fmt: skip
    change = random.choice(
        (
            f"substr({column}, 1, length({column}) / 2)",
            f"replace({column}, '\"', '')",
            f"replace({column}, ':[', ':{{')",
            f"replace({column}, '0', '\"\"')",
            f"replace({column}, '1', 'null')",
            f"replace({column}, '[', '[[')",
            f"'[' || {column} || ']'",
            f"replace({column}, 'e', 'E')",
            f"json_remove({column}, '$.' || (SELECT key FROM json_each({column}) ORDER BY random() LIMIT 1))",
        )
    )

    def edit(db: apsw.Connection) -> str:
        _try(db, f"UPDATE OR IGNORE {table} SET {column} = {change} WHERE {column} <> ''")
        return f"{table}.{column} = {change}"

    return _with_schema_off(path, edit)


def _lost_rows(path: Path, random: Random) -> str:
    def edit(db: apsw.Connection) -> str:
        table = random.choice(_tables(db))
        which = random.choice(("", "WHERE random() % 2", "WHERE random() % 5 = 0"))
        _try(db, f"DELETE FROM {table} {which}")
        return f"deleted from {table} {which}"

    return _with_schema_off(path, edit)


def _lost_table(path: Path, random: Random) -> str:
    def edit(db: apsw.Connection) -> str:
        table = random.choice([*_tables(db), "words_1"])
        _try(db, f"DROP TABLE {table}")
        return f"dropped {table}"

    return _with_schema_off(path, edit)


def _looped_branches(path: Path, random: Random) -> str:
    def edit(db: apsw.Connection) -> str:
        fork = random.choice((0, 1, 3, 99, -5, 2**62))
        _try(db, f"UPDATE branches SET parent = {random.choice(('id', '1', '99', 'NULL'))}, fork_at = {fork}")
        return "looped branches"

    return _with_schema_off(path, edit)


def _newer(path: Path, random: Random) -> str:
    def edit(db: apsw.Connection) -> str:
        _try(
            db,
            f"PRAGMA {random.choice(('user_version', 'application_id'))} = {random.choice((0, 2, 99, -1))}",
        )
        return "other version"

    return _with_schema_off(path, edit)


def _foreign(path: Path, random: Random) -> str:
    path.unlink()
    with closing(apsw.Connection(str(path))) as db:
        db.execute("CREATE TABLE sessions (id); INSERT INTO sessions VALUES (1)")
        if random.random() < 0.5:
            db.pragma("application_id", 0x666F7661)
            db.pragma("user_version", 4)
    return "another application's file"


def _folder(path: Path, random: Random) -> str:
    path.unlink()
    path.mkdir()
    return "a folder"


def _with_schema_off(path: Path, edit: Callable[[apsw.Connection], str]) -> str:
    """Edit rows while neither STRICT nor NOT NULL nor any reference is checked."""
    try:
        with closing(apsw.Connection(str(path))) as db:
            schema = list(db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'"))
            _rewrite(db, [(name, _lax(sql)) for name, sql in schema if name[:6] != "words_"])
        with closing(apsw.Connection(str(path))) as db:
            triggers = list(db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
            for name, _ in triggers:
                db.execute(f"DROP TRIGGER {name}")
            done = edit(db)
            for _, sql in triggers:
                _try(db, sql)
            _rewrite(db, [(name, sql) for name, sql in schema if name[:6] != "words_"])
    except (apsw.Error, UnicodeDecodeError, TypeError, ValueError, IndexError) as error:
        return f"(not edited: {type(error).__name__})"
    return done


def _lax(sql: str) -> str:
    return sql.replace(" NOT NULL", "").replace(") STRICT, WITHOUT", ") WITHOUT").replace(") STRICT", ")")


def _rewrite(db: apsw.Connection, schema: list[tuple[str, str]]) -> None:
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    db.pragma("writable_schema", 1)
    for name, sql in schema:
        db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ? AND type = 'table'", (sql, name))
    db.pragma("writable_schema", 0)


def _tables(db: apsw.Connection) -> list[str]:
    named = """
        SELECT name FROM sqlite_schema
        WHERE type = 'table' AND name NOT LIKE 'words%' AND name NOT LIKE 'sqlite%'
    """
    return [name for (name,) in db.execute(named)]


def _try(db: apsw.Connection, sql: str) -> None:
    with suppress(apsw.Error):
        db.execute(sql)


WAYS: dict[Damage, int] = {
    _flipped: 3,
    _garbled_text: 4,
    _overwritten: 2,
    _swapped: 2,
    _truncated: 1,
    _header: 1,
    _other_log: 1,
    _edited: 10,
    _cut_json: 5,
    _lost_rows: 3,
    _lost_table: 1,
    _looped_branches: 1,
    _newer: 1,
    _foreign: 1,
    _folder: 1,
}


def copied(template: Path, folder: Path) -> Path:
    """A copy of a store that is not open."""
    target = folder / "store.db"
    for old in (target, *folder.glob("store.db-*")):
        if old.is_dir():
            old.rmdir()
        else:
            old.unlink(missing_ok=True)
    shutil.copyfile(template, target)
    return target
