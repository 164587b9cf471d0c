"""Read from a tool's result how the call ended: an exit code, a refusal, an error, a report of tests.

Results are read at their beginning and end, where tools say how they ended. Every pattern is linear in time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from foveal.pipeline.summarize.language import clipped
from foveal.pipeline.summarize.tool_calls import Action
from foveal.presets.foveal.check_reports import (
    MARKS,
    Outcome,
    checked,
    clip,
    failed,
    informative,
    printed,
    report,
    untagged,
)

__all__ = ["Outcome", "beyond", "is_said", "outcome"]

READ = 12_000
"""Characters of a result that are read at its beginning, and at its end."""
PARSED = 400_000
"""Characters of a result up to which it is parsed as JSON."""
INLINE = 80
"""Characters of a result that is shown with its call."""
SHORT = 400
"""Characters of a text up to which its beginning says what all of it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """What a tool printed, without what the agent wrote around it."""

    text: str
    code: int | None = None
    """The exit code, where one is given."""
    error: str = ""
    """The message of a result that is an error in JSON."""

    @property
    def failed(self) -> bool:
        return bool(self.error) or self.code not in (None, 0)


_REJECTED = re.compile(
    r"(?:the user doesn't want to (?:proceed with|take)|tool use was rejected)"
    r"(?:[^\n]{0,600}?the user said:\s{0,4}((?:[^\n]{0,300}\n?){0,4}))?",
    re.IGNORECASE,
)
"""A call that the user did not allow, and what they said to it."""
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]\n]{0,40}\]")
SAID = 300
"""Characters of that in a log."""


def outcome(result: str, action: Action, *, error: bool = False) -> Outcome:
    """How a call ended.

    >>> test = Action(kind="check", tool="run", subject="pytest", key="pytest")
    >>> outcome("F.\\nFAILED t.py::test_a - KeyError\\n1 failed, 13 passed in 0.2s", test).text
    'FAILED 1 of 14: t.py::test_a: KeyError'
    """
    if rejected := _REJECTED.search(result[:2_000]):
        said = " ".join((rejected[1] or "").split())
        text = f"rejected by the user: {said[:SAID]}" if said else "rejected by the user"
        return Outcome(ok=False, text=text, rejected=True)
    if _INTERRUPTED.search(result[-400:]):
        return Outcome(ok=None, text="interrupted by the user")
    found = _read(result, action)
    ended_badly = error or found.failed
    if action.kind in ("check", "change") and not action.change:
        reported = report(found.text)
        if reported and (reported.ok is False or not ended_badly):
            return reported
    if ended_badly or _refused(found.text, action):
        missed = action.kind == "look" and found.code == 1 and not found.text
        return (
            Outcome(ok=None, text="nothing found")
            if missed
            else failed(found.error or found.text, found.code)
        )
    if _BACKGROUND.match(found.text):
        return Outcome(ok=None, text="running in the background")
    return _fine(found, action)


def _fine(found: _Result, action: Action) -> Outcome:
    """The outcome of a call whose result is no error."""
    nothing = not found.text or bool(_NOTHING.fullmatch(found.text))
    if action.kind == "check":
        if nothing and action.searched:  # no line matched: that is not how the check ended
            return Outcome(ok=None, text="no output")
        return checked("" if nothing else found.text, found.code)
    if action.kind in ("change", "plan"):
        return Outcome(ok=True, text="ok") if nothing or found.code == 0 else _done(found.text, action)
    if nothing:
        return Outcome(ok=None, text="nothing found" if action.kind == "look" else "no output")
    first, *more = found.text.splitlines()
    if not more and len(first) <= INLINE:
        return Outcome(ok=True, text=first)
    said = filter(None, map(untagged, informative(found.text))) if action.kind == "other" else iter(())
    begins = next(said, "")[:INLINE].rstrip()
    return Outcome(ok=True, text=f"{begins}…" if begins else "")


