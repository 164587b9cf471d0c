"""How a call ended, read from its result."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.pipeline.summarize.tool_calls import Action, command_action, read_call
from foveal.presets.foveal.outcomes import Outcome, beyond, outcome


def run(command: str) -> Action:
    return read_call("Bash", json.dumps({"command": command}))


TEST = run("pytest -q")
LOOK = run("cat build.log")
EDIT = read_call(
    "Edit", json.dumps({"file_path": "a.py", "old_string": "x = 1", "new_string": "timeout = 90"})
)
BOOK = read_call("book_flight", json.dumps({"user_id": "u1", "flight": "HAT-7"}))
PUSH = run("git push")


@pytest.mark.parametrize(
    "result",
    [
        "Exit code 1\nboom: cannot connect",
        "boom: cannot connect\nexit status 1",
        "boom: cannot connect\n[exit code: 1]",
        "boom: cannot connect\n(exit code 1)",
        "<returncode>1</returncode>\n<output>\nboom: cannot connect\n</output>",
        '{"returncode": 1, "output": "boom: cannot connect\\n"}',
        '{"exit_code": 1, "stdout": "", "stderr": "boom: cannot connect"}',
        '{"output": "boom: cannot connect\\n", "metadata": {"exit_code": 1, "duration_seconds": 0.2}}',
        "Chunk ID: 20863\nWall time: 0.1 seconds\nProcess exited with code 1\nOriginal token count: 4\n"
        "Output:\nboom: cannot connect",
        "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nboom: cannot connect",
        "boom: cannot connect\n[The command completed with exit code 1.]\n[Current working directory: /w]\n"
        "[Python interpreter: /usr/bin/python]\n[Command finished with exit code 1]",
        "Command: ./deploy\nDirectory: (root)\nOutput: boom: cannot connect\nError: (none)\nExit Code: 1\n"
        "Signal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 77",
        '{"output": "<untrusted_context>\\nOutput: boom: cannot connect\\nExit Code: 1\\n'
        '</untrusted_context>"}',
        "Error: Command failed with exit code 1\nboom: cannot connect",
    ],
)
def test_an_exit_code_is_read_in_every_usual_shape(result: str) -> None:
    for action in (run("./deploy"), run("git push"), run("ls")):
        assert outcome(result, action) == Outcome(ok=False, text="failed: boom: cannot connect")


@pytest.mark.parametrize(
    "result",
    [
        "two",
        "Chunk ID: 1\nWall time: 0.0 seconds\nProcess exited with code 0\nOriginal token count: 1\n"
        "Output:\ntwo\n",
        "two\n[The command completed with exit code 0.]\n[Command finished with exit code 0]",
        '{"output": "<untrusted_context>\\nOutput: two\\nProcess Group PGID: 7\\n</untrusted_context>"}',
        '{\n  "returncode": 0,\n  "output": "two\\n"\n}',
        '[{"type": "input_text", "text": "Script completed\\nWall time 0.2 seconds\\nOutput:\\n"}, '
        '{"type": "input_text", "text": "two\\n"}]',
        "\x1b[32mtwo\x1b[0m\r\n",
    ],
)
def test_a_short_output_is_shown_without_what_the_agent_wrote_around_it(result: str) -> None:
    assert outcome(result, run("hostname")) == Outcome(ok=True, text="two")


def test_an_error_flag_makes_a_failure_of_any_result() -> None:
    assert outcome("3 passed in 0.1s", TEST, error=True).ok is False
    assert outcome("some text", LOOK, error=True) == Outcome(ok=False, text="failed: some text")


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (
            "<tool_use_error>String to replace not found in file.</tool_use_error>",
            "String to replace not found",
        ),
        (
            "No replacement was performed, old_str `x` did not appear verbatim.",
            "No replacement was performed",
        ),
        ("Failed to edit, could not find the string to replace.", "Failed to edit"),
        (
            "apply_patch verification failed: Failed to find expected lines in a.py",
            "apply_patch verification failed",
        ),
        ("Error: File has not been read yet. Read it first.", "File has not been read yet."),
        ("Command timed out after 2m 0.0s", "Command timed out"),
    ],
)
def test_a_refusal_is_a_failure_and_its_words_are_shown(result: str, said: str) -> None:
    found = outcome(result, EDIT)
    assert found.ok is False
    assert found.text.startswith(f"failed: {said}")


def test_what_the_user_said_to_a_rejected_call_is_quoted() -> None:
    said = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n"
    found = outcome(said + "no, I did not say commit anything", EDIT)
    assert (found.ok, found.text) == (False, "rejected by the user: no, I did not say commit anything")
    plain = outcome("The user doesn't want to proceed with this tool use. The tool use was rejected.", EDIT)
    assert (plain.ok, plain.text) == (False, "rejected by the user")


def test_a_call_that_the_user_interrupted_did_not_fail() -> None:
    found = outcome("Exit code 137\nok\n[Request interrupted by user for tool use]", EDIT)
    assert (found.ok, found.text) == (None, "interrupted by the user")


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ('{"error": "Flight is full"}', "Flight is full"),
        ('{"error": {"code": 404, "message": "No such user"}}', "No such user"),
        ('{"success": false, "message": "Card declined"}', "Card declined"),
        ('{"status": "error", "detail": "Not allowed for guests"}', "Not allowed for guests"),
        ('{"errors": [{"message": "Field is missing"}], "data": null}', "Field is missing"),
        ('{"content": [{"type": "text", "text": "Rate limited"}], "isError": true}', "error"),
        ("Error: payment method not found", "payment method not found"),
    ],
)
def test_an_error_of_an_interface_is_a_failure_with_its_message(result: str, said: str) -> None:
    assert outcome(result, BOOK) == Outcome(ok=False, text=f"failed: {said}")


def test_a_field_for_errors_that_is_empty_is_no_failure() -> None:
    assert outcome('{"error": null, "id": "R-77"}', BOOK) == Outcome(ok=True, text="ok, id R-77")


def test_what_a_call_created_is_named_unless_the_call_named_it() -> None:
    assert (
        outcome('{"reservation_id": "HATHAT", "cabin": "economy"}', BOOK).text == "ok, reservation_id HATHAT"
    )
    cancel = read_call("cancel_reservation", '{"reservation_id": "HATHAT"}')
    assert outcome('{"reservation_id": "HATHAT", "status": "cancelled"}', cancel).text == "ok"


@pytest.mark.parametrize(
    "text",
    [
        "ERROR 10:01 database unreachable\nERROR 10:02 giving up",
        "FAILED tests/test_a.py::test_a - KeyError\n1 failed, 3 passed in 0.2s",
        "Traceback (most recent call last):\n  File 'a.py', line 3\nKeyError: 'x'",
        '{"exit_code": 1, "level": "error", "error": "timeout", "at": "10:02", "host": "a"}',
        "step 3 of 4\nexit status 1",
        "failed",
    ],
)
def test_a_failure_in_a_text_that_is_read_is_no_failure_of_the_call(text: str) -> None:
    for action in (
        LOOK,
        run("tail -5 run.log | grep -v DEBUG"),
        read_call("Read", '{"file_path": "run.log"}'),
    ):
        assert outcome(text, action).ok is True


@pytest.mark.parametrize(
    "result",
    [
        "cat: build.log: No such file or directory",
        "Error: file not found: build.log",
        "<tool_use_error>File does not exist.</tool_use_error>",
        "fatal: ambiguous argument 'x': unknown revision or path not in the working tree.",
    ],
)
def test_a_text_that_could_not_be_read_is_a_failure(result: str) -> None:
    assert outcome(result, LOOK).ok is False


def test_a_search_that_found_nothing_did_not_fail() -> None:
    for result in ("", "No files found", "(no output)", "[]", "Exit code 1"):
        assert outcome(result, run("grep -rn x src")) == Outcome(ok=None, text="nothing found")


def test_a_check_of_which_no_line_matched_may_have_passed_or_failed() -> None:
    assert outcome("(no output)", run("go test ./... | grep files_touched")) == Outcome(
        ok=None, text="no output"
    )
    assert outcome("(no output)", run("go build ./... | tail -5")) == Outcome(ok=True, text="ok")


@pytest.mark.parametrize(
    ("result", "ok"),
    [
        ("To github.com:a/b\n   1a2b..3c4d  main -> main", True),
        (" ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs", False),
        ("fatal: 'origin' does not appear to be a git repository", False),
        ("error handling was improved in 3 commits", True),
        ("", True),
    ],
)
def test_a_command_that_changes_something_failed_if_its_output_says_so(result: str, ok: bool) -> None:
    assert outcome(result, PUSH).ok is ok


def test_a_commit_failed_if_there_was_nothing_to_commit_and_not_if_nothing_is_left() -> None:
    clean = "On branch main\nnothing to commit, working tree clean"
    commit = run("git add -A && git commit -m x && git status")
    assert outcome(clean, commit).ok is False
    assert outcome(f"[main 1a2b3c4] x\n 1 file changed\n{clean}", commit).ok is True
    assert outcome(f"   1a2b..3c4d  main -> main\n{clean}", run("git push && git status")).ok is True


def test_an_edit_is_ok_whatever_the_text_that_it_shows_says() -> None:
    shown = (
        "The file a.py has been updated.\n     1\tfatal: bool = False\n     2\tERROR = 'x'\n1 failed in 0.1s"
    )
    assert outcome(shown, EDIT) == Outcome(ok=True, text="ok")


def test_a_command_in_the_background_has_not_ended() -> None:
    for action in (TEST, PUSH, LOOK):
        found = outcome("Command running in background with ID: bc95948", action)
        assert found == Outcome(ok=None, text="running in the background")


def test_a_program_without_an_exit_code_is_reported_with_what_it_printed() -> None:
    assert outcome("Checkpoints: 17", run("./entire explain")) == Outcome(
        ok=None, text='no error, "Checkpoints: 17"'
    )
    assert outcome("Checkpoints: 17\n[exit code: 0]", run("./entire explain")) == Outcome(ok=True, text="ok")


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("1 failed: test_20: AssertionError", "FAILED 1: test_20: AssertionError"),
        ("13 passed\n1 failed: test_20: AssertionError", "FAILED 1 of 14: test_20: AssertionError"),
    ],
)
def test_a_count_of_failures_may_be_followed_by_what_failed(result: str, text: str) -> None:
    for command in ("pytest tests/test_20.py", "python run_tests.py"):
        assert outcome(result, run(command)) == Outcome(ok=False, text=text, counts="tests")


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("reading\n5 checks failed", 'ends "5 checks failed"'),
        ("Success! Case 5 works.\nCase 6 failed.\nbye", 'prints "Case 6 failed."'),
        ("compiled successfully\n3 type errors", 'ends "3 type errors"'),
        ("failures=2", '"failures=2"'),
    ],
)
def test_where_a_text_mentions_failures_it_is_quoted_and_nothing_is_said_of_success(
    result: str, text: str
) -> None:
    assert outcome(result, run("./entire explain")) == Outcome(ok=None, text=text)


@pytest.mark.parametrize("result", ["no test failed", "0 of 5 failed", "failures: 0", "read failed.txt"])
def test_a_text_that_denies_failures_is_no_error(result: str) -> None:
    assert outcome(result, run("./entire explain")) == Outcome(ok=None, text=f'no error, "{result}"')


NINJA = "+ /opt/bin/ninja\n[1/1] Generating write_version_file with a custom command\n"


@pytest.mark.parametrize(
    ("command", "printed", "text"),
    [
        (
            "python reproduce.py",
            f"OBSERVATION:\n{NINJA}DataFrame created:\n0  1970\nSuccess! It was written to SQL.\n---",
            'no error, ends "Success! It was written to SQL."',
        ),
        (
            "python cases.py",
            "Success! Case 5 works.\n  value\n1 2023-05-15 2.5 B",
            'no error, prints "Success! Case 5 works."',
        ),
        ("python reproduce.py", f"{NINJA}42", 'no error, "42"'),
        ("python train.py", "epoch 1\n 50%|█████     | 5/10\n100%|██████████| 10/10", 'no error, "epoch 1"'),
        ("python quiet.py", f"{NINJA}====", "no error, no output"),
        ("python - <<'E'\nopen('a.csv', 'w').write(x)\nE", "read 3\nkept 2 rows", 'ends "kept 2 rows"'),
    ],
)
def test_a_script_is_reported_with_the_last_line_that_says_something(
    command: str, printed: str, text: str
) -> None:
    assert outcome(printed, run(command)).text == text


METER = (
    "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    "                                 Dload  Upload   Total   Spent    Left  Speed\n\n"
    "100  1127    0   705  100   422   6844   4096 --:--:-- --:--:-- --:--:-- 11.3k\n"
)
PAGE = """<!DOCTYPE html
    PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN"
