"""The format of a session: that of its first message that only one format has."""

from __future__ import annotations

from typing import Any

import pytest

from foveal import Foveal
from foveal.model import Format

HELLO = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
FIRST: dict[Format, list[dict[str, Any]]] = {
    "openai": [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c", "content": "4"},
    ],
    "responses": [
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "4"},
    ],
    "anthropic": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "4"}]},
    ],
}
"""The first messages that only one format has."""


@pytest.mark.parametrize("model", ["", "gpt-5", "claude-sonnet-4-5"])
@pytest.mark.parametrize("format", FIRST)
@pytest.mark.parametrize("together", [True, False])
def test_a_session_has_the_format_of_its_first_unambiguous_message(
    fov: Foveal, model: str, format: Format, together: bool
) -> None:
    session = fov.session("s", model=model)
    history = [*HELLO, *FIRST[format], {"role": "user", "content": "thanks"}]
    for messages in [history] if together else [[message] for message in history]:
        session.extend(messages)
    window = session.build(budget=10_000)
    assert (session.format, window.messages) == (format, history)


def test_a_system_message_among_plain_first_turns_keeps_its_shape(fov: Foveal) -> None:
    session = fov.session("s", model="gpt-5")
    history = [{"role": "developer", "content": "Be kind."}, *HELLO, *FIRST["responses"]]
    for message in history:
        session.extend([message])
    assert session.build(budget=10_000).messages == history


def test_until_a_message_decides_the_windows_for_a_claude_model_are_anthropics(fov: Foveal) -> None:
    session = fov.session("s", model="claude-sonnet-4-5")
    session.extend(HELLO[:1])
    window = session.build(budget=10_000, system="Be kind.")
    assert (window.format, window.system, window.messages) == ("anthropic", "Be kind.", HELLO[:1])


def test_a_system_prompt_among_the_messages_stays_there(fov: Foveal) -> None:
    session = fov.session("s", model="claude-sonnet-4-5")
    history = [{"role": "system", "content": "Be kind."}, *HELLO]
    session.extend(history)
    assert session.build(budget=10_000).messages == history


def test_a_client_that_syncs_is_not_taken_for_another_when_the_format_is_known(fov: Foveal) -> None:
    session = fov.session("s", model="claude-sonnet-4-5")
    first = session.sync(HELLO[:1])
    assert len(session.sync([*HELLO, *FIRST["openai"]])) == 3
    assert session.branch == fov.session("s").branch
    assert session.recall(first[0]) == HELLO[0]


def test_items_with_tools_and_settings_are_in_every_window_at_their_place(fov: Foveal) -> None:
    tools = {"type": "additional_tools", "role": "developer", "tools": [{"name": "exec"}]}
    update = {"type": "configuration_update", "reasoning": {"effort": "low"}}
    session = fov.session("s", model="gpt-5")
    session.extend([tools, {"role": "developer", "content": "Be kind."}, *HELLO])
    session.extend([update, *({"role": "user", "content": f"line {n} " * 20} for n in range(50))])
    for preset in ("recent", "foveal", "omar", "openscroll", "fifth", "penguin", "reploid"):
        found = session.build(budget=600, preset=preset).messages
        assert found[0] == tools
        assert update in found[1:-1]


def test_an_added_system_message_is_the_prompt_only_at_the_beginning(fov: Foveal) -> None:
    session = fov.session("s", model="claude-sonnet-4-5")
    session.add("system", "Be kind.")
    session.add("user", "hello")
    session.add("system", "Be brief.")
    window = session.build(budget=10_000, format="anthropic")
    assert window.system == "Be kind."
    assert [message["content"] for message in window.messages] == [
        "hello",
        "[system message, not from the user]\nBe brief.",
    ]
