"""Handles in windows: shown to agents that can use them and to no others, each good, within the budget."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foveal
from foveal import presets, wire
from foveal.errors import BudgetError, InputError
from foveal.model import Format
from foveal.window import Window
from strategies import FORMATS, histories

FEWER = settings(max_examples=max(1, settings.default.max_examples // 25))
PRESETS = sorted(presets.PRESETS)
NUMBERS = {"recent": {"short_forms": True, "full_share": 0.25, "short_least": 8}}
_HANDLE = re.compile(r"fv-[0-9a-f]{20}")
_MARK = re.compile(r"\[recall (fv-[0-9a-f]{20})(?: to (fv-[0-9a-f]{20}))?\]")


def marked(window: Window) -> list[str]:
    return [handle for pair in _MARK.findall(json.dumps(window.messages)) for handle in pair if handle]


def named(window: Window) -> list[str]:
    return _HANDLE.findall(json.dumps(window.messages))


def fitted(history: Any, budget: int, format: Format, preset: str) -> Window | None:
    tools = wire.tool_definitions(format)
    try:
        return foveal.fit(
            history, budget=budget, format=format, preset=preset, numbers=NUMBERS, tools=tools, now=0.0
        )
    except (BudgetError, InputError):
        return None


@pytest.mark.soak
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("preset", PRESETS)
@FEWER
@given(data=st.data())
def test_windows_with_handles_keep_the_laws(preset: str, format: Format, data: st.DataObject) -> None:
    tools, history = wire.tool_definitions(format), data.draw(histories(format, broken=True))
    budget = foveal.count_tokens([], format=format, tools=tools) + data.draw(st.integers(100, 800))
    window = fitted(history, budget, format, preset)
    if window is None:
        return
    counted = foveal.count_tokens(window.messages, format=format, tools=tools)
    assert window.tokens == sum(window.manifest.parts.values()) == counted <= window.budget
    assert set(wire.check(window.request, format)) <= {"ends_with_assistant"}
    assert all(window.recall(handle) for handle in marked(window))


def looked(number: int) -> Iterator[dict[str, Any]]:
    """A file is read."""
    function = {"name": "read", "arguments": json.dumps({"path": f"file{number}.py"})}
    call = {"id": f"c{number}", "type": "function", "function": function}
    yield {"role": "assistant", "content": None, "tool_calls": [call]}
    yield {"role": "tool", "tool_call_id": f"c{number}", "content": f"x{number} = gateway()\n" * 60}


def talked(fov: foveal.Foveal, name: str) -> foveal.Session:
    """A session with summaries of every kind, a task, and a past that its question retrieves."""
    session = fov.session(name, model="gpt-5")
    session.start_task("set up the gateway")
    for number in range(24):
        session.add(
            "user", f"Look at file{number}.py: TypeError in gateway_{number} " + "of the parser " * 30
        )
        session.add("assistant", f"We decided to fix gateway_{number} with a lock. " + "It works now " * 30)
        session.extend(list(looked(number)), format="openai")
        if number == 8:
            session.complete_task()
    session.compress(max_tokens=3_000)
    session.add("user", "Do you remember the TypeError in gateway_3, file3.py?")
    return session


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with foveal.Foveal(tmp_path_factory.mktemp("recall") / "foveal.db", numbers=NUMBERS) as fov:
        yield talked(fov, "talk")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("preset", PRESETS)
def test_notes_with_handles_keep_the_laws_at_every_budget(
    talk: foveal.Session, preset: str, format: Format
) -> None:
    tools = talk.tools(format)
    for budget in range(900, 6_000, 850):
        window = talk.build(preset=preset, budget=budget, tools=tools, format=format)
        counted = foveal.count_tokens(window.messages, format=format, tools=tools, model="gpt-5")
        assert window.tokens == counted <= budget
        assert wire.check(window.request, format) == []
        assert all(window.recall(handle) for handle in marked(window))


@pytest.mark.parametrize("preset", PRESETS)
def test_an_agent_without_the_tool_sees_no_handle(talk: foveal.Session, preset: str) -> None:
    other = [tool for tool in talk.tools("openai") if wire.RECALL not in json.dumps(tool["function"]["name"])]
    for budget in (600, 1_500, 6_000):
        for tools in (None, other):
            assert named(talk.build(preset=preset, budget=budget, tools=tools, format="openai")) == []


@pytest.mark.parametrize("preset", PRESETS)
def test_an_agent_with_the_tool_sees_handles_that_are_good(talk: foveal.Session, preset: str) -> None:
    window = talk.build(preset=preset, budget=2_500, tools=talk.tools("openai"), format="openai")
    known = {entry.handle for entry in talk.entries()}
    assert marked(window)
    assert named(window) == marked(window)
    assert set(marked(window)) <= known
    assert window.tokens <= 2_500


def test_every_note_of_a_session_names_the_first_and_last_message_it_covers(talk: foveal.Session) -> None:
    window = talk.build(preset="recent", budget=20_000, tools=talk.tools("openai"), format="openai")
    noted = [entry for entry in talk.entries() if entry.noted_by is not None]
    ends = {entry.noted_by: [e.handle for e in noted if e.noted_by == entry.noted_by] for entry in noted}
    assert ends
    for handles in ends.values():
        assert f"[recall {handles[0]} to {handles[-1]}]" in json.dumps(window.messages)


def test_what_is_retrieved_names_where_it_is_from(talk: foveal.Session) -> None:
    window = talk.build(preset="fifth", budget=2_500, tools=talk.tools("openai"), format="openai")
    entries, places = talk.entries(), window.manifest.retrieved
    assert places
    assert {entries[each.first].handle for each in places} <= set(marked(window))


def test_a_short_form_leads_to_its_own_original() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c", "content": "line of the file\n" * 2_000}
    history = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    window = foveal.fit([*history, result], budget=1_000, tools=wire.tool_definitions("openai"))
    (handle,) = marked(window)
    assert window.recall(handle) == result
    assert window.messages[-1]["content"].endswith(f"[recall {handle}]")


def test_without_room_for_the_handle_the_text_still_fits() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c", "content": "line of the file\n" * 200}
    history = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        result,
    ]
    tools = wire.tool_definitions("openai")
    with pytest.raises(BudgetError) as failure:
        foveal.fit(history, budget=1, tools=tools)
    least = int(re.findall(r"raise `budget` to ([\d,]+)", failure.value.remedy)[0].replace(",", ""))
    assert marked(foveal.fit(history, budget=least, tools=tools)) == []


def test_every_turn_in_short_form_leads_to_its_original() -> None:
    history = [{"role": "user", "content": "go"}, *(each for number in range(9) for each in looked(number))]
    window = foveal.fit(
        history, budget=1_800, preset="recent", numbers=NUMBERS, tools=wire.tool_definitions("openai")
    )
    short = [decision for decision in window.manifest.kept if decision.detail == "trimmed"]
    assert len(short) > 3
    assert all(set(window.handles(decision)) & set(marked(window)) for decision in short)
