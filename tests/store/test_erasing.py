"""What is erased is gone from the file itself, not only from answers."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from foveal.store import Store, open_store
from foveal.testing import draft

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


def test_another_process_that_only_looked_does_not_keep_it(tmp_path: Path) -> None:
    store, session = filled(tmp_path / "a.db", SECRET)
    with closing(store), closing(open_store(tmp_path / "a.db")) as other:
        assert len(other.search(SECRET)) == 1
        store.erase(session, "m51")
        assert (len(other.search(SECRET)), holds_secret(tmp_path / "a.db")) == (0, False)
