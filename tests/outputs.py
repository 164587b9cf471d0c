"""Tool outputs of ten content types, of any size, with one failure in those that report failures."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable

FAILURE = "card declined for order 8841"
TYPES = (
    "log",
    "code",
    "markdown",
    "csv",
    "json",
    "html",
    "diff",
    "base64",
    "minified script",
    "test output",
)


def output(type: str, size: int) -> str:
    """About `size` characters, the same every time."""
    chance = random.Random(7)
    return _MAKERS[type](size, chance)


def _lines(line: Callable[[int], str]) -> Callable[[int, random.Random], str]:
    def made(size: int, _chance: random.Random) -> str:
        found: list[str] = []
        while size > 0:
            found.append(line(len(found)))
            size -= len(found[-1]) + 1
        return "\n".join(found)

    return made


def _log(at: int) -> str:
    what = f"ERROR {FAILURE}" if at == 40 else f"INFO worker-{at % 4} handled request {at * 7919:08x}"
    return f"2026-11-16T10:{at // 60 % 60:02}:{at % 60:02} {what}"


def _code(at: int) -> str:
    lines = (f"def handle_{at}(store):", f"    value = store.get('key_{at}')", "    return value", "")
    return lines[at % 4]


def _markdown(at: int) -> str:
    return (f"## Part {at}", "", f"Service {at} moved to region {at % 9}. It must stay there.")[at % 3]


def _diff(at: int) -> str:
    lines = (f"diff --git a/f{at}.py b/f{at}.py", "@@ -1,2 +1,2 @@", f"-old_{at} = 1", f"+new_{at} = 2")
    return lines[at % 4]


def _html(at: int) -> str:
    return f'<div id="r{at}"><a href="/item/{at}">Item {at}</a></div>'


def _json(size: int, chance: random.Random) -> str:
    rows = [{"id": at, "name": f"item_{at}", "amount": chance.randint(1, 9_999)} for at in range(size // 45)]
    return json.dumps([{"id": "x", "error": FAILURE}, *rows])


def _test_output(size: int, chance: random.Random) -> str:
    passed = _lines(lambda at: f"tests/test_{at % 40}.py::test_case_{at} PASSED")(size, chance)
    return f"{passed}\ntests/test_pay.py::test_refund FAILED\nE   AssertionError: {FAILURE}\n1 failed"


_MAKERS: dict[str, Callable[[int, random.Random], str]] = {
    "log": _lines(_log),
    "code": _lines(_code),
    "markdown": _lines(_markdown),
    "csv": _lines(lambda at: f"{at},item_{at},{at * 7919 % 9973}" if at else "id,name,amount"),
    "json": _json,
    "html": _lines(_html),
    "diff": _lines(_diff),
    "base64": lambda size, chance: base64.b64encode(chance.randbytes(size * 3 // 4)).decode(),
    "minified script": lambda size, _: ";".join(
        f"function a{at}(b){{return b+{at}}}" for at in range(size // 26)
    ),
    "test output": _test_output,
}
