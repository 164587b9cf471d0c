"""The table of `docs/reference/bad-input.md`, line by line: each case is made, run, and compared with it."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest

from commands import CommandLine
from foveal import Foveal

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "bad-input.md"
ROW = re.compile(
    r"^\| (?P<case>[^|`]+) \| `(?P<command>[^|]+)` \| `+(?P<says>.+?) ?`+ \| (?P<exit>\d) \|$", re.M
)
GOOD = {"role": "user", "content": "good"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the table."""

    case: str
    command: tuple[str, ...]
    says: str
    exit: int


LINES = [
    Line(case=row["case"], command=tuple(row["command"].split()[1:]), says=row["says"], exit=int(row["exit"]))
    for row in ROW.finditer(PAGE.read_text(encoding="utf-8"))
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a case puts in place of `FILE`, into stdin, and as the store."""

    file: str = "bad.json"
    stdin: bytes = b""
    store: Path | None = None


Maker = Callable[[CommandLine], Iterator[Scene]]


def file_with(content: str | bytes) -> Maker:
    def make(shell: CommandLine) -> Iterator[Scene]:
        (shell.folder / "bad.json").write_bytes(content.encode() if isinstance(content, str) else content)
        yield Scene()

    return make


def second_message(message: object) -> Maker:
    return file_with(json.dumps([GOOD, message]))


def scene(given: Scene) -> Maker:
    def make(_: CommandLine) -> Iterator[Scene]:
        yield given

    return make


def read_only_folder(shell: CommandLine) -> Iterator[Scene]:
    folder = shell.folder / "read-only"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):  # root may write anywhere but here
        folder = Path("/proc")
        if not folder.exists():
            pytest.skip("no folder on this machine is read-only to this user")
    yield Scene(store=folder / "store.db")


def full_disk(shell: CommandLine) -> Iterator[Scene]:
    folder = shell.folder / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a small disk needs the right to mount one; the store's own tests fill a file instead")
    try:
        store = folder / "store.db"
        Foveal(store).close()
        # Small enough to be a message, too large for the disk.
        shell.write("bad.json", [{"role": "user", "content": "word " * 200_000}])
        yield Scene(store=store)
        with Foveal(store) as fov:
            assert fov.verify().clean
            assert sum(record.head.length for record in fov.sessions()) == 0
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def locked_database(shell: CommandLine) -> Iterator[Scene]:
    connection = apsw.Connection(str(shell.store))
    connection.execute("BEGIN IMMEDIATE")
    yield Scene()
    connection.execute("ROLLBACK")
    connection.close()


def foreign_file(shell: CommandLine) -> Iterator[Scene]:
    yield from _foreign(shell, b"Dear diary, today I did not store a single message.\n" * 200)


def foreign_database(shell: CommandLine) -> Iterator[Scene]:
    with sqlite3.connect(shell.folder / "theirs.db") as connection:
        connection.execute("CREATE TABLE recipes (name)")
    connection.close()
    yield from _foreign(shell, (shell.folder / "theirs.db").read_bytes())


def _foreign(shell: CommandLine, content: bytes) -> Iterator[Scene]:
    file = shell.folder / "foreign.db"
    file.write_bytes(content)
    yield Scene(store=file)
    assert file.read_bytes() == content


def no_such_store(shell: CommandLine) -> Iterator[Scene]:
    file = shell.folder / "absent.db"
    yield Scene(store=file)
    assert not file.exists()


def corrupt_database(shell: CommandLine) -> Iterator[Scene]:
    file = shell.folder / "corrupt.db"
    with Foveal(file) as fov:
        fov.session().extend([{"role": "user", "content": f"message {n} " * 50} for n in range(200)])
    content = bytearray(file.read_bytes())
    content[len(content) // 8 :] = b"\xa5" * (len(content) - len(content) // 8)
    file.write_bytes(content)
    yield Scene(store=file)


def altered_database(shell: CommandLine) -> Iterator[Scene]:
    file = shell.folder / "corrupt.db"
    with Foveal(file) as fov:
        fov.session().extend([{"role": "user", "content": "the port is 8081"}])
    file.write_bytes(file.read_bytes().replace(b"8081", b"8082"))
    yield Scene(store=file)


MAKERS: dict[str, Maker] = {
    "not JSON": file_with('[{"role": "user", '),
    "not JSON, to fit": file_with('[{"role": "user", '),
    "not UTF-8": file_with(b'["\xff\xfe"]'),
    "an empty file": file_with(""),
    "no such file": scene(Scene(file="absent.json")),
    "wrong role": second_message({"role": 5, "content": "hello"}),
    "wrong role, as an argument": scene(Scene()),
    "missing content": second_message({"role": "user"}),
    "unknown provider": file_with('{"prompt": "hello"}'),
    "unknown format": scene(Scene()),
    "50 MB message": second_message({"role": "user", "content": "x" * 50_000_000}),
    "budget 0": scene(Scene()),
    "budget below the floor": scene(Scene()),
    "budget below the floor, to fit": scene(Scene(stdin=json.dumps([GOOD]).encode())),
    "budget that is not a number": scene(Scene()),
    "tools that are not an array": file_with('{"name": "ls"}'),
    "erasing without confirmation": scene(Scene(stdin=b"y\n")),
    "no such message": scene(Scene()),
    "no such store": no_such_store,
    "read-only folder": read_only_folder,
    "full disk": full_disk,
    "locked database": locked_database,
    "foreign file": foreign_file,
    "foreign database": foreign_database,
    "corrupt database": corrupt_database,
    "corrupt database, checked": altered_database,
}


def test_the_table_and_the_cases_are_the_same() -> None:
    assert [line.case for line in LINES] == list(MAKERS)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.case.replace(" ", "-"))
def test_bad_input_is_answered_as_the_table_says_and_changes_nothing(line: Line, shell: CommandLine) -> None:
    shell.fill(GOOD)
    with contextmanager(MAKERS[line.case])(shell) as made:
        arguments = [made.file if word == "FILE" else word for word in line.command]
        done = shell.foveal(*arguments, stdin=made.stdin, FOVEAL_STORE=str(made.store or shell.store))
    first, second = done.err.splitlines()[-2:]
    assert _shows(f"foveal: {line.says}", first), done.err
    assert second.startswith("  try: ")
    assert "Traceback" not in done.err
    assert done.code == line.exit
    _nothing_changed(shell)


def _shows(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), text) is not None


def _nothing_changed(shell: CommandLine) -> None:
    with Foveal(shell.store) as fov:
        assert fov.verify().clean
        assert [record.head.length for record in fov.sessions()] == [1]
