"""Check what a store promises about handles, marks, erasing, search, builds, events and tenants."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import partial

from foveal.errors import InputError, NotFoundError
from foveal.events import MessageMarked, MessagesAdded, Reported
from foveal.model import handle_of
from foveal.pipeline.turns import erased_key
from foveal.store.port import BuildRecord, Content
from foveal.testing.samples import (
    COUNTER,
    NOW,
    OpenStore,
    draft,
    opened,
    originals,
    refuses,
    same,
    texts,
    vector,
)

_HOSTILE = (
    *(
        "",
        " ",
        '"',
        '""',
        "*",
        "a* OR",
        "NEAR(",
        "text:plain",
        "^",
        "-",
        "+(",
        "?",
        "AND",
        "{plain} : x",
        "\\",
    ),
    *("\0", "\ud800", "'; DROP TABLE sessions --", "\u200b", "a" * 100_000, " ".join(map(str, range(5_000)))),
)


def a_handle_returns_the_exact_original(open_store: OpenStore) -> None:
    store, session = opened(open_store, "handles", "keep me")
    (entry,) = store.entries(session)
    original = Content(digest=entry.digest, format="openai", body='{"role": "user", "content": "keep me"}')
    same(store.by_handle(entry.handle), original)
    for wrong in ("", "fv-", "fv-" + "0" * 20, "%", "fv-_%' OR 1=1 --", entry.handle.upper()):
        same(store.by_handle(wrong), None)


def equal_content_in_other_bytes_is_returned_as_it_was_stored(open_store: OpenStore) -> None:
    store, session = opened(open_store, "written")
    bodies = ['{"role":"user","content":"x"}', '{"content":"x","role":"user"}']
    entries = store.append(session, [draft("x", body=body) for body in bodies], counter=COUNTER)
    same(entries[0].digest, entries[1].digest)
    same(originals(store, session), bodies)


def token_counts_are_stored_by_digest_and_counter(open_store: OpenStore) -> None:
    store, session = opened(open_store, "counts", "one two")
    (entry,) = store.entries(session)
    other = "f" * 64
    store.save_tokens({other: 7}, "chars")
    store.save_tokens({other: 8}, "chars")
    same(dict(store.tokens([entry.digest, other], COUNTER)), {entry.digest: 2})
    same(dict(store.tokens([entry.digest, other], "chars")), {other: 8})


def a_message_can_be_pinned_left_out_and_restored(open_store: OpenStore) -> None:
    store, session = opened(open_store, "marks", "a", "b")
    before = store.head(session).version
    store.mark(session, 1, pinned=True)
    store.mark(session, 1, absence="left out")
    entry = store.entries(session)[1]
    same((entry.pinned, entry.absence, texts(store, session)), (True, "left out", ["a", "b"]))
    store.mark(session, 1, pinned=False, absence="")
    entry = store.entries(session)[1]
    same((entry.pinned, entry.absence, store.head(session).version > before), (False, "", True))


def the_time_of_a_restoration_is_kept_until_the_next(open_store: OpenStore) -> None:
    store, session = opened(open_store, "restored", "a", "b")
    store.mark(session, 0, absence="", restored_at=7.5)
    store.mark(session, 0, pinned=True)
    store.mark(session, 0, absence="left out")
    same([entry.restored_at for entry in store.entries(session)], [7.5, None])
    store.mark(session, 0, absence="", restored_at=9.0)
    store.append(session, [replace(draft("c"), restored_at=8.0)], counter=COUNTER)
    same([entry.restored_at for entry in store.entries(session)], [9.0, None, 8.0])


def a_stand_in_is_linked_to_the_messages_it_covers(open_store: OpenStore) -> None:
    store, session = opened(open_store, "notes", "a", "b", "c")
    store.mark(session, 0, absence="left out", noted_by=1)
    store.mark(session, 1, absence="left out", stand_in="a and b", noted_by=1)
    store.mark(session, 0, pinned=True)
    found = [(entry.stand_in, entry.noted_by) for entry in store.entries(session)]
    same(found, [("", 1), ("a and b", 1), ("", None)])
    store.mark(session, 0, absence="left out")
    store.mark(session, 1, absence="")
    same([(entry.stand_in, entry.noted_by) for entry in store.entries(session)], [("", None)] * 3)


def an_erased_message_is_covered_by_no_stand_in(open_store: OpenStore) -> None:
    store, session = opened(open_store, "erased notes", "a", "b")
    store.mark(session, 0, absence="left out", noted_by=1)
    store.mark(session, 1, absence="left out", stand_in="a and b", noted_by=1)
    store.erase(session, "m1")
    same([entry.noted_by for entry in store.entries(session)], [None, 1])


def a_mark_applies_to_messages_shared_with_the_parent_branch(open_store: OpenStore) -> None:
    store, session = opened(open_store, "shared marks", "a", "b")
    store.append(session, [draft("c")], counter=COUNTER, at=1)
    store.mark(session, 0, pinned=True)
    same([entry.pinned for entry in store.entries(session)], [True, False])


def an_erased_message_leaves_only_its_position_and_digest(open_store: OpenStore) -> None:
    store, session = opened(open_store, "erased", "a", "the secret is xyzzy", "b")
    before, head = store.entries(session)[1], store.head(session)
    store.erase(session, "m2")
    after = store.entries(session)[1]
    same((after.absence, after.digest, after.id), ("erased", before.digest, before.id))
    same(texts(store, session), ["a", "", "b"])
    same((store.by_handle(before.handle), list(store.search("xyzzy"))), (None, []))
    same((store.head(session).length, store.head(session).version > head.version), (3, True))


def an_erased_message_pairs_with_its_neighbours_without_their_ids(open_store: OpenStore) -> None:
    store, session = opened(open_store, "pairs")
    call, result = replace(draft("go"), calls=("xyzzy",)), replace(draft("done"), answers=("xyzzy",))
    store.append(session, [call, result], counter=COUNTER)
    store.erase(session, "m1")
    store.append(session, [replace(call, absence="erased")], counter=COUNTER)
    key = erased_key("xyzzy")
    same([entry.calls for entry in store.entries(session)], [(key,), (), (key,)])
    store.erase(session, "m2")
    same(store.entries(session)[1].answers, (key,))


def an_id_that_came_with_a_message_is_erased_with_it(open_store: OpenStore) -> None:
    store, session = opened(open_store, "own id", "a")
    own = draft("b")
    own = replace(own, message=replace(own.message, id="xyzzy"))
    store.append(session, [own], counter=COUNTER)
    store.log("work", [MessagesAdded(session="work", ids=("m1", "xyzzy"), tokens=2)], now=NOW)
    (now,) = store.erase(session, "xyzzy")
    same([entry.id for entry in store.entries(session)], ["m1", now])
    same((store.locate(session, "xyzzy"), now.startswith("m")), (None, True))
    same(json.loads(store.events()[-1].payload)["ids"], ["m1", now])


def erasing_a_message_erases_its_copies_on_abandoned_branches(open_store: OpenStore) -> None:
    store, session = opened(open_store, "copies", "a", "xyzzy")
    store.append(session, [draft("c"), draft("xyzzy")], counter=COUNTER, at=1)
    same(list(store.erase(session, "m4")), ["m2", "m4"])
    same((texts(store, session), list(store.search("xyzzy"))), (["a", "c", ""], []))
    same(store.by_handle(draft("xyzzy").message.digest), None)


def erasing_a_message_keeps_equal_messages(open_store: OpenStore) -> None:
    store, session = opened(open_store, "equal", "yes", "b", "yes")
    same(list(store.erase(session, "m3")), ["m3"])
    same((texts(store, session), len(store.search("yes"))), (["yes", "b", ""], 1))


def an_erased_draft_stores_a_position_and_no_body(open_store: OpenStore) -> None:
    store, session = opened(open_store, "place", "a")
    store.append(session, [replace(draft("xyzzy"), absence="erased")], counter=COUNTER)
    same((texts(store, session), list(store.search("xyzzy"))), (["a", ""], []))
    same(store.verify().faults, ())


def a_message_is_located_by_id_or_handle_on_any_branch(open_store: OpenStore) -> None:
    store, session = opened(open_store, "located", "a", "b")
    store.append(session, [draft("c")], counter=COUNTER, at=1)
    left, here = store.locate(session, "m2"), store.locate(session, "m3")
    handle = store.locate(session, handle_of(draft("b").message.digest))
    same((left and left.current, here and here.current, left == handle), (False, True, True))
    same(store.locate(session, "m9"), None)


def no_id_is_assigned_twice(open_store: OpenStore) -> None:
    store, session = opened(open_store, "minted", "a", "b")
    entries = store.append(session, [draft("c")], counter=COUNTER, at=1)
    same([entry.id for entry in entries], ["m3"])


def a_transaction_takes_effect_completely_or_not_at_all(open_store: OpenStore) -> None:
    store, session = opened(open_store, "together", "a")

    def half() -> None:
        with store.transaction():
            store.append(session, [draft("b")], counter=COUNTER)
            raise InputError("stop", remedy="none")

    refuses(InputError, half)
    same(texts(store, session), ["a"])


def content_that_another_session_has_stays_there(open_store: OpenStore) -> None:
    store, session = opened(open_store, "held", "xyzzy")
    other = store.session("other", now=NOW).id
    store.append(other, [draft("xyzzy")], counter=COUNTER)
    store.erase(session, "m1")
    same((texts(store, session), texts(store, other)), ([""], ["xyzzy"]))
    same([found.session for found in store.search("xyzzy")], ["other"])
    store.erase(other, "m1")
    same(store.by_handle(handle_of(draft("xyzzy").message.digest)), None)


def an_erased_message_can_be_added_again_but_not_restored(open_store: OpenStore) -> None:
    store, session = opened(open_store, "again", "xyzzy")
    store.erase(session, "m1")
    refuses(NotFoundError, lambda: store.mark(session, 0, absence=""))
    store.append(session, [draft("xyzzy")], counter=COUNTER)
    same((texts(store, session), [f.seq for f in store.search("xyzzy")]), (["", "xyzzy"], [1]))


def deleting_a_session_deletes_content_that_no_other_session_has(open_store: OpenStore) -> None:
    store, session = opened(open_store, "deleted", "xyzzy", "plugh")
    other = store.session("other", now=NOW).id
    store.append(other, [draft("plugh")], counter=COUNTER)
    store.delete_session(session)
    same([record.name for record in store.sessions()], ["other"])
    refuses(NotFoundError, lambda: store.head(session))
    same((list(store.search("xyzzy")), texts(store, other)), ([], ["plugh"]))
    same(store.session("work", now=NOW).head.length, 0)


def search_returns_the_best_hit_first(open_store: OpenStore) -> None:
    store, _ = opened(open_store, "search", "we chose JWT for login", "login page", "lunch", "JWT and JWT")
    found = store.search("Where did we decide on the JWT login?")
    same((found[0].seq, found[0].id, found[0].session), (0, "m1", "work"))
    same(sorted(hit.seq for hit in found), [0, 1, 3])
    same([hit.score for hit in found], sorted((hit.score for hit in found), reverse=True))


def search_finds_paths_word_beginnings_and_scripts_without_spaces(open_store: OpenStore) -> None:
    said = ("edit src/auth.js now", "authentication is broken", "数据库连接失败", "Größe und Maß")
    store, _ = opened(open_store, "words", *said)
    for query, seq in (
        ("src/auth.js", 0),
        ("authentic", 1),
        ("连接", 2),
        ("为什么失败", 2),
        ("auth/src", 0),
        ("GRÖßE", 3),
    ):
        same([hit.seq for hit in store.search(query)][:1], [seq])


def search_can_be_limited_to_a_session(open_store: OpenStore) -> None:
    store, session = opened(open_store, "scope", "apple")
    other = store.session("other", now=NOW).id
    store.append(other, [draft("apple"), draft("apple pie")], counter=COUNTER)
    same(
        sorted((hit.session, hit.seq) for hit in store.search("apple", session=other)),
        [("other", 0), ("other", 1)],
    )
    same([hit.session for hit in store.search("apple", session=session)], ["work"])
    same((len(store.search("apple")), len(store.search("apple", limit=2))), (3, 2))


def search_finds_messages_on_abandoned_branches(open_store: OpenStore) -> None:
    store, session = opened(open_store, "branch", "apple", "banana", "cherry")
    store.append(session, [draft("damson")], counter=COUNTER, at=1)
    same([len(store.search(word)) for word in ("apple", "banana", "cherry", "damson")], [1, 1, 1, 1])


def no_query_is_parsed_as_syntax(open_store: OpenStore) -> None:
    store, _ = opened(open_store, "syntax", "plain words")
    for query in _HOSTILE:
        store.search(query)
    same([hit.seq for hit in store.search('("plain* NOT words')], [0])


def builds_are_numbered_within_their_session(open_store: OpenStore) -> None:
    store, session = opened(open_store, "builds")
    other = store.session("other", now=NOW).id
    same(store.build(session), None)
    numbers = [
        store.save_build(s, _build(tokens)) for s, tokens in ((session, 10), (other, 20), (session, 30))
    ]
    same(numbers, [1, 1, 2])
    same((store.head(session).builds, store.head(other).builds), (2, 1))
    same([(build.number, build.tokens) for build in store.builds(session)], [(2, 30), (1, 10)])
    same((_tokens(store.build(session)), _tokens(store.build(session, 1))), (30, 10))
    same((store.build(session, 9), len(store.builds(session, limit=1))), (None, 1))
    same([build.number for build in store.builds(session, before=2)], [1])


def amending_a_build_changes_only_its_manifest(open_store: OpenStore) -> None:
    store, session = opened(open_store, "amended")
    before = [store.save_build(session, _build(tokens)) for tokens in (10, 20)]
    amended = store.head(session).amended
    store.amend_build(session, 1, "[]")
    same((store.head(session).amended > amended,), (True,))
    store.amend_build(session, 9, "[]")
    first = store.build(session, 1)
    same((before, first), ([1, 2], replace(_build(10), number=1, manifest="[]")))
    same(store.build(session), replace(_build(20), number=2))


def the_log_can_be_read_from_any_event_on(open_store: OpenStore) -> None:
    store = open_store("log")
    store.log("work", [MessagesAdded(session="work", ids=("m1",), tokens=3)], now=NOW)
    store.log("work", [MessageMarked(session="work", id="m1", mark="pinned")], now=NOW + 1)
    first, second = store.events()
    same((first.name, first.session, first.created_at), ("messages.added", "work", NOW))
    same(json.loads(first.payload), {"session": "work", "ids": ["m1"], "tokens": 3})
    same(list(store.events(after=first.number)), [second])
    same(list(store.events(limit=1)), [first])
    whole = len(first.payload) + len(second.payload)
    same([len(store.events(size=size)) for size in (1, whole - 1, whole)], [1, 1, 2])
    store.log("work", [MessageMarked(session="work", id="m1", mark="unpinned")], now=NOW + 2)
    marks = store.events_named("message.marked")
    same([each.number for each in marks], [store.newest_event(), second.number])
    same(list(store.events_named("message.marked", before=marks[0].number)), [second])
    same(list(store.events_named("message.marked", limit=1)), [marks[0]])
    same(list(store.events_named("messages.added", before=first.number)), [])
    same((store.events()[1], open_store("silent").newest_event()), (second, 0))


def the_log_keeps_the_newest_events_that_are_transient_or_of_no_session(open_store: OpenStore) -> None:
    store, _ = opened(open_store, "kept", "hello")
    store.log("work", [Reported(name="kept", session="work", payload={})] * 1_001, now=NOW)
    passing = Reported(name="passing", session="work", payload={}, transient=True)
    store.log("work", [passing] * 2, now=NOW)
    store.log("none", [Reported(name="of none", session="none", payload={})] * 1_002, now=NOW)
    store.log("work", [passing] * 999, now=NOW)
    logged = store.events(limit=9_999)
    names = Counter(event.name for event in logged)
    same(names, {"kept": 1_001, "passing": 1_000, "of none": 1_000})
    same((logged[-1].number, store.newest_event()), (3_004, 3_004))


def tenants_never_see_each_others_data(open_store: OpenStore) -> None:
    mine, session = opened(open_store, "tenant a", "apple")
    theirs, twin = opened(open_store, "tenant b", "apple", "banana")
    digest = draft("banana").message.digest
    same((mine.by_handle(digest), list(mine.search("banana"))), (None, []))
    same((len(mine.sessions()), dict(mine.tokens([digest], COUNTER)), list(mine.events())), (1, {}, []))
    mine.erase(session, "m1")
    same((texts(theirs, twin), len(theirs.search("apple"))), (["apple", "banana"], 1))


def messages_of_other_tenants_do_not_affect_scores(open_store: OpenStore) -> None:
    mine, _ = opened(open_store, "tenant e", "apple pie", "apple", "pie and lunch")
    before = [(hit.seq, hit.score) for hit in mine.search("apple pie")]
    opened(open_store, "tenant f", *(f"apple number {number}" for number in range(20)))
    same([(hit.seq, hit.score) for hit in mine.search("apple pie")], before)


def another_tenants_session_is_not_found(open_store: OpenStore) -> None:
    mine = open_store("tenant c")
    _, foreign = opened(open_store, "tenant d", "a")
    for use in (
        lambda: mine.head(foreign),
        lambda: mine.entries(foreign),
        lambda: mine.messages(foreign),
        lambda: mine.append(foreign, [draft("a")], counter=COUNTER),
        lambda: mine.mark(foreign, 0, pinned=True),
        lambda: mine.erase(foreign, "m1"),
        lambda: mine.delete_session(foreign),
        lambda: mine.search("a", session=foreign),
        lambda: mine.save_build(foreign, _build(1)),
        lambda: mine.builds(foreign),
        lambda: mine.amend_build(foreign, 1, "{}"),
    ):
        refuses(NotFoundError, use)


def a_missing_message_is_not_found(open_store: OpenStore) -> None:
    store, session = opened(open_store, "not there", "a")
    for seq in (-1, 1, 99):
        refuses(NotFoundError, partial(store.mark, session, seq, pinned=True))
    for name in ("m0", "m2", "", "fv-", "fv-00000000"):
        refuses(NotFoundError, partial(store.erase, session, name))


def a_used_store_passes_verification(open_store: OpenStore) -> None:
    store, session = opened(open_store, "verify", "a", "b", "c", "a")
    store.append(session, [draft("d"), draft("e")], counter=COUNTER, at=2)
    store.erase(session, "m2")
    checked = store.verify()
    same((checked.clean, checked.faults, checked.sessions, checked.messages), (True, (), 1, 6))


def private_messages_are_found_in_their_own_session_only(open_store: OpenStore) -> None:
    store, session = opened(open_store, "private", "shared apple")
    secret = draft("secret apple", id="secret")
    hidden = replace(secret, message=replace(secret.message, private=True))
    (entry,) = store.append(session, [hidden], counter=COUNTER)
    store.save_vectors({entry.digest: vector(1.0, 0.0)}, "static")
    same([each.private for each in store.entries(session)], [False, True])
    same({hit.id for hit in store.search("apple", session=session)}, {"m1", "secret"})
    same([hit.id for hit in store.search("apple")], ["m1"])
    same([hit.id for hit in store.nearest(vector(1.0, 0.0), "static", session=session)], ["secret"])
    same(list(store.nearest(vector(1.0, 0.0), "static")), [])
    same(
        (store.by_handle(entry.handle) is not None, store.by_handle(entry.handle, shared=True)), (True, None)
    )
    same([each.digest for each in store.knowledge.unread(limit=9)], [store.entries(session)[0].digest])


def copies_of_a_private_message_are_hidden_on_branches_that_were_left(open_store: OpenStore) -> None:
    store, session = opened(open_store, "hidden", "begin", "shared apple", "green apple")
    secret = draft("shared apple")
    hidden = replace(secret, message=replace(secret.message, private=True))
    store.append(session, [hidden], counter=COUNTER, at=1)
    store.hide(session, [("user", "shared apple"), ("user", "begin")])
    same([hit.role for hit in store.search("shared")], [])
    same(len(store.search("green")), 1)
    same(len(store.search("begin")), 1)  # the current branch has it: it stays as it was marked
    ((content, role),) = store.private_messages(session)
    same((content.digest, role), (secret.message.digest, "user"))


def _build(tokens: int) -> BuildRecord:
    return BuildRecord(
        number=0, created_at=NOW, preset="recent", model="gpt-5", budget=100, tokens=tokens, manifest="{}"
    )


def _tokens(build: BuildRecord | None) -> int | None:
    return build.tokens if build else None


def bills_are_returned_oldest_first(open_store: OpenStore) -> None:
    store = open_store("bills")
    for billed in (10, 20, 30):
        store.save_bill("m", "claude", counted=15, billed=billed)
    store.save_bill("m", "gemini", counted=15, billed=40)
    same(list(store.bills("m", "claude", limit=2)), [(15, 20), (15, 30)])
    same(list(open_store("other bills").bills("m", "claude", limit=2)), [])
