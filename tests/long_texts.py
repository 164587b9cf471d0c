"""Make hostile texts of any length: a shape for each thing that a text is searched for."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count, takewhile


def _repeat(unit: str) -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def _numbered(line: str) -> Callable[[int], str]:
    """Lines that differ in their number, as long as there is room."""

    def text(size: int) -> str:
        length = len(line.format(n=10_000))
        return "".join(line.format(n=n) for n in takewhile(lambda n: n * length < size, count()))

    return text


def _nested(size: int) -> str:
    depth = 400
    one = '{"a":[' * depth + "1" + "]}" * depth
    return "[" + ",".join([one] * max(1, size // len(one))) + "]"


def _json(size: int) -> str:
    rows = [{"id": n, "name": f"item {n}", "note": "x" * 40, "ok": n % 7 > 0} for n in range(size // 100 + 1)]
    return json.dumps(rows)


def _keys(size: int) -> str:
    return json.dumps({f"key_{n}": n for n in range(size // 20 + 1)})


SHAPES: dict[str, Callable[[int], str]] = {
    "one letter": _repeat("a"),
    "one capital": _repeat("A"),
    "spaces": lambda size: "x" + " " * (size - 2) + "x",
    "newlines": lambda size: "x" + "\n" * (size - 2) + "x",
    "tabs and newlines": _repeat("\t\n"),
    "carriage returns": _repeat("a\r"),
    "letters and full stops": _repeat("a."),
    "letters and colons": _repeat(":a"),
    "letters and dashes": _repeat("a-"),
    "words": _repeat("lorem ipsum dolor "),
    "distinct words": _numbered("word{n} "),
    "distinct names": _numbered("src/mod_{n}/file{n}.py "),
    "sentences": _numbered("Item {n} was not found. "),
    "opening brackets": _repeat("["),
    "opening braces": _repeat("{"),
    "opening parentheses": _repeat("("),
    "objects that are not closed": _repeat('{"a":'),
    "angle brackets": _repeat("<"),
    "tags": _repeat("<a>"),
    "comments that are not closed": _repeat("<!--"),
    "marks": _repeat("[foveal "),
    "quotes": _repeat('"'),
    "opening quotes": _repeat("“a"),
    "backslashes": _repeat("\\"),
    "backticks": _repeat("`"),
    "fences": _repeat("```\n"),
    "digits": _repeat("1"),
    "numbers": _repeat("1,"),
    "hexadecimal": _repeat("0af"),
    "addresses": _repeat("http://a.b/"),
    "schemes": _repeat("://"),
    "at signs": _repeat("a@"),
    "slashes": _repeat("/a"),
    "combining characters": _repeat("e\u0301"),
    "ideographs": _repeat("漢字"),
    "emoji": _repeat("🙂"),
    "stars": _repeat("*"),
    "table": _numbered("| {n} | name | 12.5 | ok |\n"),
    "columns": _numbered("{n}   name   12.5   ok\n"),
    "log": _numbered("2025-03-01T08:00:00Z INFO worker-{n} handled request {n} in 12ms\n"),
    "errors": _numbered("ERROR: step {n} failed with exit code 1\n"),
    "code": _numbered("def f{n}(x):\n    return x + {n}\n"),
    "diff": _numbered("@@ -{n},1 +{n},1 @@\n-old {n}\n+new {n}\n"),
    "search results": _numbered("src/a{n}.py:{n}: found it\n"),
    "listing": _numbered("-rw-r--r-- 1 me me 10 Jan 1 10:00 file{n}.txt\n"),
    "stack trace": _numbered('  File "/srv/app/m{n}.py", line {n}, in f{n}\n    raise ValueError({n})\n'),
    "test report": _numbered("FAILED tests/test_a.py::test_{n} - AssertionError: {n}\n"),
    "questions": _numbered("What is the value of item {n}? "),
    "rules": _numbered("Never do thing {n}. Always use tool{n}. "),
    "facts": _numbered("My name is Maria{n}. The port is {n}. "),
    "decisions": _numbered("We decided to use option {n} instead of {n}.\n"),
    "commands": _numbered("$ cat file{n}.txt | grep {n} && rm -rf x{n};\n"),
    "shell": _repeat("$(("),
    "tasks": _numbered("TODO: do thing {n}\n- [ ] step {n}\n"),
    "nested JSON": _nested,
    "JSON rows": _json,
    "JSON keys": _keys,
    "JSON lines": _numbered('{{"id": {n}, "status": "ok", "note": "row {n}"}}\n'),
    "escapes": _repeat("\\u0000"),
    "control characters": _repeat("\x1b["),
    "null characters": _repeat("\0"),
    "short lines": _repeat("a\n"),
    "headings": _numbered("# Heading {n}\n\n"),
    "indented": _repeat(" \n  a"),
}
