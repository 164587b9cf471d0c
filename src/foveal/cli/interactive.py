"""The interactive mode: add each typed line as a message, run `/commands`, and show how full the window is.

The commands are those of the command line, with the store kept open.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

from foveal import presets
from foveal.cli import errors, output
from foveal.cli.state import Open, Shell, absent
from foveal.config import nearest
from foveal.errors import InputError
from foveal.model import Entry
from foveal.window import Manifest

KINDS = {
    "system": ("S", "blue"),
    "user": ("U", "green"),
    "assistant": ("M", "cyan"),
    "tool": ("T", "yellow"),
    "summary": ("Z", "magenta"),
    "other": ("+", "white"),
}
"""The letter of each kind, used without colour, and its colour. `other`: framing, tools, notes."""
CELLS = 40


def gauge(manifest: Manifest, entries: Sequence[Entry]) -> str:
    """The bar with its numbers, and a legend below it."""
    tokens = by_kind(manifest, entries)
    percent = 100 * manifest.tokens / manifest.budget
    numbers = f"{manifest.tokens:,} of {output.counted(manifest.budget, 'token')}, {percent:.0f}%"
    return f"{_bar(tokens, manifest.budget)} {numbers}\n{'  '.join(_legend(tokens))}"


def by_kind(manifest: Manifest, entries: Sequence[Entry]) -> dict[str, int]:
    """Tokens of the window by role, and those of the summaries."""
    found: dict[str, float] = defaultdict(float)
    for decision in manifest.kept:
        if decision.detail == "folded":
            found["summary"] += decision.tokens
            continue
        run = entries[decision.first : decision.last + 1]
        whole = sum(entry.tokens for entry in run) or 1
        for entry in run:
            found[entry.role] += decision.tokens * entry.tokens / whole
    shown = {kind: round(found[kind]) for kind in KINDS}
    return shown | {"other": max(0, manifest.tokens - sum(shown.values()))}


def _bar(tokens: Mapping[str, int], budget: int) -> str:
    """Every kind in the window gets at least one cell; the rest is free."""
    cells = {kind: max(1, round(CELLS * n / budget)) for kind, n in tokens.items() if n}
    while sum(cells.values()) > CELLS:
        cells[max(cells, key=lambda kind: cells[kind])] -= 1
    filled = "".join(_sign(kind, many) for kind, many in cells.items())
    return filled + output.styled("·" * (CELLS - sum(cells.values())), dim=True)


def _legend(tokens: Mapping[str, int]) -> Iterator[str]:
    names = {"assistant": "model"}
    return (f"{_sign(kind)} {names.get(kind, kind)} {_short(many)}" for kind, many in tokens.items() if many)


def _short(tokens: int) -> str:
    """A short number: the legend has six on one line."""
    return f"{tokens:,}" if tokens < 10_000 else f"{tokens / 1_000:.0f}k"


def _sign(kind: str, many: int = 1) -> str:
    letter, colour = KINDS[kind]
    return output.styled("█" * many, colour) if output.in_colour() else letter * many


HELP = {
    "add": ("ROLE TEXT", "store a message of a role: system, user, assistant"),
    "build": ("[--budget N] …", "print the window"),
    "compress": ("", "replace old messages by summaries"),
    "diff": ("A B", "show what changed in the window between two builds"),
    "explain": ("[BUILD]", "explain what is in the window, what is not, and why"),
    "focus": ("QUESTION", "print the best messages for one question"),
    "forget": ("ID --yes", "erase a message; `--keep` only leaves it out"),
    "help": ("", "print this"),
    "pin": ("ID", "keep a message in every window"),
    "preset": ("[NAME]", "switch to another preset; alone, list them"),
    "prune": ("", "leave out the least important turns"),
    "quit": ("", "leave; so do Ctrl-D, and Ctrl-C pressed twice"),
    "recall": ("HANDLE", "print an original"),
    "restore": ("[ID]", "allow a message into windows again; alone, all of them"),
    "search": ("QUERY", "find stored messages"),
    "stats": ("", "show the session in numbers"),
    "summarize": ("", "show one note in place of all but the newest messages"),
    "task": ("start NAME", "start a task; `/task complete` ends it; alone, list them"),
    "unpin": ("ID", "allow a pinned message to be evicted again"),
    "why": ("ID", "explain why a message is in the window or not"),
}
CHANGING = frozenset({"compress", "forget", "pin", "prune", "restore", "summarize", "task", "unpin"})
"""Commands after which the window is built again."""
PROMPT = "> "
LEAVE = 99
"""The exit code of `/quit`; no command returns it."""


def talk(shell: Shell, commands: Mapping[str, Any]) -> None:
    """Read lines until the end of the input, two interrupts at the prompt, or `/quit`."""
    with ExitStack() as until:
        lines = _Lines(replace(shell, open=Open(until=until)), commands)
        _edit_lines()
        warnings.simplefilter("once", UserWarning)  # every line builds a window: warn once
        output.say("Type to add a message as the user. /help lists the commands, /quit leaves.")
        errors.exit_code(lines.begin)
        while (line := _typed()) is not None:
            try:
                if errors.exit_code(partial(lines.take, line.strip())) == LEAVE:
                    return
            except KeyboardInterrupt:
                output.note("interrupted")
            lines.show(apart=line.lstrip().startswith("/"))


def _edit_lines() -> None:
    """Enable line editing where the platform has it: `input` uses it once it is loaded."""
    try:
        import readline
    except ImportError:
        return
    if os.environ.get("TERM", "dumb") != "dumb":
        # Lines that are pasted together are one message. Python disables this for its own prompt.
        readline.parse_and_bind("set enable-bracketed-paste on")


def _typed() -> str | None:
    """The next line; None at the end of the input. An interrupt clears the line, a second one leaves."""
    leaving = False
    while True:
        try:
            return input(PROMPT)
        except EOFError:
            output.say()
            return None
        except KeyboardInterrupt:
            output.say()
            if leaving:
                return None
            leaving = not _half_typed()
            if leaving:
                output.note("press Ctrl-C again, or type /quit, to leave")


def _half_typed() -> bool:
    """Whether the interrupted line had text; False where the platform does not edit lines."""
    readline = sys.modules.get("readline")
    return bool(readline and readline.get_line_buffer())


class _Lines:
    """Handles the typed lines."""

    def __init__(self, shell: Shell, commands: Mapping[str, Any]) -> None:
        self._shell = shell
        self._commands = commands
        self._own: Mapping[str, Callable[[str], int | None]] = {
            "add": self._add,
            "help": self._help,
            "preset": self._preset,
            "quit": lambda _: LEAVE,
        }
        self._gauge = ""

    def begin(self) -> None:
        """Show the window of a session that exists already."""
        settings = self._shell.settings
        if absent(settings.store):
            return
        with self._shell.store() as fov:
            if fov.find(settings.session) is not None:
                self._rebuild()
                self.show()

    def show(self, *, apart: bool = False) -> None:
        """Print the window bar, after an empty line where a command printed something."""
        if self._gauge:
            output.say(f"\n{self._gauge}" if apart else self._gauge)

    def take(self, line: str) -> int | None:
        """Handle a line; returns the exit code of its command."""
        if not line:
            return None
        if not line.startswith("/"):
            self._add(f"user {line}")
            return None
        name, _, rest = line[1:].partition(" ")
        if name in self._own:
            return self._own[name](rest.strip())
        if name in HELP:
            return self._run(name, rest.strip())
        near = nearest(name, tuple(HELP), "/")
        raise InputError(
            f"there is no /{name}", remedy=f"{near} A message that begins with a slash: `/add user /…`"
        )

    def _add(self, rest: str) -> None:
        role, _, text = rest.partition(" ")
        if not text.strip():
            raise InputError("`/add` needs a role and a text", remedy="as in `/add assistant It is fixed.`")
        with self._shell.session(new=True) as session:
            id = session.add(role, text.strip())  # type: ignore[arg-type]  # checked there
        output.say(output.styled(id, dim=True))
        self._rebuild()

    def _run(self, name: str, rest: str) -> int | None:
        command = self._commands[name]
        arguments = list(_arguments(command, name, rest))
        code: int | None = command.main(
            arguments, prog_name=f"/{name}", standalone_mode=False, obj=self._shell
        )
        if name in CHANGING:
            self._rebuild()
        elif name == "build":
            self._measure()
        return code

    def _rebuild(self) -> None:
        """Build the window as it would be sent now."""
        with self._shell.session() as session:
            if session.entries():
                session.build(budget=self._shell.settings.budget)
        self._measure()

    def _measure(self) -> None:
        with self._shell.session() as session:
            entries = session.entries()
            self._gauge = gauge(session.manifest(), entries) if entries else ""

    def _preset(self, rest: str) -> None:
        """Switch to another preset, or list them."""
        if not rest:
            for line in output.columns([(p.name, p.about) for p in presets.PRESETS.values()]):
                output.say(line)
            return
        opened = self._shell.open
        with self._shell.session(new=True) as session, self._shell.store() as fov:
            assert opened is not None
            opened.session = fov.session(session.name, preset=rest)
        self._rebuild()

    def _help(self, _: str) -> None:
        for line in output.columns([(f"/{name} {usage}", about) for name, (usage, about) in HELP.items()]):
            output.say(line)
        output.say("\nAnything else is a message of the user. `/search --help` lists its options.")


def _arguments(command: Any, name: str, rest: str) -> Iterator[str]:
    """The arguments of a line; a question or a task's name is one argument without quotes."""
    words = rest.split()
    if name == "task":
        yield from words[:1]
        yield from [" ".join(words[1:])] if words[1:] else []
        return
    if name not in ("focus", "search"):
        yield from words
        return
    options = {option: param for param in command.params for option in param.opts if option.startswith("--")}
    texts, given = [], iter(words)
    for word in given:
        if word not in (*options, "--help"):
            texts.append(word)
            continue
        yield word
        if word in options and not options[word].is_flag:
            yield next(given, "")
    if texts:
        yield from ("--", " ".join(texts))
