"""The pools port: the `Pools` protocol and its record, the part of a store about sessions that work together.

Like the rest of the store it is opened for one tenant: no pool has sessions of several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRecord:
    id: int
    name: str
    budget: int | None
    """Tokens that its sessions' windows have together; None if each has its own budget."""
    created_at: float


class Pools(Protocol):
    """The pools of a tenant, and which sessions are in them. A session is in one pool at most."""

    def save(self, name: str, *, now: float, budget: int | None = None) -> PoolRecord:
        """Return the pool of that name, creating it if needed; store a given budget with it."""

    def set_budget(self, pool: int, budget: int | None) -> None:
        """Give a pool this budget, or none. Raises `NotFoundError` if there is no such pool."""

    def all(self) -> Sequence[PoolRecord]:
        """All pools, oldest first."""

    def delete(self, pool: int) -> None:
        """Delete a pool. Its sessions stay. Raises `NotFoundError` if there is no such pool."""

    def join(self, session: int, pool: int | None) -> None:
        """Put a session into a pool, taking it out of the one it is in; None: into none.

        Raises `NotFoundError` if there is no such session or pool.
        """

    def of(self, session: int) -> PoolRecord | None:
        """The pool that a session is in."""

    def members(self, pool: int) -> Sequence[str]:
        """The names of a pool's sessions, oldest first."""
