"""What `why` promises: the numbers that it names are true, and where there is none it says so."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

import foveal
from foveal import Foveal, Session
from foveal.pipeline import fit as pipeline
from foveal.pipeline.explain import decision_about
from foveal.presets import PRESETS, find
from foveal.session.build.build import stored_build
from foveal.session.build.manifest_json import read_manifest
from foveal.session.build.values import Gathered
from foveal.session.fit import history_of
from foveal.session.inspect.why import LONG, WITHIN, Rebuild, Why
from foveal.session.target import target_for
from foveal.wire import load

LEVELS = "levels"
"""A preset that selects as `fifth` does and leaves the history as it is."""
IMPORTANCE = "importance"
"""Likewise for `reploid`."""
UNMANAGED = {"fifth": LEVELS, "reploid": IMPORTANCE}
NOW = 1_750_000_000.0


def messages(seed: int, turns: int = 25) -> list[dict[str, Any]]:
    """A session with tool calls, of turns of many sizes."""
    chance = random.Random(seed)
    found: list[dict[str, Any]] = [{"role": "system", "content": "You fix bugs."}]
    for n in range(turns):
        found.append({"role": "user", "content": f"look at file_{n}.py " + "word " * chance.randint(1, 60)})
        if chance.random() < 0.5:
            call = {"name": "read", "arguments": f'{{"path": "file_{n}.py"}}'}
            found.append({"role": "assistant", "content": None,
                          "tool_calls": [{"id": f"c{n}", "type": "function", "function": call}]})  # fmt: skip
            found.append({"role": "tool", "tool_call_id": f"c{n}",
                          "content": f"error in line_{n} " + "out " * chance.randint(1, 150)})  # fmt: skip
        found.append({"role": "assistant", "content": f"file_{n}.py: " + "text " * chance.randint(1, 60)})
    return [*found, {"role": "user", "content": "And now?"}]


def talk(count: int = 30) -> list[dict[str, Any]]:
    """Plain messages, each a turn of its own, all of one moment."""
    chance = random.Random(5)
    roles = ("user", "assistant")
    return [
        {"role": roles[n % 2], "content": f"note {n} " + "word " * chance.randint(1, 60), "timestamp": NOW}
        for n in range(count + 1)
    ]


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Foveal]:
    for preset, name in UNMANAGED.items():
        monkeypatch.setitem(PRESETS, name, replace(PRESETS[preset], name=name, manages=""))
    with Foveal(":memory:", embedder="none") as fov:
        yield fov


@pytest.fixture
def quiet(memory: Foveal) -> Session:
    return memory.session("work", model="gpt-5")


def shown(session: Session, found: Why, budget: int) -> tuple[str, str]:
    manifest = session.build(budget=budget, preset=found.preset, now=NOW).manifest
    decision = decision_about(manifest, found.place)
    assert decision
    return decision.verdict, decision.detail


def flipped(found: Why, outcome: tuple[str, str]) -> bool:
    if found.decision.verdict == "left out":
        return outcome[0] == "kept"
    whole = outcome == ("kept", "full")
    return whole if found.decision.detail != "full" else not whole


def _alike(memory: Foveal, id: str, budget: int) -> list[Session]:
    """New sessions with this window: a session keeps its layout for a budget that is nearly the same."""
    found = [memory.session(f"{id} {part}", model="gpt-5") for part in ("first", "fewer", "enough")]
    for session in found:
        session.extend(messages(7))
        memory.settle()  # what is read in the background may stand in a window
        session.build(budget=budget, preset="foveal", now=NOW)
    return found


@pytest.mark.parametrize("preset", [UNMANAGED.get(each, each) for each in PRESETS])
def test_with_those_tokens_the_decision_is_another_and_with_one_less_it_is_not(
    memory: Foveal, quiet: Session, preset: str
) -> None:
    ids, chance = quiet.extend(messages(7)), random.Random(preset)
    memory.settle()  # what is read in the background may stand in a window
    named = 0
    for id in chance.sample(ids, 8):
        budget = chance.randint(500, 1800)
        first, fewer, enough = _alike(memory, id, budget) if preset == "foveal" else (quiet, quiet, quiet)
        first.build(budget=budget, preset=preset, now=NOW)
        found = first.why(id)
        if found.tokens is not None:
            one, named = (1 if found.tokens > 0 else -1), named + 1
            assert flipped(found, shown(enough, found, budget + found.tokens)), found
            assert not flipped(found, shown(fewer, found, budget + found.tokens - one)), found
    assert named >= 6


def prioritized(given: Sequence[dict[str, Any]], place: int, priority: float, budget: int) -> str:
    """What becomes of a message that is given a priority of its own, with nothing stored."""
    loaded = load(given, format="plain")
    own = [replace(m, priority=priority) if at == place else m for at, m in enumerate(loaded.messages)]
    target = target_for("gpt-5", "plain")
    order = target.order(find("omar"), budget=budget, tools="", task="", now=NOW)
    manifest = pipeline.fit(history_of(replace(loaded, messages=tuple(own)), target), order).manifest
    decision = decision_about(manifest, place)
    assert decision
    return decision.verdict


def test_with_that_score_it_is_in_and_with_the_next_lower_one_it_is_not(quiet: Session) -> None:
    given = talk()
    ids = quiet.extend(given)
    named = 0
    for id in ids[:-1]:
        quiet.build(budget=400, preset="omar", now=NOW)
        found = quiet.why(id)
        if found.score is not None and found.decision.score:
            named += 1
            own = found.score - found.decision.score.parts["recency"]
            assert prioritized(given, found.place, own, 400) == "kept"
            assert prioritized(given, found.place, own - 0.1, 400) == "left out"
    assert named > 5


@pytest.mark.parametrize("preset", [IMPORTANCE, LEVELS])
def test_presets_that_score_name_a_score_and_the_others_none(quiet: Session, preset: str) -> None:
    ids = quiet.extend(messages(3))
    quiet.build(budget=900, preset=preset, now=NOW)
    found = [quiet.why(id) for id in ids[1:8]]
    out = [each for each in found if each.decision.verdict == "left out"]
    assert all(each.score is not None for each in out)
    assert all("with a score of " in each.otherwise for each in out)
    quiet.build(budget=900, preset="recent", now=NOW)
    assert quiet.why(ids[3]).score is None


@pytest.mark.parametrize("preset", ["omar", LEVELS, IMPORTANCE])
def test_the_score_flips_the_decision_in_the_rebuild(quiet: Session, preset: str) -> None:
    ids = quiet.extend(messages(11))
    quiet.build(budget=900, preset=preset, now=NOW)
    state = quiet._state
    record = stored_build(state, None)
    for id in random.Random(2).sample(ids[1:40], 3):
        found = quiet.why(id)
        if found.score is not None:
            with state.reading():
                rebuild = Rebuild(state, record, read_manifest(state, record), Gathered())
                made = rebuild.manifest(900, scores=(found.place, found.score))
            assert made
            decision = decision_about(made, found.place)
            assert decision
            assert decision.verdict == "kept"


def test_what_must_be_in_is_in_with_every_budget(quiet: Session) -> None:
    ids = quiet.extend(messages(1))
    quiet.pin(ids[5])
    quiet.build(budget=1_000, preset="omar")
    for id in (ids[0], ids[5], ids[-1]):
        assert (quiet.why(id).tokens, quiet.why(id).otherwise) == (None, "it is in with every budget")


def test_what_was_left_out_on_request_needs_no_tokens_but_to_be_restored(quiet: Session) -> None:
    ids = quiet.extend(messages(1))
    quiet.forget(ids[5], erase=False)
    quiet.build(budget=1_000)
    assert quiet.why(ids[5]).otherwise == "`restore` lets it in again"


def test_a_build_with_a_task_is_explained_as_far_as_its_record_goes(quiet: Session) -> None:
    ids = quiet.extend(messages(1))
    quiet.build(budget=900, preset=LEVELS, task="file_3.py and its error in line_3", now=NOW)
    found = quiet.why(ids[4])
    assert found.tokens is None
    assert "the exact number is unknown" in found.otherwise


def test_an_older_build_is_explained_with_the_history_of_its_time(quiet: Session) -> None:
    ids = quiet.extend(messages(1))
    quiet.build(budget=900, preset=IMPORTANCE, now=NOW)
    before = quiet.why(ids[4])
    quiet.extend(messages(2)[1:])
    quiet.build(budget=5_000, preset="recent")
    assert quiet.why(ids[4], build=1) == before


def test_tools_and_a_system_prompt_given_to_that_build_are_counted(quiet: Session) -> None:
    ids = quiet.extend(messages(1))
    tools = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
    quiet.build(budget=900, preset="omar", tools=tools, system="Be brief. " * 20, now=NOW)
    found = next(why for id in ids if (why := quiet.why(id)).decision.verdict == "left out")
    assert found.tokens is not None
    again = quiet.build(
        budget=900 + found.tokens, preset="omar", tools=tools, system="Be brief. " * 20, now=NOW
    )
    decision = decision_about(again.manifest, found.place)
    assert decision
    assert decision.verdict == "kept"


def test_asking_stores_nothing(quiet: Session) -> None:
    ids = quiet.extend(messages(1))
    quiet.build(budget=900, preset="openscroll", now=NOW)
    before = (quiet.stats(), quiet.manifest())
    quiet.why(ids[4])
    assert (quiet.stats(), quiet.manifest()) == before


def test_the_text_says_it_in_80_columns(quiet: Session) -> None:
    ids = quiet.extend(messages(1))
    quiet.build(budget=900, preset=IMPORTANCE, now=NOW)
    found = quiet.why(ids[4])
    lines = found.text.splitlines()
    assert lines[0] == "message 5, preset importance"
    assert max(map(len, lines)) <= 80
    assert found.otherwise in " ".join(" ".join(lines).split())


def test_a_later_message_and_an_unknown_one_are_errors(quiet: Session) -> None:
    quiet.extend(messages(1))
    quiet.build(budget=900)
    late = quiet.add("user", "one more")
    for id, what in ((late, "came after that build"), ("m999", "no message 'm999'")):
        with pytest.raises(foveal.NotFoundError, match=what):
            quiet.why(id)


@pytest.fixture
def long(memory: Foveal) -> Session:
    """A session of which a rebuild is work."""
    session = memory.session("long", model="gpt-5")
    session.extend(talk(LONG + 200))
    return session


@pytest.mark.parametrize("preset", ["recent", "omar"])
def test_in_a_long_session_the_tokens_are_right_to_a_fiftieth(long: Session, preset: str) -> None:
    long.build(budget=20_000, preset=preset, now=NOW)
    found = long.why("m200")
    assert found.tokens
    enough, fewer = 20_000 + found.tokens, 20_000 + int(found.tokens * (1 - WITHIN)) - 1
    assert [flipped(found, shown(long, found, budget)) for budget in (enough, fewer)] == [True, False]


@pytest.mark.parametrize("preset", ["recent", "penguin", "foveal"])
def test_in_a_long_session_few_windows_are_built(long: Session, preset: str) -> None:
    long.build(budget=2_000, preset=preset, now=NOW)
    built: list[int] = []
    found = long.why("m600", progress=lambda done, _: built.append(done))
    assert len(built) <= 25
    assert found.tokens is not None or "larger ones were not tried" in found.otherwise


def test_no_budget_is_tried_that_the_model_would_refuse(memory: Foveal) -> None:
    session = memory.session("small", model="gpt-4")
    session.extend(talk(LONG + 200))
    session.build(budget=8_000, preset="recent", now=NOW)
    limit = session._state.target().most
    assert f"not with a budget of {limit:,} tokens; larger ones were not tried" in session.why("m3").otherwise
    session.build(budget=limit, preset="recent", now=NOW)
    assert "a larger budget was not tried: the model takes no more" in session.why("m3").otherwise
