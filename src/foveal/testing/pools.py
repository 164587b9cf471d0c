"""Check what a store promises about pools: who is in them, their budgets, tenants."""

from __future__ import annotations

from functools import partial

from foveal.errors import NotFoundError
from foveal.testing.samples import NOW, OpenStore, opened, refuses, same


def a_pool_is_created_once_and_keeps_its_budget(open_store: OpenStore) -> None:
    pools = open_store("pools").pools
    first = pools.save("repo", now=NOW)
    same((first.name, first.budget, first.created_at), ("repo", None, NOW))
    second = pools.save("repo", now=NOW + 1, budget=9_000)
    same((second.id, second.budget, second.created_at), (first.id, 9_000, NOW))
    same(pools.save("repo", now=NOW), second)
    same(list(pools.all()), [second])


def the_budget_of_a_pool_is_changed_and_removed(open_store: OpenStore) -> None:
    pools = open_store("pool budget").pools
    pool = pools.save("repo", now=NOW, budget=9_000)
    pools.set_budget(pool.id, 8_000)
    same([each.budget for each in pools.all()], [8_000])
    pools.set_budget(pool.id, None)
    same([each.budget for each in pools.all()], [None])
    refuses(NotFoundError, partial(open_store("pool other").pools.set_budget, pool.id, 7_000))


def a_session_is_in_one_pool_at_most(open_store: OpenStore) -> None:
    store, session = opened(open_store, "member")
    one, other = (store.pools.save(name, now=NOW) for name in ("one", "other"))
    same(store.pools.of(session), None)
    store.pools.join(session, one.id)
    store.pools.join(session, other.id)
    same((list(store.pools.members(one.id)), list(store.pools.members(other.id))), ([], ["work"]))
    same(store.pools.of(session), other)
    store.pools.join(session, None)
    same((store.pools.of(session), list(store.pools.members(other.id))), (None, []))


def a_deleted_pool_leaves_its_sessions(open_store: OpenStore) -> None:
    store, session = opened(open_store, "left pool")
    pool = store.pools.save("repo", now=NOW)
    store.pools.join(session, pool.id)
    store.pools.delete(pool.id)
    same((list(store.pools.all()), store.pools.of(session), len(store.sessions())), ([], None, 1))
    refuses(NotFoundError, partial(store.pools.delete, pool.id))


def a_deleted_session_is_in_no_pool(open_store: OpenStore) -> None:
    store, session = opened(open_store, "gone member")
    pool = store.pools.save("repo", now=NOW)
    store.pools.join(session, pool.id)
    store.delete_session(session)
    same(list(store.pools.members(pool.id)), [])


def pools_of_other_tenants_are_not_found(open_store: OpenStore) -> None:
    mine = open_store("pool mine")
    theirs, foreign = opened(open_store, "pool theirs")
    pool = theirs.pools.save("repo", now=NOW)
    theirs.pools.join(foreign, pool.id)
    refuses(NotFoundError, partial(mine.pools.join, foreign, pool.id))
    refuses(NotFoundError, partial(mine.pools.delete, pool.id))
    same((list(mine.pools.all()), list(mine.pools.members(pool.id)), mine.pools.of(foreign)), ([], [], None))


def pools_of_one_name_in_two_tenants_have_nothing_in_common(open_store: OpenStore) -> None:
    mine, theirs = open_store("pool ours"), open_store("pool others")
    mine.pools.save("repo", now=NOW, budget=1_000)
    theirs.pools.save("repo", now=NOW, budget=2_000)
    same([pool.budget for pool in mine.pools.all()], [1_000])
    same([pool.budget for pool in theirs.pools.all()], [2_000])
