"""Check what a store promises about memories, things, bundles and predictions."""

from __future__ import annotations

from dataclasses import replace

from foveal.errors import NotFoundError
from foveal.store.port_knowledge import BundleRecord, MemoryRecord, Mention, PredictionRecord, WarmupRecord
from foveal.testing.samples import COUNTER, NOW, OpenStore, digest, draft, opened, refuses, same

_EXPLICIT = MemoryRecord(
    key="k",
    kind="fact",
    text="I live in Lyon.",
    origin="user",
    confirmed=True,
    explicit=True,
    created_at=NOW,
    updated_at=NOW,
)
_SAID = replace(_EXPLICIT, explicit=False)
_MAYA = Mention(kind="entity", slug="maya", name="Maya", type="person")
_LOGIN = Mention(kind="topic", slug="login", name="login", type="")
_BUNDLE = BundleRecord(
    kind="topic", subject="1", depth="deep", text="x", tokens=1, version="v", compiled_at=NOW
)
_PREDICTION = PredictionRecord(kind="new_on_topic", subject="login", probability=0.2, made_at=NOW)


def a_memory_stays_until_the_user_forgets_it(open_store: OpenStore) -> None:
    store, _ = opened(open_store, "memory")
    kept = store.knowledge.save_memory(_EXPLICIT)
    same(list(store.knowledge.memories()), [replace(_EXPLICIT, number=kept.number if kept else 0)])
    same(
        [store.knowledge.forget_memory(each.number, now=NOW) for each in (kept, kept) if each], [True, False]
    )
    same((list(store.knowledge.memories()), store.verify().faults), ([], ()))


def memories_with_equal_keys_are_one_memory(open_store: OpenStore) -> None:
    store, _ = opened(open_store, "one memory")
    first = store.knowledge.save_memory(_EXPLICIT)
    same(store.knowledge.save_memory(replace(_EXPLICIT, text="i live in lyon")), first)
    other = store.knowledge.save_memory(replace(_EXPLICIT, key="other"))
    same(store.knowledge.save_memory(replace(_EXPLICIT, number=other.number if other else 0)), None)


def a_memory_can_be_changed(open_store: OpenStore) -> None:
    store, _ = opened(open_store, "changed memory")
    kept = store.knowledge.save_memory(_EXPLICIT) or _EXPLICIT
    changed = replace(kept, key="new", text="I live in Rome.", confirmed=False, updated_at=NOW + 1)
    same(store.knowledge.save_memory(changed), changed)
    same(list(store.knowledge.memories()), [changed])
    same(store.knowledge.save_memory(replace(changed, number=kept.number + 99, key="none")), None)


def a_forgotten_memory_is_not_created_again_from_old_messages(open_store: OpenStore) -> None:
    store, session = opened(open_store, "stored again", "a")
    kept = store.knowledge.save_memory(_SAID, session=session, digest=digest("a")) or _SAID
    store.knowledge.forget_memory(kept.number, now=NOW + 1)
    same(store.knowledge.save_memory(_SAID, session=session, digest=digest("a")), None)
    again = store.knowledge.save_memory(_EXPLICIT) or _EXPLICIT
    same((again.text, again.number != kept.number), (_EXPLICIT.text, True))


def a_forgotten_memory_is_created_again_when_it_is_said_again(open_store: OpenStore) -> None:
    store, session = opened(open_store, "said again", "a")
    kept = store.knowledge.save_memory(_SAID, session=session, digest=digest("a")) or _SAID
    store.knowledge.save_mentions(session, {digest("a"): []})
    store.knowledge.forget_memory(kept.number, now=NOW + 1)
    same(list(store.knowledge.unread(limit=9)), [])
    store.append(session, [replace(draft("a"), created_at=NOW + 2)], counter=COUNTER)
    same([each.digest for each in store.knowledge.unread(limit=9)], _digests("a"))
    said = store.knowledge.save_memory(_SAID, session=session, digest=digest("a")) or _SAID
    same((said.text, said.number > kept.number), (_SAID.text, True))