>
<html><head><title>Upload</title></head><body>
<form>File: <input type="file" name="file" /></form><hr />
<br />root:x:0:0:root:/root:/bin/bash
</body></html>///PROCESS-DONE:0:PROCESS-DONE///
(Open file: n/a)
bash-$"""


def test_a_request_is_reported_with_what_the_server_answered_and_not_with_a_progress_meter() -> None:
    post = run("curl -X POST -F file=@a http://host/file.pl")
    assert outcome(METER + PAGE, post).text == 'ends "<br />root:x:0:0:root:/root:/bin/bash"'
    assert outcome(METER, post).text == "no output"
    assert outcome(METER + '{"id": 7}', post).text == '"{"id": 7}"'
    other = replace(run("curl http://host"), kind="other")
    assert outcome(METER + PAGE, other).text == "Upload…"


def test_a_request_that_got_no_answer_failed() -> None:
    for command in ("curl -d a=1 http://host/x", "curl http://host/x"):
        found = outcome(f"{METER}curl: (6) Could not resolve host: host", run(command))
        assert found == Outcome(ok=False, text="failed: curl: (6) Could not resolve host: host")


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("git commit -m x", "[main 1a2b3c4] x\n 2 files changed, 7 insertions(+)"),
        ("git push", "To github.com:a/b\n   1a2b..3c4d  main -> main"),
        ("gh pr comment 90 --body x", "https://github.com/a/b/pull/90#issuecomment-1"),
        ("sed -i 's/a/b/' a.py", ""),
        ("curl -X DELETE http://host/x", ""),
    ],
)
def test_a_command_that_reports_its_own_errors_is_ok_without_one(command: str, result: str) -> None:
    assert outcome(result, run(command)) == Outcome(ok=True, text="ok")


CHECKLIST = """OBSERVATION:
Thank you for your work on this issue. Please carefully follow the steps below.

