"""Classify a tool call by its arguments: what it changes, checks or looks at, and what it acts on.

Tools have many names, but few shapes: a path with new text is an edit, a path alone is read, a command is a
shell's, a pattern is searched for. The verb in a tool's name decides only where the arguments do not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from foveal.pipeline.summarize.language import clipped
from foveal.pipeline.summarize.shell import code_writes, read_command, word_set

Kind = Literal["change", "check", "look", "plan", "thought", "other"]
"""Changes something; runs a test, a build or a program; reads; lists what to do; thinks; unknown."""

READ = 20_000
"""Characters of a text argument that are read."""
VALUES = 8
"""Arguments shown of a call that is none of the known shapes."""
LONGEST_VALUE = 60
LONGEST = 120
"""Characters of one such argument, and of all together."""
LONGEST_PATH = 200
LONGEST_TOOL = 80
NEW_LINE = 110
"""Characters of a changed line that are shown."""
WORDY = 12
"""Characters that a changed line has at least: a brace says nothing."""
FILES = 6
"""Files that the title of a call names."""
DEEPEST = 6
"""Levels of nested arguments that are read."""

_PATHS = (
    "file_path",
    "path",
    "notebook_path",
    "target_file",
    "filename",
    "filepath",
    "file",
    "relative_path",
    "file_name",
)
_MANY_PATHS = ("paths", "file_paths", "files", "filenames", "include")
_FOLDERS = ("dir_path", "directory", "folder", "dir", "glob")
_NEW_TEXTS = (
    "new_string",
    "new_str",
    "insert_text",
    "file_text",
    "content",
    "contents",
    "new_content",
    "new_source",
    "code_edit",
    "replace",
    "replacement",
    "text",
)
_OLD_TEXTS = ("old_string", "old_str", "old_content", "search")
_COMMANDS = ("command", "cmd", "script", "commands", "shell_command")
_QUERIES = ("pattern", "query", "search_term", "regex", "url", "uri", "q", "queries")
_PATCHES = ("patch", "diff", "input")
_LISTS = ("todos", "tasks", "plan", "items")
_ITEMS = ("content", "step", "subject", "title", "text", "description", "task")
_EDITOR_LOOKS = word_set("view cat read open show list")
"""Commands of editors that take a path and change nothing."""
_TASK_FIELDS = word_set(
    "subject description active_form status task_id owner metadata add_blocks add_blocked_by priority"
)
_DONE = word_set("completed complete done cancelled canceled deleted closed")
_ACTIVE = word_set("in_progress active doing started")
_SHELL = re.compile(r"shell|bash|terminal|exec|command|console|run\b", re.IGNORECASE)
_PLANS = re.compile(r"todo|plan|task", re.IGNORECASE)
_CODE = re.compile(
    r"python|jupyter|interpreter|javascript|node_?js|\bcode\b|run_code|execute_code", re.IGNORECASE
)
_NESTED = re.compile(r"\bcmd\"?\s{0,4}:\s{0,4}(\"(?:[^\"\\]|\\.){0,4000}\")")
"""The command in a script that calls a shell's tool."""
_PATCHED = re.compile(
    r"^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b/)?)([^\t\r\n]{1,200})", re.MULTILINE
)
_ADDED = re.compile(r"^\+(?!\+\+ )(.{1,400})$", re.MULTILINE)
_REMOVED = re.compile(r"^-(?!-- )(.{1,400})$", re.MULTILINE)
_BLOCK = re.compile(r"^={5,9}$", re.MULTILINE)
"""What separates the old text from the new one in a block of search and replace."""
_SQL = re.compile(
    r"\s{0,20}(?:(?P<change>insert\s+into|update\s+\S{1,80}\s+set|delete\s+from|replace\s+into|truncate"
    r"|(?:create|drop|alter)\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?"
    r"(?:table|index|view|database|schema|function|trigger|user|role|unique|type|sequence|materialized))"
    r"|select|with\s+\w{1,60}\s+as|explain|show\s+\w{1,20}|describe\s+\S{1,80}|desc\s+\S{1,80}|use\s+\S{1,80}\s*;?$"
    r"|pragma)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DEFINES = re.compile(
    r"(?:export |public |private |protected |static |async |pub |default |abstract ){0,4}"
    r"(?:def|class|func|function|fn|interface|struct|enum|trait|impl|module|type|#{1,4}) \S"
)
_SAYS_LITTLE = re.compile(
    r"(?:import|from|package|use|using|#include|require|//|#!|# |/\*|\*|--|\"\"\"|<!--|\"use |@import"
    r"|\}|\)|\])|\"[^\"\s]{1,200}\"$"
)
_VERBS: Mapping[Kind, frozenset[str]] = {
    "change": word_set(
        """
        add append apply approve archive assign book buy cancel change click close commit copy create
        delete deploy disable drag edit enable exchange fill insert invite merge modify move multi pay post
        press publish push put refund register remove rename reopen replace reserve restore return save
        schedule send set start stop submit transfer type update upgrade upload write
        """
    ),
    "look": word_set(
        """
        browse check describe download fetch find get glob goto grep hover inspect list lookup ls navigate
        open query read recall resolve retrieve screenshot scroll search show snapshot view wait web
        """
    ),
    "check": word_set("test tests lint build compile diagnostics validate verify"),
    "thought": word_set("think thought thinking reflect sequentialthinking"),
}
_CLEANED = dict.fromkeys((*range(32), 127), " ") | dict.fromkeys(range(0xD800, 0xE000), "�")


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """An item of a to-do list that a call writes."""

    text: str
    id: str = ""
    """Its number, where items are changed one by one."""
    done: bool = False
    active: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A tool call as a log shows it."""

    kind: Kind
    tool: str
    """Its name; empty where the model writes commands without tools."""
    subject: str
    """What it acts on: a path, a command, a query, the arguments that tell it from other calls."""
    key: str
    """Equal for calls that do the same again."""
    files: tuple[str, ...] = ()
    """Files that it changes, or reads."""
    change: str = ""
    """The line of an edit that says most about it, as a diff shows it: `+ timeout = 90`."""
    written: str = ""
    """The lines that an edit of a file adds."""
    todos: tuple[Todo, ...] = ()
    """The items of a to-do list that the call writes."""
    whole_list: bool = False
    """Whether these items are the whole list."""
    listed: bool = False
    """Whether the subject is a list of arguments."""
    checks: str = ""
    """The checks that it runs, alone or besides a change: `pytest`."""
    quotes: bool = False
    """Whether its result is a text of others, in which an error is none of the call."""
    opaque: bool = False
    """Whether it may have failed without an error in its output, such as a script or a request."""
    searched: bool = False
    """Whether only those lines of its output are seen that match a pattern."""
    removed: tuple[str, ...] = ()
    """Files that it removes."""
    discards: bool = False
    """Whether it may undo changes."""

    @property
    def title(self) -> str:
        """The tool and what it acts on."""
        return f"{self.tool}({self.subject})" if self.listed else f"{self.tool} {self.subject}".strip()


def read_call(name: str, arguments: str) -> Action:
    """Classify a tool call.

    >>> read_call("Edit", '{"file_path": "a.py", "old_string": "x = 1", "new_string": "timeout = 90"}').change
    '+ timeout = 90'
    >>> read_call("cancel_booking", '{"booking_id": "B77", "reason": "ill"}').title
    'cancel_booking(B77, ill)'
    """
    try:
        parsed = json.loads(arguments, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        parsed = arguments
    given = parsed if isinstance(parsed, dict) else {"input": parsed}
    given = {_CAMEL.sub("_", key).lower(): value for key, value in given.items()}
    tool = _line(name, LONGEST_TOOL) or "tool"
    return _by_arguments(tool, given) or _by_name(tool, given)


def command_action(name: str, command: str) -> Action:
    """A shell command, run by the tool of that name; the program itself in sessions without tools."""
    words = command.split(maxsplit=1)
    tool = "" if words and words[0] == name else _line(name, LONGEST_TOOL)
    head, _, body = command.strip().partition("\n")
    if not tool and body.endswith(("end_of_edit", "end_of_insert", "end_of_append")):
        subject, change = _line(head, LONGEST), _difference(body)
        return Action(kind="change", tool=tool, subject=subject, key=subject, change=change)
    if words and words[0] == "submit":
        subject = _line(" ".join(words[1:]), LONGEST)
        return Action(kind="change", tool="submit", subject=subject, key="submit", listed=True)
    if tool and not _SHELL.search(tool) and (sql := _sql(tool, command)):
        return sql
    read = read_command(command)
    subject = _line(read.text, 2 * LONGEST_PATH)
    return Action(
        kind=read.kind,
        tool=tool,
        subject=subject,
        # A look with other arguments is another one: its output must not stand under this command.
        key=f"{tool} {subject if read.kind == 'look' else read.key}".strip(),
        files=tuple(map(_path, read.files)) if read.kind == "change" else (),
        checks=read.checks,
        quotes=read.quotes,
        opaque=read.opaque,
        searched=read.searched,
        removed=tuple(map(_path, read.removed)),
        discards=read.discards,
    )


def _by_arguments(tool: str, given: Mapping[str, object]) -> Action | None:
    command, code = _command(tool, given), _code(tool, given)
    found = _plan(tool, given) or _patch(tool, given, command or code)
    if found:
        return found
    if paths := _paths(given):
        return _file_call(tool, paths, given)
    if command:
        return command_action(tool, command)
    if code:
        return _code_action(tool, code)
    if _first(given, _OLD_TEXTS) and _first(given, _NEW_TEXTS):
        return Action(kind="change", tool=tool, subject="", key=f"edit {tool}", change=_changed(given))
    return _sql(tool, _first(given, ("sql", "statement", "query")))


def _plan(tool: str, given: Mapping[str, object]) -> Action | None:
    """A call that writes a to-do list, or creates or changes one item of it."""
    items = next((given[key] for key in _LISTS if isinstance(given.get(key), list)), None)
    if isinstance(items, list) and _PLANS.search(tool):
        todos = [_todo(item) for item in items if isinstance(item, dict) and _first(item, _ITEMS)]
        if todos and len(todos) == len(items):
            return Action(kind="plan", tool=tool, subject="", key=tool, todos=tuple(todos), whole_list=True)
    single = "subject" in given or ("task_id" in given and "status" in given) or "add_blocked_by" in given
    if (
        single
        and not given.keys() - _TASK_FIELDS
        and _words(tool) in (["task", "create"], ["task", "update"])
    ):
        todo = _todo(given)
        subject = ", ".join(filter(None, (todo.id and f"#{todo.id}", todo.text, _first(given, ("status",)))))
        return Action(
            kind="plan", tool=tool, subject=subject, key=f"{tool} {subject}", todos=(todo,), listed=True
        )
    return None


def _todo(item: Mapping[str, object]) -> Todo:
    status = _first(item, ("status", "state")).lower()
    single = "task_id" in item or "subject" in item
    return Todo(
        text=_line(_first(item, ("subject",) if single else _ITEMS), LONGEST),
        id=_line(_first(item, ("task_id",)), 20).removeprefix("#"),
        done=status in _DONE,
        active=status in _ACTIVE,
    )


def _paths(given: Mapping[str, object]) -> tuple[str, ...]:
    """The files that a call names."""
    if single := _first(given, _PATHS):
        return (_path(single),)
    many = next((value for key in _MANY_PATHS if isinstance(value := given.get(key), list)), [])
    found = [_path(value) for value in many if isinstance(value, str) and value.strip()]
    return tuple(dict.fromkeys(found)) if len(found) == len(many) else ()


def _file_call(tool: str, paths: tuple[str, ...], given: Mapping[str, object]) -> Action:
    subject, verb = _named(paths), _verb(tool, given)
    changes = bool(_first(given, _OLD_TEXTS)) or "edits" in given or verb == "change"
    changes |= bool(_first(given, _NEW_TEXTS)) and verb not in ("look", "check")
    if changes and str(given.get("command")) not in _EDITOR_LOOKS:
        return Action(
            kind="change",
            tool=tool,
            subject=subject,
            key=f"edit {subject}",
            files=paths,
            change=_changed(given),
            written=_added_lines(given),
        )
    if query := _query(given):
        subject = f"{query} in {subject}"
    kind: Kind = "check" if verb == "check" else "look"
    return Action(
        kind=kind,
        tool=tool,
        subject=subject,
        key=f"{tool} {query or subject}",
        files=paths,
        checks=tool if kind == "check" else "",
        quotes=kind == "look",
    )


def _changed(given: Mapping[str, object]) -> str:
    """The line that says what an edit, or the first of several, changes."""
    new, old = _first(given, _NEW_TEXTS), _first(given, _OLD_TEXTS)
    if given.get("replace_all") is True and 0 < max(len(new), len(old)) <= NEW_LINE and "\n" not in old + new:
        return f"{_line(old, NEW_LINE)} → {_line(new, NEW_LINE)} (all)"
    return next(filter(None, (_difference(new, old) for new, old in _edits(given))), "")


def _edits(given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """For each edit of a call, the new text and the one it replaces."""
    edits = given.get("edits")
    for edit in (given, *(edits if isinstance(edits, list) else ())):
        if not isinstance(edit, dict):
            continue
        new, old = _first(edit, _NEW_TEXTS), _first(edit, _OLD_TEXTS)
        if not new and (block := _BLOCK.search(_first(edit, ("diff",))[:READ])):
            old, new = block.string[: block.start()], block.string[block.end() :]
        yield new, old


def _added_lines(given: Mapping[str, object]) -> str:
    """The lines of the new texts that the replaced ones do not have."""
    found: list[str] = []
    for new, old in _edits(given):
        had = {line.strip() for line in old[:READ].splitlines()}
        found += (line for line in new[:READ].splitlines() if line.strip() not in had)
    return "\n".join(found)


def _difference(new: str, old: str = "") -> str:
    """The first changed line that says something, as a diff shows it: `+ added`, else `- removed`."""
    if line := first_new_line(new, old):
        return f"+ {line}"
    return f"- {line}" if (line := first_new_line(old, new)) else ""


def first_new_line(new: str, old: str = "") -> str:
    """The line of a text that says most about it and is not in the text it replaces.

    A definition says more than other lines, and these more than an import.
    """
    had = {" ".join(line.split()) for line in old[:READ].splitlines()}
    lines = [_line(line, NEW_LINE) for line in new[:READ].splitlines()]
    fresh = [line for line in lines if len(line) >= WORDY and line not in had and line[-1] != "…"]
    fresh = fresh or [line for line in lines if len(line) >= WORDY and line not in had]
    saying = [line for line in fresh if not _SAYS_LITTLE.match(line)]
    short = [line for line in lines if line not in had and any(map(str.isalnum, line))]
    return next(filter(_DEFINES.match, saying), next(iter(saying or fresh or short), ""))


def _patch(tool: str, given: Mapping[str, object], text: str) -> Action | None:
    text = next((value for key in _PATCHES if isinstance(value := given.get(key), str) and value), text)
    if "*** Begin Patch" in text and "\n" not in text.strip():
        text = text.replace("\\n", "\n")  # a string of a script
    if "*** Begin Patch" not in text and not text.startswith(("diff --git", "--- a/")):
        return None
    names = (_path(file) for file in _PATCHED.findall(text))
    files = tuple(dict.fromkeys(file for file in names if file != "/dev/null"))
    named = _named(files) or "a patch"
    second = next(islice(_PATCHED.finditer(text), 1, None), None)
    first = text[:READ] if second is None else text[: min(READ, second.start())]
    added, removed = ("\n".join(lines.findall(first)) for lines in (_ADDED, _REMOVED))
    change = _difference(added, removed)
    subject = f"apply_patch {named}" if _SHELL.search(tool) else named
    return Action(kind="change", tool=tool, subject=subject, key=f"edit {named}", files=files, change=change)


def _command(tool: str, given: Mapping[str, object]) -> str:
    """The command line of a shell call; empty for other calls."""
    value = next((given[key] for key in _COMMANDS if given.get(key)), "")
    if not value and _SHELL.search(tool):
        value = given.get("input") or ("" if _CODE.search(tool) else given.get("code")) or ""
    if isinstance(value, list):
        words = [str(word) for word in value]
        return words[-1] if len(words) > 2 and words[1] in ("-c", "-lc") else " ".join(words)
    if not isinstance(value, str) or (_first(given, _PATHS) and " " not in value):
        return ""  # the command of an editor
    nested = _NESTED.search(value[:READ])
    if nested:
        try:
            return str(json.loads(nested[1]))
        except ValueError:
            return value
    return value


def _code(tool: str, given: Mapping[str, object]) -> str:
    return (
        _first(given, ("code", "source", "python", "input")) if _CODE.search(tool) or "code" in given else ""
    )


def _code_action(tool: str, code: str) -> Action:
    """A script: what it says first, and the files that it writes."""
    writes, files = code_writes(code)
    return Action(
        kind="change" if writes else "look",
        tool=tool,
        subject=first_new_line(code) or _line(code, NEW_LINE),
        key=f"{tool} {_line(code, LONGEST_PATH)}",
        files=tuple(map(_path, files)),
        opaque=True,
    )


def _sql(tool: str, query: str) -> Action | None:
    """A statement in SQL; None if the text is none."""
    found = _SQL.match(query[:READ])
    if not found:
        return None
    plain = _line(query, 4 * LONGEST)
    kind: Kind = "change" if found["change"] else "look"
    return Action(kind=kind, tool=tool, subject=clipped(plain, LONGEST), key=f"{tool} {plain}")


def _by_name(tool: str, given: Mapping[str, object]) -> Action:
    query, kind = _query(given), _verb(tool, given)
    if query and kind in ("look", "other"):
        if folder := _first(given, _FOLDERS):
            query = f"{query} in {_path(folder)}"
        return Action(kind="look", tool=tool, subject=query, key=f"{tool} {query}", quotes=True)
    if kind == "look" and (folder := _first(given, _FOLDERS)):
        return Action(kind=kind, tool=tool, subject=_path(folder), key=f"{tool} {folder}", quotes=True)
    if kind == "thought":
        return Action(kind=kind, tool=tool, subject="", key=tool)
    subject = ", ".join(_values(given))
    return Action(
        kind=kind,
        tool=tool,
        subject=subject,
        key=f"{tool} {subject}",
        listed=True,
        checks=tool if kind == "check" else "",
    )


def _verb(tool: str, given: Mapping[str, object]) -> Kind:
    """The first verb in a tool's name; in the action that it is asked for, if the name has none."""
    for words in (_words(tool), _words(_first(given, ("action", "operation", "method")))):
        for word in words:
            for kind, verbs in _VERBS.items():
                if word in verbs:
                    return kind
    return "other"


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name.rsplit("__", 1)[-1][:LONGEST_TOOL])]