def rewriting_the_history_does_not_recreate_a_forgotten_memory(open_store: OpenStore) -> None:
    store, session = opened(open_store, "rewritten", "a", "b")
    kept = store.knowledge.save_memory(_SAID, session=session, digest=digest("b")) or _SAID
    store.knowledge.forget_memory(kept.number, now=NOW + 1)
    again = [replace(draft(text), created_at=NOW + 2) for text in ("new a", "b")]
    store.append(session, again, counter=COUNTER, at=0)
    same(store.knowledge.save_memory(_SAID, session=session, digest=digest("b")), None)


def a_memory_is_deleted_with_the_last_message_that_said_it(open_store: OpenStore) -> None:
    store, session = opened(open_store, "said memory", "a", "b")
    for text in ("a", "b"):
        store.knowledge.save_memory(_SAID, session=session, digest=digest(text))
    same([each.session for each in store.knowledge.memories()], ["work"])
    store.erase(session, "m1")
    same(len(store.knowledge.memories()), 1)
    store.erase(session, "m2")
    same((list(store.knowledge.memories()), store.verify().faults), ([], ()))


def a_changed_memory_has_only_the_changing_message_as_its_source(open_store: OpenStore) -> None:
    store, session = opened(open_store, "changed source", "a", "b")
    kept = store.knowledge.save_memory(_SAID, session=session, digest=digest("a")) or _SAID
    store.knowledge.save_memory(replace(kept, key="new"), session=session, digest=digest("b"))
    store.erase(session, "m1")
    same(len(store.knowledge.memories()), 1)
    store.erase(session, "m2")
    same(list(store.knowledge.memories()), [])


def a_memory_of_an_erased_message_is_not_stored(open_store: OpenStore) -> None:
    store, session = opened(open_store, "late memory", "a")
    store.erase(session, "m1")
    same(store.knowledge.save_memory(_SAID, session=session, digest=digest("a")), None)
    same(list(store.knowledge.memories()), [])


def an_explicit_memory_stays_when_its_message_is_erased(open_store: OpenStore) -> None:
    store, session = opened(open_store, "explicit memory", "a")
    kept = store.knowledge.save_memory(_SAID, session=session, digest=digest("a")) or _SAID
    store.knowledge.save_memory(replace(kept, explicit=True))
    store.erase(session, "m1")
    same([(each.text, each.session) for each in store.knowledge.memories()], [(_SAID.text, "")])


def messages_are_unread_until_their_mentions_are_saved(open_store: OpenStore) -> None:
    store, session = opened(open_store, "unread", "a", "b")
    store.append(session, [draft("s", role="system"), draft("c", role="assistant")], counter=COUNTER)
    same([each.digest for each in store.knowledge.unread(limit=9)], _digests("a", "b", c="assistant"))
    same([each.digest for each in store.knowledge.unread(limit=1)], _digests("a"))
    store.knowledge.save_mentions(session, {digest("b"): []})
    same([each.digest for each in store.knowledge.unread(limit=9)], _digests("a", c="assistant"))
    store.knowledge.save_mentions(session, dict.fromkeys(_digests("a", c="assistant"), ()))
    store.append(session, [draft("a"), draft("d")], counter=COUNTER)
    other = store.session("unread elsewhere", now=NOW).id
    store.append(other, [draft("e")], counter=COUNTER)
    same([each.digest for each in store.knowledge.unread(limit=9)], _digests("d", "e"))
    same([each.digest for each in store.knowledge.unread(limit=9, session=other)], _digests("e"))


