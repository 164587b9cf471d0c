"""What a pool promises: its agents' windows show what the others share, within one budget."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from foveal import Foveal, NotFoundError, Session

NOW = 1_794_813_000.0


@pytest.fixture
def fov(tmp_path: Path) -> Iterator[Foveal]:
    with Foveal(tmp_path / "foveal.db", embedder="none") as fov:
        yield fov


@pytest.fixture
def api(fov: Foveal) -> Session:
    """An agent that has decided something, changed a file and run a check."""
    session = fov.session("api", model="gpt-5", pool="repo")
    session.extend(
        [
            {"role": "user", "content": "Add token refresh to src/auth/session.py."},
            *called("edit_file", "ok", path="src/auth/session.py", new_string="def rotate(self, token):"),
            *called("run", "1 failed, 13 passed in 0.2s", command="pytest -q tests/test_rotate.py"),
            {"role": "assistant", "content": "We decided to store refresh tokens in table auth_refresh."},
        ]
    )
    return session


@pytest.fixture
def db(fov: Foveal) -> Session:
    """An agent whose task touches the same file."""
    session = fov.session("db", model="gpt-5", pool="repo")
    session.extend([{"role": "user", "content": "Write the migration that src/auth/session.py needs."}])
    return session


def called(tool: str, result: str, **arguments: str) -> list[dict[str, Any]]:
    id = f"{tool} {sorted(arguments.values())}"
    call = {"id": id, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": result},
    ]


def text_of(session: Session, **options: Any) -> str:
    return json.dumps(session.build(budget=4_000, now=NOW, **options).messages, ensure_ascii=False)


def test_a_window_shows_what_other_agents_decided_changed_and_ran(api: Session, db: Session) -> None:
    window = text_of(db)
    assert "## [POOL] from agent api" in window
    assert "message 6, decided: We decided to store refresh tokens in table auth_refresh." in window
    assert "message 2: edit_file src/auth/session.py → ok: + def rotate(self, token):" in window
    assert "message 4: run pytest -q tests/test_rotate.py → FAILED 1 of 14" in window


@pytest.mark.parametrize("preset", ["foveal", "recent", "reploid", "penguin", "openscroll", "fifth", "omar"])
def test_with_every_preset(api: Session, db: Session, preset: str) -> None:
    assert "table auth_refresh" in text_of(db, preset=preset)


def test_without_a_pool_nothing_is_shared(fov: Foveal, api: Session) -> None:
    alone = fov.session("alone", model="gpt-5")
    alone.add("user", "Write the migration that src/auth/session.py needs.")
    assert "auth_refresh" not in text_of(alone)


def test_what_does_not_concern_the_agent_is_not_shown(fov: Foveal, api: Session) -> None:
    other = fov.session("docs", model="gpt-5", pool="repo")
    other.add("user", "Translate the welcome page into Dutch.")
    assert "POOL" not in text_of(other)


def test_private_messages_are_never_shared(api: Session, db: Session) -> None:
    api.add("user", "We decided: src/auth/session.py gets the key K-90417.", private=True)
    api.add("user", "We decided: src/auth/session.py gets no cache.")
    window = text_of(db)
    assert "gets no cache" in window
    assert "90417" not in window


def test_a_private_message_that_a_client_sends_back_is_not_shared(fov: Foveal, db: Session) -> None:
    api = fov.session("api", model="gpt-5", pool="repo")
    api.add("user", "We decided: src/auth/session.py signs with ZEBRA90417.", private=True)
    window = api.build(budget=4_000, now=NOW)
    api.sync([*window.messages, {"role": "assistant", "content": "Fine, done."}], format="openai")
    db.add("user", "src/auth/session.py signs with?")
    assert "ZEBRA90417" not in text_of(db)


def test_a_note_that_a_client_sends_back_is_not_what_its_agent_said(
    fov: Foveal, api: Session, db: Session
) -> None:
    window = db.build(budget=4_000, now=NOW)
    db.sync([*window.messages, {"role": "assistant", "content": "We decided: src/auth/session.py waits."}])
    third = fov.session("third", model="gpt-5", pool="repo")
    third.add("user", "Does src/auth/session.py need the tokens of auth_refresh?")
    assert text_of(third).count("table auth_refresh") == 1
    api.forget("m6")
    shared = text_of(third)
    assert "table auth_refresh" not in shared
    assert "src/auth/session.py waits" in shared


def test_a_forgotten_message_is_in_no_note_any_more(api: Session, db: Session) -> None:
    assert "auth_refresh" in text_of(db)
    api.forget("m6")
    assert "auth_refresh" not in text_of(db)


def test_a_message_that_is_left_out_on_request_is_in_no_note_until_it_is_restored(
    api: Session, db: Session
) -> None:
    api.forget("m6", erase=False)
    assert "auth_refresh" not in text_of(db)
    api.restore("m6")
    assert "auth_refresh" in text_of(db, task="the migration of src/auth/session.py")


def test_a_later_change_of_a_file_replaces_an_earlier_one(api: Session, db: Session) -> None:
    api.extend(called("edit_file", "ok", path="src/auth/session.py", new_string="def revoke(self, token):"))
    window = text_of(db)
    assert "def revoke" in window
    assert "def rotate" not in window


def test_an_agent_that_left_shares_nothing(fov: Foveal, api: Session, db: Session) -> None:
    fov.pool("repo").leave("api")
    assert "auth_refresh" not in text_of(db)


def test_what_is_new_comes_after_everything_that_was_sent(api: Session, db: Session) -> None:
    db.extend(called("read_file", "x = 1", path="src/db/schema.py"))
    before = db.build(budget=4_000, now=NOW).messages
    for number in range(5):
        api.add("assistant", f"We decided: src/auth/session.py calls audit_{number} first.")
        db.extend(called("read_file", "x = 1", path=f"src/db/m{number}.py"))
        after = db.build(budget=4_000, now=NOW).messages
        assert after[: len(before)] == before
        assert f"audit_{number}" in str(after[len(before) :])
        before = after


def test_another_process_shows_the_same(fov: Foveal, api: Session, db: Session, tmp_path: Path) -> None:
    db.extend(called("read_file", "x = 1", path="src/db/schema.py"))
    first = db.build(budget=4_000, now=NOW).messages
    api.add("assistant", "We decided: src/auth/session.py calls audit_log first.")
    db.extend(called("read_file", "x = 1", path="src/db/m.py"))
    second = db.build(budget=4_000, now=NOW).messages
    with Foveal(tmp_path / "foveal.db", embedder="none") as again:
        other = again.session("db").build(budget=4_000, now=NOW).messages
    assert other == second
    assert second[: len(first)] == first


def test_agents_may_build_at_the_same_time(fov: Foveal, api: Session, db: Session) -> None:
    def work(session: Session) -> int:
        for number in range(20):
            session.add("assistant", f"We decided: src/auth/session.py calls {session.name}_{number} first.")
            session.build(budget=4_000, now=NOW)
        return len(session.entries())

    with ThreadPoolExecutor(3) as threads:
        found = [threads.submit(work, session) for session in (api, db, fov.session("web", pool="repo"))]
        assert [each.result(timeout=60) for each in found] == [26, 21, 20]


def test_the_manifest_says_what_is_shared_and_by_whom(api: Session, db: Session) -> None:
    window = db.build(budget=4_000, now=NOW)
    (piece,) = window.manifest.contributed
    assert (piece.type, piece.source, piece.verdict) == ("POOL", "api", "kept")
    assert window.manifest.parts["material"] == piece.tokens
    assert db.why("m1").decision.verdict == "kept"


def test_the_budget_of_a_pool_is_divided_among_its_agents(fov: Foveal, api: Session, db: Session) -> None:
    fov.pool("repo", budget=3_000)
    shares = [db.build(now=NOW).manifest.share, api.build(now=NOW).manifest.share]
    assert [share.tokens for share in shares if share] == [1_500, 1_500]
    assert db.build(budget=1_000, now=NOW).budget == 1_000
    assert "divided among 2 agents" in " ".join(db.build(now=NOW).explain().split())
    stored = db.manifest().share
    assert stored == db.build(now=NOW).manifest.share


def test_an_agent_with_more_history_has_a_larger_share(fov: Foveal, api: Session, db: Session) -> None:
    fov.pool("repo", budget=3_000)
    for number in range(100):
        api.add(
            "assistant", f"Note {number}: nothing to see in this file, and nothing in the next one either."
        )
    shares = {name: share.tokens for name, share in fov.pool("repo").shares()}
    assert shares["api"] > 2 * shares["db"]
    assert sum(shares.values()) <= 3_000


def test_pools_belong_to_a_tenant(fov: Foveal, api: Session, tmp_path: Path) -> None:
    with Foveal(tmp_path / "foveal.db", tenant="other", embedder="none") as theirs:
        session = theirs.session("db", model="gpt-5", pool="repo")
        session.add("user", "Write the migration that src/auth/session.py needs.")
        assert "auth_refresh" not in text_of(session)
        assert [pool.members for pool in theirs.pools()] == [("db",)]


def test_pools_are_listed_joined_left_and_deleted(fov: Foveal, api: Session) -> None:
    pool = fov.pool("repo", budget=9_000)
    session = fov.session("late")
    pool.join(session)
    assert ([each.name for each in fov.pools()], pool.members, session.pool) == (
        ["repo"],
        ("api", "late"),
        "repo",
    )
    pool.leave(session)
    assert (session.pool, fov.pool("repo").budget) == ("", 9_000)
    with pytest.raises(NotFoundError, match="is not in pool"):
        pool.leave(session)
    pool.delete()
    assert (fov.pools(), api.pool) == ((), "")
