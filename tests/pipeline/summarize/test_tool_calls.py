"""What a tool call does and acts on, whichever agent made it."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.pipeline.summarize.tool_calls import Action, Todo, command_action, first_new_line, read_call

PATCH = """*** Begin Patch
*** Update File: src/auth/session.py
@@
-        self.revoke(token)
+        if self.age(token) > 90:
+            self.revoke(token)
*** Add File: tests/test_session.py
+def test_two_tabs():
*** End Patch"""
TRAJECTORIES = Path("/work/shared/bench/trajectories/data/dev.jsonl.gz")


def call(tool: str, /, **arguments: object) -> Action:
    return read_call(tool, json.dumps(arguments))


@pytest.mark.parametrize(
    ("action", "title"),
    [
        (call("Edit", file_path="a.py", old_string="x = 1", new_string="timeout = 90"), "Edit a.py"),
        (call("MultiEdit", file_path="a.py", edits=[{"new_string": "timeout = 90"}]), "MultiEdit a.py"),
        (call("Write", file_path="a.py", content="timeout = 90"), "Write a.py"),
        (call("NotebookEdit", notebook_path="a.py", new_source="timeout = 90"), "NotebookEdit a.py"),
        (call("edit", filePath="a.py", oldString="x = 1", newString="timeout = 90"), "edit a.py"),
        (call("replace", file_path="a.py", old_string="x", new_string="timeout = 90"), "replace a.py"),
        (
            call("str_replace_editor", command="create", path="a.py", file_text="timeout = 90"),
            "str_replace_editor a.py",
        ),
        (call("write_to_file", path="a.py", content="timeout = 90"), "write_to_file a.py"),
        (
            call(
                "apply_diff",
                path="a.py",
                diff="<<<<<<< SEARCH\nx = 1\n=======\ntimeout = 90\n>>>>>>> REPLACE",
            ),
            "apply_diff a.py",
        ),
    ],
)
def test_a_path_with_new_text_is_an_edit(action: Action, title: str) -> None:
    assert (action.kind, action.title, action.files) == ("change", title, ("a.py",))
    assert action.change == "+ timeout = 90"


@pytest.mark.parametrize(
    "action",
    [
        read_call("apply_patch", PATCH),
        call("apply_patch", input=PATCH),
        call("shell", command=["apply_patch", PATCH]),
        call("shell", command=["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]),
        read_call("exec", f"await tools.apply_patch({json.dumps(PATCH)})"),
    ],
)
def test_a_patch_is_an_edit_of_its_files(action: Action) -> None:
    assert action.kind == "change"
    assert action.files == ("src/auth/session.py", "tests/test_session.py")
    assert action.title.endswith("apply_patch src/auth/session.py, tests/test_session.py")
    assert action.change == "+ if self.age(token) > 90:"


def test_a_diff_is_an_edit_too() -> None:
    diff = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+timeout = 90\n"
    assert call("git_apply", patch=diff).files == ("a.py",)


@pytest.mark.parametrize(
    ("action", "kind", "title"),
    [
        (call("Bash", command="cd /x && pytest -q | sort", description="Test"), "check", "Bash pytest -q"),
        (call("shell", command=["bash", "-lc", "ls -la"], workdir="/x"), "look", "shell ls -la"),
        (call("run_shell_command", command="ls", dir_path="src"), "look", "run_shell_command ls"),
        (call("exec_command", cmd="git push"), "change", "exec_command git push"),
        (
            read_call("exec", 'const r = await tools.exec_command({cmd: "make test"});'),
            "check",
            "exec make test",
        ),
        (call("execute_bash", command="rm a.py"), "change", "execute_bash rm a.py"),
        (
            call("mcp__postgres__query", sql="SELECT * FROM users"),
            "look",
            "mcp__postgres__query SELECT * FROM users",
        ),
        (call("sql", query="UPDATE users SET a = 1"), "change", "sql UPDATE users SET a = 1"),
        (call("python", code="import math\nprint(math.sqrt(2))"), "look", "python print(math.sqrt(2))"),
        (
            call("execute_ipython_cell", code="open('o', 'w')"),
            "change",
            "execute_ipython_cell open('o', 'w')",
        ),
    ],
)
def test_a_command_is_read_as_such(action: Action, kind: str, title: str) -> None:
    assert (action.kind, action.title) == (kind, title)


@pytest.mark.parametrize(
    ("action", "title"),
    [
        (call("Read", file_path="a.py", offset=3), "Read a.py"),
        (call("read", filePath="a.py"), "read a.py"),
        (call("str_replace_editor", command="view", path="a.py"), "str_replace_editor a.py"),
        (call("read_many_files", paths=["a.py", "b.py"]), "read_many_files a.py, b.py"),
        (call("list_directory", dir_path="src"), "list_directory src"),
        (call("Grep", pattern="revoke", path="src"), 'Grep "revoke" in src'),
        (
            call("search_file_content", pattern="revoke", dir_path="src"),
            'search_file_content "revoke" in src',
        ),
        (call("Glob", pattern="**/*.py"), 'Glob "**/*.py"'),
        (call("WebSearch", query="update on tokens"), 'WebSearch "update on tokens"'),
        (call("WebFetch", url="https://example.org/a", prompt="What?"), "WebFetch https://example.org/a"),
        (call("browser_navigate", url="https://example.org"), "browser_navigate https://example.org"),
        (call("computer", action="screenshot"), "computer(screenshot)"),
        (call("get_order_details", order_id="#W1"), "get_order_details(#W1)"),
        (call("get_booking", booking_id="B7"), "get_booking(B7)"),
    ],
)
def test_a_call_that_changes_nothing_is_a_look(action: Action, title: str) -> None:
    assert (action.kind, action.title) == ("look", title)


@pytest.mark.parametrize(
    ("action", "title"),
    [
        (call("cancel_reservation", reservation_id="HAT"), "cancel_reservation(HAT)"),
        (call("refund_order", reason="late", order_id="#W1", amount=12.5), "refund_order(#W1, late, 12.5)"),
        (
            call("book_reservation", user_id="u1", origin="SFO", flights=[{"flight_number": "HAT1"}]),
            "book_reservation(u1, SFO, HAT1)",
        ),
        (
            call("mcp__linear__create_issue", title="Fix it", team="CLI"),
            "mcp__linear__create_issue(Fix it, CLI)",
        ),
        (call("mcp__asana__create_task", subject="Fix it"), "mcp__asana__create_task(Fix it)"),
        (call("browser_click", element="Log in", ref="e12"), "browser_click(Log in, e12)"),
        (call("type", selector="#q", text="hello"), "type(#q, hello)"),
        (call("computer", action="left_click", coordinate=[1, 2]), "computer(left_click, 1, 2)"),
        (call("delete_file", target_file="a.py"), "delete_file a.py"),
        (call("transfer_to_human_agents", summary="Angry"), "transfer_to_human_agents(Angry)"),
    ],
)
def test_a_verb_of_change_makes_a_change_of_a_call(action: Action, title: str) -> None:
    assert (action.kind, action.title) == ("change", title)


def test_a_command_that_the_model_wrote_without_a_tool_is_its_own_title() -> None:
    assert command_action("python", "python solve.py").title == "python solve.py"
    created = command_action("create", "create solve.py")
    assert (created.kind, created.title, created.files) == ("change", "create solve.py", ("solve.py",))
    edited = command_action("edit", "edit 3:5\ntimeout = 90\nend_of_edit")
    assert (edited.kind, edited.title, edited.change) == ("change", "edit 3:5", "+ timeout = 90")


def test_thinking_acts_on_nothing() -> None:
    assert (call("think", thought="Hm").kind, call("think", thought="Hm").title) == ("thought", "think")


@pytest.mark.parametrize(
    ("tool", "key", "field"),
    [
        ("TodoWrite", "todos", "content"),
        ("update_plan", "plan", "step"),
        ("write_todos", "todos", "description"),
    ],
)
def test_a_list_of_what_to_do_is_a_plan(tool: str, key: str, field: str) -> None:
    items = [{field: "Find it", "status": "completed"}, {field: "Fix it", "status": "in_progress"}]
    found = call(tool, **{key: items})
    assert (found.kind, found.whole_list) == ("plan", True)
    assert found.todos == (Todo(text="Find it", done=True), Todo(text="Fix it", active=True))


def test_one_task_of_a_list_is_created_and_changed_by_its_number() -> None:
    created = call("TaskCreate", subject="Fix a, then b", description="Long", activeForm="Fixing")
    assert (created.kind, created.todos, created.whole_list) == ("plan", (Todo(text="Fix a, then b"),), False)
    changed = call("TaskUpdate", taskId="3", status="completed")
    assert (changed.title, changed.todos) == (
        "TaskUpdate(#3, completed)",
        (Todo(id="3", text="", done=True),),
    )


def test_the_line_of_an_edit_that_says_most_is_shown() -> None:
    assert first_new_line("import os\nimport re\n\ndef rotate(self):\n    pass") == "def rotate(self):"
    assert first_new_line("}\n    retry_after_seconds = 90\n") == "retry_after_seconds = 90"
    assert (
        first_new_line("keep this line\nchange that line", "keep this line\nold line") == "change that line"
    )


def test_an_edit_that_only_removes_says_what_it_removed() -> None:
    found = call(
        "Edit", file_path="a.py", old_string="keep = True\ndebug = print_all()", new_string="keep = True"
    )
    assert found.change == "- debug = print_all()"


def test_calls_that_do_the_same_again_have_the_same_key() -> None:
    once = call("Edit", file_path="a.py", old_string="x", new_string="y")
    again = call("Write", file_path="a.py", content="z")
    assert once.key == again.key
    assert call("Read", file_path="a.py", offset=1).key == call("Read", file_path="a.py", offset=90).key
    assert call("Read", file_path="a.py").key != call("Read", file_path="b.py").key


def _is_one_short_line(action: Action) -> bool:
    texts = (action.title, action.change, *action.files, *(todo.text for todo in action.todos))
    return all(len(text.splitlines()) <= 1 and len(text) <= 320 for text in texts)


KEYS = st.sampled_from(
    [
        "file_path",
        "path",
        "paths",
        "command",
        "query",
        "edits",
        "todos",
        "plan",
        "content",
        "patch",
        "code",
        "taskId",
    ]
)
LEAVES = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=30)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(KEYS | st.text(max_size=9), inner, max_size=5)
    ),
)
NAMES = st.text(max_size=200) | st.sampled_from(
    ["Bash", "Edit", "TodoWrite", "TaskUpdate", "exec", "python", "sql"]
)


@given(NAMES, st.text(max_size=400))
def test_any_arguments_that_are_no_json_have_a_title_of_one_short_line(name: str, arguments: str) -> None:
    assert _is_one_short_line(read_call(name, arguments))


@given(NAMES, JSON)
def test_any_json_has_a_title_of_one_short_line(name: str, arguments: object) -> None:
    assert _is_one_short_line(read_call(name, json.dumps(arguments)))


@pytest.mark.parametrize(
    "arguments",
    [
        "[" * 100_000,
        '{"a":' * 900 + "1" + "}" * 900,
        json.dumps({"path": "a/" * 9_000}),
        json.dumps({"paths": [f"src/module_{n}.py" for n in range(999)]}),
        json.dumps({"command": "x" * 100_000}),
        json.dumps({"todos": [{"content": "x" * 9_000, "status": "pending"}]}),
        '{"path": "\\ud800\\u0000\\u2028a"}',
        json.dumps({"n": 10**4000}),
        "9" * 10_000,
    ],
)
def test_hostile_arguments_have_a_title_of_one_short_line(arguments: str) -> None:
    for name in ("TodoWrite", "x" * 9_000, "Bash"):
        found = read_call(name, arguments)
        assert _is_one_short_line(found)
        found.title.encode()


@pytest.mark.parametrize(
    "piece", ["+", "+a\n", "*** Update File: a\n", "\n", " ", "=", "=====\n", "import ", "a.", 'cmd: "']
)
def test_long_arguments_take_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        begin = time.process_time()
        for key in ("content", "patch", "code", "command", "query"):
            read_call("exec", json.dumps({key: f"*** Begin Patch\n{text}"}))
            read_call("edit", json.dumps({"path": "a", key: text, "diff": text}))
        return time.process_time() - begin

    small = min(seconds(100_000) for _ in range(2))
    assert min(seconds(1_000_000) for _ in range(2)) <= max(25 * small, 0.3)  # square time: 100


@pytest.mark.skipif(not TRAJECTORIES.exists(), reason="the recorded sessions are not on this machine")
def test_every_call_of_recorded_sessions_has_a_title() -> None:
    with gzip.open(TRAJECTORIES, "rt", encoding="utf-8") as lines:
        messages = [message for line in lines for message in json.loads(line)["messages"]]
    calls = [each["function"] for message in messages for each in message.get("tool_calls") or ()]
    actions = [read_call(each["name"], each["arguments"]) for each in calls]
    assert all(map(_is_one_short_line, actions))
    assert sum(action.kind == "other" for action in actions) < 0.03 * len(actions)


def test_an_edit_has_the_lines_that_it_adds() -> None:
    edit = call(
        "Edit", file_path="a.py", old_string="def a():\n    pass", new_string="def a():\n    return 1"
    )
    assert edit.written == "    return 1"
