"""What a session promises: everything stored, windows that cost what is new, any of it back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import foveal
from foveal import Foveal, Session, presets
from foveal.errors import BudgetError, ConfigError, InputError, NotFoundError
from foveal.events import Event, HistoryForked, HistoryRepaired, MessageMarked, WindowBuilt

CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
TURN = [
    {"role": "user", "content": "list the files"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "a.txt b.txt"},
]


def heard(fov: Foveal) -> list[Event]:
    events: list[Event] = []
    fov.subscribe(events.append)
    return events


def contents(window: foveal.Window) -> list[Any]:
    return [message["content"] for message in window.messages]


def test_what_is_added_is_in_the_next_window(session: Session) -> None:
    session.add("system", "Be brief.")
    session.add("user", "Fix auth.js")
    assert contents(session.build(budget=1_000)) == ["Be brief.", "Fix auth.js"]


def test_a_session_goes_on_where_it_was_left(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as fov:
        fov.session("work", model="gpt-5").extend(TURN)
    with Foveal(tmp_path / "f.db") as fov:
        again = fov.session("work")
        assert again.model == "gpt-5"
        assert again.build(budget=1_000).messages == TURN


def test_two_openers_of_one_session_see_each_others_messages(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as one, Foveal(tmp_path / "f.db") as two:
        first, second = one.session("work"), two.session("work")
        first.add("user", "from one")
        second.add("user", "from two")
        assert contents(first.build(budget=100)) == ["from one", "from two"]


def test_the_newest_turns_that_fit_are_in(session: Session) -> None:
    for number in range(50):
        session.add("user", f"message {number}")
    found = contents(session.build(budget=24, preset="recent"))
    assert found == ["message 47", "message 48", "message 49"]


def test_a_pin_is_in_every_window(session: Session) -> None:
    first = session.add("user", "the port is 8081")
    for number in range(50):
        session.add("user", f"message {number}")
    session.pin(first)
    assert contents(session.build(budget=30))[0] == "the port is 8081"
    session.unpin(first)
    assert contents(session.build(budget=30))[0] != "the port is 8081"


def test_a_window_that_opens_on_the_assistant_gets_a_user_note(session: Session) -> None:
    session.extend(TURN[1:] * 30)
    window = session.build(budget=100, preset="recent")
    assert window.messages[0]["role"] == "user"
    assert "as far as it is shown" in window.messages[0]["content"]


def test_an_open_turn_too_large_has_its_longest_result_cut(session: Session) -> None:
    session.extend([*TURN[:2], {**TURN[2], "content": "line of a log\n" * 1_000}])
    window = session.build(budget=300)
    assert window.tokens <= 300
    assert "line of a log ×1000" in window.messages[-1]["content"]
    assert session.recall("m3")["content"] == "line of a log\n" * 1_000


def test_what_must_stay_and_does_not_fit_is_an_error_with_numbers(session: Session) -> None:
    session.add("user", "word " * 100)
    with pytest.raises(BudgetError, match=r"the budget is 30 tokens, the smallest possible window has \d+"):
        session.build(budget=30)


def test_an_empty_session_has_nothing_to_build(session: Session) -> None:
    with pytest.raises(InputError, match="no message to answer"):
        session.build(budget=50)


def test_sync_stores_only_what_is_new(session: Session) -> None:
    assert session.sync(TURN[:1]) == ("m1",)
    assert session.sync(TURN) == ("m2", "m3")
    assert session.sync(TURN) == ()


def test_an_edited_history_becomes_a_fork_that_shares_its_prefix(fov: Foveal, session: Session) -> None:
    session.sync(TURN)
    events = heard(fov)
    edited = [*TURN[:2], {**TURN[2], "content": "c.txt"}]
    session.sync(edited)
    assert session.build(budget=1_000).messages == edited
    assert HistoryForked(session="work", shared=2, replaced=1) in events
    assert fov.verify().clean


def test_a_shortened_history_becomes_a_fork_too(session: Session) -> None:
    session.sync(TURN)
    session.sync(TURN[:1])
    assert session.build(budget=1_000).messages == TURN[:1]


def test_the_model_of_a_synced_request_is_the_sessions(fov: Foveal) -> None:
    session = fov.session("body")
    session.sync({"model": "gpt-4o", "messages": TURN})
    assert session.model == fov.session("body").model == "gpt-4o"


def test_the_providers_form_is_found_out_when_it_shows(fov: Foveal) -> None:
    session = fov.session("open")
    words = {"role": "user", "content": "hi"}
    blocks = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "ls", "input": {}}]}
    session.sync([words])
    assert session.format == "plain"
    session.sync([words, blocks])
    assert session.format == "anthropic"
    assert session.build(budget=1_000).messages[:2] == [words, blocks]


def test_moved_cache_markers_are_no_edit(session: Session) -> None:
    words: dict[str, Any] = {"type": "text", "text": "hi"}
    marked = {**words, "cache_control": {"type": "ephemeral"}}
    first, second = {"role": "user", "content": [marked]}, {"role": "user", "content": [words]}
    session.sync([first])
    assert session.sync([second]) == ()


def test_recall_brings_back_the_original_by_id_and_by_handle(session: Session) -> None:
    session.extend(TURN)
    (hit,) = session.search("b.txt", limit=1)
    assert session.recall(hit.handle) == session.recall("m3") == TURN[2]


def test_recall_reaches_another_session_only_on_request(fov: Foveal, session: Session) -> None:
    session.add("user", "mine")
    other = fov.session("other")
    theirs = other.entries()[0].handle if other.add("user", "theirs") else ""
    for handle in (theirs, theirs[:11], theirs.removeprefix("fv-")[:8]):
        with pytest.raises(NotFoundError, match="has no message"):
            session.recall(handle)
        assert session.recall(handle, everywhere=True)["content"] == "theirs"
    with pytest.raises(NotFoundError, match="has no message"):
        session.build(budget=100).recall(theirs)


def test_recall_of_nothing_says_so(session: Session) -> None:
    with pytest.raises(NotFoundError, match="has no message 'm9'"):
        session.recall("m9")


def test_forget_really_erases(fov: Foveal, session: Session, tmp_path: Path) -> None:
    secret = session.add("user", "the password is swordfish")
    session.add("user", "go on")
    session.forget(secret)
    assert contents(session.build(budget=100)) == ["go on"]
    assert session.search("swordfish") == ()
    with pytest.raises(NotFoundError, match="erased"):
        session.recall(secret)
    assert fov.settle()
    assert all(b"swordfish" not in file.read_bytes() for file in tmp_path.iterdir())


def test_what_was_erased_is_in_no_event_either(fov: Foveal, session: Session, tmp_path: Path) -> None:
    ids = [session.add("user", f"the swordfish password, turn {number}") for number in range(6)]
    session.summarize(keep=1)
    for id in ids:
        session.forget(id)
    assert fov.settle()
    assert all(b"swordfish" not in file.read_bytes() for file in tmp_path.iterdir())


def test_a_key_in_place_of_its_variable_is_refused_and_not_shown() -> None:
    with pytest.raises(ConfigError, match="`summary_key` is not the name") as failure:
        Foveal(
            ":memory:", summary_url="http://127.0.0.1:1/v1", summary_model="m", summary_key="sk-abcdef12345"
        )
    assert "abcdef" not in str(failure.value)


def test_a_message_left_out_comes_back_with_restore(session: Session) -> None:
    id = session.add("user", "noise")
    session.add("user", "go on")
    session.forget(id, erase=False)
    assert contents(session.build(budget=100)) == ["go on"]
    session.restore(id)
    assert contents(session.build(budget=100)) == ["noise", "go on"]


def test_a_turn_of_which_a_part_is_left_out_is_out_whole(session: Session) -> None:
    session.extend([*TURN, {"role": "user", "content": "go on"}])
    session.forget("m3", erase=False)
    assert contents(session.build(budget=100)) == ["list the files", "go on"]


def test_every_build_is_stored_with_its_manifest(session: Session) -> None:
    session.add("user", "one")
    window = session.build(budget=100)
    assert session.manifest() == session.manifest(1) == window.manifest


def test_events_tell_what_happened(fov: Foveal, session: Session) -> None:
    events = heard(fov)
    session.extend(TURN[:2])
    session.build(budget=100)
    session.pin("m1")
    kinds = [type(event) for event in events[1:]]
    assert kinds == [HistoryRepaired, WindowBuilt, MessageMarked]


def test_a_repair_is_reported_once(fov: Foveal, session: Session) -> None:
    session.extend(TURN[:2])
    events = heard(fov)
    session.build(budget=100)
    session.build(budget=100)
    assert [type(event) for event in events].count(HistoryRepaired) == 1


def test_estimates_learn_from_what_the_provider_billed(fov: Foveal) -> None:
    session = fov.session("claude", model="claude-sonnet-4-5")
    session.add("user", "A sentence of ordinary English prose. " * 50)
    first = session.build(budget=5_000)
    for _ in range(3):
        session.billed(round(session.build(budget=5_000).tokens * 0.7), build=1)
    after = session.build(budget=5_000)
    assert 0.7 * first.tokens <= after.tokens <= 0.8 * first.tokens
    assert after.manifest.counter == "claude×0.75"


def test_exact_counts_learn_nothing(session: Session) -> None:
    session.add("user", "hi")
    session.build(budget=100)
    for _ in range(3):
        session.billed(5)
    assert session.build(budget=100).manifest.counter == "o200k_base"


def test_a_system_prompt_for_one_window_is_not_stored(session: Session) -> None:
    session.add("user", "hi")
    assert contents(session.build(budget=100, system="Be brief.")) == ["Be brief.", "hi"]
    assert contents(session.build(budget=100)) == ["hi"]


def test_a_window_can_be_had_in_another_providers_form(session: Session) -> None:
    session.extend([{"role": "system", "content": "Be brief."}, *TURN])
    window = session.build(budget=500, format="anthropic")
    assert window.system == "Be brief." or window.system[0]["text"] == "Be brief."
    assert [message["role"] for message in window.messages] == ["user", "assistant", "user"]


def test_an_unknown_model_warns_and_works(fov: Foveal) -> None:
    session = fov.session("odd", model="nobody-knows-it")
    session.add("user", "hi")
    with pytest.warns(UserWarning, match="not in the catalogue"):
        window = session.build()
    assert window.budget == 100_000
    assert "nobody-knows-it" in window.manifest.warnings[0]


def test_a_mistyped_model_is_answered_with_the_nearest(fov: Foveal) -> None:
    session = fov.session("odd", model="claude-sonet-4-5")
    session.add("user", "hi")
    with pytest.warns(UserWarning, match="did you mean `claude-sonnet-4-5`"):
        session.build()


def test_a_budget_over_the_limit_of_the_model_warns(fov: Foveal) -> None:
    session = fov.session("long", model="gpt-4o")
    session.add("user", "hi")
    with pytest.warns(UserWarning, match=r"budget of 5,000,000 tokens .* `gpt-4o`, which takes 128,000"):
        window = session.build(budget=5_000_000)
    assert "5,000,000" in window.manifest.warnings[0]
    assert session.build(budget=128_000).manifest.warnings == ()
    with pytest.warns(UserWarning, match="over the limit"):
        assert foveal.fit(
            [{"role": "user", "content": "hi"}], model="gpt-4o", budget=128_001
        ).manifest.warnings


def test_a_session_says_how_its_windows_are_chosen(fov: Foveal) -> None:
    assert (fov.session("a").preset, fov.session("b", preset="omar").preset) == (presets.DEFAULT, "omar")


def test_an_unknown_preset_is_refused_with_the_known_ones(fov: Foveal) -> None:
    with pytest.raises(ConfigError, match="no preset 'best'"):
        fov.session("work", preset="best")


def test_a_budget_that_is_no_number_is_refused(session: Session) -> None:
    with pytest.raises(InputError, match="`budget` is '8k'"):
        session.build(budget="8k")  # type: ignore[arg-type]


def test_async_callers_drive_the_same_code(session: Session) -> None:
    async def work() -> foveal.Window:
        await session.aextend(TURN)
        await session.async_([*TURN, {"role": "user", "content": "go on"}])
        return await session.abuild(budget=1_000)

    assert asyncio.run(work()).messages == [*TURN, {"role": "user", "content": "go on"}]


def test_two_tenants_of_one_store_see_nothing_of_each_other(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db", tenant="a") as a, Foveal(tmp_path / "f.db", tenant="b") as b:
        a.session("work").add("user", "only for a")
        assert b.session("work").search("only", everywhere=True) == ()
        assert [record.name for record in b.sessions()] == ["work"]


def test_stats_are_the_session_in_numbers(session: Session) -> None:
    session.extend(TURN)
    session.build(budget=100)
    stats = session.stats()
    assert (stats.messages, stats.turns, stats.builds) == (3, 2, 1)
    assert stats.tokens == sum(stats.tokens_by_role.values()) == stats.window_tokens - 3


def test_export_gives_everything_as_it_came(session: Session) -> None:
    session.extend(TURN)
    assert session.export() == TURN


def test_a_request_after_an_erased_message_is_still_known(session: Session) -> None:
    first = session.add("user", "the key is 1234")
    session.extend([{"role": "user", "content": "Fix the build."}, *TURN[1:] * 30])
    session.forget(first)
    assert contents(session.build(budget=100))[0] == "Fix the build."


@pytest.mark.parametrize("spelled", ["2", "m2", "#2", " 2 "])
def test_every_spelling_of_a_message_number_names_the_same_message(session: Session, spelled: str) -> None:
    first, second, third = (session.add("user", text) for text in ("one", "two", "three"))
    session.build()
    assert session.recall(spelled) == session.recall(second)
    assert session.pin(spelled) == second
    assert session.unpin(spelled) == second
    assert session.why(spelled).decision == session.why(second).decision
    assert session.forget(spelled, erase=False) == (second,)
    assert session.restore(spelled) == (second,)
    assert "two" in str(session.answer("foveal_recall", {"handle": spelled}))
    assert session.forget(spelled) == (second,)
    assert {first, third} < {entry.id for entry in session.entries()}


@pytest.mark.parametrize("spelled", ["0", "m0", "4", "#", "m", "-1", "2.0"])
def test_a_number_that_no_message_has_is_not_found(session: Session, spelled: str) -> None:
    session.extend([{"role": "user", "content": text} for text in ("one", "two", "three")])
    with pytest.raises(NotFoundError, match="has no message"):
        session.recall(spelled)


def test_a_window_prints_as_its_size(session: Session) -> None:
    session.add("user", "a secret " * 1_000)
    window = session.build()
    assert (
        str(window) == f"<Window for gpt-5: 1 messages, {window.tokens:,} of {window.budget:,} tokens, plain>"
    )


def test_an_erased_or_a_large_message_changes_nothing_for_its_neighbours(tmp_path: Path) -> None:
    def history() -> list[str]:
        with Foveal(tmp_path / "foveal.db", embedder="none") as fov:
            return contents(fov.open("long").build(budget=100_000, preset="omar"))

    words = [f"message {n}" if n != 40 else "word " * 20_000 for n in range(100)]
    with Foveal(tmp_path / "foveal.db", embedder="none") as fov:
        session = fov.session("long")
        session.extend([{"role": "user", "content": text} for text in words])
        session.forget("m71", erase=True)
    assert history() == [text for n, text in enumerate(words) if n != 70]


def test_a_late_result_does_not_turn_the_conversation_into_one_turn(session: Session) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "wait", "arguments": "{}"}
    steps = [
        {"role": role, "content": f"step {n} " * 30} for n in range(60) for role in ("assistant", "user")
    ]
    session.extend([{"role": "user", "content": "Start."}, call, *steps], format="responses")
    before = session.build(budget=4_000).messages
    late = {"type": "function_call_output", "call_id": "c", "output": "all 214 passed"}
    session.extend([late, {"role": "user", "content": "And now?"}], format="responses")
    after = session.build(budget=4_000).messages
    assert after[: len(before)] == before
    assert "all 214 passed" in str(after[-2])
