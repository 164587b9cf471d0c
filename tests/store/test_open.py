"""Which addresses open a store, and what a bad one says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import pytest

from foveal.errors import ConfigError, StoreBusyError, StoreDamagedError, StoreError
from foveal.store import open_store
from foveal.testing import draft


def filled(path: Path, *, messages: int = 300) -> Path:
    with closing(open_store(path)) as store:
        session = store.session("work", now=0.0).id
        store.append(session, [draft(f"message {n} " * 20) for n in range(messages)], counter="words")
    return path


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@contextmanager
def unprivileged() -> Iterator[None]:
    """Root may write anywhere, so tests that run as root step down."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize("form", ["{0}", "sqlite:///{0}"])
def test_a_path_and_a_url_name_the_same_file(form: str, tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    with closing(open_store(form.format(path))) as store:
        assert store.sessions()[0].head.length == 300


def test_folders_and_file_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    path = filled(tmp_path / "new" / "folder" / "a.db")
    modes = [oct(p.stat().st_mode & 0o777) for p in (path.parent.parent, path.parent, path)]
    assert modes == ["0o700", "0o700", "0o600"]


def test_memory_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url in (":memory:", "sqlite:///:memory:"):
        open_store(url).close()
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "a.db").touch()
    assert filled(tmp_path / "a.db").stat().st_size > 0


@pytest.mark.parametrize("url", ["", "sqlite://", "sqlite:///", "redis://x", "a\0b", "a\udcff"])
def test_an_address_that_names_no_file_is_a_config_error(url: str) -> None:
    with pytest.raises(ConfigError, match="use a path"):
        open_store(url)


def test_postgresql_is_not_supported_yet() -> None:
    with pytest.raises(ConfigError, match="not supported yet"):
        open_store("postgresql://localhost/foveal")


def test_an_unknown_durability_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="'sometimes' is unknown"):
        open_store(":memory:", durability="sometimes")  # type: ignore[arg-type]


def test_the_linked_sqlite_does_not_lose_commits() -> None:
    assert apsw.SQLITE_VERSION_NUMBER >= 3_051_003, "before 3.51.3 a WAL reset may lose commits"


def test_a_tenant_needs_a_name() -> None:
    with pytest.raises(ConfigError, match="tenant is empty"):
        open_store(":memory:", tenant="")


@pytest.mark.parametrize(
    "content", [b"not a database at all" * 400, b"x", b"y" * 511, b"\0" * 600, bytes(range(256)) * 40]
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreDamagedError, match=r"notes\.txt is not a Foveal store"):
        open_store(path)
    assert path.read_bytes() == content


def test_the_database_of_another_application_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(apsw.Connection(str(path))) as other:
        other.execute("CREATE TABLE sessions (id)")
    before = path.read_bytes()
    with pytest.raises(StoreDamagedError, match="another application"):
        open_store(path)
    assert path.read_bytes() == before


def test_a_store_of_a_newer_version_says_upgrade(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    with closing(apsw.Connection(str(path))) as newer:
        newer.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="schema 99") as failure:
        open_store(path)
    assert failure.value.remedy == "upgrade foveal"


@pytest.mark.parametrize("size", [100, 600, 1024, 4096, 40_000, 90_000])
def test_a_truncated_file_is_damaged_and_never_silently_shorter(size: int, tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    os.truncate(path, size)
    with pytest.raises(StoreDamagedError, match="damaged"):
        read_all(path)


def test_overwritten_pages_are_found(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    with path.open("r+b") as file:
        file.seek(-40_960, os.SEEK_END)
        file.write(b"\x5a" * 40_960)
    with closing(open_store(path)) as store:
        assert not store.verify().clean


def read_all(path: Path) -> None:
    with closing(open_store(path)) as store:
        store.messages(store.sessions()[0].id)
        assert len(store.entries(store.sessions()[0].id)) == 300


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened") as failure:
        open_store(tmp_path)
    assert "not a folder" in failure.value.remedy


def test_a_file_in_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(StoreError, match="Not a directory"):
        open_store(tmp_path / "a" / "b" / "c.db")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc, where nothing can be made")
def test_a_folder_that_cannot_be_written_is_named() -> None:
    with pytest.raises(StoreError, match=r"/proc/foveal/a\.db"):
        open_store("/proc/foveal/a.db")


def test_a_read_only_folder_is_named(open_to_all: Path) -> None:
    open_to_all.chmod(0o555)
    with unprivileged(), pytest.raises(StoreError, match="Permission denied") as failure:
        open_store(open_to_all / "a.db")
    assert "--store" in failure.value.remedy


def test_a_read_only_file_is_named(open_to_all: Path) -> None:
    path = filled(open_to_all / "a.db")
    path.chmod(0o444)
    with unprivileged(), pytest.raises(StoreError, match=r"a\.db is read-only"):
        open_store(path)


def test_a_locked_store_says_how_long_it_waited(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    with closing(apsw.Connection(str(path))) as other, closing(open_store(path, wait_seconds=0.05)) as store:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match=r"waited 0\.05 s"):
            store.session("new", now=0.0)
        other.execute("ROLLBACK")
        assert store.session("new", now=0.0).name == "new"


def test_a_store_locked_while_it_is_created_says_how_long_it_waited(tmp_path: Path) -> None:
    with closing(apsw.Connection(str(tmp_path / "a.db"))) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreBusyError, match=r"waited 0\.05 s"):
            open_store(tmp_path / "a.db", wait_seconds=0.05)


def test_a_closed_store_says_so() -> None:
    store = open_store(":memory:")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.sessions()
