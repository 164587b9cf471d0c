"""NUL characters and lone surrogates do not stop an agent: they go in, and come back exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import foveal
from commands import CommandLine
from foveal import Foveal
from strategies import FORMATS

BAD = "\0\udc80"
CALL = {
    "id": f"c{BAD}",
    "type": "function",
    "function": {"name": f"read{BAD}", "arguments": json.dumps({"path": f"a{BAD}"})},
}
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": f"Be kind{BAD}."},
    {"role": "user", "content": f"Read the lighthouse{BAD} file.", "name": f"ann{BAD}"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": f"c{BAD}", "content": f"ELF{BAD} windmill {BAD}" * 20},
    {"role": "user", "content": [{"type": "text", "text": BAD}, {"type": f"new{BAD}", f"k{BAD}": BAD}]},
    {"role": "user", "content": f"I prefer tea{BAD}.", f"x{BAD}": {"y": [BAD]}},
]
PRESETS = ["recent", "foveal", "fifth", "omar", "openscroll", "penguin", "reploid"]


def check_sendable(window: foveal.Window) -> None:
    body = json.dumps(window.request, ensure_ascii=False)
    body.encode()
    assert "\\u0000" not in body.replace("\\\\", "")
    window.explain().encode()


def test_fit_shows_replacements_reports_them_once_a_message_and_recalls_the_originals() -> None:
    window = foveal.fit(HISTORY, budget=4_000)
    check_sendable(window)
    assert window.messages[0]["content"] == "Be kind\ufffd\ufffd."
    reported = [repair for repair in window.manifest.repairs if "U+FFFD" in repair.what]
    assert [repair.seq for repair in reported] == [0, 1, 2, 3, 4, 5]
    handles = [handle for decision in window.manifest.decisions for handle in window.handles(decision)]
    assert [window.recall(handle) for handle in handles] == HISTORY


@pytest.mark.parametrize("preset", PRESETS)
def test_a_session_stores_finds_builds_exports_and_backs_them_up(tmp_path: Path, preset: str) -> None:
    with Foveal(tmp_path / "a.db") as fov:
        session = fov.session("work")
        ids = session.extend(HISTORY)
        session.add("user", f"Remember the dovecote{BAD}", name=f"bo{BAD}", metadata={f"k{BAD}": BAD})
        assert session.sync([*HISTORY, {"role": "user", "content": f"More{BAD}"}])
        fov.settle()
        assert [session.recall(id) for id in ids] == HISTORY
        assert [hit.id for hit in session.search("windmill")] == [ids[3]]
        assert ids[1] in [hit.id for hit in session.search(f"lighthouse{BAD}")]
        for format in FORMATS:
            for task in ("", f"windmill{BAD}"):
                check_sendable(session.build(budget=4_000, preset=preset, format=format, task=task))
        tools = [{"type": "function", "function": {"name": "f", "description": BAD}}]
        check_sendable(session.build(budget=4_000, preset=preset, tools=tools, system=f"Hello{BAD}"))
        assert fov.verify().clean
        fov.backup(tmp_path / "b.db")
    with Foveal(tmp_path / "b.db") as fov:
        session = fov.session("work")
        assert [session.recall(id) for id in ids] == HISTORY
        check_sendable(session.build(budget=4_000, preset=preset))
        assert fov.verify().clean


def test_a_system_prompt_outside_the_messages_keeps_its_place(tmp_path: Path) -> None:
    bodies = [
        {"instructions": BAD, "input": [{"role": "user", "content": "hello"}]},
        {"system": [{"type": "text", "text": BAD}], "messages": [{"role": "user", "content": "hello"}]},
        {"systemInstruction": {"parts": [{"text": BAD}]}, "contents": [{"parts": [{"text": "hello"}]}]},
    ]
    for body in bodies:
        expected = json.loads(json.dumps(body).replace("\\u0000\\udc80", "\\ufffd\\ufffd"))
        assert foveal.fit(body, budget=1_000).request == expected


def test_the_command_line_adds_imports_and_exports_them(shell: CommandLine) -> None:
    assert shell.foveal("add", "user", b"abc\xff").code == 0
    assert shell.foveal("add", "user", "-", stdin=b"abc\0").code == 0
    assert shell.foveal("import", shell.write("chat.json", json.dumps(HISTORY))).code == 0
    exported = shell.foveal("export")
    assert exported.json[2:] == HISTORY
    assert shell.foveal("recall", "m1", "--json").json["content"] == "abc\udcff"
    assert shell.foveal("recall", "m2", "--json").json["content"] == "abc\0"
    built = shell.foveal("build", "--budget", "4000")
    assert built.code == 0
    assert "\ufffd" in built.out
