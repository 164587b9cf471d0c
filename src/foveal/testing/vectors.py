"""Check what a store promises about vectors: reading, finding missing ones, finding the nearest."""

from __future__ import annotations

from foveal.errors import InputError
from foveal.store.port import Store
from foveal.testing.samples import COUNTER, NOW, OpenStore, digest, draft, opened, refuses, same, vector

_EMBEDDER = "static"


def vectors_are_returned_in_message_order(open_store: OpenStore) -> None:
    store, session = opened(open_store, "vectors", "a", "b", "a")
    store.append(session, [draft("c"), draft("d")], counter=COUNTER, at=2)
    store.save_vectors({digest("a"): vector(1, 0), digest("c"): vector(0, 1)}, _EMBEDDER)
    same(list(store.vectors(session, _EMBEDDER)), [vector(1, 0), None, vector(0, 1), None])
    same(list(store.vectors(session, _EMBEDDER, start=1, stop=3)), [None, vector(0, 1)])
    same(list(store.vectors(session, "another")), [None] * 4)


def an_erased_message_has_no_vector(open_store: OpenStore) -> None:
    store, session = opened(open_store, "no vector", "a", "b")
    store.append(store.session("other", now=NOW).id, [draft("b")], counter=COUNTER)
    store.save_vectors({digest("a"): vector(1, 0), digest("b"): vector(0, 1)}, _EMBEDDER)
    for id in ("m1", "m2"):
        store.erase(session, id)
    same(list(store.vectors(session, _EMBEDDER)), [None, None])
    same([hit.session for hit in store.nearest(vector(0, 1), _EMBEDDER)], ["other"])
    same((list(store.nearest(vector(1, 0), _EMBEDDER)), store.verify().faults), ([], ()))


def a_vector_of_missing_content_is_not_stored(open_store: OpenStore) -> None:
    store, session = opened(open_store, "late vector", "a")
    store.erase(session, "m1")
    store.save_vectors({digest("a"): vector(1, 0), digest("never"): vector(1, 0)}, _EMBEDDER)
    same((list(store.vectors(session, _EMBEDDER)), store.verify().faults), ([None], ()))


def vectors_of_another_size_are_refused(open_store: OpenStore) -> None:
    store, session = opened(open_store, "sizes", "a", "b")
    store.save_vectors({digest("a"): vector(1, 0)}, _EMBEDDER)
    refuses(InputError, lambda: store.save_vectors({digest("b"): vector(1, 0, 0)}, _EMBEDDER))
    refuses(InputError, lambda: store.save_vectors({digest("b"): b"abc"}, "another"))
    refuses(InputError, lambda: store.nearest(vector(1), _EMBEDDER))
    same(list(store.vectors(session, _EMBEDDER)), [vector(1, 0), None])


def contents_without_a_vector_are_returned_newest_first(open_store: OpenStore) -> None:
    store, session = opened(open_store, "unembedded", "a", "b", "c", "d")
    same(_bodies(store, limit=3), ["d", "c", "b"])
    store.save_vectors({digest(text): vector(1, 0) for text in "dcb"}, _EMBEDDER)
    same((_bodies(store, limit=3), len(store.unembedded("another", limit=9))), (["a"], 4))
    store.save_vectors({digest("a"): vector(1, 0)}, _EMBEDDER)
    same(_bodies(store, limit=3), [])
    store.append(session, [draft("e"), draft("a")], counter=COUNTER)
    same(_bodies(store, limit=3), ["e"])


def content_erased_and_added_again_has_no_vector(open_store: OpenStore) -> None:
    store, session = opened(open_store, "again unembedded", "a", "b")
    store.save_vectors({digest("a"): vector(1, 0), digest("b"): vector(1, 0)}, _EMBEDDER)
    same(_bodies(store, limit=9), [])
    store.erase(session, "m1")
    same(_bodies(store, limit=9), [])
    store.append(session, [draft("a")], counter=COUNTER)
    same(_bodies(store, limit=9), ["a"])


def rolled_back_vectors_are_not_remembered(open_store: OpenStore) -> None:
    store, session = opened(open_store, "rolled back")

    def rolled_back() -> None:
        with store.transaction():
            store.append(session, [draft("a")], counter=COUNTER)
            store.save_vectors({digest("a"): vector(1, 0)}, _EMBEDDER)
            same((_bodies(store, limit=9), len(store.nearest(vector(1, 0), _EMBEDDER))), ([], 1))
            raise InputError("stop", remedy="none")

    refuses(InputError, rolled_back)
    store.append(session, [draft("b")], counter=COUNTER)
    same((_bodies(store, limit=9), list(store.nearest(vector(1, 0), _EMBEDDER))), (["b"], []))


def the_nearest_message_comes_first(open_store: OpenStore) -> None:
    store, _ = opened(open_store, "nearest", "a", "b", "c")
    store.save_vectors(
        {digest("a"): vector(0.6, 0.8), digest("b"): vector(0.8, 0.6), digest("c"): vector(-1, 0)}, _EMBEDDER
    )
    found = store.nearest(vector(1, 0), _EMBEDDER)
    same([(hit.id, round(hit.score, 6)) for hit in found], [("m2", 0.8), ("m1", 0.6)])
    same([hit.id for hit in store.nearest(vector(1, 0), _EMBEDDER, floor=0.7)], ["m2"])
    same([hit.id for hit in store.nearest(vector(1, 0), _EMBEDDER, limit=1, floor=-2)], ["m2"])
    same(list(store.nearest(vector(1, 0), "another")), [])


def nearest_can_be_limited_to_a_session(open_store: OpenStore) -> None:
    store, session = opened(open_store, "near scope", "a", "b")
    other = store.session("other", now=NOW).id
    store.append(other, [draft("b"), draft("c")], counter=COUNTER)
    store.save_vectors({digest(text): vector(1, 0) for text in "abc"}, _EMBEDDER)
    near = [store.nearest(vector(1, 0), _EMBEDDER, session=each) for each in (session, other, None)]
    same(
        [sorted(hit.id for hit in found) for found in near],
        [["m1", "m2"], ["m1", "m2"], [*["m1"] * 2, *["m2"] * 2]],
    )
    same({hit.session for hit in near[1]}, {"other"})


def vectors_saved_later_are_found(open_store: OpenStore) -> None:
    store, session = opened(open_store, "later", "a")
    store.save_vectors({digest("a"): vector(1, 0)}, _EMBEDDER)
    same(len(store.nearest(vector(1, 0), _EMBEDDER)), 1)
    store.append(session, [draft("b")], counter=COUNTER)
    store.save_vectors({digest("b"): vector(1, 0)}, _EMBEDDER)
    same([hit.id for hit in store.nearest(vector(1, 0), _EMBEDDER)], ["m2", "m1"])


def _bodies(store: Store, *, limit: int) -> list[str]:
    known = {digest(text): text for text in "abcde"}
    return [known[content.digest] for content in store.unembedded(_EMBEDDER, limit=limit)]
