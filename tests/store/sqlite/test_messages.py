"""What a store does when the disk is full, when threads share it, and when histories are strange."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import UserList
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal.errors import InputError, StoreError
from foveal.model import Text
from foveal.store import Draft, Store, open_store
from foveal.testing import draft

BIG = "word " * 20_000


def opened(url: str | Path = ":memory:", *texts: str) -> tuple[Store, int]:
    store = open_store(url)
    session = store.session("work", now=0.0).id
    store.append(session, [draft(text) for text in texts], counter="words")
    return store, session


def texts(store: Store, session: int) -> list[str]:
    return [content.body if content else "" for content in store.messages(session)]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_stores_nothing_and_says_so(small_disk: Path) -> None:
    store, session = opened(small_disk / "a.db", "before")
    with closing(store):
        fill_up(store, session, BIG)
        kept = texts(store, session)
        with pytest.raises(StoreError, match="disk is full") as failure:
            store.append(session, [draft(BIG + "!" * 2_000_000)], counter="words")
        assert failure.value.remedy.startswith("free some space")
        assert texts(store, session) == kept
        assert store.verify().clean


def fill_up(store: Store, session: int, text: str) -> None:
    for number in range(100):
        try:
            store.append(session, [draft(f"{number} {text}")], counter="words")
        except StoreError:
            return


def test_a_store_that_may_not_grow_stores_nothing_and_says_so(tmp_path: Path) -> None:
    store, session = opened(tmp_path / "a.db", "before")
    with closing(store):
        with store._database.using() as db:  # type: ignore[attr-defined]
            db.pragma("max_page_count", db.pragma("page_count") + 4)
        with pytest.raises(StoreError, match="disk is full"):
            store.append(session, [draft("small"), draft(BIG)], counter="words")
        assert len(texts(store, session)) == 1
        assert store.search("small") == ()
        store.append(session, [draft("fits")], counter="words")
        assert store.verify().clean


def test_threads_share_a_store(tmp_path: Path) -> None:
    store, session = opened(tmp_path / "a.db")
    with closing(store), ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: store.append(session, [draft(f"n {n}")], counter="words"), range(200)))
        assert [entry.seq for entry in store.entries(session)] == list(range(200))
        assert len(set(texts(store, session))) == 200


def test_an_interrupted_append_stores_nothing() -> None:
    store, session = opened(":memory:", "before")
    with pytest.raises(KeyboardInterrupt):
        store.append(session, Interrupted([draft("first"), draft("second")]), counter="words")
    assert len(texts(store, session)) == 1


class Interrupted(UserList[Draft]):
    """A batch that is interrupted by Ctrl-C while it is stored."""

    passes = 0

    def __iter__(self) -> Iterator[Draft]:
        self.passes += 1
        yield self[0]
        if self.passes == 3:  # checked, looked at for its format, stored
            raise KeyboardInterrupt
        yield self[1]


def test_what_one_store_wrote_another_sees_at_once(tmp_path: Path) -> None:
    mine, session = opened(tmp_path / "a.db", "a")
    theirs, _ = opened(tmp_path / "a.db", "b")
    assert mine.head(session).length == theirs.head(session).length == 2
    for store in (mine, theirs):
        store.close()


def test_lone_surrogates_come_back_as_the_same_json() -> None:
    store, session = opened()
    body = '{"role":"user","content":"\ud800 \\\\\udfff"}'
    odd = replace(draft("x").message, body=body, author="\ud800", id="a\ud800", parts=(Text(text="\ud800"),))
    store.append(session, [Draft(message=odd, tokens=1, created_at=0.0)], counter="words")
    assert json.loads(texts(store, session)[0]) == json.loads(body)


def test_words_next_to_a_nul_are_found() -> None:
    store, _ = opened(":memory:", "before\0after")
    assert len(store.search("after")) == 1


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 12), st.lists(st.sampled_from("abcde"), max_size=3)), max_size=12))
def test_any_sequence_of_forks_reads_as_a_list_would(steps: list[tuple[int, list[str]]]) -> None:
    store, session = opened()
    expected: list[str] = []
    for place, added in steps:
        at = min(place, len(expected))
        drafts = [draft(text) for text in added]
        store.append(session, drafts, counter="words", at=at)
        expected = expected[:at] + [d.message.body for d in drafts]
        assert texts(store, session) == expected
        assert texts_from(store, session, start=at) == expected[at:]
    assert len({entry.id for entry in store.entries(session)}) == len(expected)
    assert store.verify().clean
    store.close()


def texts_from(store: Store, session: int, *, start: int) -> list[str]:
    return [content.body for content in store.messages(session, start=start) if content]


@pytest.mark.parametrize("moment", [-9e14, 5e14, -6.3e10, float("nan")])
def test_a_time_that_could_not_be_read_again_is_not_stored(moment: float) -> None:
    store, session = opened()
    dated = draft("hello")
    message = replace(dated.message, created_at=moment)
    with closing(store), pytest.raises(InputError, match="draft 0: `created_at`"):
        store.append(session, [replace(dated, message=message)], counter="words")
