"""Read what test runners, linters and compilers report, and why something failed.

Every pattern is linear in time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from foveal.pipeline.summarize.language import clipped

DETAIL = 110
"""Characters that say how a call failed."""
PRINTED = 60
"""Characters of a printed line that is shown as an outcome."""
NAMED = 3
"""Failed tests that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a call ended."""

    ok: bool | None
    """None if the result does not say."""
    text: str
    """A few words: `ok`, `failed: no such file`, `passed 214`. Empty if there is nothing to say."""
    rejected: bool = False
    """Whether the user did not allow the call; what they said to it is in the text."""
    answered: bool = False
    """Whether the text quotes an answer that does not confirm the call."""
    counts: Literal["", "tests", "issues"] = ""
    """What the text counts, if it is from the report of a check."""


_RAISED = re.compile(
    r"^(?:E {1,8})?((?:\w{1,60}\.){0,6}\w{0,60}(?:Error|Exception|Interrupt|Exit)\b(?::.{0,300})?)$",
    re.MULTILINE,
)
_REASON = re.compile(
    r"error|fail|fatal|denied|not found|cannot|undefined|refused|invalid|panic|conflict|reject|doesn't|unable"
    r"|missing|no such|timed out|not exist",
    re.IGNORECASE,
)
_LOCATED = re.compile(
    r"^[ \t]{0,4}(?:\[[^\]\n]{0,80}\] )?"
    r"(\S{1,200}\.\w{1,5}(?::\d{1,6}(?::\d{1,6})?(?::| -)|\(\d{1,6},\d{1,6}\):) "
    r"(?!\w{0,40}warning|note|info).{1,300})$",
    re.MULTILINE | re.IGNORECASE,
)
"""A complaint about a place in a file."""
MARKS = re.compile(r"</?(?:tool_use_error|error|stderr)>|^OBSERVATION:|^Error: ")


def failed(text: str, code: int | None = None) -> Outcome:
    """The outcome of a call that failed; the exit code says more than a line without a reason."""
    detail = failure(text)
    if code and not _REASON.search(detail):
        detail = f"exit code {code}" + (f", {printed(text)}" if detail else "")
    return Outcome(ok=False, text=f"failed: {detail}" if detail else "failed")


# What a program printed.

_PROGRESS = ("=== RUN", "=== CONT", "=== PAUSE", "--- PASS")
"""How lines begin that name a test without saying how it failed."""
_NOISE = re.compile(
    r"\W*|% Total .*|Dload .*|(?:[\d.:-]{1,12}[kMG]? ){5,20}[\d.:kMG -]{0,60}|[\d\W]{0,80}%[\d\W]{0,200}"
    r"|\d{1,3}%\|.{0,400}|\[\s{0,5}\d{1,6}(?:/\d{1,6}|%)\] .{0,400}|\+ \S{0,200}(?:ninja|cmake|make)"
    r"|(?:Collecting|Downloading|Using cached|Requirement already|Building wheel|Preparing metadata"
    r"|Installing build|Getting requirements|\[notice\]|PUBLIC \"-//).{0,400}"
    r"|OBSERVATION:|</?(?:output|stdout|stderr|result)>|<!(?i:doctype)\b.{0,400}"
)
"""A line that says nothing about what happened: a rule, a frame, a progress meter, a banner of a build."""
_PAGE = re.compile(r"<(?:!doctype|html)\b", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,400}>")
_ENDED = re.compile(r"///PROCESS-DONE:-?\d{1,3}:PROCESS-DONE///")


def informative(text: str) -> list[str]:
    """The lines of a text that say something; of a page those that are more than tags."""
    text = _ENDED.sub("", text)
    page = _PAGE.search(text) is not None
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [line for line in lines if not _NOISE.fullmatch(untagged(line) if page else line)]


def untagged(line: str) -> str:
    """A line of a page without its tags."""
    return _TAG.sub("", line).strip()


_SUCCESS = re.compile(
    r"\b(?:success\w{0,5}|succeeded|done|completed?|saved|passed|all .{0,20}ok)\b|[✓✅]", re.IGNORECASE
)
LAST = 12
"""Lines at the end of an output among which one that reports success is preferred."""


_FAILURES = re.compile(
    r"(\b(?:0|no|none|not|never|without)[ \t](?:\w{1,20}[ \t]){0,3})?"
    r"(?<![\w./-])(?:fail(?:ed|ures?|ing|s)?|(?<=\d )(?:\w{1,20} )?errors?)"
    r"(?![./-]?\w)(?![ \t]?[:=][ \t]?0\b)",
    re.IGNORECASE,
)
"""A failure that a program mentions, or denies, with the denial as the group; no name of a file."""


def mentions_failures(text: str) -> bool:
    return any(not denied for denied in _FAILURES.findall(text))


def printed(text: str) -> str:
    """How an output ends: the last line that mentions failures, else of success, else the last one."""
    lines = informative(text)
    if not lines:
        return "no output"
    ends = (*filter(_SUCCESS.search, lines[-LAST:]), *filter(mentions_failures, lines))
    line = ends[-1] if ends else lines[-1]
    how = "prints " if line != lines[-1] else "ends " if len(lines) > 1 else ""
    return f'{how}"{clipped(line, PRINTED)}"'


def failure(text: str) -> str:
    """The line that says best why something failed."""
    lines = [line for line in informative(text) if len(line) > 3 and not line.startswith(_PROGRESS)]
    raised = [found[1] for found in _RAISED.finditer(text)]
    located = _LOCATED.search(text)
    if raised:
        best = raised[-1]
    elif located:
        best = located[1]
    else:
        best = next(filter(_REASON.search, lines), lines[0] if lines else "")
    return clip(MARKS.sub("", best).strip())


def clip(text: str) -> str:
    return clipped(" ".join(text[: 8 * DETAIL].split()), DETAIL)


# Checks that print no report.

_BROKEN = re.compile(
    r"^(?:--- FAIL|FAIL\b|E {2,}\w)|\bERROR task failed|\bBUILD FAIL|\bpanic:|Traceback \(most recent"
    r"|^\s{0,8}error(?:\[\w{1,10}\])?:|\bfatal:|^\w{0,60}(?:Error|Exception)\b.{0,3}:|command not found"
    r"|No such file or directory|Segmentation fault|^make(?:\[\d\])?: \*\*\* |npm ERR!",
    re.MULTILINE,
)
_FINE = re.compile(
    r"^(?:\[[^\]\n]{0,80}\] )?(?:ok\s|PASS\b|0 issues)|\bBUILD SUCCESS|\bBuild (?:succeeded|complete)"
    r"|\ball checks passed\b|\bSyntax OK\b|^\s{0,4}Finished|\bno (?:issues|errors)\b|\bSuccess: "
    r"|already formatted|left unchanged|\b(?:compiled|built) successfully|\bBuild completed successfully",
    re.MULTILINE | re.IGNORECASE,
)


def checked(text: str, code: int | None) -> Outcome:
    """The outcome of a check without a report."""
    if _BROKEN.search(text) or _LOCATED.search(text):
        return failed(text)
    fails = mentions_failures(text)
    if not text or code == 0 or (_FINE.search(text) and not fails):
        return Outcome(ok=True, text="ok")
    return Outcome(ok=None, text=printed(text) if fails else f"no error, {printed(text)}")


# Reports of tests.

_COUNTS = re.compile(r"(\d{1,6}) ([a-z]{2,12})")
_PYTEST = re.compile(
    r"^=*[ ]?((?:\d{1,6} [a-z]{2,12}(?:, | )){1,10}|no tests ran )in \d[\d.:]{0,12}", re.MULTILINE
)
_PYTEST_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S{1,200})(?: - (.{1,200}))?$", re.MULTILINE)
_PYTEST_HEADER = re.compile(r"^_{3,80} ([^_\s]\S{0,200}) _{3,80}$", re.MULTILINE)
_UNITTEST = re.compile(r"^Ran (\d{1,6}) tests? in", re.MULTILINE)
_UNITTEST_FAILED = re.compile(r"^FAILED \((.{1,80})\)", re.MULTILINE)
_UNITTEST_NAME = re.compile(r"^(?:FAIL|ERROR): (\S{1,200})", re.MULTILINE)
_GO_TEST = re.compile(r"^[ \t]{0,16}--- (FAIL|PASS): (\S{1,200})", re.MULTILINE)
_GO_PACKAGE = re.compile(
    r"^(?:\[[^\]\n]{0,80}\] )?(ok|FAIL)[ \t]{1,8}([\w./-]{1,200})[ \t]{1,8}(?:\d[\d.]{0,8}s|\(cached\)|\[)",
    re.MULTILINE,
)
_CARGO = re.compile(r"^test result: (?:ok|FAILED)\. (\d{1,6}) passed; (\d{1,6}) failed", re.MULTILINE)
_CARGO_NAME = re.compile(
    r"^(?:test (\S{1,200}) \.\.\. FAILED|[ \t]{1,8}FAIL \[.{1,20}\] (.{1,160}))$", re.MULTILINE
)
_JEST = re.compile(r"^\s{0,8}(Tests|Test Suites|Test Files):?[ \t]{1,12}(\d.{0,120})$", re.MULTILINE)
_JEST_NAME = re.compile(r"^\s{0,12}(?:✕|×|●|FAIL)\s{1,4}(.{1,160})$", re.MULTILINE)
_COUNT_LINE = re.compile(
    r"^\s{0,8}(\d{1,6}) (pass|fail|passing|failing|passed|failed|flaky)"
    r"(?:[ \t]\([^)\n]{1,20}\)|:[ \t](.{1,160}).{0,2000})?$",
    re.MULTILINE,
)
_COUNT_NAME = re.compile(r"^\s{0,8}(?:1\)|✗|✘|\(fail\)|\[\w{1,20}\] ›)[ \t](.{1,160})$", re.MULTILINE)
_TAP = re.compile(r"^[#ℹ] (pass|fail)(?:ed)?[: ]{1,4}(\d{1,6})", re.MULTILINE)
_TAP_LINE = re.compile(r"^(not ok|ok) \d{1,6}\b(?: - | )?(.{0,160})$", re.MULTILINE)
_MAVEN = re.compile(r"Tests run: (\d{1,6}), Failures: (\d{1,6}), Errors: (\d{1,6})")
_MAVEN_NAME = re.compile(r"^\[ERROR\]\s{1,4}(\w[\w.$]{0,120}[.:]\w{1,80}:\d{1,6}.{0,120})$", re.MULTILINE)
_GRADLE = re.compile(r"^(\d{1,6}) tests completed, (\d{1,6}) failed", re.MULTILINE)
_GRADLE_NAME = re.compile(r"^(\S{1,120} > .{1,120}) FAILED$", re.MULTILINE)
_EXAMPLES = re.compile(
    r"^(?:\d{1,6} doctests?, )?(\d{1,6}) (?:examples?|tests?|runs?), (?:\d{1,6} assertions, )?"
    r"(\d{1,6}) failures?(?:, (\d{1,6}) errors)?",
    re.MULTILINE,
)
_EXAMPLES_NAME = re.compile(
    r"^(?:rspec (\S{1,200})|[ \t]{0,4}1\) (?:test )?(.{1,160}?)(?: \(.{1,80}\))?)(?: #.{0,200})?$",
    re.MULTILINE,
)
_PHPUNIT = re.compile(
    r"^Tests: (\d{1,6}), Assertions: \d{1,7}(.{0,120})$|^OK \((\d{1,6}) tests?", re.MULTILINE
)
_PHPUNIT_FAILED = re.compile(r"(?:Errors|Failures): (\d{1,6})")
_PHPUNIT_NAME = re.compile(r"^1\) (\S{1,200})$", re.MULTILINE)
_DOTNET = re.compile(r"(?:Passed|Failed)! {1,3}- Failed: {1,8}(\d{1,6}), Passed: {1,8}(\d{1,6})")
_DOTNET_NAME = re.compile(r"^[ \t]{0,8}Failed (\S{1,200}) \[", re.MULTILINE)
_CTEST = re.compile(r"^\d{1,3}% tests passed, (\d{1,6}) tests failed out of (\d{1,6})", re.MULTILINE)
_CTEST_NAME = re.compile(r"^[ \t]{0,8}\d{1,6} - (\S{1,200}) \(", re.MULTILINE)
_BAZEL = re.compile(
    r"^(//\S{1,200})[ \t]{1,120}(?:\(cached\) )?(PASSED|FAILED|TIMEOUT|FLAKY|FAILED TO BUILD)\b", re.MULTILINE
)
_SWIFT = re.compile(r"Executed (\d{1,6}) tests?, with (\d{1,6}) failures?")
_SWIFT_NAME = re.compile(r"error: (?:-\[)?([\w. ]{1,160})\]? : ")
_DENO = re.compile(r"^(?:ok|FAILED) \| (\d{1,6}) passed[^|\n]{0,40} \| (\d{1,6}) failed", re.MULTILINE)
_OWN = re.compile(r"\bpassed[:=] ?(\d{1,6})\b[^\n]{0,40}?\bfailed[:=] ?(\d{1,6})\b", re.IGNORECASE)
_COUNTED = re.compile(
    r"^(?:\[[^\]\n]{0,80}\] )?(?:✖ |Found |.{0,120} due to )?(\d{1,6}) "
    r"(?:previous )?(?:problems?|errors?|issues?)\b"
    r"(?:.{0,20}\((\d{1,6}) errors?,|.{0,40}, (\d{1,6}) remaining\))?"
    r"|^(\d{1,6}) files? would be reformatted",
    re.MULTILINE,
)


def report(text: str) -> Outcome | None:
    """What a test runner, a linter or a compiler reports at its end; of several the one that failed."""
    found = [each for read in _REPORTS if (each := read(text))]
    return next((each for each in found if each.ok is False), found[0] if found else None)


def _tests(failed: int, whole: int, names: Iterable[str] = ()) -> Outcome:
    if failed:
        named = list(dict.fromkeys(" ".join(name.split()) for name in names if name.strip()))
        shown = ", ".join(named[:NAMED]) + (", …" if len(named) > NAMED else "")
        of = f" of {whole}" if whole > failed else ""
        text = clip(f"FAILED {failed}{of}{': ' if shown else ''}{shown}")
        return Outcome(ok=False, text=text, counts="tests")
    text = f"passed {whole}" if whole else "no tests ran"
    return Outcome(ok=True if whole else None, text=text, counts="tests")


def _pytest(text: str) -> Outcome | None:
    found = [each[1] for each in _PYTEST.finditer(text)]
    counts = {word.rstrip("s"): int(number) for number, word in _COUNTS.findall(found[-1])} if found else {}
    if not found or not (counts.keys() & {"failed", "passed", "error", "skipped"} or "ran" in found[-1]):
        return None
    failed = counts.get("failed", 0) + counts.get("error", 0)
    reasons = [(each[1], each[2]) for each in _PYTEST_FAILED.finditer(text)]
    names = [name for name, _ in reasons] or _PYTEST_HEADER.findall(text)
    if len(reasons) == 1 and reasons[0][1]:
        names = [f"{reasons[0][0]}: {reasons[0][1]}"]
    return _tests(failed, failed + counts.get("passed", 0), names)


def _unittest(text: str) -> Outcome | None:
    ran = [*_UNITTEST.finditer(text)]
    if not ran:
        return None
    failed = _UNITTEST_FAILED.search(text, ran[-1].end())
    counts = re.findall(r"(?:failures|errors)=(\d{1,6})", failed[1]) if failed else ()
    return _tests(sum(map(int, counts)), int(ran[-1][1]), _UNITTEST_NAME.findall(text))


def _go(text: str) -> Outcome | None:
    tests = {name: state for state, name in _GO_TEST.findall(text)}
    packages = {name: state for state, name in _GO_PACKAGE.findall(text)}
    failed = [name for name, state in tests.items() if state == "FAIL"]
    broken = [name for name, state in packages.items() if state == "FAIL"]
    if failed or broken:
        return Outcome(ok=False, text=clip(f"FAILED {', '.join(failed or broken)}"), counts="tests")
    if not packages:
        return None
    text = f"passed {len(packages)} package{'s' * (len(packages) > 1)}"
    return Outcome(ok=True, text=text, counts="tests")


def _jest(text: str) -> Outcome | None:
    found = {each[1]: _COUNTS.findall(each[2]) for each in _JEST.finditer(text)}
    lines = {name: {word: int(n) for n, word in counts} for name, counts in found.items() if counts}
    if not lines:
        return None
    tests = lines.pop("Tests", {})
    failed = tests.get("failed", 0) or max((counts.get("failed", 0) for counts in lines.values()), default=0)
    names = sorted(
        (name for name in _JEST_NAME.findall(text)), key=lambda name: "›" not in name and " > " not in name
    )
    return _tests(failed, tests.get("failed", 0) + tests.get("passed", 0), names)


def _counted_lines(text: str) -> Outcome | None:
    """Mocha, Playwright, Bun: a line with the number that passed, a line with the number that failed."""
    lines = {word[:4]: (int(number), name) for number, word, name in _COUNT_LINE.findall(text)}
    if not lines:
        return None
    (failed, name), (passed, _), (flaky, _) = (lines.get(word, (0, "")) for word in ("fail", "pass", "flak"))
    return _tests(failed, failed + passed + flaky, [name, *_COUNT_NAME.findall(text)])


def _tap(text: str) -> Outcome | None:
    counts = {word: int(number) for word, number in _TAP.findall(text)}
    lines = [(state, name) for state, name in _TAP_LINE.findall(text) if "# TODO" not in name]
    names = [name for state, name in lines if state == "not ok"]
    if counts:
        failed, passed = counts.get("fail", 0), counts.get("pass", 0)
    else:
        failed, passed = len(names), len(lines) - len(names)
    return _tests(failed, failed + passed, names) if counts or lines else None


def _maven(text: str) -> Outcome | None:
    found = _MAVEN.findall(text)
    if not found:
        return None
    whole, failures, errors = map(int, found[-1])
    return _tests(failures + errors, whole, _MAVEN_NAME.findall(text))


def _phpunit(text: str) -> Outcome | None:
    found = [*_PHPUNIT.finditer(text)]
    if not found:
        return None
    failed = sum(map(int, _PHPUNIT_FAILED.findall(found[-1][2] or "")))
    return _tests(failed, int(found[-1][1] or found[-1][3]), _PHPUNIT_NAME.findall(text))


def _bazel(text: str) -> Outcome | None:
    targets = dict(_BAZEL.findall(text))
    failed = [name for name, state in targets.items() if state not in ("PASSED", "FLAKY")]
    return _tests(len(failed), len(targets), failed) if targets else None


def _summed(
    pattern: re.Pattern[str], names: re.Pattern[str], *, last: bool = False
) -> Callable[[str], Outcome | None]:
    """A reader of lines with the numbers that passed and that failed, one for each group of tests."""

    def read(text: str) -> Outcome | None:
        found = pattern.findall(text)[-1 if last else 0 :]
        passed, failed = (sum(int(each[at]) for each in found) for at in (0, 1))
        return _tests(failed, passed + failed, _either(names.findall(text))) if found else None

    return read


def _of_all(pattern: re.Pattern[str], names: re.Pattern[str]) -> Callable[[str], Outcome | None]:
    """A reader of a last line with the number of all tests and of those that failed."""

    def read(text: str) -> Outcome | None:
        found = pattern.findall(text)
        if not found:
            return None
        whole, *failed = (int(number or 0) for number in found[-1])
        return _tests(sum(failed), whole, _either(names.findall(text)))

    return read


def _either(names: Iterable[str | tuple[str, ...]]) -> list[str]:
    """The group of each match that is not empty."""
    return [name if isinstance(name, str) else "".join(name) for name in names]


def _ctest(text: str) -> Outcome | None:
    found = _CTEST.findall(text)
    return _tests(int(found[-1][0]), int(found[-1][1]), _CTEST_NAME.findall(text)) if found else None


def _dotnet(text: str) -> Outcome | None:
    found = [(int(failed), int(passed)) for failed, passed in _DOTNET.findall(text)]
    failed, passed = sum(each[0] for each in found), sum(each[1] for each in found)
    return _tests(failed, failed + passed, _DOTNET_NAME.findall(text)) if found else None


def _linted(text: str) -> Outcome | None:
    """A linter or compiler that counts what it found."""
    found = [each.groups() for each in _COUNTED.finditer(text)]
    if not found:
        return None
    counts = [int(left or errors or number or files) for number, errors, left, files in found]
    located = _LOCATED.search(text)
    if not any(counts):
        clean = Outcome(ok=True, text="ok, 0 issues", counts="issues")
        return None if located or _BROKEN.search(text) else clean
    most = max(counts)
    where = f": {located[1]}" if located else ""
    text = clip(f"failed, {most} issue{'s' * (most > 1)}{where}")
    return Outcome(ok=False, text=text, counts="issues")


_REPORTS: tuple[Callable[[str], Outcome | None], ...] = (
    _pytest,
    _unittest,
    _summed(_CARGO, _CARGO_NAME),
    _jest,
    _maven,
    _go,
    _of_all(_GRADLE, _GRADLE_NAME),
    _of_all(_EXAMPLES, _EXAMPLES_NAME),
    _of_all(_SWIFT, _SWIFT_NAME),
    _phpunit,
    _dotnet,
    _ctest,
    _bazel,
    _summed(_DENO, _COUNT_NAME),
    _counted_lines,
    _tap,
    _summed(_OWN, _COUNT_NAME, last=True),
    _linted,
)
