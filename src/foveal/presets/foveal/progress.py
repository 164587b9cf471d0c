"""Sum up where the work stands: changed files, the last result of each check, failures, the to-do list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from foveal.presets.foveal.log import LogEntry
from foveal.presets.foveal.outcomes import Outcome
from foveal.presets.foveal.paths import Paths
from foveal.presets.foveal.tool_calls import Action

FILES, RECORDS, CHECKS, FAILURES, TODOS = 12, 8, 6, 4, 12
"""How many of each the summary names, the latest first."""
RECENT = 60
"""Actions after which a failure that was not repeated is history."""
SHOWN = 100
"""Characters of a command in the summary."""
_NUMBER = re.compile(r"#(\d{1,6})|\bid\W{1,4}(\d{1,6})")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    """An action and how it ended last."""

    title: str
    text: str
    seq: int
    number: int
    """Its number among the actions."""

    def __str__(self) -> str:
        return f"{self.title} {self.text} [{self.seq + 1}]"


@dataclass(slots=True)
class Progress:
    """What a reader of the log must know about the present, collected entry by entry."""

    changed: dict[str, int] = field(default_factory=dict)
    """By file, the position of its latest change that succeeded."""
    checks: dict[str, _Ended] = field(default_factory=dict)
    """By kind of check, its latest run."""
    failures: dict[str, _Ended] = field(default_factory=dict)
    """Changes that failed and did not succeed since."""
    records: dict[str, int] = field(default_factory=dict)
    """By booking, ticket or the like that was changed, the position of its latest change that succeeded."""
    todos: dict[str, str] = field(default_factory=dict)
    """The open items of the model's to-do list, by number or text."""
    actions: int = 0
    until: int = 0
    """Messages that it takes into account."""

    @classmethod
    def of(cls, entries: Sequence[LogEntry], paths: Paths, *, until: int = 0) -> Progress:
        found = cls(until=until)
        for entry in entries:
            if entry.action and entry.outcome:
                found._add(entry, entry.action, entry.outcome, paths)
        return found

    def _add(self, entry: LogEntry, action: Action, ended: Outcome, paths: Paths) -> None:
        self.actions += 1
        if action.kind == "plan" and ended.ok is not False:
            self._plan(action, entry.excerpts.text)
        if action.kind == "change" and ended.ok:
            self._change(action, entry.seq, paths)
        title = _short(paths.shortened(action.subject if action.checks else action.title))
        latest = _Ended(title=title, text=ended.text, seq=entry.seq, number=self.actions)
        if action.checks:
            self.checks.pop(action.checks, None)
            self.checks[action.checks] = latest
        elif action.kind == "change" and ended.ok is False and not ended.rejected:
            self.failures.pop(action.key, None)
            self.failures[action.key] = latest

    def _change(self, action: Action, seq: int, paths: Paths) -> None:
        self.failures.pop(action.key, None)
        if action.listed and not action.files:
            title = f"{action.tool}({action.subject.partition(', ')[0]})"
            self.records.pop(title, None)
            self.records[title] = seq
        for file in action.files:
            self.failures.pop(f"edit {file}", None)
            self.changed.pop(paths.short(file), None)
            self.changed[paths.short(file)] = seq

    def _plan(self, action: Action, result: str) -> None:
        if action.whole_list:
            self.todos.clear()
        for todo in action.todos:
            number = None if todo.id or action.whole_list else _NUMBER.search(result)
            key = todo.id or (number and (number[1] or number[2])) or todo.text
            text = todo.text or self.todos.get(key, "").removesuffix(" (in progress)")
            if todo.done:
                self.todos.pop(key, None)
            elif text:
                self.todos[key] = f"{text} (in progress)" if todo.active else text

    def line(self) -> str:
        """The summary in one line; empty if there is nothing to say.

        >>> Progress(changed={"auth.py": 29}, todos={"1": "Write the tests"}).line()
        'State: changed auth.py [30]; to do: 1) Write the tests.'
        """
        found = []
        if self.changed:
            found.append(
                "changed " + _latest([f"{file} [{seq + 1}]" for file, seq in self.changed.items()], FILES)
            )
        if self.records:
            found.append(
                "done " + _latest([f"{what} [{seq + 1}]" for what, seq in self.records.items()], RECORDS)
            )
        if self.checks:
            name = "last run" if len(self.checks) == 1 else "last runs"
            found.append(f"{name}: " + _latest([*map(str, self.checks.values())], CHECKS))
        recent = [str(each) for each in self.failures.values() if self.actions - each.number < RECENT]
        if recent:
            found.append("failed and not done since: " + _latest(recent, FAILURES))
        if self.todos:
            items = list(self.todos.values())
            more = f" and {len(items) - TODOS} more" if len(items) > TODOS else ""
            found.append(
                "to do: " + " ".join(f"{at}) {each}" for at, each in enumerate(items[:TODOS], 1)) + more
            )
        when = f" at message {self.until:,}" if self.until else ""
        return f"State{when}: {'; '.join(found)}." if found else ""


def _latest(items: Sequence[str], most: int) -> str:
    more = f", and {len(items) - most} earlier" if len(items) > most else ""
    return ", ".join(items[-most:]) + more


def _short(title: str) -> str:
    return title if len(title) <= SHOWN else title[: SHOWN - 1].rstrip() + "…"
