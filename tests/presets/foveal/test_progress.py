"""Where the work stands, in one line."""

from __future__ import annotations

import json
from itertools import count

from foveal.pipeline.summarize.tool_calls import read_call
from foveal.presets.foveal.excerpts import divided
from foveal.presets.foveal.log import LogEntry
from foveal.presets.foveal.outcomes import outcome
from foveal.presets.foveal.paths import Paths
from foveal.presets.foveal.progress import FILES, RECENT, TODOS, Progress

Call = tuple[str, dict[str, object], str]


def edit(path: str, result: str = "The file has been updated.") -> Call:
    return "Edit", {"file_path": path, "old_string": "x = 1", "new_string": "timeout = 90"}, result


def bash(command: str, result: str = "") -> Call:
    return "Bash", {"command": command}, result


def created(number: int, subject: str) -> Call:
    return (
        "TaskCreate",
        {"subject": subject, "description": ""},
        f"Task #{number} created successfully: {subject}",
    )


def updated(number: int, status: str) -> Call:
    return "TaskUpdate", {"taskId": str(number), "status": status}, f"Updated task #{number} status"


def state(*calls: Call, root: str = "") -> str:
    """The line after calls at positions 2, 4, 6, …"""
    entries = []
    for seq, (name, arguments, result) in zip(count(1, 2), calls, strict=False):
        action = read_call(name, json.dumps(arguments))
        excerpts = divided(result, "tool", len)
        ended = outcome(result, action)
        entries.append(
            LogEntry(seq=seq, part=0, voice="tool", excerpts=excerpts, action=action, outcome=ended)
        )
    return Progress.of(entries, Paths(root)).line()


FAILED = "FAILED t.py::test_a - KeyError: 'x'\n1 failed, 13 passed in 0.2s"
PASSED = "14 passed in 0.2s"
GO_FAILED = "--- FAIL: TestX (0.01s)\nFAIL\nFAIL\ta/b\t0.2s"
GO_PASSED = "ok  \ta/b\t0.2s"


def test_changed_files_are_named_with_the_position_of_their_last_change() -> None:
    assert state(edit("a.py"), edit("b.py"), edit("a.py")) == "State: changed b.py [4], a.py [6]."


def test_a_file_has_one_spelling() -> None:
    line = state(edit("/srv/app/a.py"), bash("echo x >> ./a.py"), root="/srv/app")
    assert line == "State: changed a.py [4]."


def test_a_file_that_was_not_changed_is_not_named_as_changed() -> None:
    failed = edit("a.py", "<tool_use_error>String to replace not found in file.</tool_use_error>")
    assert state(failed) == (
        "State: failed and not done since: Edit a.py failed: String to replace not found in file. [2]."
    )


def test_of_each_kind_of_check_the_last_result_is_given() -> None:
    line = state(
        bash("pytest -q t.py", FAILED),
        bash("mypy src", "Success: no issues found"),
        bash("uv run pytest", PASSED),
    )
    assert line == "State: last runs: mypy src ok [4], uv run pytest passed 14 [6]."


def test_a_narrow_run_gives_way_to_a_broader_one_of_its_kind() -> None:
    narrow, broad = bash("go test ./a -run TestX", GO_FAILED), bash("mise run test", GO_PASSED)
    assert state(narrow, broad) == "State: last run: mise run test passed 1 package [4]."
    assert state(bash("go build ./..."), bash("pytest t.py::x", PASSED), bash("make test", PASSED)) == (
        "State: last runs: go build ./... ok [2], make test passed 14 [6]."
    )


def test_a_broad_run_that_failed_stays_until_it_is_repeated() -> None:
    broad, narrow = bash("mise run test", GO_FAILED), bash("go test ./a -run TestX", GO_PASSED)
    assert state(broad, narrow) == (
        "State: last runs: mise run test FAILED TestX [2], go test ./a -run TestX passed 1 package [4]."
    )
    assert state(broad, narrow, bash("mise run test", GO_PASSED)) == (
        "State: last run: mise run test passed 1 package [6]."
    )


def test_a_failure_in_a_combined_run_gives_way_when_that_check_passes() -> None:
    lint = "a.go:5:6: func x is unused (unused)\n1 issues:"
    both, alone = bash("mise run fmt && mise run lint", lint), bash("mise run lint", "0 issues.")
    assert state(both, alone) == "State: last run: mise run lint ok, 0 issues [4]."
    assert state(bash("mise run lint && mise run test", GO_FAILED), alone) == (
        "State: last runs: mise run lint && mise run test FAILED TestX [2], mise run lint ok, 0 issues [4]."
    )


def test_a_run_that_the_user_rejected_says_nothing_about_the_state() -> None:
    rejected = bash("mise run test", "The user doesn't want to proceed with this tool use.")
    assert state(bash("go test ./...", GO_PASSED), rejected) == (
        "State: last run: go test ./... passed 1 package [2]."
    )


def test_a_run_of_which_no_line_matched_says_nothing_about_the_state() -> None:
    failed = bash("go test ./...", "--- FAIL: TestA (0.00s)\nFAIL\tmod/a\t0.1s\nExit code 1")
    assert state(failed, bash("go test ./... | grep touched", "(no output)")) == state(failed)


def test_a_failed_run_long_ago_is_history_if_others_of_its_kind_followed() -> None:
    failed, passed = bash("mise run test:ci", GO_FAILED), bash("go test ./a", GO_PASSED)
    looks = [bash("ls")] * RECENT
    assert state(failed, passed).count("[") == 2
    assert state(failed, passed, *looks) == "State: last run: go test ./a passed 1 package [4]."
    assert "FAILED" in state(failed, *looks)


