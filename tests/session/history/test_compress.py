"""What compressing promises: notes for what is old, much shorter, nothing lost, nothing done twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import foveal
from foveal import Foveal, Session
from foveal.errors import InputError
from foveal.events import Event, Reported
from foveal.session.values import Removal
from foveal.testing.model_server import ModelServer, Reply

TOPIC = "the login flow of src/auth.js drops the session cookie when the token expires"
CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}


@pytest.fixture
def talk(session: Session) -> Session:
    """A system prompt, and 20 rounds of about 60 tokens."""
    session.add("system", "Be brief.")
    for number in range(20):
        session.add("user", f"Round {number}: {TOPIC}, and I would like to know why that happens there.")
        session.add("assistant", f"Round {number}: I read {TOPIC}; its key for JWT is in vault-{number}.")
    session.add("user", "What is next?")
    return session


def contents(session: Session, preset: str = "recent") -> list[str]:
    return [message["content"] for message in session.build(preset=preset, budget=20_000).messages]


def notes(session: Session) -> list[str]:
    return [entry.stand_in for entry in session.entries() if entry.stand_in]


def test_the_oldest_are_compressed_until_four_fifths_are_used(talk: Session) -> None:
    removal = talk.compress(max_tokens=1_000)
    assert removal.final <= 800 < removal.original
    assert removal.ids == tuple(f"m{number}" for number in range(3, 3 + len(removal.ids)))
    assert talk.build(budget=20_000).tokens == removal.final + 3  # and what frames a request


def test_a_note_is_at_most_a_quarter_of_what_it_replaces(talk: Session) -> None:
    talk.compress(max_tokens=400)
    made = talk.stats()
    assert made.last_compression is not None
    assert made.last_compression.compressed * 4 <= made.last_compression.original
    assert (made.ratio_low, made.summaries, made.stand_ins) == (False, 1, 1)


def test_a_note_says_what_it_covers_and_that_it_is_not_a_request(talk: Session) -> None:
    removal = talk.compress(max_tokens=1_000)
    last = len(removal.ids) + 2
    assert removal.summary.startswith("[Summary of earlier messages, made by a program. A record, not")
    assert f"Messages 3–{last}: " in removal.summary
    assert contents(talk)[2] == removal.summary


def test_a_window_says_which_note_covers_a_message(talk: Session) -> None:
    last = talk.compress(max_tokens=1_000).ids[-1].removeprefix("m")
    talk.build(budget=20_000)
    assert talk.why("m3").decision.because == f"the note at message {last} covers it, until it is restored"
    talk.forget("m40", erase=False)
    talk.build(budget=20_000)
    assert talk.why("m40").decision.because == "left out by pruning or on request, until restored"


def test_compressing_again_compresses_nothing_new(talk: Session) -> None:
    talk.compress(max_tokens=1_000)
    before = contents(talk)
    again = talk.compress(max_tokens=1_000)
    assert (again.ids, again.original, contents(talk)) == ((), again.final, before)


def test_what_fits_is_left_alone(talk: Session) -> None:
    assert talk.compress() == Removal(ids=(), original=talk.stats().tokens, final=talk.stats().tokens)


@pytest.fixture
def long(session: Session) -> Session:
    """About 26,000 tokens, a decision in every tenth round."""
    for number in range(200):
        decided = f"We decided on version {number} of the library. " if number % 10 == 0 else ""
        session.add("user", f"{decided}Round {number}: {TOPIC}, why?")
        session.add("assistant", f"Module {number} was read: {TOPIC}. " * 5)
    session.add("user", "What is next?")
    session.add("assistant", "The release.")
    return session


@pytest.mark.parametrize("asked", [20_000, 10_000, 6_000])
def test_no_more_is_compressed_than_requested(long: Session, asked: int) -> None:
    removal = long.compress(max_tokens=asked)
    assert 0.9 * 0.8 * asked <= removal.final <= 0.8 * asked
    assert long.build(budget=100_000).tokens == removal.final + 3
    assert removal.unreached == ""
    assert contents(long)[-2:] == ["What is next?", "The release."]


def test_notes_are_small_enough_for_small_windows(long: Session) -> None:
    long.compress(max_tokens=6_000)
    assert all(foveal.count_tokens(note) <= 300 for note in notes(long))
    for preset in ("recent", "openscroll", "fifth"):
        assert long.build(budget=1_000, preset=preset).tokens > 500


def test_notes_contain_every_decision_of_the_messages_they_cover(long: Session) -> None:
    long.compress(max_tokens=4_000)
    shown = "\n".join(contents(long))
    assert all(f"We decided on version {number} of the library." in shown for number in range(0, 200, 10))


def test_a_smaller_number_compresses_further_what_is_still_verbatim(long: Session) -> None:
    first, second = long.compress(max_tokens=20_000), long.compress(max_tokens=8_000)
    assert first.final == second.original
    assert set(first.ids).isdisjoint(second.ids)
    assert second.final <= 6_400


def test_a_number_that_cannot_be_reached_is_reported_with_the_reasons(long: Session) -> None:
    removal = long.compress(max_tokens=300)
    head = f"{removal.final:,} tokens are left, 300 were asked for: the rest is notes ("
    assert removal.unreached.startswith(head)
    assert "the newest exchange (15)" in removal.unreached
    assert long.compress(max_tokens=300).unreached == removal.unreached


def test_turns_of_nothing_but_decisions_stay_as_they_are(session: Session) -> None:
    decided = [f"We decided on version {number} of the library." for number in range(100)]
    session.extend([{"role": "user", "content": text} for text in decided])
    assert session.compress(max_tokens=300).ids == ()
    assert contents(session) == decided


def test_what_is_past_its_age_is_compressed_however_much_room_there_is(session: Session) -> None:
    for number in range(12):
        session.add("user", f"Message {number}: {TOPIC}, day after day after day.", timestamp=1_000.0)
    session.add("user", "What is next?")
    assert len(session.compress().ids) == 11  # the first request stays


def test_a_share_under_one_half_from_which_on_a_window_is_full_compresses_earlier(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db", numbers={"fifth": {"full_at": 0.4}}) as fov:
        session = fov.session("early", model="gpt-5")
        session.extend([{"role": "user", "content": f"{n}: {TOPIC}"} for n in range(60)])
        assert session.compress().ids == ()
        assert session.compress(1_000).final <= 400


def test_what_scores_low_goes_before_what_is_older_while_space_is_needed(session: Session) -> None:
    for number in range(40):
        session.add("user", (TOPIC if number < 20 else f"The canteen had soup {number}. " * 3), timestamp=1e9)
    session.add("user", f"Why is it that {TOPIC}?")
    assert session.compress(900).ids[0] == "m21"


def test_pins_system_prompts_and_the_open_turn_stay(talk: Session) -> None:
    talk.pin("m6")
    talk.compress(max_tokens=60)
    found = contents(talk)
    assert {"Be brief.", "What is next?"} <= set(found)
    assert sum(text.startswith("Round 2: ") for text in found) == 1
    assert len(notes(talk)) == 2  # one on each side of the pin


def test_calls_and_their_results_leave_together(session: Session) -> None:
    session.add("user", "list the files")
    session.extend(
        [
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "a.txt b.txt " * 400},
            {"role": "assistant", "content": "There are two files in it."},
        ]
    )
    session.add("user", "thanks, and now?")
    assert {"m2", "m3"} <= set(session.compress(max_tokens=400).ids)


def test_one_note_never_covers_two_tasks(session: Session) -> None:
    for name in ("one", "two"):
        session.start_task(name)
        for number in range(10):
            session.add("user", f"{name} {number}: {TOPIC}, and I would like to know why that happens.")
        session.restore()
    session.add("user", "What is next?")
    session.compress(max_tokens=100)
    assert len(notes(session)) == 2


def test_everything_can_be_recalled_and_restored(talk: Session) -> None:
    before = contents(talk)
    removal = talk.compress(max_tokens=400)
    assert talk.recall(removal.ids[0])["content"].startswith("Round 0")
    assert talk.restore() == removal.ids
    assert contents(talk) == before


def test_restoring_one_message_restores_all_that_its_note_covers(talk: Session) -> None:
    removal = talk.compress(max_tokens=400)
    assert talk.restore(removal.ids[3]) == removal.ids
    assert notes(talk) == []


def test_restoring_one_summarized_message_leaves_no_stale_note(talk: Session) -> None:
    talk.pin("m6")
    removal = talk.summarize(keep=5)
    assert talk.restore("m3") == removal.ids
    assert notes(talk) == []


def test_restoring_leaves_other_notes_alone(talk: Session) -> None:
    talk.pin("m12")
    talk.compress(max_tokens=60)
    first, _ = notes(talk)
    talk.restore("m30")
    assert notes(talk) == [first]


def test_leaving_out_the_message_that_carries_a_note_keeps_the_note(talk: Session) -> None:
    removal = talk.compress(max_tokens=400)
    talk.forget(removal.ids[-1], erase=False)
    assert notes(talk) == [removal.summary]


def test_a_summary_of_notes_counts_the_messages_behind_them(talk: Session) -> None:
    talk.compress(max_tokens=1_000)
    talk.summarize(keep=1)
    assert "Previous 40 messages: 20 user messages, 20 model responses" in contents(talk)[1]


@pytest.mark.parametrize("which", [0, 5, -1])
def test_a_note_is_rewritten_when_a_message_it_covers_is_erased(talk: Session, which: int) -> None:
    removal = talk.compress(max_tokens=400)
    erased = removal.ids[which]
    text = talk.recall(erased)["content"]
    talk.forget(erased)
    (note,) = notes(talk)
    assert (text in note, "by the model" in note) == (False, True)
    assert len(talk.restore()) == len(removal.ids) - 1


def test_a_note_of_counts_stays_one_when_a_message_it_covers_is_erased(talk: Session) -> None:
    removal = talk.summarize(keep=5)
    talk.forget(removal.ids[-1])
    (note,) = notes(talk)
    assert f"Previous {len(removal.ids) - 1} messages" in note


def test_a_mean_ratio_under_two_is_flagged(talk: Session) -> None:
    found = talk.stats()
    low = [replace(found, compression=mean).ratio_low for mean in (None, 1.99, 2.0)]
    assert low == [False, True, False]


def test_levels_are_reported_with_their_budgets(talk: Session) -> None:
    before = {slot.name: slot.used for slot in talk.stats().levels}
    talk.compress(max_tokens=400)
    after = {slot.name: slot.used for slot in talk.stats().levels}
    assert before["session"] == 0 < after["session"] < before["working"] - after["working"]
    window = talk.build(preset="fifth", budget=1_000)
    assert talk.stats().levels == window.manifest.slots


def test_compressing_is_reported_with_its_numbers(fov: Foveal, talk: Session) -> None:
    events: list[Event] = []
    fov.subscribe(events.append)
    removal = talk.compress(max_tokens=400)
    (event,) = [each for each in events if isinstance(each, Reported)]
    payload = {"compressed": len(removal.ids), "original": removal.original, "final": removal.final}
    assert (event.name, event.payload) == ("context:compressed", payload)


def test_a_budget_of_zero_is_refused(talk: Session) -> None:
    with pytest.raises(InputError, match="`max_tokens` is 0"):
        talk.compress(0)


def test_notes_survive_a_restart(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as fov:
        session = fov.session("work", model="gpt-5")
        session.extend([{"role": "user", "content": f"{n}: {TOPIC}"} for n in range(30)])
        removal = session.compress(max_tokens=300)
    with Foveal(tmp_path / "f.db") as fov:
        again = fov.session("work")
        assert (notes(again), again.compress(max_tokens=300).ids) == ([removal.summary], ())
        assert again.stats().summaries == 1


def test_async_callers_compress_too(talk: Session) -> None:
    assert asyncio.run(talk.acompress(400)).ids


# Where a model writes summaries

WRITTEN = "The login in src/auth.js loses its cookie, says the model."


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Reply(text=WRITTEN)) as server:
        yield server


@pytest.fixture
def written(server: ModelServer, tmp_path: Path) -> Iterator[Session]:
    """A session whose summaries a model writes, with 30 messages in a task and an answer."""
    with Foveal(tmp_path / "f.db", summary_url=server.url, summary_model="small") as fov:
        session = fov.session("written", model="gpt-5")
        session.start_task("fix the login")
        session.extend([{"role": "user", "content": TOPIC} for _ in range(30)])
        session.add("assistant", "Done.")
        yield session


def test_a_model_is_waited_for(written: Session) -> None:
    assert WRITTEN in written.compress(max_tokens=300).summary


def test_a_model_is_not_asked_twice_for_the_same(server: ModelServer, written: Session) -> None:
    written.compress(max_tokens=300)
    written.restore()
    written.compress(max_tokens=300)
    assert len(server.received) == 1


def test_a_model_writes_the_summary_of_a_task(written: Session) -> None:
    assert written.complete_task().startswith(WRITTEN)


def test_an_extract_is_used_when_the_model_fails(written: Session, server: ModelServer) -> None:
    server.__exit__(None, None, None)
    removal = written.compress(max_tokens=300)
    assert (bool(removal.ids), WRITTEN in removal.summary) == (True, False)
