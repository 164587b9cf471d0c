"""A pool: sessions of agents on the same work, with one memory and one budget."""

from __future__ import annotations

import time
from dataclasses import replace

from foveal.errors import NotFoundError
from foveal.session.arguments import a_count
from foveal.session.pool.memory import PoolMemories
from foveal.session.resources import Resources
from foveal.session.session import Session
from foveal.store import PoolRecord
from foveal.window import PoolShare


class Pool:
    """Sessions on the same work. `Foveal.pool` opens it.

    The windows of each show what the others share that matches what it is doing, apart from private messages,
    and together they have one budget.
    """

    def __init__(self, resources: Resources, record: PoolRecord) -> None:
        self.name = record.name
        self._resources = resources
        self._record = record

    @property
    def budget(self) -> int | None:
        """Tokens that the windows have together; None if each has its own budget."""
        return self._record.budget

    @property
    def members(self) -> tuple[str, ...]:
        """The names of its sessions, oldest first."""
        return tuple(self._resources.store.pools.members(self._record.id))

    def set_budget(self, budget: int | None) -> None:
        """Give the windows of all its sessions this budget together; None: each has its own again."""
        tokens = None if budget is None else a_count(budget, "budget")
        self._resources.store.pools.set_budget(self._record.id, tokens)
        self._record = replace(self._record, budget=tokens)

    def join(self, session: Session | str) -> None:
        """Put a session into the pool; it leaves the one that it is in."""
        self._resources.store.pools.join(self._number(session), self._record.id)

    def leave(self, session: Session | str) -> None:
        """Take a session out of the pool: no other session's window shows what it shares from now on."""
        name = session.name if isinstance(session, Session) else session
        if name not in self.members:
            raise NotFoundError(
                f"session {name!r} is not in pool {self.name!r}",
                remedy="`members` names its sessions",
                see="pools",
            )
        self._resources.store.pools.join(self._number(session), None)

    def shares(self, *, now: float | None = None) -> tuple[tuple[str, PoolShare], ...]:
        """What the next window of each session has of the budget, by the session's name, with the reason."""
        moment = time.time() if now is None else now
        return tuple(self._resources.part(PoolMemories).shares(self._record, moment))

    def delete(self) -> None:
        """Delete the pool. Its sessions stay."""
        self._resources.store.pools.delete(self._record.id)

    def _number(self, session: Session | str) -> int:
        name = session.name if isinstance(session, Session) else session
        found = self._resources.store.find_session(name)
        if found is None:
            raise NotFoundError(
                f"there is no session {name!r}", remedy="`sessions` lists them", see="sessions"
            )
        return found.id
