"""Where the work stands, in one line."""

from __future__ import annotations

import json
from itertools import count

from foveal.presets.foveal.excerpts import divided
from foveal.presets.foveal.log import LogEntry
from foveal.presets.foveal.outcomes import outcome
from foveal.presets.foveal.paths import Paths
from foveal.presets.foveal.progress import FILES, RECENT, TODOS, Progress
from foveal.presets.foveal.tool_calls import read_call

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


def test_a_check_after_a_change_in_one_line_counts_as_a_check() -> None:
    assert state(bash("ruff format . && pytest -q", PASSED), bash("pytest -q", FAILED)).count("pytest") == 2
    assert state(bash("git add -A && pytest -q", FAILED), bash("pytest", PASSED)) == (
        "State: last run: pytest passed 14 [4]."
    )


def test_a_failure_that_was_repaired_is_not_reported() -> None:
    rejected = bash("git push", " ! [rejected]  main -> main (fetch first)")
    assert "failed and not done since: Bash git push failed" in state(rejected)
    assert state(rejected, bash("git push -u origin main", "main -> main")) == ""


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
