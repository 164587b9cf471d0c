"""How strong a hit is, and that searches stay exact and small however much is stored."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal.store import Store, open_store
from foveal.store.sqlite import search
from foveal.store.sqlite.vectors import VectorScan
from foveal.testing import draft
from foveal.testing.samples import digest, vector

EMBEDDER = "static"


def opened(texts: Sequence[str], *, path: str | Path = ":memory:") -> tuple[Store, int]:
    store = open_store(path)
    session = store.session("work", now=0.0).id
    store.append(session, [draft(text) for text in texts], counter="words")
    return store, session


def directions(count: int, *, seed: int = 0) -> dict[str, bytes]:
    """A vector of length 1 for each of the texts `0`, `1`…"""
    dice = random.Random(seed)
    found = {}
    for number in range(count):
        numbers = [dice.gauss(0, 1) for _ in range(4)]
        length = sum(each * each for each in numbers) ** 0.5
        found[digest(str(number))] = vector(*(each / length for each in numbers))
    return found


def cosine(one: bytes, other: bytes) -> float:
    return sum(a * b for a, b in zip(struct.unpack("<4f", one), struct.unpack("<4f", other), strict=True))


def scores(store: Store, query: str) -> dict[int, float]:
    return {hit.seq: hit.score for hit in store.search(query)}


def test_a_message_with_all_words_scores_higher_than_one_with_some() -> None:
    store, _ = opened(["the JWT login port", "the JWT page", *(f"lunch {n}" for n in range(20))])
    found = scores(store, "JWT login port")
    assert 0 < 2 * found[1] < found[0] <= 1


def test_a_word_without_any_match_lowers_every_score() -> None:
    store, _ = opened(["the JWT login", *(f"lunch {n}" for n in range(20))])
    assert scores(store, "JWT login zebra")[0] < 0.8 * scores(store, "JWT login")[0]


def test_a_message_with_every_word_once_reaches_about_half_of_the_best_score() -> None:
    store, _ = opened(["alpha beta gamma", *(f"delta epsilon {n}" for n in range(50))])
    assert 0.4 < scores(store, "alpha beta gamma")[0] < 0.5


@given(st.lists(st.sampled_from(["port", "login", "jwt", "port login", "x"]), min_size=1, max_size=8))
@settings(max_examples=50)
def test_no_score_exceeds_the_best(texts: list[str]) -> None:
    store, _ = opened(texts)
    with closing(store):
        assert all(0 < score <= 1 for score in scores(store, "port login jwt").values())


def test_stop_words_find_nothing_next_to_other_words() -> None:
    store, _ = opened(["where is it and what does it do", "the port"])
    assert list(scores(store, "where is the port and what does it do?")) == [1]


@pytest.mark.parametrize("most_bytes", [0, 64, 1 << 20], ids=["none held", "some held", "all held"])
def test_the_nearest_are_exact_however_many_vectors_are_in_memory(most_bytes: int) -> None:
    vectors = directions(40)
    store, _ = opened([str(number) for number in range(40)])
    for name, each in vectors.items():
        store.save_vectors({name: each}, EMBEDDER)
    scan = VectorScan(tenant=1, embedder=EMBEDDER, most_bytes=most_bytes)
    query = next(iter(vectors.values()))
    expected = sorted((round(cosine(query, each), 4) for each in vectors.values()), reverse=True)[:5]
    with store._database.reading() as db:  # type: ignore[attr-defined]
        for _ in range(2):
            near = scan.nearest(db, query, session=None, limit=5, floor=-2)
            assert [round(score, 4) for _, score in near] == expected
    assert sum(block.vectors.nbytes for block in scan.blocks) <= most_bytes


def test_vectors_saved_one_by_one_form_few_blocks() -> None:
    store, _ = opened([str(number) for number in range(100)])
    scan = VectorScan(tenant=1, embedder=EMBEDDER)
    for name, each in directions(100).items():
        store.save_vectors({name: each}, EMBEDDER)
        with store._database.reading() as db:  # type: ignore[attr-defined]
            scan.nearest(db, each, session=None, limit=1, floor=0)
    assert len(scan.blocks) <= 8
    assert sum(len(block.ids) for block in scan.blocks) == 100


def test_another_process_discards_a_vector_when_it_is_erased(tmp_path: Path) -> None:
    store, session = opened(["0", "1"], path=tmp_path / "a.db")
    vectors = directions(2)
    store.save_vectors(vectors, EMBEDDER)
    query = vectors[digest("0")]
    with closing(store), closing(open_store(tmp_path / "a.db")) as other:
        assert len(other.nearest(query, EMBEDDER, floor=-2)) == 2
        store.erase(session, "m1")
        assert [hit.id for hit in other.nearest(query, EMBEDDER, floor=-2)] == ["m2"]
        (block,) = other._scans[EMBEDDER].blocks  # type: ignore[attr-defined]
        assert not block.vectors[0].any()


@given(
    st.lists(st.sampled_from(["add", "save one", "save all", "erase", "ask"]), max_size=30), st.integers(1, 4)
)
@settings(max_examples=100)
def test_contents_without_a_vector_are_returned_newest_first_after_any_operations(
    acts: list[str], limit: int
) -> None:
    store, session = opened([])
    said: dict[str, str] = {}
    embedded: set[str] = set()
    with closing(store):
        for number, act in enumerate(acts):
            returned = [content.digest for content in store.unembedded(EMBEDDER, limit=limit)]
            missing = [name for name in reversed(said) if name not in embedded]
            assert (returned[:1], set(returned) <= set(missing), len(returned) <= limit) == (
                missing[:1],
                True,
                True,
            )
            if act == "add":
                (entry,) = store.append(session, [draft(str(number))], counter="words")
                said[entry.digest] = entry.id
            elif act == "erase" and said:
                name, id = said.popitem()
                store.erase(session, id)
                embedded.discard(name)
            elif act.startswith("save"):
                chosen = returned[: 1 if act == "save one" else limit]
                store.save_vectors(dict.fromkeys(chosen, vector(1, 0, 0, 0)), EMBEDDER)
                embedded.update(chosen)


@pytest.mark.parametrize("joint", [".", "-", "/", "_", "中"])
def test_a_word_of_many_pieces_is_searched_by_its_first(joint: str) -> None:
    word = joint.join(f"a{n}" for n in range(40))
    store, _ = opened([word, "lunch"])
    assert list(scores(store, word)) == [0]
    assert list(scores(store, word + f"{joint}unknown" * 5_000)) == [0]


@pytest.mark.parametrize("piece", ["a.", "a_", "a/", "中"])
def test_a_phrase_has_at_most_32_pieces_however_long_the_word(piece: str) -> None:
    phrase = search._quoted([piece * 4_500])[0]
    assert len(search._split([phrase])) == 1
    assert len(phrase.replace("a", " a ").split()) <= 2 * 32 + 2
