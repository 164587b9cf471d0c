"""Which messages are read for what is known, when, and what of them is known no more."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from foveal import Foveal, Session
from foveal.errors import InputError
from foveal.session.knowledge import mine, profile
from foveal.session.knowledge.profile import known

NOW = 1_800_000_000.0


def shown(session: Session) -> str:
    """The knowledge that a window shows."""
    found = known(session._state, task="", count=lambda text: len(text.split()), now=NOW)
    return "\n".join(f"{each.type}: {each.text}" for each in found)


def names(fov: Foveal) -> set[str]:
    return {each.name for each in fov.profile().entities}


def test_a_window_reads_unread_messages_first(session: Session) -> None:
    session.add("user", "My name is Ana. My sister Maria moved to Lisbon.")
    assert "identity: The user, as they said:\n- My name is Ana." in shown(session)
    assert "entity: Maria (person)" in shown(session)


def test_a_window_waits_for_little_reading_and_only_of_its_session(
    fov: Foveal, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile, "KEEPING_UP", 0.0)
    fov.session("earlier").add("user", "I met Zoltan.")
    session.extend([{"role": "user", "content": f"note {n} of many"} for n in range(99)])
    shown(fov.session("earlier"))
    shown(session)
    left = [each.session for each in session._state.store.knowledge.unread(limit=200)]
    assert left == [session._state.id] * (99 - mine.BATCH)


def test_a_name_that_only_the_erased_message_spelled_out_is_forgotten(fov: Foveal, session: Session) -> None:
    session.add("user", "My sister Xaviera Quibble called. The file is src/topsecret/auth.js now.")
    session.add("assistant", "I will write to Quibble, and look at auth.js.")
    session.add("user", "Quibble is nice. I asked Quibble. Leave auth.js alone.")
    assert names(fov) == {"Xaviera Quibble", "src/topsecret/auth.js"}
    session.forget("m1")
    assert not {"xaviera-quibble", "src-topsecret-auth-js"} & {t.slug for t in fov._store.knowledge.things()}
    assert names(fov) == {"Quibble", "auth.js"}
    assert fov.verify().faults == ()


def test_what_was_edited_away_is_in_no_bundle(fov: Foveal, session: Session) -> None:
    rest = [{"role": "assistant", "content": "Maria, I see."}, {"role": "user", "content": "Maria waits."}]
    session.sync([{"role": "user", "content": "My sister Maria in Lyon has the key swordfish."}, *rest])
    fov.profile()
    assert "swordfish" in shown(session)
    session.sync([{"role": "user", "content": "My sister Maria has a key."}, *rest])
    assert "Maria waits." in shown(session)
    assert not any(word in shown(session) for word in ("swordfish", "Lyon"))


def test_a_long_prompt_is_known_though_many_said_some_of_its_words(fov: Foveal, session: Session) -> None:
    session.add("system", f"{'Be careful with every reply to people. ' * 200} Always answer in French.")
    session.extend([{"role": "user", "content": f"Do they always answer in French {n}?"} for n in range(150)])
    session.add("user", "Always answer in French.")
    assert fov.profile().memories == ()
    with pytest.raises(InputError, match="system prompt"):
        fov.remember("Always answer in French.", kind="preference")


def test_new_messages_add_to_what_is_known_after_a_restart_too(tmp_path: Path) -> None:
    with Foveal(tmp_path / "a.db") as fov:
        fov.session("work").add("user", "I spoke with Zoltan about the roof.")
        fov.profile()
    with Foveal(tmp_path / "a.db") as fov:
        fov.session("work").add("user", "Then Zoltan fixed the roof.")
        assert [(each.name, each.mentions) for each in fov.profile().entities] == [("Zoltan", 2)]


def test_a_new_message_costs_no_look_at_the_old_ones(fov: Foveal, session: Session) -> None:
    session.extend([{"role": "user", "content": f"note {n} of many"} for n in range(3_000)])
    fov.profile()
    session.add("user", "I met Zoltan. Zoltan was there.")
    started = time.process_time()
    fov.profile()
    assert time.process_time() - started < 1.0


def test_a_window_does_not_wait_for_another_reader(session: Session) -> None:
    session.add("user", "My name is Ana.")
    with session._state.resources.part(mine.Reader)._lock:
        assert shown(session) == ""
    assert "My name is Ana." in shown(session)


def test_a_correction_of_the_name_replaces_every_memory_of_the_wrong_one(
    fov: Foveal, session: Session
) -> None:
    session.add("user", "My name is Maya Lin. Call me Maya.")
    assert len(fov.profile().memories) == 2
    session.add("user", "I'm not Maya, I'm her assistant Tom.")
    assert [each.text for each in fov.profile().memories] == ["I'm not Maya, I'm her assistant Tom."]


def test_what_holds_for_the_moment_or_is_confidential_is_not_remembered(
    fov: Foveal, session: Session
) -> None:
    session.add("user", "I prefer the second option. Always use tabs in this file.")
    session.add("user", "Between us: I live in Lyon.")
    session.add("user", "I'm vegetarian. Please keep answers short.")
    assert [each.text for each in fov.profile().memories] == ["I'm vegetarian.", "Please keep answers short."]
