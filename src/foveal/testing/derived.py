"""Check what a store promises about data derived from messages: summaries, records, tasks, compressions."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from foveal.errors import NotFoundError
from foveal.store.port import CompressionRecord, Store, SummaryRecord
from foveal.testing.samples import COUNTER, NOW, OpenStore, digest, draft, opened, refuses, same, vector

_EMBEDDER = "static"
_SUMMARY = SummaryRecord(
    key=sha256(b"summary").hexdigest(), text="a summary", tokens=2, by="extractive", level=1, created_at=NOW
)
_HIGHER = replace(_SUMMARY, key=sha256(b"higher").hexdigest(), text="a higher summary", level=2)


def a_summary_is_stored_under_its_key(open_store: OpenStore) -> None:
    store, _ = opened(open_store, "summary", "a", "b")
    same(store.summary(_SUMMARY.key), None)
    kept = store.save_summary(_SUMMARY, [digest("a"), digest("b")])
    same((kept, store.summary(_SUMMARY.key)), (True, _SUMMARY))
    same(dict(store.summaries([_SUMMARY.key, _HIGHER.key])), {_SUMMARY.key: _SUMMARY})


def a_models_summary_replaces_an_extractive_one_but_not_the_reverse(open_store: OpenStore) -> None:
    store, _ = opened(open_store, "writers", "a")
    better, late = replace(_SUMMARY, text="by a model", by="llm"), replace(_SUMMARY, text="too late")
    for record in (_SUMMARY, late, better, late, replace(better, text="again")):
        store.save_summary(record, [digest("a")])
    same(store.summary(_SUMMARY.key), better)


def erasing_a_message_deletes_every_summary_that_covers_it(open_store: OpenStore) -> None:
    store, session = opened(open_store, "covers", "a", "b", "c")
    other = replace(_SUMMARY, key=sha256(b"other").hexdigest())
    store.save_summary(_SUMMARY, [digest("a"), digest("b")])
    store.save_summary(_HIGHER, [_SUMMARY.key])
    store.save_summary(other, [digest("c")])
    store.erase(session, "m2")
    same(set(store.summaries([_SUMMARY.key, _HIGHER.key, other.key])), {other.key})
    same(store.verify().faults, ())


def a_summary_stays_while_another_session_has_the_content(open_store: OpenStore) -> None:
    store, session = opened(open_store, "shared summary", "a")
    store.append(store.session("other", now=NOW).id, [draft("a")], counter=COUNTER)
    store.save_summary(_SUMMARY, [digest("a")])
    store.erase(session, "m1")
    same(store.summary(_SUMMARY.key), _SUMMARY)


def a_summary_with_a_missing_source_is_not_stored(open_store: OpenStore) -> None:
    store, session = opened(open_store, "too late", "a", "b")
    store.erase(session, "m1")
    for sources in ([digest("a")], [digest("b"), digest("a")], ["f" * 64], []):
        same((store.save_summary(_SUMMARY, sources), store.summary(_SUMMARY.key)), (False, None))


def a_replaced_summary_is_still_deleted_with_its_sources(open_store: OpenStore) -> None:
    store, session = opened(open_store, "replaced", "a", "b")
    store.save_summary(_SUMMARY, [digest("a")])
    store.save_summary(_HIGHER, [_SUMMARY.key])
    store.save_summary(replace(_SUMMARY, by="llm"), [digest("a"), digest("b")])
    store.erase(session, "m2")
    same(dict(store.summaries([_SUMMARY.key, _HIGHER.key])), {})


def typed_records_are_returned_in_message_order(open_store: OpenStore) -> None:
    store, session = opened(open_store, "records", "a", "b", "c")
    store.save_records(
        session, {digest("c"): [("decision", "use JWT")], digest("a"): [("constraint", "no ORM")]}
    )
    store.save_records(
        session, {digest("c"): [("decision", "use JWT"), ("correction", "port 81")], digest("b"): []}
    )
    found = store.records(session)
    same([(each.seq, each.kind) for each in found], [(0, "constraint"), (2, "decision"), (2, "correction")])
    same([each.text for each in found], ["no ORM", "use JWT", "port 81"])
    same((found[0].digest, found[0].role), (digest("a"), "user"))
    same([list(store.records(session, start=1, stop=stop)) for stop in (2, 3)], [[], found[1:]])


def unmined_contents_are_returned_newest_first(open_store: OpenStore) -> None:
    store, session = opened(open_store, "unmined", "a", "b")
    same(_unmined(store, session), [digest("b"), digest("a")])
    store.save_records(session, {digest("b"): [], digest("never added"): [("decision", "x")]})
    same(_unmined(store, session), [digest("a")])
    store.erase(session, "m2")
    store.append(session, [draft("b")], counter=COUNTER)
    same(_unmined(store, session), [digest("b"), digest("a")])
    same([content.digest for content in store.unmined(session, limit=1)], [digest("b")])


def equal_messages_are_mined_separately_in_each_session(open_store: OpenStore) -> None:
    store, session = opened(open_store, "mined twice", "a")
    other = store.session("another", now=NOW).id
    store.save_records(other, {digest("a"): [("decision", "not there")]})
    store.append(other, [draft("a"), draft("b")], counter=COUNTER)
    store.save_records(session, {digest("a"): [("decision", "use JWT")], digest("b"): []})
    same((_unmined(store, session), _unmined(store, other)), ([], [digest("b"), digest("a")]))
    store.save_records(other, {digest("a"): []})
    same(([each.text for each in store.records(session)], list(store.records(other))), (["use JWT"], []))
    same(_unmined(store, other), [digest("b")])


def typed_records_are_deleted_even_if_another_session_has_the_content(open_store: OpenStore) -> None:
    store, session = opened(open_store, "shared record", "a")
    other = store.session("another", now=NOW).id
    store.append(other, [draft("a")], counter=COUNTER)
    for each in (session, other):
        store.save_records(each, {digest("a"): [("decision", "use JWT")]})
    store.erase(session, "m1")
    store.append(session, [draft("a")], counter=COUNTER)
    same((list(store.records(session)), _unmined(store, session)), ([], [digest("a")]))
    store.delete_session(session)
    same((len(store.records(other)), store.verify().faults), (1, ()))


def an_erased_message_leaves_no_typed_records(open_store: OpenStore) -> None:
    store, session = opened(open_store, "no record", "a")
    store.save_records(session, {digest("a"): [("decision", "use JWT")]})
    store.erase(session, "m1")
    store.save_records(session, {digest("a"): [("decision", "use JWT")]})
    same((list(store.records(session)), store.verify().faults), ([], ()))


def a_task_covers_the_messages_from_its_start_to_its_end(open_store: OpenStore) -> None:
    store, session = opened(open_store, "tasks", "a")
    begun = store.start_task(session, "login", now=NOW)
    same((begun.number, begun.name, begun.first, begun.last), (1, "login", 1, None))
    store.append(session, [draft("b"), draft("c")], counter=COUNTER)
    ended = store.end_task(session, now=NOW + 1)
    same(list(store.tasks(session)), [replace(begun, ended_at=NOW + 1, last=2)])
    same((ended, store.end_task(session, now=NOW)), (store.tasks(session)[0], None))


def starting_a_task_ends_the_open_one(open_store: OpenStore) -> None:
    store, session = opened(open_store, "next task")
    store.start_task(session, "one", now=NOW)
    store.append(session, [draft("a")], counter=COUNTER)
    store.start_task(session, "two", now=NOW + 1)
    store.start_task(session, "three", now=NOW + 2)
    found = [(task.number, task.first, task.last, task.ended_at) for task in store.tasks(session)]
    same(found, [(1, 0, 0, NOW + 1), (2, 1, 0, NOW + 2), (3, 1, None, None)])


def erasing_a_message_deletes_task_summaries_that_cover_it(open_store: OpenStore) -> None:
    store, session = _two_tasks(open_store, "erased task")
    store.erase(session, "m2")
    same([task.summary for task in store.tasks(session)], ["about a", None])


def a_deleted_task_summary_can_be_written_again(open_store: OpenStore) -> None:
    store, session = _two_tasks(open_store, "new summary")
    store.erase(session, "m2")
    kept = store.save_task_summary(session, 2, "about c")
    same((kept, store.tasks(session)[1].summary), (True, "about c"))


def only_an_ended_task_can_have_a_summary(open_store: OpenStore) -> None:
    store, session = opened(open_store, "open summary", "a")
    store.start_task(session, "one", now=NOW)
    kept = [store.save_task_summary(session, number, "x") for number in (1, 9)]
    same((kept, store.tasks(session)[0].summary), ([False, False], None))


def a_fork_drops_the_tasks_of_replaced_messages(open_store: OpenStore) -> None:
    store, session = _two_tasks(open_store, "forked tasks")
    store.start_task(session, "open", now=NOW)
    store.append(session, [draft("new b")], counter=COUNTER, at=1)
    found = [(task.name, task.first, task.last, task.summary) for task in store.tasks(session)]
    same(found, [("one", 0, 0, "about a"), ("open", 1, None, None)])
    same(store.verify().faults, ())


def a_task_cut_by_a_fork_keeps_its_beginning(open_store: OpenStore) -> None:
    store, session = _two_tasks(open_store, "cut task")
    store.append(session, [draft("new c")], counter=COUNTER, at=2)
    found = [(task.name, task.first, task.last, task.summary) for task in store.tasks(session)]
    same(found, [("one", 0, 0, "about a"), ("two", 1, 1, None)])
    same(store.verify().faults, ())


def compressions_are_returned_newest_first(open_store: OpenStore) -> None:
    store, session = opened(open_store, "compressions")
    first = CompressionRecord(
        created_at=NOW, original=900, compressed=100, seconds=0.5, what="working memory"
    )
    second = replace(first, created_at=NOW + 1, compressed=300)
    for record in (first, second):
        store.save_compression(session, record)
    same(list(store.compressions(session)), [second, first])
    same(list(store.compressions(session, limit=1)), [second])
    same(list(store.compressions(store.session("other", now=NOW).id)), [])


def deleting_a_session_deletes_what_was_derived_from_it(open_store: OpenStore) -> None:
    store, session = _two_tasks(open_store, "deleted with all")
    store.save_summary(_SUMMARY, [digest("a")])
    store.save_vectors({digest("a"): vector(1, 0)}, _EMBEDDER)
    store.save_records(session, {digest("a"): [("decision", "use JWT")]})
    store.delete_session(session)
    same((store.summary(_SUMMARY.key), list(store.nearest(vector(1, 0), _EMBEDDER))), (None, []))
    same((list(store.unembedded(_EMBEDDER, limit=9)), store.verify().faults), ([], ()))


def derived_data_is_not_shared_between_tenants(open_store: OpenStore) -> None:
    mine, session = opened(open_store, "made a", "a")
    theirs, twin = opened(open_store, "made b", "a", "b")
    theirs.save_summary(_SUMMARY, [digest("b")])
    theirs.save_vectors({digest("a"): vector(1, 0)}, _EMBEDDER)
    theirs.save_records(twin, {digest("a"): [("decision", "use JWT")]})
    same((mine.summary(_SUMMARY.key), mine.save_summary(_SUMMARY, [digest("b")])), (None, False))
    same((list(mine.nearest(vector(1, 0), _EMBEDDER)), list(mine.vectors(session, _EMBEDDER))), ([], [None]))
    same((len(mine.unembedded(_EMBEDDER, limit=9)), len(mine.unmined(session, limit=9))), (1, 1))
    mine.erase(session, "m1")
    same((len(theirs.nearest(vector(1, 0), _EMBEDDER)), len(theirs.records(twin))), (1, 1))
    same((theirs.summary(_SUMMARY.key), len(theirs.unembedded(_EMBEDDER, limit=9))), (_SUMMARY, 1))


def nothing_can_be_derived_from_another_tenants_session(open_store: OpenStore) -> None:
    mine = open_store("made c")
    _, foreign = opened(open_store, "made d", "a")
    record = CompressionRecord(created_at=NOW, original=1, compressed=1, seconds=0.0, what="x")
    for use in (
        lambda: mine.nearest(vector(1, 0), _EMBEDDER, session=foreign),
        lambda: mine.vectors(foreign, _EMBEDDER),
        lambda: mine.records(foreign),
        lambda: mine.save_records(foreign, {}),
        lambda: mine.unmined(foreign, limit=9),
        lambda: mine.start_task(foreign, "x", now=NOW),
        lambda: mine.end_task(foreign, now=NOW),
        lambda: mine.save_task_summary(foreign, 1, "x"),
        lambda: mine.tasks(foreign),
        lambda: mine.save_compression(foreign, record),
        lambda: mine.compressions(foreign),
    ):
        refuses(NotFoundError, use)


def _unmined(store: Store, session: int) -> list[str]:
    return [content.digest for content in store.unmined(session, limit=9)]


def _two_tasks(open_store: OpenStore, tenant: str) -> tuple[Store, int]:
    """`one` covers message a, `two` covers b and c; both are summarized."""
    store, session = opened(open_store, tenant)
    for name, said in (("one", "a"), ("two", "bc")):
        store.start_task(session, name, now=NOW)
        store.append(session, [draft(text) for text in said], counter=COUNTER)
    store.end_task(session, now=NOW)
    store.save_task_summary(session, 1, "about a")
    store.save_task_summary(session, 2, "about b and c")
    return store, session