_CONFIRMED = re.compile(
    r"\b(?:success\w{0,5}|succeeded|(?:has|have) been|done|completed?|confirmed|created|updated|added|sent"
    r"|saved|removed|deleted|cancell?ed|booked|transferred|submitted|closed|opened|moved|scheduled|applied"
    r"|written|edited|changed|assigned|published|posted|approved|executed|ran|started|stopped|set|ok)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|no|none|nothing|never|cannot|unable|sorry|unfortunately|fail(?:ed|s|ure)?|denied|declined|refused"
    r"|rejected|wrong|incorrect|invalid)\b|n['’]t\b",
    re.IGNORECASE,
)
ANSWERED = 80
"""Characters of such an answer that are shown."""
PROSE = 4
"""Words of an answer from which on it must confirm the call to count as done."""


def _done(text: str, action: Action) -> Outcome:
    """The outcome of a change that printed something: ok, or what it printed if that is no confirmation."""
    if action.opaque and not action.change:
        return Outcome(ok=True, text=printed(text))
    first = next(iter(informative(text)), "") if action.listed and text[:1] not in ("{", "[") else ""
    denied = _NEGATED.search(first) is not None
    if action.kind == "plan" or not first or (_CONFIRMED.search(first) and not denied):
        return Outcome(ok=True, text=_made(text, action))
    if len(first.split()) < PROSE and not denied:
        return Outcome(ok=True, text="ok" if " " not in first else f'"{clipped(first, ANSWERED)}"')
    return Outcome(ok=None, text=f'answered "{clipped(first, ANSWERED)}"', answered=True)


_UPDATED = re.compile(
    r"\W{0,3}(?:(?:the )?file (?:created|updated|(?:\S{1,300} )?(?:has been|was) )"
    r"|success\W{1,2}updated the).*",
    re.IGNORECASE,
)
"""What editors say of an edit."""
MARGIN = 10
"""Lines at each end of a result that are compared with its outcome."""


_PASSED_ROW = re.compile(
    r"\s{0,8}(?:\[[^\]\n]{0,80}\] )?(?:\$ .{0,300}|(?:ok|\?)\s{1,8}[\w./-]{1,200}\s.{0,80}|PASS|0 issues\.?"
    r"|=== (?:RUN|CONT|PAUSE) .{0,300}|--- PASS.{0,300}|\S{1,200} PASSED .{0,40})\s{0,8}"
)
"""A line of a report about what passed, which its outcome counts."""


def beyond(result: str, ended: Outcome, action: Action) -> str:
    """The result without lines that frame it, repeat its outcome, or report what passed."""
    lines = result.split("\n")
    if ended.counts:
        lines = [line for line in lines if not _PASSED_ROW.fullmatch(line)]
    for end in (0, -1):
        for _ in range(MARGIN):
            if not lines or not is_said(lines[end], ended, action, end=end):
                break
            lines.pop(end)
    return "\n".join(lines)


def is_said(line: str, ended: Outcome, action: Action, *, end: int) -> bool:
    """Whether a line at an end of a result (0 or -1) frames it or repeats its outcome."""
    if not line.strip() or _frames(line, action, end=end):
        return True
    if len(line) > SHORT:
        return False
    plain = " ".join(MARKS.sub("", line.strip()).split())
    if action.files and ended.ok and action.kind == "change" and _UPDATED.fullmatch(plain):
        return True
    return plain in (ended.text, ended.text.removeprefix("failed: ")) or f'"{plain}"' in ended.text


# What agents write around the output of a command.

