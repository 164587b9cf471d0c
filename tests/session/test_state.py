"""What a process mirrors of a session is complete, also after its reading was stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from foveal import Foveal, Session, StoreTimeoutError
from foveal.store.deadline import Deadline, within
from foveal.store.sqlite import connection

FEW = 10
"""Instructions of SQLite between two looks: fewer than most queries take."""


class StoppedOnce(Deadline):
    """A deadline that stops one query: that of the `look`-th look at it."""

    def __init__(self, look: int) -> None:
        super().__init__(60)
        self.left = look

    @property
    def passed(self) -> bool:
        self.left -= 1
        return self.left == 0


def build(session: Session) -> tuple[str, int]:
    """The newest message of a window that counts another way than the store, and how many it decides on."""
    window = session.build(budget=2_000, model="gpt-4o", preset="recent")
    return window.messages[-1]["content"], window.manifest.decisions[-1].last + 1


def test_a_session_is_complete_after_reading_was_stopped_at_any_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CHECK", FEW)
    stopped = 0
    with (
        Foveal(tmp_path / "a.db", embedder="none") as fov,
        Foveal(tmp_path / "a.db", embedder="none") as other,
    ):
        session, elsewhere = fov.session("a", model="claude-sonnet-4-5"), other.session("a")
        session.add("user", "first")
        build(session)
        for look in range(1, 500):
            elsewhere.extend([{"role": "user", "content": f"{look} {text}"} for text in ("one", "two")])
            deadline = StoppedOnce(look)
            try:
                with within(deadline):
                    build(session)
            except StoreTimeoutError:
                stopped += 1
            assert build(session) == (f"{look} two", 2 * look + 1) == (f"{look} two", len(session.entries()))
            if deadline.left > 0:
                break
    assert stopped > 10
