"""What the short form of each kind of content keeps first."""

from __future__ import annotations

from foveal.pipeline.shorten.short_form import short_form
from foveal.pipeline.tokens.count import tokenizer

count = tokenizer("o200k_base").count


def made(text: str, room: int, kind: str, *mentioned: str) -> str:
    found = short_form(text, room, count, mentioned=frozenset(mentioned))
    assert found is not None
    assert found.content == kind
    return found.text


LOG = [f"2024-05-01 10:00:{n % 60:02} INFO served request {n} in {n % 7} ms" for n in range(300)]
LOG[0] = "2024-05-01 09:59:59 INFO listening on port 8081"
LOG[150] = "2024-05-01 10:02:30 ERROR could not reach db-7.internal: connection refused"
CODE = "\n".join(
    [
        "import json",
        "class Cart:",
        *(
            line
            for n in range(40)
            for line in (
                f"    def step_{n}(self, order):",
                "        if order:",
                f"            return order + {n}",
            )
        ),
    ]
)
DIFF = "diff --git a/src/auth.py b/src/auth.py\n--- a/src/auth.py\n+++ b/src/auth.py\n"
DIFF += "@@ -10,40 +10,41 @@ def login():\n"
DIFF += "\n".join(f" context that did not change, line {n}" for n in range(40))
DIFF += "\n-    return check(token)\n+    return check(token, strict=True)\n"


def test_a_gap_is_marked_after_the_line_before_it_unless_that_is_short() -> None:
    lines = [f"Step {n} of the plan made the order ord_{n} ready to go." for n in range(100, 160)]
    assert "\n…" not in made("\n".join(lines), 200, "prose")
    assert "ready to go. …\n" in made("\n".join(lines), 200, "prose")
    assert "    def step_0(self, order):\n…\n" in made(CODE, 80, "code")


def test_a_log_folds_what_differs_in_numbers_only() -> None:
    text = made("\n".join(LOG), 200, "log")
    assert "served request 1 in 1 ms ×298" in text


def test_a_log_keeps_its_trouble_and_its_first_line() -> None:
    text = made("\n".join(LOG), 200, "log")
    assert "could not reach db-7.internal: connection refused" in text
    assert "listening on port 8081" in text


def test_code_keeps_definitions_before_bodies() -> None:
    text = made(CODE, 400, "code")
    assert "class Cart:" in text
    assert text.count("def step_") > 25
    assert "if order:" not in text


def test_code_keeps_what_stands_around_a_mentioned_name() -> None:
    assert "return order + 33" in made(CODE, 150, "code", "step_33")


def test_numbered_code_keeps_its_numbers_without_their_padding() -> None:
    numbered = "\n".join(f"{n:6}\t{line}" for n, line in enumerate(CODE.splitlines(), 1))
    text = made(numbered, 300, "code")
    assert text.startswith("2\tclass Cart:\n3\t    def step_0(self, order):\n6\t")
    assert "…\n" not in text


def test_a_diff_keeps_its_file_its_hunk_and_what_changed() -> None:
    text = made(DIFF, 100, "diff")
    assert text.startswith("diff --git a/src/auth.py b/src/auth.py")
    assert "@@ -10,40 +10,41 @@ def login():" in text
    assert "-    return check(token)\n+    return check(token, strict=True)" in text


def test_a_table_keeps_its_header_and_says_how_many_rows_are_missing() -> None:
    rows = "\n".join(f"| srv-{n} | Frankfurt | {n} GB |" for n in range(100, 180))
    text = made(f"| name | city | memory |\n|---|---|---|\n{rows}", 200, "table")
    assert text.startswith("| name | city | memory |\n")
    assert "| srv-100 |" in text
    assert " rows not shown; names in them: " in text


def test_a_table_keeps_the_row_that_is_mentioned() -> None:
    rows = "\n".join(f"srv-{n},Frankfurt,{n}" for n in range(100, 180))
    assert "srv-144,Frankfurt,144" in made(f"name,city,memory\n{rows}", 80, "table", "srv-144")


def test_matches_stand_under_their_file_which_is_named_once_with_its_count() -> None:
    found = "\n".join(f"src/shop/cart_{n // 10}.py:{n}:    total = add(total, item)" for n in range(60))
    text = made(found, 200, "search results")
    assert all(f"src/shop/cart_{n}.py (10 matches)" in text for n in range(6))
    assert "lines not shown" in text


def test_a_list_of_files_keeps_as_many_as_fit() -> None:
    files = "\n".join(f"src/part_{n}/main.py" for n in range(100))
    assert made(files, 400, "search results").count("/main.py") >= 40


def test_a_trace_keeps_what_was_raised_and_its_own_frames_first() -> None:
    foreign = '  File "/usr/lib/python3.12/site-packages/lib/{0}.py", line {0}, in call\n    return inner()\n'
    own = '  File "/app/shop/cart.py", line 7, in total\n    return price["gold"]\n'
    trace = "Traceback (most recent call last):\n" + "".join(foreign.format(n) for n in range(30)) + own
    text = made(f"{trace}KeyError: 'gold'", 100, "stack trace")
    assert own.rstrip() in text
    assert "KeyError: 'gold'" in text


def test_a_trace_folds_frames_that_repeat() -> None:
    frame = '  File "/app/deep.py", line 3, in down\n    return down(n - 1)\n'
    text = made(
        "Traceback (most recent call last):\n" + frame * 500 + "RecursionError: too deep", 80, "stack trace"
    )
    assert "return down(n - 1) ×500" in text


def test_prose_keeps_its_head_its_tail_and_its_decisions() -> None:
    filler = [f"Somebody talked about the weather in town number {n} for a while." for n in range(80)]
    filler[0], filler[79] = "Notes of the meeting on storage.", "We meet again on Friday at the office."
    filler[40] = "We decided to use PostgreSQL instead of a file."
    text = made(" ".join(filler), 150, "prose")
    assert text.startswith(filler[0])
    assert filler[40] in text
    assert filler[79] in text
