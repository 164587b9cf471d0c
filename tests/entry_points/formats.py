"""Every place for a text in the messages of every format."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from entry_points.library import BUDGET, nowhere
from entry_points.stories import SMALLER, Step, Story
from foveal import fit
from foveal.model import Format

JSON = dict[str, Any]
Make = Callable[[str], Any]
"""The messages, or the whole request, with the text in one place."""
_PICTURE = "data:image/png;base64,"


def _user(content: Any, **more: Any) -> JSON:
    return {"role": "user", "content": content, **more}


def _chat(*, content: Any = None, id: str = "c1", result: Any = "done", **function: Any) -> list[JSON]:
    call = {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}", **function}}
    return [
        _user("Fix it"),
        {"role": "assistant", "content": content, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": result},
        _user("And now?"),
    ]


_OPENAI: dict[str, Make] = {
    "text": lambda text: [_user(text)],
    "text part": lambda text: [_user([{"type": "text", "text": text}])],
    "many text parts": lambda text: [
        _user([{"type": "text", "text": text[at : at + 16]} for at in range(0, len(text), 16)])
    ],
    "system": lambda text: [{"role": "developer", "content": text}, _user("hi")],
    "name": lambda text: [_user("hi", name=text)],
    "role": lambda text: [{"role": text, "content": "hi"}],
    "refusal": lambda text: [_user("hi"), {"role": "assistant", "content": None, "refusal": text}],
    "reasoning": lambda text: [
        {"role": "assistant", "content": "hi", "reasoning_content": text},
        _user("hi"),
    ],
    "image": lambda text: [_user([{"type": "image_url", "image_url": {"url": text}}])],
    "image data": lambda text: [_user([{"type": "image_url", "image_url": {"url": _PICTURE + text}}])],
    "audio": lambda text: [_user([{"type": "input_audio", "input_audio": {"data": text, "format": "wav"}}])],
    "file": lambda text: [_user([{"type": "file", "file": {"filename": text, "file_data": text}}])],
    "unknown part": lambda text: [_user([{"type": text, "payload": text}])],
    "unknown field": lambda text: [_user("hi", **{text: text})],
    "tool name": lambda text: _chat(name=text),
    "call id": lambda text: _chat(id=text),
    "arguments": lambda text: _chat(arguments=text),
    "argument": lambda text: _chat(arguments=json.dumps({"cmd": text})),
    "argument name": lambda text: _chat(arguments=json.dumps({text: 1})),
    "command": lambda text: _chat(name="bash", arguments=json.dumps({"command": text})),
    "path": lambda text: _chat(name="read_file", arguments=json.dumps({"path": text})),
    "edit": lambda text: _chat(
        name="edit_file", arguments=json.dumps({"path": "a.py", "old_string": text, "new_string": text})
    ),
    "text before a call": lambda text: _chat(content=text),
    "result": lambda text: _chat(result=text),
    "result part": lambda text: _chat(result=[{"type": "text", "text": text}]),
    "legacy call": lambda text: [
        _user("hi"),
        {"role": "assistant", "content": None, "function_call": {"name": text, "arguments": text}},
        {"role": "function", "name": text, "content": text},
    ],
    "orphaned result": lambda text: [{"role": "tool", "tool_call_id": text, "content": text}],
    "body": lambda text: {
        "model": text,
        "messages": [_user("hi")],
        "tools": [{"type": "function", "function": {"name": "f", "description": text, "parameters": {}}}],
        text: text,
    },
}


def _item(type: str, **fields: Any) -> JSON:
    return {"type": type, **fields}


def _responses(*, call_id: str = "c1", output: Any = "done", **call: Any) -> list[JSON]:
    return [
        _user("Fix it"),
        {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}", **call},
        {"type": "function_call_output", "call_id": call_id, "output": output},
        _user("And now?"),
    ]


_RESPONSES: dict[str, Make] = {
    "text": lambda text: [_item("message", role="user", content=text)],
    "text part": lambda text: [_item("message", role="user", content=[{"type": "input_text", "text": text}])],
    "reasoning": lambda text: [
        _user("hi"),
        _item(
            "reasoning", id="rs_1", summary=[{"type": "summary_text", "text": text}], encrypted_content=text
        ),
        _item("message", role="assistant", content=[{"type": "output_text", "text": text}]),
    ],
    "tool name": lambda text: _responses(name=text),
    "call id": lambda text: _responses(call_id=text),
    "arguments": lambda text: _responses(arguments=text),
    "result": lambda text: _responses(output=text),
    "result part": lambda text: _responses(output=[{"type": "input_text", "text": text}]),
    "item id": lambda text: _responses(id=text, status=text),
    "custom call": lambda text: [
        _item("custom_tool_call", call_id="c1", name="f", input=text),
        _item("custom_tool_call_output", call_id="c1", output=text),
    ],
    "local shell": lambda text: [
        _item("local_shell_call", call_id="c1", action={"type": "exec", "command": ["sh", "-c", text]}),
        _item("local_shell_call_output", call_id="c1", output=text),
    ],
    "shell": lambda text: [
        _item("shell_call", call_id="c1", action={"commands": [text]}),
        _item("shell_call_output", call_id="c1", output=[{"stdout": text, "stderr": text, "outcome": {}}]),
    ],
    "apply patch": lambda text: [
        _item(
            "apply_patch_call", call_id="c1", operation={"type": "update_file", "path": text, "diff": text}
        ),
        _item("apply_patch_call_output", call_id="c1", output=text),
    ],
    "program": lambda text: [_item("code_interpreter_call", id="ci", code=text, outputs=[{"logs": text}])],
    "search": lambda text: [_item("file_search_call", id="fs", queries=[text], results=[{"text": text}])],
    "server tool": lambda text: [_item("mcp_call", id="m", name=text, arguments=text, output=text)],
    "unknown item": lambda text: [_item(text, payload=text), _user("hi")],
    "body": lambda text: {"model": "gpt-5", "instructions": text, "input": text},
}


def _claude(*, id: str = "c1", result: Any = "done", first: Any = None, **call: Any) -> list[JSON]:
    use = {"type": "tool_use", "id": id, "name": "f", "input": {}, **call}
    return [
        _user("Fix it"),
        {"role": "assistant", "content": [*([first] if first else []), use]},
        _user([{"type": "tool_result", "tool_use_id": id, "content": result}]),
        _user("And now?"),
    ]


_ANTHROPIC: dict[str, Make] = {
    "text": lambda text: [_user(text)],
    "text part": lambda text: [
        _user([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}])
    ],
    "thinking": lambda text: _claude(first={"type": "thinking", "thinking": text, "signature": "c2ln"}),
    "signature": lambda text: _claude(first={"type": "thinking", "thinking": "so", "signature": text}),
    "redacted thinking": lambda text: _claude(first={"type": "redacted_thinking", "data": text}),
    "tool name": lambda text: _claude(name=text),
    "call id": lambda text: _claude(id=text),
    "arguments": lambda text: _claude(input={"command": text}),
    "argument name": lambda text: _claude(input={text: 1}),
    "result": lambda text: _claude(result=text),
    "result part": lambda text: _claude(result=[{"type": "text", "text": text}]),
    "image data": lambda text: [
        _user([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": text}}])
    ],
    "document": lambda text: [
        _user([{
            "type": "document",
            "title": text,
            "context": text,
            "source": {"type": "text", "media_type": "text/plain", "data": text},
        }])
    ],
    "search result": lambda text: [
        _user([{"type": "search_result", "source": text, "title": text, "content": [{"text": text}]}])
    ],
    "server tool": lambda text: [
        {"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": text}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"title": text, "url": text}]},
        ]},
        _user("hi"),
    ],
    "unknown block": lambda text: [_user([{"type": text, "payload": text}])],
    "body": lambda text: {
        "model": "claude-sonnet-4-5",
        "system": [{"type": "text", "text": text}],
        "messages": [_user("hi")],
        "tools": [{"name": "f", "description": text, "input_schema": {"type": "object"}}],
    },
}  # fmt: skip


def _gemini(*, result: Any = None, **call: Any) -> list[JSON]:
    name = call.get("name", "f")
    answer = {"name": name, "response": result or {"output": "done"}}
    return [
        {"role": "user", "parts": [{"text": "Fix it"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}, **call}}]},
        {"role": "user", "parts": [{"functionResponse": answer}]},
        {"role": "user", "parts": [{"text": "And now?"}]},
    ]


def _parts(*parts: JSON, role: str = "user") -> list[JSON]:
    return [{"role": role, "parts": list(parts)}, {"role": "user", "parts": [{"text": "hi"}]}]


_GEMINI: dict[str, Make] = {
    "text": lambda text: _parts({"text": text}),
    "thinking": lambda text: _parts({"text": text, "thought": True}, role="model"),
    "signature": lambda text: _parts({"text": "so", "thoughtSignature": text}, role="model"),
    "tool name": lambda text: _gemini(name=text),
    "call id": lambda text: _gemini(id=text),
    "arguments": lambda text: _gemini(args={"command": text}),
    "argument name": lambda text: _gemini(args={text: 1}),
    "result": lambda text: _gemini(result={"output": text}),
    "field of a result": lambda text: _gemini(result={text: text}),
    "inline data": lambda text: _parts({"inlineData": {"mimeType": "image/png", "data": text}}),
    "file": lambda text: _parts({"fileData": {"mimeType": text, "fileUri": text}}),
    "program": lambda text: _parts({"executableCode": {"language": "PYTHON", "code": text}}, role="model"),
    "output": lambda text: _parts({"codeExecutionResult": {"outcome": "OK", "output": text}}, role="model"),
    "unknown part": lambda text: _parts({text: text}),
    "body": lambda text: {
        "systemInstruction": {"parts": [{"text": text}]},
        "contents": _parts({"text": "hi"}),
    },
}
_PLAIN: dict[str, Make] = {
    "text": lambda text: [_user(text)],
    "metadata": lambda text: [_user("hi", metadata={"note": text, text: 1})],
    "name": lambda text: [_user("hi", name=text)],
    "id": lambda text: [_user("hi", id=text)],
    "timestamp": lambda text: [_user("hi", timestamp=text)],
    "role": lambda text: [{"role": text, "content": "hi"}],
    "output": lambda text: [_user("run it"), {"role": "tool", "name": "f", "content": text}, _user("so?")],
    "text protocol": lambda text: [
        {"role": "assistant", "content": f"I run it.\n```bash\n{text}\n```"},
        _user(f"<output>\n{text}\n</output>"),
        _user("so?"),
    ],
}
PLACES: Mapping[Format, Mapping[str, Make]] = {
    "openai": _OPENAI,
    "responses": _RESPONSES,
    "anthropic": _ANTHROPIC,
    "gemini": _GEMINI,
    "plain": _PLAIN,
}


def _fitted(format: Format, make: Make) -> Step:
    """Read it, build the smallest window and the whole one, and write both."""

    def step(_: Path, text: str) -> None:
        given = make(text)
        for budget in (BUDGET, 3_000_000):
            fit(given, format=format, budget=budget).request  # noqa: B018 — it is written when it is read

    return step


def _detected(make: Make) -> Step:
    return lambda _, text: fit(make(text), budget=BUDGET)


FORMATS = tuple(
    Story(
        name=f"the format {format}",
        place=nowhere,
        sizes=SMALLER,
        steps={f"{format}: {place}": _fitted(format, make) for place, make in places.items()}
        | {f"{format}: {place}, detected": _detected(make) for place, make in places.items()},
    )
    for format, places in PLACES.items()
)
