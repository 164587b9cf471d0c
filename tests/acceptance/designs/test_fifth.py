"""The Fifth context manager as its design describes it, run end to end with the preset `fifth`.

Four memory levels, one score, everything stored. Memory that is too full is compressed without a request, and
what the conversation refers to is retrieved.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands import CommandLine
from foveal import Foveal, Session
from foveal.events import Event, Reported
from foveal.window import Slot

BUDGET = 3_000
LOGIN = "the login flow of src/auth.js drops the session cookie when the token expires"
ERROR = "ConnectionError: replica refused the handshake"
CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
LOG = "GET /login 302 from the balancer to the replica, nothing unusual. " * 60


@pytest.fixture
def fov(tmp_path: Path) -> Iterator[Foveal]:
    with Foveal(tmp_path / "fifth.db") as fov:
        yield fov


@pytest.fixture
def agent(fov: Foveal) -> Session:
    """A system prompt, a task and 60 messages about it."""
    session = fov.session("agent", model="gpt-5", preset="fifth")
    session.add("system", "You are a careful engineer. Never push to main.")
    session.start_task("repair the login")
    for step in range(30):
        session.add("user", f"Step {step}: {LOGIN}; I would like to know what happens in function {step}.")
        session.add("assistant", f"Step {step}: function {step} was read; {LOGIN}, as reported.")
    session.add("user", "We decided to sign the tokens with RS256.")
    session.add("assistant", "Done: src/auth.js signs with RS256.")
    return session


def ask(session: Session, question: str, budget: int = BUDGET) -> str:
    """What the window for this question shows."""
    session.add("user", question)
    return "\n".join(str(each["content"]) for each in session.build(budget=budget).messages)


def levels(session: Session) -> dict[str, Slot]:
    return {slot.name: slot for slot in session.stats().levels}


def look(session: Session, result: str) -> None:
    session.extend(
        [
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": result},
        ]
    )


def test_16_000_tokens_have_levels_of_2_000_4_000_8_000_and_the_rest(agent: Session) -> None:
    agent.build(budget=16_000)
    assert [(name, slot.allotted) for name, slot in levels(agent).items()] == [
        ("permanent", 2_000),
        ("session", 4_000),
        ("working", 8_000),
        ("volatile", 2_000),
    ]


def test_memory_that_is_over_80_percent_full_is_compressed_without_a_request(
    fov: Foveal, agent: Session
) -> None:
    events: list[Event] = []
    fov.subscribe(events.append)
    shown, stats = ask(agent, "What is next?"), agent.stats()
    assert "context:compressed" in [event.name for event in events if isinstance(event, Reported)]
    assert stats.percent <= 80
    assert (stats.messages, stats.summaries > 0, stats.stand_ins > 0) == (64, True, True)
    assert stats.last_compression is not None
    assert (stats.compression or 0) >= 2
    assert not stats.ratio_low
    assert "Never push to main" in shown
    assert shown.endswith("What is next?")


def test_summaries_fill_session_memory_and_recent_messages_working_memory(agent: Session) -> None:
    ask(agent, "What is next?")
    found = levels(agent)
    assert 0 < found["permanent"].used <= found["permanent"].allotted
    assert found["session"].used > 0
    assert found["session"].used < found["working"].used
    assert sum(slot.used for slot in found.values()) <= BUDGET


def test_decisions_survive_compression_and_originals_can_be_recalled(agent: Session) -> None:
    for round in range(40):
        ask(agent, f"Round {round}: {LOGIN}, why is that?")
    assert "We decided to sign the tokens with RS256." in ask(agent, "And now?")
    assert agent.recall("m2")["content"].startswith("Step 0:")
    agent.restore()
    assert not [entry for entry in agent.entries() if entry.absence]


def test_a_session_of_any_length_stays_within_the_budget(agent: Session) -> None:
    sizes = []
    for round in range(60):
        agent.add("user", f"Round {round}: {LOGIN}, why is that? Please read module {round} once more.")
        sizes.append(agent.build(budget=BUDGET).tokens)
        agent.add("assistant", f"Round {round}: module {round} was read; {LOGIN}, as before.")
    assert max(sizes) <= BUDGET
    assert levels(agent)["working"].used > 0.2 * BUDGET  # recent messages are not compressed away


def test_the_same_session_gives_the_same_window(agent: Session, tmp_path: Path, fov: Foveal) -> None:
    agent.add("user", "What is next?")
    fov.backup(tmp_path / "copy.db")
    with Foveal(tmp_path / "copy.db") as copy:
        again = copy.session("agent").build(budget=BUDGET, now=2e9)
        assert again.messages == agent.build(budget=BUDGET, now=2e9).messages


def test_an_old_task_that_is_referred_to_returns_as_its_summary(agent: Session) -> None:
    agent.complete_task()
    agent.start_task("write the report")
    for page in range(40):
        ask(agent, f"Page {page} of the report needs a paragraph on costs and one on the schedule.")
    agent.summarize(keep=4)
    shown = ask(agent, "What was the outcome of task 1?", budget=1_500)
    assert "task 1, “repair the login” is referred to" in shown
    assert "RS256" in shown


def test_receiving_a_task_retrieves_what_was_done_on_it_before(agent: Session) -> None:
    agent.complete_task()
    for page in range(40):
        ask(agent, f"Page {page} of the report needs a paragraph on costs and one on the schedule.")
    agent.summarize(keep=4)
    agent.start_task("check the login again")
    assert "task 1, “repair the login” is referred to" in ask(agent, "Please go on.", budget=1_500)


def test_an_error_that_repeats_returns_with_its_earlier_resolution(agent: Session) -> None:
    agent.add("user", ERROR)
    agent.add("assistant", "The replica is fixed now, I raised max_connections in pool.toml.")
    for page in range(60):
        ask(agent, f"Page {page} of the report needs a paragraph on costs and one on the schedule.")
    shown = ask(agent, f"It fails again:\n{ERROR}")
    assert "an error occurs again" in shown
    assert "max_connections in pool.toml" in shown


def test_a_past_topic_that_is_mentioned_is_expanded(agent: Session) -> None:
    agent.add("user", "Which printer did the office buy?")
    agent.add("assistant", "The office bought the LX-200, it stands on the third floor.")
    for page in range(60):
        ask(agent, f"Page {page} of the report needs a paragraph on costs and one on the schedule.")
    assert "LX-200, it stands on the third floor" in ask(agent, "What did we say about printers?")
    assert len(agent.stats().retrieved) == 1


def test_a_new_task_completes_the_one_before_and_clears_volatile_memory(agent: Session) -> None:
    look(agent, LOG)
    agent.add("assistant", "The log shows nothing.")
    assert levels(agent)["volatile"].used > 0
    agent.start_task("write the report")
    assert [task.summary is not None for task in agent.tasks()] == [True, False]
    shown = ask(agent, "Which chapters does it need?")
    assert "nothing unusual" not in shown
    assert levels(agent)["volatile"].used == 0
    assert "task 1, “repair the login”" in shown


def test_long_output_is_volatile_and_dropped_when_space_is_needed(agent: Session) -> None:
    look(agent, LOG)
    agent.add("assistant", "The log shows nothing.")
    shown = ask(agent, "What is next?", budget=1_200)
    assert "nothing unusual" not in shown
    assert "Step 29" in shown


SETTINGS = {"FOVEAL_PRESET": "fifth", "FOVEAL_MODEL": "gpt-5"}


def run(shell: CommandLine, *arguments: str, stdin: str = "") -> Any:
    done = shell.foveal(*arguments, stdin=stdin, **SETTINGS)
    assert done.code == 0, done.err
    return done.out


def test_the_commands_of_the_design(shell: CommandLine) -> None:
    run(shell, "add", "system", "Never push to main.")
    messages = [f'{{"role": "user", "content": "Step {step}: {LOGIN}, why?"}}' for step in range(60)]
    run(shell, "import", "-", stdin="\n".join(messages))
    run(shell, "add", "user", "Fix the bug in auth.js")
    window = run(shell, "build", "--budget", "1500")
    assert "Fix the bug in auth.js" in window
    stats = run(shell, "stats")
    for line in ("permanent", "session", "working", "volatile", "summaries", "× smaller", "just now", "%"):
        assert line in stats
    assert "compressed" in run(shell, "compress", "--max-tokens", "500")