def _query(given: Mapping[str, object]) -> str:
    """What a call searches for, in quotes unless it is an address."""
    value = next((value for key in _QUERIES if (value := given.get(key))), "")
    if isinstance(value, list):
        value = ", ".join(each for each in value[:VALUES] if isinstance(each, str))
    if not isinstance(value, str) or not value[:READ].strip():
        return ""
    plain = _line(value, 2 * LONGEST_VALUE)
    return plain if "://" in plain[:10] else f'"{plain}"'


def _values(given: Mapping[str, object]) -> Iterator[str]:
    """The short values of the arguments, ids first, in their order."""
    longest = LONGEST if len(given) == 1 else LONGEST_VALUE
    found = [(key, _line(value, longest)) for key, value in islice(_scalars(given), 4 * VALUES)]
    ids = [value for key, value in found if key == "id" or (key.endswith("_id") and key != "user_id")]
    left, shown = LONGEST, 0
    for value in dict.fromkeys((*ids, *(value for _, value in found))):
        if shown == VALUES or len(value) > left:
            break
        left, shown = left - len(value), shown + 1
        yield value


def _scalars(value: object, key: str = "", *, depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if value.strip():
            yield key, value
    elif depth < DEEPEST and isinstance(value, dict):
        for name, inner in value.items():
            yield from _scalars(inner, _CAMEL.sub("_", name).lower(), depth=depth + 1)
    elif depth < DEEPEST and isinstance(value, list):
        for inner in value[:VALUES]:
            yield from _scalars(inner, key, depth=depth + 1)


def _first(given: Mapping[str, object], keys: Sequence[str]) -> str:
    texts = (value for key in keys if isinstance(value := given.get(key), str))
    return next((text for text in texts if text[:READ].strip()), "")


def _named(files: Sequence[str]) -> str:
    """A list of files; of a long one the beginning."""
    shown: list[str] = []
    for file in files[:FILES]:
        if shown and sum(map(len, shown)) + len(file) > LONGEST_PATH:
            break
        shown.append(file)
    more = f" and {len(files) - len(shown)} more" if len(files) > len(shown) else ""
    return ", ".join(shown) + more


def _path(path: str) -> str:
    """A path in one line; of a very long one the end."""
    plain = _line(path[-4 * LONGEST_PATH :], 4 * LONGEST_PATH)
    return plain if len(plain) <= LONGEST_PATH else f"…{plain[1 - LONGEST_PATH :]}"


def _line(text: str, most: int) -> str:
    """A text in one line of at most `most` characters, without control characters."""
    return clipped(" ".join(text[: 8 * most].translate(_CLEANED).split()), most)