_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]|\r")
_FRAME = re.compile(
    r"</?(?:untrusted_context|output|stdout|stderr|result|tool_result)>|Script completed|Output:|OBSERVATION:"
    r"|(?:Chunk ID|Original token count): .{0,60}|Wall time:? .{0,40}|\[stdout\]|Error: \(none\)"
    r"|(?:Command|Directory|Signal|Background PIDs|Process Group PGID): .{0,200}"
    r"|bash-\$"
    r"|[\[(](?:Current working directory|Python interpreter|Open file|Current directory): .{0,200}[\])]"
)
"""A line that an agent writes before or after what a tool printed."""
_EXIT = re.compile(
    r"\W{0,3}(?:returncode>|exit_?code>|(?:(?:error:|the|command|process|tool|script) ){0,3}"
    r"(?:(?:failed|completed|finished|exited|ended) ){0,1}(?:with )?"
    r"(?:exit(?:ed)?[ _]?(?:code|status)?|return ?code|code)[: ]{1,2})(?P<code>-?\d{1,3})\b[\])}.,:]{0,2}"
    r"(?:</(?:returncode|exit_?code)>)?",
    re.IGNORECASE,
)
"""A line that gives an exit code."""
_EXIT_FIELD = re.compile(r'"(?:exit_?code|return_?code|exit_status)"\s?:\s?(-?\d{1,3})', re.IGNORECASE)
_EXIT_KEYS = ("exit_code", "exitCode", "returncode", "return_code", "returnCode", "exit_status")
_TEXT_KEYS = ("output", "stdout", "stderr", "result", "content", "text", "aggregated_output")
_PRINTED = re.compile(r"(?:Output|STDOUT|stdout):[ \t]?", re.MULTILINE)


def _read(result: str, action: Action) -> _Result:
    text = result.strip()
    wrapped = _from_json(text, action) if text[:1] in ("{", "[") else None
    if wrapped and (wrapped.error or wrapped.code is not None):
        return _Result(text=_clean(wrapped.text).strip(), code=wrapped.code, error=wrapped.error)
    code, lines = None, _clean(wrapped.text if wrapped else text).split("\n")
    for end in (0, -1):
        for _ in range(10):
            if not lines or not (lines[end].strip() == "" or _frames(lines[end], action, end=end)):
                break
            if code is None and (given := _EXIT.match(lines[end])):
                code = int(given["code"])
            lines.pop(end)
    if lines and (printed := _PRINTED.match(lines[0])):
        lines[0] = lines[0][printed.end() :]
    if code is None and text[:1] == "{" and not wrapped and len(text) > PARSED:
        given = _EXIT_FIELD.search(text[:SHORT]) or _EXIT_FIELD.search(text[-SHORT:])
        code = int(given[1]) if given else None
    return _Result(text="\n".join(lines).strip(), code=code)


def _frames(line: str, action: Action, *, end: int) -> bool:
    """Whether an agent wrote a line around the output; the last line of a file may look the same."""
    plain = line.strip()
    if _FRAME.fullmatch(plain):
        return True
    return bool(_EXIT.fullmatch(plain)) and not (end and action.quotes and plain[0] not in "[(<")


def _clean(text: str) -> str:
    """The beginning and the end of a text, without colours."""
    return _ANSI.sub("", text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}")


def _from_json(text: str, action: Action) -> _Result | None:
    """What a result in JSON wraps: the output of a command, or an error; None if it wraps nothing."""
    if len(text) > PARSED:
        return None
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(given, list) and given and all(isinstance(item, dict) and "type" in item for item in given):
        return _Result(text="\n".join(_texts(given)))
    if not isinstance(given, dict):
        return None
    metadata = given.get("metadata")
    fields = {**metadata, **given} if isinstance(metadata, dict) else given
    code = next((fields[key] for key in _EXIT_KEYS if type(fields.get(key)) is int), None)
    texts = [text for key in _TEXT_KEYS for text in _texts(given.get(key))]
    error = _error_of(given, action)
    if not error and not (texts and (code is not None or len(given) <= 2)):
        return None
    return _Result(text="\n".join((*texts, error)), code=code, error=error)


def _texts(value: object) -> list[str]:
    """A text, or the texts of a list of content parts."""
    if isinstance(value, list):
        parts = [item.get("text") for item in value if isinstance(item, dict)]
        return [part for part in parts if isinstance(part, str) and part.strip()]
    return [value] if isinstance(value, str) and value.strip() else []


def _error_of(given: Mapping[str, object], action: Action) -> str:
    """The message of an object that is an error, empty if it is none; data that is read may mention one."""
    error = given.get("error") or given.get("errors")
    fails = given.get("success") is False or given.get("ok") is False or given.get("isError") is True
    fails |= str(given.get("status")).lower() in ("error", "failed", "failure")
    if (action.kind == "look" and len(given) > 4) or not (error or fails):
        return ""
    for value in (error, given.get("message"), given.get("detail"), given.get("reason")):
        inner = value[0] if isinstance(value, list) and value else value
        inner = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(inner, str) and inner.strip():
            return inner
    return "error"


