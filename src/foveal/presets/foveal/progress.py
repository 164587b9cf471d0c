"""Sum up where the work stands: changed files, the last result of each check, failures, the to-do list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from foveal.pipeline.summarize.tool_calls import Action
from foveal.presets.foveal.log import LogEntry
from foveal.presets.foveal.outcomes import Outcome
from foveal.presets.foveal.paths import Paths

FILES, RECORDS, CHECKS, SCRIPTS, FAILURES, TODOS = 12, 8, 6, 3, 4, 12
"""How many of each the summary names, the latest first."""
RECENT = 60
"""Actions after which a failure that was not repeated is history."""
SHOWN = 100
"""Characters of a command in the summary."""
_KINDS = {
    "test": re.compile(r"test|spec\b|jest|mocha|bats|tox|nox|cypress|playwright|\bci\b"),
    "lint": re.compile(
        r"lint|ruff(?! format)|flake8|clippy|\bvet\b|staticcheck|bandit|shellcheck|rubocop|pre-commit"
    ),
    "typecheck": re.compile(r"type|mypy|pyright|tsc\b|phpstan"),
    "format": re.compile(r"fmt|format|black|isort|prettier|yapf"),
    "build": re.compile(
        r"build|compile|make|ninja|gcc|g\+\+|\bcc\b|clang|rustc|javac|cargo|mvn|gradle|package"
    ),
}
"""By kind of check, the programs and tasks that run it; other programs are scripts."""
_SCRIPT = re.compile(r"(?:python3?|node|ruby|perl|php|java|Rscript|sage|bash|sh|zsh|lua) |\./")
_NARROW = re.compile(
    r" (?:-run|-k|-t|-m|--filter|--grep|--test|-Dtest)\b|::|[\w/]\.(?:py|go|[jt]sx?|rb|rs|java)\b"
)
"""What restricts a run to some tests or files."""
_RESTORES = re.compile(r"git (?:checkout(?: [^\s-]\S{0,80})? -- |restore (?!--staged))([^&|;]{1,400})")
_RESETS = re.compile(
    r"git (?:stash(?! (?:pop|apply|list|show|drop|branch))|reset --hard"
    r"|(?:checkout|restore) (?:-- )?\.(?:\s|$))"
)
"""What undoes changes that are not committed: of the files it names, or of all."""
_PUBLISHES = {"git commit": "commit", "git push": "push"}
_SCRATCH = ("/tmp/", "/var/tmp/", "/private/tmp/", "/dev/")  # noqa: S108 — compared with, never opened
"""Where files are no part of the work."""
_NUMBER = re.compile(r"#(\d{1,6})|\bid\W{1,4}(\d{1,6})")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    """An action and how it ended last."""

    title: str
    text: str
    seq: int
    number: int
    """Its number among the actions."""
    ok: bool | None = None
    narrow: bool = False
    """Whether it is a check of some tests or files only."""

    def __str__(self) -> str:
        return f"{self.title} {self.text} [{self.seq + 1}]"


@dataclass(slots=True)
class Progress:
    """What a reader of the log must know about the present, collected entry by entry."""

    changed: dict[str, int] = field(default_factory=dict)
    """By file, the position of its latest change that succeeded."""
    checks: dict[tuple[str, str], _Ended] = field(default_factory=dict)
    """By kind of check and program or task: the latest run, and earlier failures that it does not repeat."""
    failures: dict[str, _Ended] = field(default_factory=dict)
    """Changes that failed and did not succeed since."""
    unconfirmed: _Ended | None = None
    """The latest change, if its answer did not confirm it."""
    published: dict[str, int] = field(default_factory=dict)
    """By step of publishing changes (`commit`, `push`), the position of the latest one."""
    records: dict[str, int] = field(default_factory=dict)
    """By booking, ticket or the like that was changed, the position of its latest change that succeeded."""
    todos: dict[str, str] = field(default_factory=dict)
    """The open items of the model's to-do list, by number or text."""
    actions: int = 0
    since: int = 0
    until: int = 0
    """Positions: it takes messages into account from the first, if that is not 0, up to the second."""

    @classmethod
    def of(cls, entries: Sequence[LogEntry], paths: Paths, *, since: int = 0, until: int = 0) -> Progress:
        found = cls(since=since, until=until)
        for entry in entries:
            if entry.action and entry.outcome:
                found._add(entry, entry.action, entry.outcome, paths)
        return found

    def _add(self, entry: LogEntry, action: Action, ended: Outcome, paths: Paths) -> None:
        self.actions += 1
        if action.kind == "plan" and ended.ok is not False:
            self._plan(action, entry.excerpts.text)
        if action.kind == "change":
            self.unconfirmed = None
        if action.kind == "change" and ended.ok:
            self._change(action, entry.seq, paths)
        title = _short(paths.shortened(action.subject if action.checks else action.title))
        latest = _Ended(
            title=title,
            text=ended.text,
            seq=entry.seq,
            number=self.actions,
            ok=ended.ok,
            narrow=bool(_NARROW.search(action.subject)),
        )
        if action.checks and action.searched and ended.ok is None:
            return  # whether it passed is not known
        if action.checks and not ended.rejected:
            self._check(action, ended, latest)
        elif ended.answered:
            self.unconfirmed = latest
        elif action.kind == "change" and ended.ok is False and not ended.rejected:
            self.failures.pop(action.key, None)
            self.failures[action.key] = latest

    def _change(self, action: Action, seq: int, paths: Paths) -> None:
        self.failures.pop(action.key, None)
        steps = action.key.split("; ")
        published = [done for git, done in _PUBLISHES.items() if any(step.endswith(git) for step in steps)]
        self.published |= dict.fromkeys(published, seq)
        if action.discards:
            self._discard(action.subject, seq)
        if action.listed and not action.files:
            title = f"{action.tool}({action.subject.partition(', ')[0]})"
            self.records.pop(title, None)
            self.records[title] = seq
        for file in action.removed:
            if self.changed.pop(paths.short(file), None) is not None:
                self.changed[f"{paths.short(file)} (removed)"] = seq
        for file in action.files:
            if file.startswith(_SCRATCH):
                continue
            self.failures.pop(f"edit {file}", None)
            for undone in ("removed", "discarded"):
                self.changed.pop(f"{paths.short(file)} ({undone})", None)
            self.changed.pop(paths.short(file), None)
            self.changed[paths.short(file)] = seq

    def _discard(self, command: str, seq: int) -> None:
        """Mark files whose changes were undone: those that the command names, or all not yet committed."""
        named = found[1].split() if (found := _RESTORES.search(command)) else []
        for file, changed in list(self.changed.items()):
            everything = _RESETS.search(command) and changed > self.published.get("commit", -1)
            if file.endswith(" (discarded)"):
                continue
            if everything or any(file == each or file.endswith(f"/{each}") for each in named):
                del self.changed[file]
                self.changed[f"{file} (discarded)"] = seq

    def _check(self, action: Action, ended: Outcome, latest: _Ended) -> None:
        """A run replaces earlier ones of its kind; a failed one only if it repeats it or runs more."""
        for kind, name in _reporting(action, ended):
            for each, earlier in list(self.checks.items()):
                stays = earlier.ok is False and not (earlier.narrow and not latest.narrow)
                if each == (kind, name) or (each[0] == kind != "script" and not stays):
                    del self.checks[each]
            self.checks[kind, name] = latest

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

    def _runs(self) -> list[_Ended]:
        """The runs worth naming, the newest last; scripts only where no tests were run."""
        latest = {kind: run for (kind, _), run in self.checks.items()}
        recent = {
            (kind, run.seq): run
            for (kind, _), run in self.checks.items()
            if run is latest[kind] or self.actions - run.number < RECENT
        }
        scripts = [run for (kind, _), run in recent.items() if kind == "script" and "test" not in latest]
        runs = [run for (kind, _), run in recent.items() if kind != "script"] + scripts[-SCRIPTS:]
        by_position = {run.seq: run for run in runs}
        return [by_position[seq] for seq in sorted(by_position)][-CHECKS:]

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
        if self.published:
            found.append(", ".join(f"last {done} [{seq + 1}]" for done, seq in self.published.items()))
        if self.records:
            found.append(
                "done " + _latest([f"{what} [{seq + 1}]" for what, seq in self.records.items()], RECORDS)
            )
        if runs := self._runs():
            latest = max(self.changed.values(), default=-1)
            named = [f"{run} before later changes" if run.seq < latest else str(run) for run in runs]
            found.append(f"last run{'s' * (len(runs) > 1)}: {', '.join(named)}")
        if self.unconfirmed:
            found.append(f"not confirmed: {self.unconfirmed}")
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
        when += f" (from message {self.since + 1:,} on)" if self.since else ""
        return f"State{when}: {'; '.join(found)}." if found else ""


def _reporting(action: Action, ended: Outcome) -> list[tuple[str, str]]:
    """The checks that an outcome is about, each with its kind; of a failure those that count it."""
    found = [(_kind(name, ended), name) for name in action.checks.split("; ")]
    kinds = {"tests": ("test",), "issues": ("lint", "typecheck"), "": ()}[ended.counts]
    return [each for each in found if ended.ok is False and each[0] in kinds] or found


def _kind(name: str, ended: Outcome) -> str:
    if _SCRIPT.match(name):
        return "test" if ended.counts == "tests" else "script"
    return next((kind for kind, names in _KINDS.items() if names.search(name)), "script")


def _latest(items: Sequence[str], most: int) -> str:
    more = f", and {len(items) - most} earlier" if len(items) > most else ""
    return ", ".join(items[-most:]) + more


def _short(title: str) -> str:
    return title if len(title) <= SHOWN else title[: SHOWN - 1].rstrip() + "…"
