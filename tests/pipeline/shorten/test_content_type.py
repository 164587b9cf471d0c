"""What kind of content a text is taken for."""

from __future__ import annotations

import pytest

from foveal.pipeline.shorten.content_type import content_type

TEXTS = {
    "an object": ('{"id": 7}', "json"),
    "an array over several lines": ("[\n  1,\n  2\n]", "json"),
    "a JSON object on each line": ('{"id": 7}\n{"id": 8}\n', "json"),
    "half an object": ('{"id": 7', "prose"),
    "brackets without end": ("[" * 5_000, "prose"),
    "a diff": ("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n c", "diff"),
    "grep with line numbers": ("src/a.py:3:import os\nsrc/b.py:9:import os", "search results"),
    "a list of files": ("src/a.py\nsrc/b.py\nREADME.md", "search results"),
    "a Python traceback": (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nKeyError: 3',
        "stack trace",
    ),
    "a JavaScript trace": ("TypeError: x\n    at f (a.js:1:2)\n    at g (b.js:3:4)", "stack trace"),
    "dated lines": ("2024-01-01 10:00:00 start\n2024-01-01 10:00:01 end", "log"),
    "lines with levels": ("INFO start\nWARNING slow\nINFO end", "log"),
    "a markdown table": ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", "table"),
    "comma-separated values": ("id,name,price\n1,ann,2.5\n2,bob,3.5\n3,cy,4", "table"),
    "aligned columns": ("NAME    READY  AGE\nweb-1   1/1    3d\nweb-2   0/1    5d", "table"),
    "numbered lines": ("     1→a sentence\n     2→another\n     3→a third", "code"),
    "source": ("import os\n\ndef f(x):\n    return os.path.join(x)\n", "code"),
    "sentences": ("We met on Monday.\nThe port is 8081.\nNobody objected.", "prose"),
    "nothing": ("", "prose"),
}


@pytest.mark.parametrize(("text", "kind"), TEXTS.values(), ids=TEXTS)
def test_the_shape_of_its_lines_decides_the_content_type(text: str, kind: str) -> None:
    assert content_type(text) == kind


def test_lines_that_begin_with_iso_8601_timestamps_are_a_log() -> None:
    log = "\n".join(f"2026-11-16T10:01:{n:02} INFO worker-{n} is ready" for n in range(40))
    assert content_type(log) == "log"


def test_comma_separated_values_with_dates_are_a_table() -> None:
    rows = [f"{n},2025-01-{n % 28 + 1:02},cust{n},{n / 7:.2f},ok" for n in range(100, 160)]
    dated = [f"2025-01-{n % 28 + 1:02},{n},cust{n},ok" for n in range(100, 160)]
    assert content_type("\n".join(["id,date,customer,amount,status", *rows])) == "table"
    assert content_type("\n".join(rows)) == "table"
    assert content_type("\n".join(["date,id,customer,status", *dated])) == "table"


def test_tab_separated_values_with_ids_are_a_table() -> None:
    rows = [f"{n}\tcust{n}\tok" for n in range(100, 160)]
    assert content_type("\n".join(["id\tcustomer\tstatus", *rows])) == "table"


def test_names_with_numbers_between_dashes_are_no_matches() -> None:
    pods = [f"web-{n * 7919 % 99991:05}-x{n}   1/1     Running   {n % 3}   {n % 9}d" for n in range(40)]
    around = [f"src/a.py-{n}-    call()" for n in range(40)]
    assert content_type("\n".join(["NAME   READY   STATUS   RESTARTS   AGE", *pods])) == "table"
    assert content_type("\n".join([*around, "src/a.py:41:    call()"])) == "search results"


def test_log_lines_and_matches_with_commas_are_no_table() -> None:
    log = [f"2025-01-01 10:00:{n:02},123 INFO took {n} ms, ok, done" for n in range(40)]
    matches = [f"src/a{n}.py:{n}:    call(first, second, third)" for n in range(40)]
    assert content_type("\n".join(log)) == "log"
    assert content_type("\n".join(matches)) == "search results"