# Errors and refusals.

_DENIED = re.compile(
    r"\W{0,3}(?:the user (?:doesn't want|denied|rejected|declined|cancell?ed)|.{0,40}tool use was rejected"
    r"|<tool_use_error>|<error>|request interrupted|aborted by user|patch rejected|script failed"
    r"|tool not found|the arguments provided to the tool are invalid"
    r"|(?:command|tool|execution|operation|request) (?:timed out|was aborted|was rejected|denied|failed)"
    r"|apply_patch verification failed|no replacement was performed|your proposed edit has introduced"
    r"|sibling tool call errored)",
    re.IGNORECASE,
)
"""What agents say of a call that was refused."""
_REFUSED = re.compile(
    r"\W{0,3}(?:error\b|traceback \(|invalid\b|permission denied|failed\b|exception\b|unauthorized|forbidden"
    r"|not allowed|access denied|unknown tool|(?:the )?string to replace (?:was )?not found|could not find)",
    re.IGNORECASE,
)
_UNREAD = re.compile(
    r"(?:error\b.{0,200}|.{0,200}: )(?:not found|no such|denied|does not exist|doesn't exist|cannot|could not"
    r"|unable|is a directory|failed to|too large|not a git repository|required|timed out|unknown revision)",
    re.IGNORECASE,
)
"""An error of a program that only prints what others wrote."""
_COMMITTED = re.compile(r"^\[[^\]\n]{1,200} [0-9a-f]{7,40}\]", re.MULTILINE)
_UNANSWERED = re.compile(r"^curl: \(\d{1,3}\) ", re.MULTILINE)
_FAILING = re.compile(
    r"^(?:fatal|[Ee]rror): |^ERROR\b|^CONFLICT\b|^ ?! \[|\bfailed to push|command not found|Permission denied"
    r"|No such file or directory|cannot (?:stat|remove|create|access|move)|Error executing"
    r"|Traceback \(most recent|^\w{0,60}(?:Error|Exception): |^curl: \(\d{1,3}\) "
    r"|^command_not_found_handler: ",
    re.MULTILINE,
)
_BACKGROUND = re.compile(
    r"command (?:is )?running in (?:the )?background|process running with session", re.IGNORECASE
)
_NOTHING = re.compile(
    r"\(?(?:no|0) (?:output|files found|matches(?: found)?|results?(?: found)?)\)?\.?|\[\]|\{\}|null|none"
    r"|\(?bash completed with no output\)?|\(empty\)",
    re.IGNORECASE,
)


def _refused(text: str, action: Action) -> bool:
    begin = text[:SHORT]
    if _DENIED.match(begin):
        return True
    if action.quotes:
        unread = len(text) <= SHORT and bool(_UNREAD.match(begin))
        return unread or ("curl" in action.subject and bool(_UNANSWERED.search(text[-SHORT:])))
    if action.kind == "change" and not action.change and not action.listed:
        idle = "git commit" in action.key and "nothing to commit" in text and not _COMMITTED.search(text)
        return idle or bool(_FAILING.search(text))
    data = text[:1] == "{" or (action.kind == "look" and len(text) > 5 * SHORT)
    return not data and bool(_REFUSED.match(begin))


def _made(text: str, action: Action) -> str:
    """`ok`, with the identifier of what a call created."""
    if not action.listed or text[:1] != "{" or len(text) > PARSED:
        return "ok"
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return "ok"
    found = given if isinstance(given, dict) else {}
    ids = (key for key in found if key.endswith(("_id", "Id")) and key != "user_id")
    for key in ("identifier", "number", "key", *ids, "id"):
        value = found.get(key)
        if isinstance(value, str | int) and 0 < len(str(value)) <= 40:
            return "ok" if str(value) in action.subject else f"ok, {key} {clip(str(value))}"
    return "ok"
