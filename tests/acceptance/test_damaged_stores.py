"""However a store file is damaged: each operation works or raises one of our errors, and `verify` reports."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import apsw
import pytest

from commands import CommandLine
from damage import copied, damage, filled
from everything import COMMANDS, untyped_errors
from foveal import Foveal, StoreDamagedError

SOAK = os.environ.get("FOVEAL_SOAK") == "1"
STORES = 1_000 if SOAK else 8


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("template") / "template.db")


def test_an_undamaged_store_has_no_problem(template: Path, tmp_path: Path) -> None:
    path = copied(template, tmp_path)
    with Foveal(path) as fov:
        assert fov.verify().faults == ()
    assert untyped_errors(path) == []


@pytest.mark.soak
def test_every_operation_on_a_damaged_store_raises_our_errors_alone(template: Path, tmp_path: Path) -> None:
    found = {}
    for seed in range(STORES):
        random = Random(seed)
        path = copied(template, tmp_path)
        done = damage(path, random)
        if errors := untyped_errors(path, random.sample(COMMANDS, 2)):
            found[seed, done] = errors
    assert found == {}


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE contents SET body = CAST(x'22ff22' AS TEXT) WHERE id = 4",
        "UPDATE contents SET body = '[1' WHERE id = 4",
        "UPDATE builds SET manifest = '{' WHERE number = 1",
        "UPDATE entries SET metadata = '{' WHERE metadata <> ''",
        "UPDATE entries SET calls = '[' WHERE calls <> ''",
        "UPDATE branches SET parent = id, fork_at = 3",
        "DELETE FROM entries WHERE seq = 2",
        "DELETE FROM branches WHERE id = 1",
        "DROP TABLE records",
        "UPDATE vectors SET vector = x'00' WHERE id = 2",
    ],
)
def test_verify_reports_what_was_damaged(sql: str, template: Path, tmp_path: Path) -> None:
    path = copied(template, tmp_path)
    with apsw.Connection(str(path)) as db:
        db.execute(sql)
    db.close()
    with Foveal(path) as fov:
        assert fov.verify().faults


@pytest.mark.parametrize(
    ("sql", "use"),
    [
        ("UPDATE contents SET body = '[1' WHERE id = 1", lambda s: s.export()),
        ('UPDATE contents SET body = \'{"role":"user"}\' WHERE id = 2', lambda s: s.search("redis")),
        ("UPDATE contents SET body = CAST(x'22ff22' AS TEXT) WHERE id = 1", lambda s: s.export()),
        ("UPDATE entries SET role = 'boss'", lambda s: s.entries()),
        ("UPDATE entries SET metadata = '[1]'", lambda s: s.entries()),
        ("UPDATE entries SET answers = '[1]'", lambda s: s.entries()),
        ("UPDATE entries SET created_at = 1e300", lambda s: s.entries()),
        ("UPDATE builds SET manifest = '{}'", lambda s: s.manifest()),
        (
            "UPDATE builds SET manifest = replace(manifest, '\"tokens\"', '\"t\"')",
            lambda s: s.why("m1", build=3),
        ),
        ("UPDATE branches SET parent = id, fork_at = 3", lambda s: s.entries()),
        ("UPDATE sessions SET length = 4611686018427387904", lambda s: s.entries()),
        ("UPDATE vectors SET vector = x'00'", lambda s: s.search("redis")),
        ("DROP TABLE tasks", lambda s: s.tasks()),
    ],
)
def test_what_cannot_be_read_is_a_damaged_store(
    sql: str, use: object, template: Path, tmp_path: Path
) -> None:
    path = copied(template, tmp_path)
    with apsw.Connection(str(path)) as db:
        db.execute(sql)
    db.close()
    assert callable(use)
    with Foveal(path) as fov, pytest.raises(StoreDamagedError, match="damaged") as failure:
        use(fov.open("work"))
    assert "foveal backup" in failure.value.remedy


def test_the_command_line_reports_damage_in_one_line(template: Path, tmp_path: Path) -> None:
    path = copied(template, tmp_path)
    with apsw.Connection(str(path)) as db:
        db.execute("UPDATE contents SET body = CAST(x'22ff22' AS TEXT) WHERE id = 1")
    db.close()
    done = CommandLine(folder=tmp_path).foveal("--session", "work", "export")
    assert (done.code, done.out) == (1, "")
    assert "foveal: the store is damaged: " in done.err.replace("\n", " ") or "not UTF-8" in done.err
