"""The command `pool`, and the option `--pool` that lets a session join one."""

from __future__ import annotations

from commands import CommandLine


def test_a_session_joins_the_pool_of_the_option_and_shares(shell: CommandLine) -> None:
    shell.foveal("--session", "api", "--pool", "repo", "add", "user", "We decided: src/a.py has no cache.")
    shell.foveal("--session", "api", "--pool", "repo", "add", "user", "src/a.py: key K-90417", "--private")
    shell.foveal("--session", "db", "--pool", "repo", "add", "user", "Test src/a.py.")
    window = shell.foveal("--session", "db", "build", "--budget", "2k").out
    assert "from agent `api`" in window
    assert "has no cache" in window
    assert "90417" not in window


def test_pools_are_listed_with_the_shares_of_their_sessions(shell: CommandLine) -> None:
    shell.foveal("--session", "api", "--pool", "repo", "add", "user", "hello")
    assert shell.foveal("pool", "repo", "--budget", "8k").out.startswith(
        "repo: 8,000 tokens\n  api: 8,000 of"
    )
    (found,) = shell.foveal("pool", "--json").json
    assert (found["name"], found["budget"], found["agents"][0]["session"]) == ("repo", 8_000, "api")


def test_a_budget_of_none_removes_it(shell: CommandLine) -> None:
    assert shell.foveal("pool", "repo", "--budget", "8k").out == "repo: 8,000 tokens\n"
    assert shell.foveal("pool", "repo").out == "repo: 8,000 tokens\n"
    assert shell.foveal("pool", "repo", "--budget", "none").out == "repo: no budget\n"


def test_a_pool_that_does_not_exist_is_not_changed_and_not_created(shell: CommandLine) -> None:
    shell.foveal("--pool", "repo", "add", "user", "hello")
    for change in (["--delete"], ["--leave", "default"]):
        refused = shell.foveal("pool", "nope", *change)
        assert refused.code == 1
        assert "there is no pool 'nope'" in refused.err
    assert [pool["name"] for pool in shell.foveal("pool", "--json").json] == ["repo"]


def test_a_change_without_the_name_of_a_pool_is_a_mistake(shell: CommandLine) -> None:
    for change in (["--budget", "5k"], ["--leave", "api"], ["--delete"]):
        assert shell.foveal("pool", *change).code == 2


def test_a_session_leaves_and_a_pool_is_deleted(shell: CommandLine) -> None:
    shell.foveal("--pool", "repo", "add", "user", "hello")
    assert shell.foveal("pool", "repo", "--leave", "default").out == "repo: no budget\n"
    assert shell.foveal("pool", "repo", "--leave", "default").code == 1
    assert "deleted pool repo" in shell.foveal("pool", "repo", "--delete").err
    assert shell.foveal("pool", "--json").json == []


def test_the_shares_fit_a_terminal(shell: CommandLine) -> None:
    for session in ("api", "db"):
        shell.foveal("--session", session, "--pool", "repo", "add", "user", "hello " * 9_000)
    shown = shell.foveal("pool", "repo", "--budget", "24k").out
    assert "12,000 of the 24,000 tokens" in shown
    assert max(map(len, shown.splitlines())) <= 80
