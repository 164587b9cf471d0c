"""Prediction and warm-up on a store: what is predicted, compiled in advance, recorded, and when it stops."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from foveal import Foveal
from foveal.errors import InputError, NotFoundError
from foveal.events import Event, WarmedUp, WarmupStopped
from foveal.knowledge.values import Presence
from foveal.session.knowledge.ledger import FEWEST, LIFETIME
from foveal.session.knowledge.profile import known
from foveal.store import PredictionRecord, WarmupRecord

HERE = {"active_conversation": "chat"}
DAY = 86_400.0


def count(text: str) -> int:
    return len(text.split())


@pytest.fixture
def fov() -> Iterator[Foveal]:
    with Foveal(":memory:", embedder="none") as store:
        session = store.session("chat")
        for day in range(4):
            session.add(
                "user", f"My sister Maria moved to Lisbon. The dance studio is open, the dance is {day}."
            )
            session.add("assistant", f"So the dance studio is in Lisbon, day {day}.")
        store.settle()
        yield store


def window(fov: Foveal, name: str = "chat") -> None:
    """What every build asks for."""
    known(fov.session(name)._state, task="", count=count, now=time.time())


def subjects(fov: Foveal, outcome: str) -> list[str]:
    return sorted(each.subject for each in fov.predictions("chat").newest if each.outcome == outcome)


def heard(fov: Foveal) -> list[Event]:
    events: list[Event] = []
    fov.subscribe(events.append)
    return events


def waste(fov: Foveal, number: int = FEWEST, *, saved: float = 0.0) -> None:
    """A ledger of predictions that cost a second each and came to nothing."""
    session = fov.session("chat")._state.id
    line = PredictionRecord(
        kind="new_on_topic", subject="thing-9", probability=0.1, made_at=0.0, outcome="wasted", seconds=1.0
    )
    fov._store.knowledge.save_predictions(session, [line] * number)
    fov._store.knowledge.save_warmup(session, WarmupRecord(saved=saved))


def test_presence_predicts_from_what_the_store_knows(fov: Foveal) -> None:
    found = fov.presence(HERE)
    assert (found[0].type, found[0].topic_slug) == ("continue_conversation", "dance-studio")
    assert {each.entity_id for each in found if each.entity_id} == {e.id for e in fov.profile().entities}


def test_a_presence_may_be_a_value_or_a_mapping(fov: Foveal) -> None:
    now = time.time()
    assert fov.presence(Presence(active_conversation="chat"), now=now) == fov.presence(HERE, now=now)


def test_async_callers_get_the_same(fov: Foveal) -> None:
    now = time.time()
    assert asyncio.run(fov.apresence(HERE, now=now)) == fov.presence(HERE, now=now)


def test_peak_hours_are_those_of_the_user_s_clock(fov: Foveal) -> None:
    now = time.time()
    theirs = (int(now // 3600) + 5) % 24
    found = fov.presence({"local_hour": theirs}, now=now)
    assert round(found[0].probability / fov.profile(now=now).topics[0].importance, 6) == 0.2


def test_bundles_are_there_before_they_are_needed(fov: Foveal) -> None:
    events = heard(fov)
    fov.presence(HERE)
    assert fov.settle()
    found = known(fov.session("chat")._state, task="", count=count, now=time.time())
    assert events[0] == WarmedUp(session="chat", predicted=4, compiled=3, failed=0)
    assert len(found) == 3
    assert fov.predictions("chat").missed == 0


def test_all_that_a_window_of_the_conversation_shows_is_there(fov: Foveal) -> None:
    fov.remember("I drink tea.")
    for name in ("Zoltan", "Ivana", "Otmar", "Lenka", "Pavel", "Milos", "Dusan"):
        fov.session("chat").add("user", f"I wrote to my brother {name} and {name} answered.")
    fov.settle()
    fov.presence(HERE)
    fov.settle()
    window(fov)
    assert fov.predictions("chat").missed == 0


def test_bundles_are_as_deep_as_windows_need_them() -> None:
    with Foveal(":memory:", embedder="none", numbers={"openscroll": {"depth": "minimal"}}) as fov:
        fov.session("chat").add("user", "My sister Maria moved to Lisbon.")
        maria = next(each.id for each in fov.profile().entities if each.name == "Maria")
        fov.presence(HERE)
        fov.settle()
        assert fov._store.knowledge.bundles([("entity", maria)], "minimal")


def test_what_is_current_is_not_compiled_again(fov: Foveal) -> None:
    fov.presence(HERE)
    fov.settle()
    events = heard(fov)
    fov.presence(HERE)
    fov.settle()
    assert events == [WarmedUp(session="chat", predicted=4, compiled=0, failed=0)]


def test_what_is_stale_is_compiled_again(fov: Foveal) -> None:
    fov.presence(HERE)
    fov.settle()
    fov.session("chat").add("user", "The dance studio is closed now.")
    fov.settle()
    events = heard(fov)
    fov.presence(HERE)
    fov.settle()
    assert [event.compiled for event in events if isinstance(event, WarmedUp)] == [1]


def test_one_that_fails_stops_no_other(fov: Foveal, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("foveal.session.knowledge.bundles.memories_text", fails)
    events = heard(fov)
    fov.presence(HERE)
    assert fov.settle()
    assert events == [WarmedUp(session="chat", predicted=4, compiled=3, failed=3)]


def test_a_research_trail_has_deep_bundles_compiled_and_windows_show_them(fov: Foveal) -> None:
    fov.presence({**HERE, "navigation_history": ["/a", "/notebook/1", "/chat/2"]})
    fov.settle()
    topic = fov.profile().topics[0].id
    (deep,) = fov._store.knowledge.bundles([("topic", topic)], "deep")
    assert not fov._store.knowledge.bundles([("topic", topic)], "standard")
    found = known(fov.session("chat")._state, task="", count=count, now=time.time())
    assert deep.text in [each.text for each in found]
    assert not fov._store.knowledge.bundles([("topic", topic)], "standard")


def test_asked_not_to_warm_up_it_only_predicts(fov: Foveal) -> None:
    events = heard(fov)
    assert fov.presence(HERE, warm=False)
    fov.settle()
    assert events == []


def test_a_build_of_the_conversation_uses_what_it_shows(fov: Foveal) -> None:
    fov.presence({**HERE, "visible_conversations": ["other"]})
    fov.settle()
    window(fov)
    ledger = fov.predictions("chat")
    assert (ledger.made, ledger.used, ledger.open) == (5, 4, 1)
    assert (ledger.precision, ledger.recall) == (1.0, 1.0)
    assert ledger.seconds_saved > 0


def test_a_prediction_of_one_session_is_used_by_another(fov: Foveal) -> None:
    fov.session("other")
    fov.presence({**HERE, "visible_conversations": ["other"]})
    window(fov, "other")
    assert subjects(fov, "used") == ["other"]


def test_predictions_that_newer_ones_do_not_have_are_wasted(fov: Foveal) -> None:
    fov.presence({**HERE, "visible_conversations": ["other"]})
    fov.presence(HERE)
    assert subjects(fov, "wasted") == ["other"]
    assert "chat" in subjects(fov, "open")


def test_a_prediction_that_is_made_again_is_one_line(fov: Foveal) -> None:
    fov.presence(HERE)
    fov.presence(HERE)
    assert fov.predictions("chat").made == 4


def test_a_prediction_unused_for_half_an_hour_is_wasted(fov: Foveal) -> None:
    fov.presence(HERE, now=time.time() - LIFETIME)
    assert fov.predictions("chat").wasted == fov.predictions("chat").made
    window(fov)
    assert fov.predictions("chat").used == 0


def test_a_bundle_that_a_window_waited_for_without_a_prediction_is_missed(fov: Foveal) -> None:
    fov.presence({"visible_conversations": ["other"]}, session="chat", now=time.time() + 30 * DAY)
    window(fov)
    assert fov.predictions("chat").missed == 3
    assert fov.predictions("chat").recall == 0.0


def test_without_predictions_nothing_is_counted(fov: Foveal) -> None:
    window(fov)
    ledger = fov.predictions("chat")
    assert (ledger.made, ledger.missed, ledger.precision, ledger.recall) == (0, 0, None, None)


def test_where_it_wastes_more_than_it_saves_warming_up_stops(fov: Foveal) -> None:
    waste(fov)
    events = heard(fov)
    assert fov.presence(HERE)
    fov.settle()
    assert events == [WarmupStopped(session="chat", used=0, wasted=10)]
    assert fov.predictions("chat").off


def test_as_long_as_it_pays_it_goes_on(fov: Foveal) -> None:
    waste(fov, saved=10.0)
    fov.presence(HERE)
    assert not fov.predictions("chat").off


def test_a_few_wasted_ones_prove_nothing(fov: Foveal) -> None:
    waste(fov, FEWEST - 1)
    fov.presence(HERE)
    assert not fov.predictions("chat").off


def test_it_stays_off_for_that_session_and_no_other(fov: Foveal) -> None:
    waste(fov)
    fov.presence(HERE)
    fov.session("other")
    events = heard(fov)
    fov.presence(HERE)
    fov.presence({"active_conversation": "other"})
    fov.settle()
    assert [event.session for event in events] == ["other"]


def test_it_is_off_after_a_restart_too(tmp_path: Path) -> None:
    with Foveal(tmp_path / "store.db", embedder="none") as fov:
        fov.session("chat")
        waste(fov)
        fov.presence(HERE)
    with Foveal(tmp_path / "store.db", embedder="none") as fov:
        assert fov.predictions("chat").off


def test_requested_again_it_continues_with_cleared_costs(fov: Foveal) -> None:
    waste(fov)
    fov.presence(HERE)
    fov.presence(HERE, warm=True)
    fov.presence(HERE)
    ledger = fov.predictions("chat")
    assert (ledger.off, ledger.seconds_wasted) == (False, 0.0)


def test_without_a_session_the_ledger_covers_all(fov: Foveal) -> None:
    fov.presence(HERE)
    fov.presence({"visible_conversations": ["x"]})
    assert fov.predictions().made == fov.predictions("chat").made + 4


def test_a_missing_session_is_not_found(fov: Foveal) -> None:
    with pytest.raises(NotFoundError, match="no session 'gone'"):
        fov.presence(HERE, session="gone")
    with pytest.raises(NotFoundError, match="no session 'gone'"):
        fov.predictions("gone")


@pytest.mark.parametrize(
    ("value", "field", "what"),
    [
        ({"where": "here"}, "presence", "unknown field 'where'"),
        ({"where": None}, "presence", "unknown field 'where'"),
        ({"active_conversation": 7}, "active_conversation", "is 7, not text"),
        ({"active_conversation": b"chat"}, "active_conversation", "is a bytes, not text"),
        ({"visible_conversations": "abc"}, "visible_conversations", "is a str, not a list of texts"),
        ({"visible_conversations": None}, "visible_conversations", "is a NoneType, not a list of texts"),
        ({"navigation_history": [1, *"x" * 2_000]}, "navigation_history", "is a list, not a list of texts"),
        ({"local_hour": 99}, "local_hour", "is 99, not an hour from 0 to 23"),
        ({"local_hour": 9.0}, "local_hour", "is a float"),
        ({"local_hour": True}, "local_hour", "is a bool"),
        ({"local_hour": 10**5000}, "local_hour", "is a int"),
        ({"idle_since": "soon"}, "idle_since", "is a str"),
        ({"session_start": 1e300}, "session_start", "is a float"),
        (Presence(last_path=3), "last_path", "is 3, not text"),  # type: ignore[arg-type]
        ("here", "presence", "is a str"),
    ],
)
def test_an_invalid_presence_is_refused_by_field(fov: Foveal, value: object, field: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as refused:
        fov.presence(value)  # type: ignore[arg-type]
    assert refused.value.field == field