1. Remove your reproduction script.
2. Run the submit command again to confirm."""


def test_an_answer_in_prose_that_confirms_nothing_is_quoted() -> None:
    answered = 'answered "Thank you for your work on this issue. Please carefully follow the steps below."'
    assert outcome(CHECKLIST, read_call("submit", "{}")) == Outcome(ok=None, text=answered, answered=True)
    assert outcome(CHECKLIST, command_action("submit", "submit")) == Outcome(
        ok=None, text=answered, answered=True
    )


@pytest.mark.parametrize(
    "result",
    [
        "Transfer successful",
        "Your booking has been changed to HAT-7 as requested.",
        "Certificate gift_card_1 added to user u1 with an amount of 100",
        '{"cabin": "economy"}',
        "https://tracker/issues/77",
        "",
    ],
)
def test_an_answer_that_confirms_a_call_is_ok(result: str) -> None:
    assert outcome(result, BOOK).text == "ok"


@pytest.mark.parametrize(
    "result",
    [
        "Sorry, that flight is full and cannot be booked.",
        "Nothing was updated: the record is locked.",
        "The booking could not be completed.",
        "Payment declined.",
        "Not confirmed.",
    ],
)
def test_an_answer_that_denies_a_call_is_quoted_and_not_ok(result: str) -> None:
    assert outcome(result, BOOK) == Outcome(ok=None, text=f'answered "{result}"', answered=True)


def test_a_short_answer_is_quoted_whatever_it_means() -> None:
    assert outcome("Wrong flag!", command_action("submit", "submit 'flag{a}'")).ok is None
    assert outcome("All yours!", BOOK).text == '"All yours!"'


def test_a_warning_is_not_a_failure() -> None:
    printed = "fetch.py:12: BytesWarning: Text is not bytes\n  pipe.send(text)\nGot number 1364650861"
    assert outcome(printed, run("python fetch.py")).text == 'no error, ends "Got number 1364650861"'


def test_a_failure_without_a_reason_has_its_exit_code() -> None:
    found = outcome("Exit code 8\nlicense-check\tpass\t14s", run("gh pr merge 142"))
    assert found.text == 'failed: exit code 8, "license-check pass 14s"'


@pytest.mark.parametrize(
    ("result", "action", "left"),
    [
        ("Error: flight HAT-7 is full", BOOK, ""),
        ("<tool_use_error>String not found in file.</tool_use_error>", EDIT, ""),
        ("OBSERVATION:\nThe file /srv/a.py has been updated successfully.", EDIT, ""),
        (
            "The file a.py has been edited. Here's the result of running `cat -n` on a snippet of a.py:\n"
            "     1\ttimeout = 90",
            EDIT,
            "     1\ttimeout = 90",
        ),
        ("Exit code 1\nTraceback (most recent call last):\n  File a\nKeyError: 'x'", run("./a"), None),
        (
            "[test] $ go test ./...\n?   \ta/cmd\t[no test files]\nok  \ta/cli\t1.9s\n"
            "    x_test.go:7: cold start",
            run("mise run test"),
            "    x_test.go:7: cold start",
        ),
        ("step 3 of 4\nexit status 1", LOOK, "step 3 of 4\nexit status 1"),
        ("def f():\n    return 1", LOOK, "def f():\n    return 1"),
    ],
)
def test_what_an_outcome_says_already_is_not_quoted_again(
    result: str, action: Action, left: str | None
) -> None:
    expected = "Traceback (most recent call last):\n  File a" if left is None else left
    assert beyond(result, outcome(result, action), action) == expected


def test_a_result_is_read_at_its_beginning_and_its_end() -> None:
    bulk = "collecting modules …\n" * 20_000
    assert outcome(f"{bulk}\n3 failed, 4 passed in 2s", TEST).text == "FAILED 3 of 7"
    assert outcome(f"Exit code 2\n{bulk}", TEST).ok is False


ACTIONS = [TEST, LOOK, EDIT, BOOK, PUSH, read_call("x", "{}"), read_call("think", "{}")]


@given(st.text(max_size=400), st.sampled_from(ACTIONS), st.booleans())
def test_any_result_has_an_outcome_in_one_short_line(result: str, action: Action, error: bool) -> None:
    found = outcome(result, action, error=error)
    assert len(found.text) <= 140
    assert len(found.text.splitlines()) <= 1


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
KEYS = st.sampled_from(
    ["error", "output", "metadata", "exit_code", "status", "content", "text", "type", "id"]
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4)
)


@given(JSON)
def test_any_json_has_an_outcome(value: object) -> None:
    for action in ACTIONS:
        outcome(json.dumps(value), action)


HOSTILE = [
    "=",
    "_ ",
    "a.",
    "a.a",
    "1 a, ",
    "[",
    "E       ",
    "\n",
    " ",
    "FAILED ",
    "ok ",
    "--- FAIL: ",
    "//a ",
    "\\",
]
HOSTILE += [
    "a.py:1: ",
    "Error",
    "x: ",
    "1) a (",
    '{"',
    "Tests: 1 ",
    "passed: 1 ",
    " due to ",
    "error: ",
    "\x1b[",
    "<",
    "1.",
]
HOSTILE += [
    "not ok 1 ",
    "<a",
    "100 1k ",
    "=== RUN ",
    "ok  a\t",
    "-- ",
    "file ",
    "a" * 99 + ".",
    "Exit code 1\n",
    "error: " * 9 + "\n",
    "\t",
    "1 failed, ",
    "Ran 1 tests in\n",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_results_take_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        begin = time.process_time()
        for action in (TEST, PUSH, LOOK, BOOK, run("curl -d x http://host"), run("./a")):
            beyond(text, outcome(text, action), action)
        return time.process_time() - begin

    small = min(seconds(100_000) for _ in range(2))
    assert min(seconds(1_000_000) for _ in range(2)) <= max(12 * small, 0.2)
