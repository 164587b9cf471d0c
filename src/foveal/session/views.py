"""What a session tells about itself: plain values for the surfaces to print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from foveal import presets
from foveal.model import Format
from foveal.pipeline.history import History
from foveal.session.target import Target
from foveal.store import BuildRecord, SessionRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One search hit, best first."""

    id: str
    handle: str
    session: str
    role: str
    score: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """A session in numbers."""

    session: str
    model: str
    preset: str
    format: str
    counter: str
    exact: bool
    """False when the counts are an estimate on the safe side."""
    messages: int
    turns: int
    tokens: int
    """Of everything stored on this branch."""
    tokens_by_role: Mapping[str, int]
    pinned: int
    absent: int
    """Messages left out on request or erased."""
    limit: int
    """The model's window."""
    builds: int
    window_tokens: int
    """Of the newest build; 0 before the first."""
    window_budget: int

    @property
    def percent(self) -> float:
        """How full the newest window is."""
        return 100 * self.window_tokens / self.window_budget if self.window_budget else 0.0

    @property
    def ratio(self) -> float:
        """Stored tokens for each token sent; 1.0 before the first build."""
        return self.tokens / self.window_tokens if self.window_tokens else 1.0


def summary(
    history: History, record: SessionRecord, newest: BuildRecord | None, *, format: Format, aim: Target
) -> Stats:
    """A session in numbers, from its turns and its newest build."""
    roles: Counter[str] = Counter()
    for entry in history.entries:
        roles[entry.role] += entry.tokens
    return Stats(
        session=record.name,
        model=record.model,
        preset=record.preset or presets.DEFAULT,
        format=format,
        counter=aim.tokenizer.name,
        exact=aim.tokenizer.exact,
        messages=len(history.entries),
        turns=len(history),
        tokens=history.tokens,
        tokens_by_role=dict(roles),
        pinned=sum(entry.pinned for entry in history.entries),
        absent=sum(bool(entry.absence) for entry in history.entries),
        limit=aim.card.context,
        builds=newest.number if newest else 0,
        window_tokens=newest.tokens if newest else 0,
        window_budget=newest.budget if newest else 0,
    )