def only_the_new_messages_of_a_fork_are_unread(open_store: OpenStore) -> None:
    store, session = opened(open_store, "forked reading", "a", "b")
    store.knowledge.save_mentions(session, {digest("a"): [_MAYA], digest("b"): [_MAYA]})
    store.append(session, [draft("new b")], counter=COUNTER, at=1)
    same([each.digest for each in store.knowledge.unread(limit=9)], _digests("new b"))
    store.knowledge.save_mentions(session, {digest("new b"): [_MAYA]})
    same([each.mentions for each in store.knowledge.things()], [3])


def things_have_statistics_of_their_mentions(open_store: OpenStore) -> None:
    store, session = opened(open_store, "things", "a", "b")
    other = store.session("other", now=NOW).id
    store.append(other, [draft("a", role="assistant")], counter=COUNTER)
    store.knowledge.save_mentions(session, {digest("a"): [_MAYA, _LOGIN, _MAYA], digest("b"): [_MAYA]})
    store.knowledge.save_mentions(other, dict.fromkeys(_digests(a="assistant"), (_MAYA,)))
    maya, login = store.knowledge.things()
    same((maya.name, maya.type, maya.mentions, maya.sessions), ("Maya", "person", 3, 2))
    same((maya.last_mentioned, maya.last_engaged), (NOW, NOW))
    same([(each.mentions, each.by_user) for each in maya.hours], [(2, 2), (1, 0)])
    same({each.hour for each in maya.hours}, {int(NOW // 3600)})
    same((login.mentions, login.sessions), (1, 1))
    same([each.slug for each in store.knowledge.things("topic")], ["login"])
    same(dict(store.knowledge.mentioned(session)), {maya.number: 2, login.number: 1})


def saving_mentions_replaces_earlier_ones(open_store: OpenStore) -> None:
    store, session = opened(open_store, "read twice", "a")
    store.knowledge.save_mentions(session, {digest("a"): [_MAYA, _LOGIN]})
    maya, login = store.knowledge.things()
    store.knowledge.change_thing(login.number, name="sign-in")
    store.knowledge.save_mentions(session, {digest("a"): [_LOGIN]})
    (kept,) = store.knowledge.things()
    same((kept.name, kept.version, kept.mentions, maya.version), ("sign-in", login.version, 1, 1))
    store.knowledge.save_mentions(session, {digest("a"): [_MAYA, _LOGIN]})
    same([each.slug for each in store.knowledge.things()], ["login", "maya"])


def the_version_of_a_thing_grows_when_its_mentions_change(open_store: OpenStore) -> None:
    store, session = opened(open_store, "thing versions", "a", "b")
    versions = []
    for text, found in (("a", [_MAYA]), ("b", [_MAYA]), ("b", [_MAYA]), ("a", [])):
        store.knowledge.save_mentions(session, {digest(text): found})
        versions += [each.version for each in store.knowledge.things()]
    same(versions, [1, 2, 2, 3])


def messages_mentioning_a_thing_are_returned_oldest_first(open_store: OpenStore) -> None:
    store, session = opened(open_store, "mentioning", "a", "b", "c")
    store.knowledge.save_mentions(session, {digest("c"): [_MAYA], digest("a"): [_MAYA]})
    (maya,) = store.knowledge.things()
    found = store.knowledge.messages_mentioning(maya.number, limit=9)
    same(
        [(each.session, each.seq, each.digest) for each in found],
        [("work", 0, digest("a")), ("work", 2, digest("c"))],
    )
    same([each.seq for each in store.knowledge.messages_mentioning(maya.number, limit=1)], [2])


def a_thing_is_deleted_with_its_last_mention(open_store: OpenStore) -> None:
    store, session = opened(open_store, "unmentioned", "to maya", "b")
    store.knowledge.save_mentions(session, {digest("to maya"): [_MAYA], digest("b"): [_MAYA, _LOGIN]})
    store.erase(session, "m2")
    same([(each.slug, each.mentions) for each in store.knowledge.things()], [("maya", 1)])
    store.knowledge.save_mentions(session, {digest("b"): [_LOGIN]})
    store.delete_session(session)
    same((list(store.knowledge.things()), store.verify().faults), ([], ()))


def a_thing_is_deleted_with_the_last_message_that_spells_out_its_name(open_store: OpenStore) -> None:
    store, session = opened(open_store, "spelled out", "to Maya", "to her")
    store.knowledge.save_mentions(session, {digest("to Maya"): [_MAYA], digest("to her"): [_MAYA]})
    store.erase(session, "m1")
    same(list(store.knowledge.things()), [])
    same([each.digest for each in store.knowledge.unread(limit=9)], _digests("to her"))
    same(store.verify().faults, ())


def messages_on_abandoned_branches_are_not_returned_as_mentions(open_store: OpenStore) -> None:
    store, session = opened(open_store, "edited away", "a", "b")
    store.knowledge.save_mentions(session, {digest("a"): [_MAYA], digest("b"): [_MAYA]})
    before = store.knowledge.forget_count()
    store.append(session, [draft("c")], counter=COUNTER, at=1)
    (maya,) = store.knowledge.things()
    same([each.digest for each in store.knowledge.messages_mentioning(maya.number, limit=9)], _digests("a"))
    same([store.knowledge.forget_count() > before], [True])


def equal_messages_become_unread_after_an_erasure(open_store: OpenStore) -> None:
    store, session = opened(open_store, "read again", "a", "a")
    store.knowledge.save_mentions(session, {digest("a"): [_MAYA]})
    store.erase(session, "m1")
    same(
        ([each.digest for each in store.knowledge.unread(limit=9)], list(store.knowledge.things())),
        (_digests("a"), []),
    )


def saving_mentions_does_not_undo_changes_by_the_user(open_store: OpenStore) -> None:
    store, session = opened(open_store, "owned things", "a", "b")
    store.knowledge.save_mentions(session, {digest("a"): [_MAYA, _LOGIN]})
    maya, login = store.knowledge.things()
    same(
        [store.knowledge.change_thing(maya.number, name=name) for name in ("Maya L.", "Maya Lin")], [True] * 2
    )
    same([store.knowledge.change_thing(login.number, hidden=True) for _ in range(2)], [True, False])
    store.knowledge.save_mentions(session, {digest("b"): [_MAYA, _LOGIN]})
    same(
        [(each.name, each.edited, each.mentions) for each in store.knowledge.things()],
        [("Maya Lin", True, 2)],
    )
    same(list(store.knowledge.mentioned(session)), [maya.number])


def a_bundle_is_stored_by_subject_and_depth(open_store: OpenStore) -> None:
    store, _ = opened(open_store, "bundles")
    newer = replace(_BUNDLE, version="w")
    for bundle in (_BUNDLE, replace(_BUNDLE, depth="minimal"), newer):
        store.knowledge.save_bundles([bundle], as_of=store.knowledge.forget_count())
    same(list(store.knowledge.bundles([("topic", "1"), ("topic", "2"), ("entity", "1")], "deep")), [newer])


def bundles_are_deleted_when_anything_is_forgotten(open_store: OpenStore) -> None:
    store, session = opened(open_store, "stale bundles", "a", "b")
    memory = store.knowledge.save_memory(_EXPLICIT) or _EXPLICIT
    store.knowledge.save_mentions(session, {digest("a"): [_MAYA]})
    (maya,) = store.knowledge.things()
    for forget in (
        lambda: store.knowledge.change_thing(maya.number, name="M"),
        lambda: store.knowledge.save_memory(replace(memory, text="x")),
        lambda: store.knowledge.forget_memory(memory.number, now=NOW),
        lambda: store.knowledge.change_thing(maya.number, hidden=True),
        lambda: store.erase(session, "m2"),
        lambda: store.delete_session(session),
    ):
        before = store.knowledge.forget_count()
        store.knowledge.save_bundles([_BUNDLE], as_of=before)
        same(len(store.knowledge.bundles([("topic", "1")], "deep")), 1)
        forget()
        kept = store.knowledge.save_bundles([_BUNDLE], as_of=before)
        same((kept, list(store.knowledge.bundles([("topic", "1")], "deep"))), (False, []))


def predictions_are_added_and_updated(open_store: OpenStore) -> None:
    store, session = opened(open_store, "ledger")
    store.knowledge.save_predictions(session, [_PREDICTION, replace(_PREDICTION, subject="jwt")])
    store.knowledge.save_predictions(None, [replace(_PREDICTION, subject="nowhere")])
    newest, first = store.knowledge.predictions(session)
    same((first.subject, newest.subject, first.outcome), ("login", "jwt", "open"))
    used = replace(first, outcome="used", seconds=0.5)
    store.knowledge.save_predictions(session, [used])
    same(list(store.knowledge.predictions(session)), [newest, used])
    same([each.subject for each in store.knowledge.predictions()], ["nowhere", "jwt", "login"])
    same([each.subject for each in store.knowledge.predictions(limit=1)], ["nowhere"])


def predictions_are_deleted_with_their_session(open_store: OpenStore) -> None:
    store, session = opened(open_store, "warm-up")
    same(store.knowledge.warmup(session), WarmupRecord())
    stopped = WarmupRecord(missed=2, saved=0.5, stopped=True)
    store.knowledge.save_warmup(session, stopped)
    same(store.knowledge.warmup(session), stopped)
    back = replace(_PREDICTION, kind="continue_conversation", subject="work")
    store.knowledge.save_predictions(store.session("other", now=NOW).id, [back, _PREDICTION])
    store.knowledge.save_predictions(session, [_PREDICTION])
    store.delete_session(session)
    same([each.subject for each in store.knowledge.predictions()], ["login"])


def knowledge_is_not_shared_between_tenants(open_store: OpenStore) -> None:
    mine, session = opened(open_store, "known a", "a")
    theirs, twin = opened(open_store, "known b", "a")
    memory = theirs.knowledge.save_memory(_EXPLICIT) or _EXPLICIT
    theirs.knowledge.save_mentions(twin, {digest("a"): [_MAYA]})
    (maya,) = theirs.knowledge.things()
    theirs.knowledge.save_bundles([_BUNDLE], as_of=theirs.knowledge.forget_count())
    theirs.knowledge.save_predictions(twin, [_PREDICTION])
    same((list(mine.knowledge.memories()), list(mine.knowledge.things())), ([], []))
    same(
        (list(mine.knowledge.messages_mentioning(maya.number, limit=9)), list(mine.knowledge.predictions())),
        ([], []),
    )
    same(list(mine.knowledge.bundles([("topic", "1")], "deep")), [])
    same(
        (mine.knowledge.forget_memory(memory.number, now=NOW), mine.knowledge.save_memory(memory)),
        (False, None),
    )
    same([mine.knowledge.change_thing(maya.number, hidden=True)], [False])
    mine.erase(session, "m1")
    same((list(theirs.knowledge.memories()), list(theirs.knowledge.things())), ([memory], [maya]))
    same(len(theirs.knowledge.bundles([("topic", "1")], "deep")), 1)


def nothing_can_be_known_about_another_tenants_session(open_store: OpenStore) -> None:
    mine = open_store("known c").knowledge
    _, foreign = opened(open_store, "known d", "a")
    for use in (
        lambda: mine.save_memory(_SAID, session=foreign, digest=digest("a")),
        lambda: mine.save_mentions(foreign, {}),
        lambda: mine.mentioned(foreign),
        lambda: mine.save_predictions(foreign, []),
        lambda: mine.predictions(foreign),
        lambda: mine.warmup(foreign),
        lambda: mine.save_warmup(foreign, WarmupRecord()),
    ):
        refuses(NotFoundError, use)


def _digests(*texts: str, **assistants: str) -> list[str]:
    said = [draft(text, role="assistant").message.digest for text in assistants]
    return [*map(digest, texts), *said]
