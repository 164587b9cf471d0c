"""Check what a store promises about sessions, messages and forks."""

from __future__ import annotations

from dataclasses import replace

from foveal.errors import InputError
from foveal.model import Message
from foveal.store.port import Draft
from foveal.testing.samples import COUNTER, NOW, OpenStore, draft, opened, originals, refuses, same, texts


def a_session_is_created_once_and_found_again(open_store: OpenStore) -> None:
    store = open_store("once")
    created = store.session("work", now=NOW, model="gpt-5")
    same((created.name, created.model, created.format, created.created_at), ("work", "gpt-5", None, NOW))
    same(store.session("work", now=NOW + 9), created)
    same(list(store.sessions()), [created])
    same((store.find_session(created.name), store.find_session("absent")), (created, None))


def a_given_model_or_preset_is_stored_with_the_session(open_store: OpenStore) -> None:
    store = open_store("remembered")
    store.session("work", now=NOW, model="gpt-5")
    store.session("work", now=NOW, preset="recent")
    again = store.session("work", now=NOW)
    same((again.model, again.preset), ("gpt-5", "recent"))


def a_new_session_is_empty(open_store: OpenStore) -> None:
    store, session = opened(open_store, "empty")
    same(store.head(session).length, 0)
    same((list(store.entries(session)), list(store.messages(session))), ([], []))


def messages_are_returned_in_order_and_unchanged(open_store: OpenStore) -> None:
    store, session = opened(open_store, "order", "b", "a", "ü \U0001f600 漢字\n\t")
    same(texts(store, session), ["b", "a", "ü \U0001f600 漢字\n\t"])
    same(originals(store, session)[0], '{"role": "user", "content": "b"}')


def append_returns_the_entries_it_stored(open_store: OpenStore) -> None:
    store, session = opened(open_store, "returns", "one")
    added = store.append(session, [draft("two words", pinned=True), draft("three")], counter=COUNTER)
    same([(e.seq, e.id, e.tokens, e.pinned) for e in added], [(1, "m2", 2, True), (2, "m3", 1, False)])
    same(list(store.entries(session, start=1)), list(added))


def an_entry_has_the_calls_and_answers_of_its_draft(open_store: OpenStore) -> None:
    store, session = opened(open_store, "calls")
    store.append(session, [replace(draft("call"), calls=("c1", "~cat"), answers=("c0",))], counter=COUNTER)
    (entry,) = store.entries(session)
    same((entry.calls, entry.answers, entry.counter), (("c1", "~cat"), ("c0",), COUNTER))


def the_first_format_that_is_not_plain_becomes_the_sessions_format(open_store: OpenStore) -> None:
    store, session = opened(open_store, "format", "one")
    same(store.session("work", now=NOW).format, "openai")
    same([content.format for content in store.messages(session) if content], ["openai"])


def start_and_stop_select_a_slice_of_the_history(open_store: OpenStore) -> None:
    store, session = opened(open_store, "slices", *"abcdefgh")
    store.append(session, [draft("X"), draft("Y")], counter=COUNTER, at=5)
    store.append(session, [draft("Z")], counter=COUNTER, at=6)
    whole, words = list(store.entries(session)), texts(store, session)
    same(words, ["a", "b", "c", "d", "e", "X", "Z"])
    for start in range(9):
        for stop in (*range(9), None):
            same(list(store.entries(session, start=start, stop=stop)), whole[start:stop])
            same(texts(store, session, start=start, stop=stop), words[start:stop])


def a_message_keeps_its_own_id_unless_it_is_taken(open_store: OpenStore) -> None:
    store, session = opened(open_store, "ids")
    given = [draft("a", id="x1"), draft("b", id="x1"), draft("c", id="m1"), draft("d")]
    same([e.id for e in store.append(session, given, counter=COUNTER)], ["x1", "m2", "m3", "m4"])
    same([e.id for e in store.append(session, [draft("e", id="x1")], counter=COUNTER)], ["m5"])


def an_id_on_an_abandoned_branch_can_be_used_again(open_store: OpenStore) -> None:
    store, session = opened(open_store, "free ids", "a")
    store.append(session, [draft("b", id="x1")], counter=COUNTER)
    (entry,) = store.append(session, [draft("c", id="x1")], counter=COUNTER, at=1)
    same(entry.id, "x1")


def an_append_changes_the_length_and_not_the_version(open_store: OpenStore) -> None:
    store, session = opened(open_store, "head", "a")
    before = store.head(session)
    store.append(session, [draft("b")], counter=COUNTER, at=1)
    after = store.head(session)
    same((after.length, after.branch, after.version), (2, before.branch, before.version))


def an_append_before_the_end_forks_and_shares_the_prefix(open_store: OpenStore) -> None:
    store, session = opened(open_store, "fork", "a", "b", "c")
    before = store.head(session)
    store.append(session, [draft("B")], counter=COUNTER, at=1)
    after = store.head(session)
    same(texts(store, session), ["a", "B"])
    same((after.length, after.branch != before.branch, after.version > before.version), (2, True, True))


def a_fork_can_be_forked_at_any_position(open_store: OpenStore) -> None:
    store, session = opened(open_store, "forks", "a", "b", "c")
    for at, text, expected in (
        (2, "d", "abd"),
        (3, "e", "abde"),
        (1, "f", "af"),
        (0, "g", "g"),
        (1, "h", "gh"),
    ):
        store.append(session, [draft(text)], counter=COUNTER, at=at)
        same("".join(texts(store, session)), expected)


def an_append_beyond_the_end_is_refused(open_store: OpenStore) -> None:
    store, session = opened(open_store, "beyond", "a")
    refuses(InputError, lambda: store.append(session, [draft("b")], counter=COUNTER, at=2))
    refuses(InputError, lambda: store.append(session, [draft("b")], counter=COUNTER, at=-1))
    same(texts(store, session), ["a"])


def a_batch_is_stored_completely_or_not_at_all(open_store: OpenStore) -> None:
    store, session = opened(open_store, "batch", "a")
    broken = Draft(message=Message(role="user", parts=(), format="plain"), tokens=0, created_at=NOW)
    refuses(InputError, lambda: store.append(session, [draft("b"), broken], counter=COUNTER))
    same(texts(store, session), ["a"])
    same(list(store.search("b")), [])
