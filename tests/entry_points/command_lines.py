"""Every command with the text in its arguments, on stdin and in files; transcripts, settings, typed lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer.main

from commands import CommandLine
from entry_points.library import in_result
from entry_points.stories import SMALLER, Step, Story
from foveal.cli import app
from foveal.cli.interactive import HELP

JSON = dict[str, Any]


@contextmanager
def shell(folder: Path) -> Iterator[CommandLine]:
    """A folder with a session that has a few messages and a window."""
    line = CommandLine(folder=folder)
    line.write("foveal.toml", 'embedder = "none"\n')  # what is embedded in the background counts as well
    line.fill(*in_result("AssertionError in src/a.py"))
    line.foveal("build", "--budget", "900")
    yield line


def _with_file(*arguments: str, content: Callable[[str], str], name: str = "given.json") -> Step:
    def step(line: CommandLine, text: str) -> None:
        line.write(name, content(text))
        line.foveal(*arguments, name)

    return step


def _with_stdin(*arguments: str, content: Callable[[str], str] = str) -> Step:
    return lambda line, text: line.foveal(*arguments, stdin=content(text).encode("utf-8", "replace"))


def _messages(text: str) -> str:
    return json.dumps(in_result(text))


def _claude_lines(text: str) -> str:
    """A text in each place of a log of Claude Code."""
    message = {"role": "assistant", "id": text, "model": text, "content": [{"type": "text", "text": text}]}
    said = {"role": "user", "content": text}
    common = {"uuid": text, "parentUuid": text, "timestamp": text}
    lines = [{"type": "user", "message": said}, {"type": "assistant", "message": message}]
    return "\n".join(json.dumps({**line, **common}) for line in lines)


def _claude_results(text: str) -> str:
    """As many results of parallel calls as the text has room for."""
    lines = ['{"type": "user", "message": {"role": "user", "content": "go on"}}']
    for n in range(len(text) // 120):
        block = {"type": "tool_result", "tool_use_id": f"c{n}", "content": "x"}
        lines.append(json.dumps({"type": "user", "message": {"role": "user", "content": [block]}}))
    return "\n".join(lines)


def _codex_lines(text: str) -> str:
    call = {"type": "function_call", "call_id": text, "name": "f", "arguments": text}
    output = {"type": "function_call_output", "call_id": text, "output": text}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    items = [{"type": "response_item", "timestamp": text, "payload": item} for item in (said, call, output)]
    return "\n".join(map(json.dumps, [*items, {"type": "turn_context", "payload": {"model": text}}]))


def _chatgpt(text: str) -> str:
    nodes: dict[str, JSON] = {}
    for n, role in enumerate(("user", "assistant", "tool", "assistant")):
        message = {"id": text, "author": {"role": role}, "content": {"parts": [text]}, "recipient": text}
        nodes[str(n)] = {"id": str(n), "message": message, "parent": str(n - 1), "children": []}
    return json.dumps([{"mapping": nodes, "current_node": "3", "title": text, "conversation_id": text}])


def _chatgpt_nodes(text: str) -> str:
    """A path of as many nodes as the text has room for."""
    message = {"author": {"role": "user"}, "content": {"parts": ["hi"]}}
    nodes = {str(n): {"message": message, "parent": str(n - 1)} for n in range(len(text) // 100)}
    return json.dumps([{"mapping": nodes, "title": "long"}])


def _claude_ai(text: str) -> str:
    blocks = [
        {"type": "text", "text": text},
        {"type": "tool_use", "id": text, "name": text, "input": {text: text}},
        {"type": "tool_result", "tool_use_id": text, "content": [{"text": text}]},
    ]
    said = {"uuid": "a", "sender": "human", "text": text, "attachments": [{"extracted_content": text}]}
    answer = {"uuid": "b", "parent_message_uuid": "a", "sender": "assistant", "content": blocks}
    return json.dumps([{"uuid": text, "name": text, "chat_messages": [said, answer]}])


IMPORTED: dict[str, Callable[[str], str]] = {
    "the text itself": str,
    "messages": _messages,
    "lines of messages": lambda text: "\n".join(map(json.dumps, in_result(text))),
    "many lines": lambda text: '{"role": "user", "content": "hi"}\n' * (len(text) // 40),
    "lines that are no messages": lambda text: (
        '{"role": "user", "content": "hi"}\n' + "{oops\n" * (len(text) // 8)
    ),
    "Claude Code": _claude_lines,
    "many results in Claude Code": _claude_results,
    "Codex": _codex_lines,
    "ChatGPT": _chatgpt,
    "many messages of ChatGPT": _chatgpt_nodes,
    "Claude.ai": _claude_ai,
}


def _imported(name: str, content: Callable[[str], str]) -> Step:
    file = f"{name.replace(' ', '-')}.json"
    return lambda line, text: line.foveal("--session", name, "import", line.write(file, content(text)))


def _settings(*, table: str) -> Step:
    """A value and the name of a setting in the file of a project.

    Not the whole file: Python's TOML parser takes quadratic time for a key of many parts.
    """

    def step(line: CommandLine, text: str) -> None:
        for body in (f"{table}\nmodel = {json.dumps(text)}\n", f"{table}\n{json.dumps(text)} = 1\n"):
            line.write("foveal.toml", body)
            line.foveal("config")
        (line.folder / "foveal.toml").unlink()

    return step


def _models(line: CommandLine, text: str) -> None:
    body = f"[models.{json.dumps(text)}]\ncontext = 1000\n"
    line.foveal("models", FOVEAL_CATALOGUE=line.write("models.toml", body))


def _variable(line: CommandLine, text: str) -> None:
    given = text.replace("\0", "")[:100_000]
    line.foveal("config", FOVEAL_MODEL=given, FOVEAL_PRESET=given, FOVEAL_BUDGET=given)
    line.foveal("config", **{f"FOVEAL_{given.replace('=', '')}": "1"})


def _typed(line: str) -> Step:
    """One line of the interactive mode: every further line would build a window of its own."""
    return lambda shell, text: shell.foveal(
        stdin=f"{line.format(' '.join(text.splitlines()))}\n/quit\n".encode("utf-8", "replace"), terminal=True
    )


def _parameters() -> Iterator[tuple[str, Step]]:
    """Every argument and option of every command."""
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        for words, each in commands(name, command):
            if words[0] not in WITHOUT_TEXT:
                for param in each.params:
                    if not getattr(param, "is_flag", False):
                        yield (
                            f"foveal {' '.join(words)}: {param.opts[-1]}",
                            _with_parameter(words, each, param),
                        )


def commands(name: str, command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if inner := getattr(command, "commands", None):
        yield from (((name, each), found) for each, found in inner.items())
    else:
        yield (name,), command


def _with_parameter(words: tuple[str, ...], command: Any, param: Any) -> Step:
    """The command with the text as one value, and a word for each argument that it needs besides."""

    def step(line: CommandLine, text: str) -> None:
        options = [param.opts[-1], text] if param.opts[-1].startswith("-") else []
        given = [
            text if each is param else KNOWN.get(each.name, "m1")
            for each in command.params
            if each is param or (each.required and not each.opts[-1].startswith("-"))
        ]
        folder = ("--workspace", ".") if NEEDS_FOLDER & {words[0], param.opts[-1]} else ()
        if param.opts[-1] == "--workspace":
            folder = ()
        arguments = given[: len(given) - bool(options)] if options else given
        line.foveal(*words, *folder, *options, "--", *arguments, stdin=_messages("done"))

    return step


KNOWN = {"role": "user", "name": "tokens_count"}
"""Words for arguments that do not take any."""
NEEDS_FOLDER = {"context", "--active"}
WITHOUT_TEXT = {
    "serve": "its options are those of an operator, and it does not end",
    "demo": "it runs a bundled session",
    "doctor": "it has no arguments",
}
COMMANDS: dict[str, Step] = {
    **dict(_parameters()),
    "foveal add: stdin": _with_stdin("add", "user"),
    "foveal count: stdin": _with_stdin("count"),
    "foveal count: file": _with_file("count", content=_messages),
    "foveal fit: file": _with_file("fit", "--budget", "900", content=_messages),
    "foveal fit: stdin": _with_stdin("fit", "--budget", "900"),
    "foveal compare: file": _with_file("compare", "--budget", "900", content=_messages),
    "foveal op: request": _with_stdin("op", "tokens_count", content=lambda text: json.dumps({"text": text})),
    "foveal op: stdin": _with_stdin("op", "tokens_count"),
    "foveal context: file": lambda line, text: line.foveal(
        "context", "--workspace", str((line.folder / line.write("README.md", text)).parent)
    ),
}
TYPED: dict[str, Step] = {
    "interactive: a message": _typed("{}"),
    "interactive: a command": _typed("/{}"),
    **{f"interactive: /{name}": _typed(f"/{name} {{}}") for name in HELP if name != "quit"},
}
SETTINGS: dict[str, Step] = {
    "settings: a value": _settings(table=""),
    "settings: a preset's": _settings(table="[presets.foveal]"),
    "settings: the service's": _settings(table="[serve]"),
    "settings: variables": _variable,
    "settings: a file of models": _models,
}
COMMAND_LINES = (
    Story(
        name="imports",
        place=shell,
        sizes=SMALLER,
        steps={f"foveal import: {name}": _imported(name, content) for name, content in IMPORTED.items()}
        | {"foveal import: stdin": _with_stdin("import", content=_messages)},
    ),
    Story(name="commands", place=shell, sizes=SMALLER, steps=COMMANDS),
    Story(name="typed lines", place=shell, sizes=SMALLER, steps=TYPED),
    Story(name="settings", place=shell, sizes=SMALLER, steps=SETTINGS),
)
