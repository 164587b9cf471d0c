"""The event log of each tenant is numbered on its own."""

from __future__ import annotations

from pathlib import Path

from foveal.events import Warned
from foveal.store import Store, open_store


def logged(store: Store, count: int) -> list[int]:
    for _ in range(count):
        store.log("s", [Warned(session="s", text="w")], now=1.0)
    return [event.number for event in store.events()]


def test_the_numbers_of_a_tenant_do_not_show_how_many_events_others_have(tmp_path: Path) -> None:
    acme, globex = (open_store(tmp_path / "store.db", tenant=name) for name in ("acme", "globex"))
    assert (logged(acme, 1), logged(globex, 3), logged(acme, 2)) == ([1], [1, 2, 3], [1, 2, 3])
    assert (acme.newest_event(), globex.newest_event()) == (3, 3)


def test_a_number_is_never_given_twice(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.db")
    session = store.session("s", now=1.0)
    assert logged(store, 2) == [1, 2]
    store.delete_session(session.id)
    store.session("s", now=1.0)
    assert logged(store, 1) == [3]
