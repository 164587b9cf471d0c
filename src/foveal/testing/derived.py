"""What a store promises about everything made of messages: summaries, records, tasks, statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

from foveal.errors import NotFoundError
from foveal.store.port import CompressionRecord, Store, SummaryRecord
from foveal.testing.samples import COUNTER, NOW, OpenStore, digest, draft, opened, refuses, same, vector

_EMBEDDER = "static"
_SAID = SummaryRecord(
    key=sha256(b"said").hexdigest(), text="said: a", tokens=2, by="extractive", level=1, created_at=NOW
)
_ABOVE = replace(_SAID, key=sha256(b"above").hexdigest(), text="above: a", level=2)


def a_summary_is_kept_under_its_key(open_store: OpenStore) -> None:
    store, _ = opened(open_store, "summary", "a", "b")
    same(store.summary(_SAID.key), None)
    kept = store.save_summary(_SAID, [digest("a"), digest("b")])
    same((kept, store.summary(_SAID.key)), (True, _SAID))
    same(dict(store.summaries([_SAID.key, _ABOVE.key])), {_SAID.key: _SAID})


def a_models_summary_replaces_an_extractive_one_and_never_the_reverse(open_store: OpenStore) -> None:
    store, _ = opened(open_store, "writers", "a")
    better, late = replace(_SAID, text="by a model", by="llm"), replace(_SAID, text="too late")
    for record in (_SAID, late, better, late, replace(better, text="again")):
        store.save_summary(record, [digest("a")])
    same(store.summary(_SAID.key), better)


def erasing_takes_every_summary_that_covers_the_message(open_store: OpenStore) -> None:
    store, session = opened(open_store, "covers", "a", "b", "c")
    other = replace(_SAID, key=sha256(b"other").hexdigest())
    store.save_summary(_SAID, [digest("a"), digest("b")])
    store.save_summary(_ABOVE, [_SAID.key])
    store.save_summary(other, [digest("c")])
    store.erase(session, "m2")
    same(set(store.summaries([_SAID.key, _ABOVE.key, other.key])), {other.key})
    same(store.verify().faults, ())


def a_summary_stays_while_another_session_holds_what_it_covers(open_store: OpenStore) -> None:
    store, session = opened(open_store, "shared summary", "a")
    store.append(store.session("other", now=NOW).id, [draft("a")], counter=COUNTER)
    store.save_summary(_SAID, [digest("a")])
    store.erase(session, "m1")
    same(store.summary(_SAID.key), _SAID)


def a_summary_of_what_is_gone_is_not_kept(open_store: OpenStore) -> None:
    store, session = opened(open_store, "too late", "a", "b")
    store.erase(session, "m1")
    for sources in ([digest("a")], [digest("b"), digest("a")], ["f" * 64], []):
        same((store.save_summary(_SAID, sources), store.summary(_SAID.key)), (False, None))


def a_summary_replaced_by_a_model_still_goes_with_what_it_covers(open_store: OpenStore) -> None:
    store, session = opened(open_store, "replaced", "a", "b")
    store.save_summary(_SAID, [digest("a")])
    store.save_summary(_ABOVE, [_SAID.key])
    store.save_summary(replace(_SAID, by="llm"), [digest("a"), digest("b")])
    store.erase(session, "m2")
    same(dict(store.summaries([_SAID.key, _ABOVE.key])), {})


def records_come_back_in_the_order_of_the_messages(open_store: OpenStore) -> None:
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


def what_was_not_mined_yet_is_told_newest_first(open_store: OpenStore) -> None:
    store, session = opened(open_store, "unmined", "a", "b")
    same(_unmined(store, session), [digest("b"), digest("a")])
    store.save_records(session, {digest("b"): [], digest("never said"): [("decision", "x")]})
    same(_unmined(store, session), [digest("a")])
    store.erase(session, "m2")
    store.append(session, [draft("b")], counter=COUNTER)
    same(_unmined(store, session), [digest("b"), digest("a")])
    same([content.digest for content in store.unmined(session, limit=1)], [digest("b")])


def equal_words_are_mined_in_each_session_for_itself(open_store: OpenStore) -> None:
    store, session = opened(open_store, "mined twice", "a")
    other = store.session("another", now=NOW).id
    store.save_records(other, {digest("a"): [("decision", "not said there")]})
    store.append(other, [draft("a"), draft("b")], counter=COUNTER)
    store.save_records(session, {digest("a"): [("decision", "use JWT")], digest("b"): []})
    same((_unmined(store, session), _unmined(store, other)), ([], [digest("b"), digest("a")]))
    store.save_records(other, {digest("a"): []})
    same(([each.text for each in store.records(session)], list(store.records(other))), (["use JWT"], []))
    same(_unmined(store, other), [digest("b")])


def a_record_goes_with_its_message_though_another_session_holds_the_words(open_store: OpenStore) -> None:
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


def an_erased_message_leaves_no_record(open_store: OpenStore) -> None:
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


def starting_a_task_ends_the_one_before(open_store: OpenStore) -> None:
    store, session = opened(open_store, "next task")
    store.start_task(session, "one", now=NOW)
    store.append(session, [draft("a")], counter=COUNTER)
    store.start_task(session, "two", now=NOW + 1)
    store.start_task(session, "three", now=NOW + 2)
    found = [(task.number, task.first, task.last, task.ended_at) for task in store.tasks(session)]
    same(found, [(1, 0, 0, NOW + 1), (2, 1, 0, NOW + 2), (3, 1, None, None)])


def erasing_takes_away_the_summaries_of_tasks_that_cover_the_message(open_store: OpenStore) -> None:
    store, session = _two_tasks(open_store, "erased task")
    store.erase(session, "m2")
    same([task.summary for task in store.tasks(session)], ["about a", None])


def a_summary_that_was_taken_away_can_be_made_again(open_store: OpenStore) -> None:
    store, session = _two_tasks(open_store, "new summary")
    store.erase(session, "m2")
    kept = store.save_task_summary(session, 2, "about c")
    same((kept, store.tasks(session)[1].summary), (True, "about c"))


def only_an_ended_task_takes_a_summary(open_store: OpenStore) -> None:
    store, session = opened(open_store, "open summary", "a")
    store.start_task(session, "one", now=NOW)
    kept = [store.save_task_summary(session, number, "x") for number in (1, 9)]
    same((kept, store.tasks(session)[0].summary), ([False, False], None))


def an_edited_history_leaves_the_tasks_of_what_it_replaced(open_store: OpenStore) -> None:
    store, session = _two_tasks(open_store, "forked tasks")
    store.start_task(session, "open", now=NOW)
    store.append(session, [draft("new b")], counter=COUNTER, at=1)
    found = [(task.name, task.first, task.last, task.summary) for task in store.tasks(session)]
    same(found, [("one", 0, 0, "about a"), ("open", 1, None, None)])
    same(store.verify().faults, ())


def a_task_that_an_edit_cut_in_two_keeps_its_beginning(open_store: OpenStore) -> None:
    store, session = _two_tasks(open_store, "cut task")
    store.append(session, [draft("new c")], counter=COUNTER, at=2)
    found = [(task.name, task.first, task.last, task.summary) for task in store.tasks(session)]
    same(found, [("one", 0, 0, "about a"), ("two", 1, 1, None)])
    same(store.verify().faults, ())


def compressions_come_back_newest_first(open_store: OpenStore) -> None:
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


def a_deleted_session_takes_what_was_made_of_it(open_store: OpenStore) -> None:
    store, session = _two_tasks(open_store, "deleted with all")
    store.save_summary(_SAID, [digest("a")])
    store.save_vectors({digest("a"): vector(1, 0)}, _EMBEDDER)
    store.save_records(session, {digest("a"): [("decision", "use JWT")]})
    store.delete_session(session)
    same((store.summary(_SAID.key), list(store.nearest(vector(1, 0), _EMBEDDER))), (None, []))
    same((list(store.unembedded(_EMBEDDER, limit=9)), store.verify().faults), ([], ()))


def what_was_made_is_no_other_tenants(open_store: OpenStore) -> None:
    mine, session = opened(open_store, "made a", "a")
    theirs, twin = opened(open_store, "made b", "a", "b")
    theirs.save_summary(_SAID, [digest("b")])
    theirs.save_vectors({digest("a"): vector(1, 0)}, _EMBEDDER)
    theirs.save_records(twin, {digest("a"): [("decision", "use JWT")]})
    same((mine.summary(_SAID.key), mine.save_summary(_SAID, [digest("b")])), (None, False))
    same((list(mine.nearest(vector(1, 0), _EMBEDDER)), list(mine.vectors(session, _EMBEDDER))), ([], [None]))
    same((len(mine.unembedded(_EMBEDDER, limit=9)), len(mine.unmined(session, limit=9))), (1, 1))
    mine.erase(session, "m1")
    same((len(theirs.nearest(vector(1, 0), _EMBEDDER)), len(theirs.records(twin))), (1, 1))
    same((theirs.summary(_SAID.key), len(theirs.unembedded(_EMBEDDER, limit=9))), (_SAID, 1))


def nothing_is_made_of_a_session_of_another_tenant(open_store: OpenStore) -> None:
    mine = open_store("made c")
    _, stranger = opened(open_store, "made d", "a")
    record = CompressionRecord(created_at=NOW, original=1, compressed=1, seconds=0.0, what="x")
    for use in (
        lambda: mine.nearest(vector(1, 0), _EMBEDDER, session=stranger),
        lambda: mine.vectors(stranger, _EMBEDDER),
        lambda: mine.records(stranger),
        lambda: mine.save_records(stranger, {}),
        lambda: mine.unmined(stranger, limit=9),
        lambda: mine.start_task(stranger, "x", now=NOW),
        lambda: mine.end_task(stranger, now=NOW),
        lambda: mine.save_task_summary(stranger, 1, "x"),
        lambda: mine.tasks(stranger),
        lambda: mine.save_compression(stranger, record),
        lambda: mine.compressions(stranger),
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


DERIVED_CHECKS: tuple[Callable[[OpenStore], None], ...] = (
    a_summary_is_kept_under_its_key,
    a_models_summary_replaces_an_extractive_one_and_never_the_reverse,
    erasing_takes_every_summary_that_covers_the_message,
    a_summary_stays_while_another_session_holds_what_it_covers,
    a_summary_of_what_is_gone_is_not_kept,
    a_summary_replaced_by_a_model_still_goes_with_what_it_covers,
    records_come_back_in_the_order_of_the_messages,
    what_was_not_mined_yet_is_told_newest_first,
    equal_words_are_mined_in_each_session_for_itself,
    a_record_goes_with_its_message_though_another_session_holds_the_words,
    an_erased_message_leaves_no_record,
    a_task_covers_the_messages_from_its_start_to_its_end,
    starting_a_task_ends_the_one_before,
    erasing_takes_away_the_summaries_of_tasks_that_cover_the_message,
    a_summary_that_was_taken_away_can_be_made_again,
    only_an_ended_task_takes_a_summary,
    an_edited_history_leaves_the_tasks_of_what_it_replaced,
    a_task_that_an_edit_cut_in_two_keeps_its_beginning,
    compressions_come_back_newest_first,
    a_deleted_session_takes_what_was_made_of_it,
    what_was_made_is_no_other_tenants,
    nothing_is_made_of_a_session_of_another_tenant,
)