def test_scripts_have_no_place_beside_a_run_of_tests() -> None:
    script = bash("python reproduce.py", "Success!")
    assert state(script) == 'State: last run: python reproduce.py no error, "Success!" [2].'
    assert state(script, bash("pytest", PASSED), script) == "State: last run: pytest passed 14 [4]."
    assert state(bash("python runtests.py", PASSED), script) == (
        "State: last run: python runtests.py passed 14 [2]."
    )


def test_a_call_that_was_not_confirmed_is_not_done() -> None:
    asked = ("submit", {}, "Thank you for your work. Please remove your script, then submit again.")
    answered = (
        'submit() answered "Thank you for your work. Please remove your script, then submit again." [2]'
    )
    assert state(asked) == f"State: not confirmed: {answered}."
    assert state(asked, ("submit", {}, "Submitted successfully.")) == "State: done submit() [4]."
    assert "submit()" not in state(asked, edit("a.py"))


def test_a_file_that_was_removed_is_named_as_removed() -> None:
    line = state(edit("/srv/a.py"), edit("/srv/b.py"), bash("cd /srv && rm -f a.py build/"), root="/srv")
    assert line == "State: changed b.py [4], a.py (removed) [6]."


def test_a_file_whose_change_was_undone_is_marked_as_discarded() -> None:
    changes = edit("src/a.py"), edit("src/b.py")
    assert state(*changes, bash("git checkout -- src/a.py")).startswith(
        "State: changed src/b.py [4], src/a.py (discarded) [6]"
    )
    stashed = state(*changes, bash("git checkout -- src/a.py"), bash("git stash"))
    assert stashed.startswith("State: changed src/a.py (discarded) [6], src/b.py (discarded) [8]")
    assert (
        "discarded"
        not in state(*changes, bash("git stash"), bash("git stash pop"), edit("src/b.py")).split(",")[-1]
    )
    committed = (*changes, bash("git commit -am x", "[main 1a2b3c4] x"), bash("git reset --hard"))
    assert "discarded" not in state(*committed)


def test_a_run_before_later_changes_says_so() -> None:
    passed = bash("pytest -q", "214 passed in 3.2s")
    assert "pytest -q passed 214 [2] before later changes" in state(passed, edit("a.py"))
    assert "before later changes" not in state(edit("a.py"), passed)


def test_the_last_commit_and_push_are_named() -> None:
    done = (
        bash("git commit -am x", "[main 1a2b3c4] x"),
        bash("git push", "To github.com:a/b\n  1..2  main -> main"),
    )
    assert "last commit [4], last push [6]" in state(edit("a.py"), *done)


def test_scratch_files_are_no_part_of_the_work() -> None:
    assert "/tmp" not in state(edit("/tmp/pr.patch"), edit("a.py"))


def test_a_check_after_a_change_in_one_line_counts_as_a_check() -> None:
    assert state(bash("ruff format . && pytest -q", PASSED), bash("pytest -q", FAILED)).count("pytest") == 2
    assert state(bash("git add -A && pytest -q", FAILED), bash("pytest", PASSED)) == (
        "State: last run: pytest passed 14 [4]."
    )


def test_a_failure_that_was_repaired_is_not_reported() -> None:
    rejected = bash("git push", " ! [rejected]  main -> main (fetch first)")
    assert "failed and not done since: Bash git push failed" in state(rejected)
    assert state(rejected, bash("git push -u origin main", "main -> main")) == "State: last push [4]."


def test_a_failed_edit_is_repaired_by_any_change_of_the_file() -> None:
    failed = edit("a.py", "Error: could not find the string to replace")
    assert state(failed, edit("a.py")) == "State: changed a.py [4]."
    assert state(failed, bash("sed -i 's/a/b/' a.py")) == "State: changed a.py [4]."


def test_a_failure_long_ago_is_history() -> None:
    looks = [bash("ls")] * RECENT
    assert state(bash("rm x", "rm: cannot remove 'x': No such file or directory"), *looks) == ""


def test_looks_say_nothing_about_the_state() -> None:
    assert state(bash("cat a.log", "ERROR everything failed"), bash("ls")) == ""


def test_the_to_do_list_is_given_as_last_written() -> None:
    first = [{"content": "Find it", "status": "in_progress"}, {"content": "Fix it", "status": "pending"}]
    then = [{"step": "Find it", "status": "completed"}, {"step": "Fix a, then b", "status": "in_progress"}]
    line = state(("TodoWrite", {"todos": first}, "ok"), ("update_plan", {"plan": then}, "Plan updated"))
    assert line == "State: to do: 1) Fix a, then b (in progress)."


def test_a_list_that_is_done_is_not_given() -> None:
    assert state(("TodoWrite", {"todos": [{"content": "Fix it", "status": "completed"}]}, "ok")) == ""


def test_tasks_are_followed_by_their_numbers() -> None:
    calls = [created(1, "Find it"), created(2, "Fix it"), updated(1, "completed"), updated(2, "in_progress")]
    assert state(*calls) == "State: to do: 1) Fix it (in progress)."
    assert state(*calls, updated(2, "pending")) == "State: to do: 1) Fix it."
    assert state(*calls, updated(2, "deleted")) == ""


def test_the_line_stays_short() -> None:
    files = [edit(f"module_{n}.py") for n in range(3 * FILES)]
    tasks = [created(n, f"Task {n}") for n in range(1, 2 * TODOS + 1)]
    line = state(*files, *tasks)
    assert f"and {2 * FILES} earlier" in line
    assert f"module_{3 * FILES - 1}.py" in line
    assert f"and {TODOS} more" in line


def test_nothing_done_is_an_empty_line() -> None:
    assert state() == ""
