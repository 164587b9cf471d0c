"""Sessions without tool calls: a message of the model ends in a fenced command, the next is its output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import foveal
from foveal import Foveal
from foveal.window import Window
from tool_runs import history_with, said

JSON = dict[str, Any]
REQUEST = "Fix the login bug in auth.py. Never touch the migrations."
SECRET = "HUNTER2-XYZZY"
BUDGET = 3_000
COMMAND = 2 + 2 * 20
"""The position of the command whose output has the secret."""


def run(label: str = "bash", steps: int = 30) -> list[JSON]:
    found = [{"role": "system", "content": "Agent."}, said(REQUEST)]
    for number in range(steps):
        command = f"cat conf/file_{number}.py" + (f" # {SECRET}" if number == 21 else "")
        found.append({"role": "assistant", "content": f"Step {number}.\n```{label}\n{command}\n```"})
        values = "\n".join(f"value_{number}_{k} = {k * number}" for k in range(25))
        found.append(said((f"password = {SECRET}\n" if number == 20 else "") + values))
    return found


def text_of(window: Window) -> str:
    return "\n".join(str(message["content"]) for message in window.messages)


def windows_after(place: Path, position: int, *, erase: bool) -> Iterator[Window]:
    """The windows once a message is forgotten: the next one, one after a restart, one after new messages."""
    with Foveal(place, embedder="none") as fov:
        session = fov.session("s", model="gpt-5")
        session.extend(run())
        assert SECRET in text_of(session.build(budget=BUDGET))
        for seq in {COMMAND + 1, COMMAND + 2} - {position}:
            session.forget(session.entries()[seq].id, erase=erase)
            session.build(budget=BUDGET)
        session.forget(session.entries()[position].id, erase=erase)
        yield session.build(budget=BUDGET)
    with Foveal(place, embedder="none") as fov:
        session = fov.session("s", model="gpt-5")
        yield session.build(budget=BUDGET)
        session.extend([{"role": "assistant", "content": "Done."}, said("Go on with the other file.")])
        yield session.build(budget=BUDGET)


@pytest.mark.parametrize("erase", [True, False])
@pytest.mark.parametrize("position", [COMMAND + 1, COMMAND + 2])
def test_what_is_forgotten_of_a_command_or_an_output_is_in_no_later_window(
    tmp_path: Path, position: int, erase: bool
) -> None:
    for window in windows_after(tmp_path / "f.db", position, erase=erase):
        assert SECRET not in text_of(window)
        assert REQUEST in text_of(window)


@pytest.mark.parametrize("erase", [True, False])
def test_a_command_whose_output_is_forgotten_has_no_result(erase: bool) -> None:
    with Foveal(":memory:", embedder="none") as fov:
        session = fov.session(model="gpt-5")
        session.extend(run())
        assert f"[{COMMAND + 1}] cat conf/file_20.py → " in text_of(session.build(budget=BUDGET))
        session.forget(session.entries()[COMMAND + 1].id, erase=erase)
        assert f"[{COMMAND + 1}] cat conf/file_20.py → no result" in text_of(session.build(budget=BUDGET))


@pytest.mark.parametrize("erase", [True, False])
def test_the_output_of_a_forgotten_command_is_not_what_the_user_said(erase: bool) -> None:
    with Foveal(":memory:", embedder="none") as fov:
        session = fov.session(model="gpt-5")
        session.extend(run())
        session.build(budget=BUDGET)
        session.forget(session.entries()[COMMAND].id, erase=erase)
        window = session.build(budget=BUDGET)
        assert f"[{COMMAND + 2} user]" not in text_of(window)
        requests = [each.first for each in window.manifest.decisions if each.code == "newest_user"]
        assert requests == [1]


@pytest.mark.parametrize("label", ["", "bash", "python", "mswea_bash_command", "tool_code"])
def test_whatever_the_fences_are_called_an_output_is_no_request(label: str) -> None:
    window = foveal.fit(run(label), model="gpt-5", budget=BUDGET)
    codes = {each.first: each.code for each in window.manifest.decisions}
    assert codes[1] == "newest_user"
    assert "standing_request" not in codes.values()
    assert "cat conf/file_3.py → " in text_of(window)


def test_one_answer_with_a_command_at_its_end_does_not_make_the_next_message_an_output() -> None:
    request = "It works. Never suggest sudo. Now design the importer for our invoices."
    chat = [said("How do I install it?"), {"role": "assistant", "content": "Run:\n```bash\nnpm install\n```"}]
    chat += [said(request), {"role": "assistant", "content": "Which format?"}, said("CSV.")]
    for number in range(60):
        chat.append({"role": "assistant", "content": f"Part {number} reads more columns of the feed. " * 9})
        chat.append(said("ok continue"))
    window = foveal.fit(chat, model="gpt-5", budget=2_000)
    assert {each.first: each.code for each in window.manifest.decisions}[2] == "standing_request"
    assert request in [message["content"] for message in window.messages]


def test_the_first_output_is_recognized_once_the_session_turns_out_to_have_a_text_protocol() -> None:
    history = history_with(run(steps=1))
    assert history.newest_words(3) == 3
    history = history_with(run(steps=2))
    assert history.newest_words(5) == 1
    assert history.requests(5) == (1,)
    assert [history.is_output(turn) for turn in (1, 3, 5)] == [False, False, True]


def test_a_tool_call_ends_the_text_protocol() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    called = {"role": "assistant", "content": None, "tool_calls": [call]}
    history = history_with([*run(steps=5), called, {"role": "tool", "tool_call_id": "c", "content": "a"}])
    assert not history.speaks_in_fences()
    assert history.speaks_in_fences(until=11)
