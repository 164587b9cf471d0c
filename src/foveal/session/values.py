"""What a session tells about itself: plain values for the surfaces to print.

Compressions in → how many times smaller they made things on average, and whether that is too little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from foveal import presets
from foveal.model import Role
from foveal.pipeline.history import History
from foveal.session.target import Target
from foveal.store import BuildRecord, CompressionRecord, Head
from foveal.window import Costs, Retrieved, Slot

LOW = 2.0
"""Below this summaries are too detailed to be worth having."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """4.2: what was 4.2 tokens is 1."""

    mean: float | None
    """None: nothing was compressed yet."""

    @property
    def low(self) -> bool:
        return self.mean is not None and self.mean < LOW


def ratio(compressions: Iterable[tuple[int, int]]) -> Ratio:
    """The mean over pairs of tokens, before and after; what held nothing before is no compression.

    >>> ratio([(800, 100), (300, 150)]), ratio([(150, 100)]).low
    (Ratio(mean=5.0), True)
    """
    ratios = [before / max(1, after) for before, after in compressions if before > 0]
    return Ratio(mean=sum(ratios) / len(ratios) if ratios else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One search hit, best first."""

    id: str
    handle: str
    session: str
    role: str
    score: float
    text: str
    created_at: float | None = None
    """When it was said, as far as anybody told; else when it was stored."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """What the score is made of, where one session was searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """A session in numbers."""

    session: str
    model: str
    preset: str
    format: str
    counter: str
    exact: bool
    """False when the counts are an estimate, or those of a vocabulary assumed for a model nobody knows."""
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
    summaries: int = 0
    """Made so far, of tasks and of what was compressed."""
    stand_ins: int = 0
    """Notes that stand for messages in windows now."""
    compression: float | None = None
    """How many times smaller summaries are on average; None before the first."""
    last_compression: CompressionRecord | None = None
    levels: tuple[Slot, ...] = ()
    """Each memory level's use against its budget: in the newest window where that has them, else of all."""
    retrieved: tuple[Retrieved, ...] = ()
    """What the newest window brought back."""
    costs: Costs | None = None
    """What all windows cost, beside the whole history each time; None before the first build."""

    @property
    def ratio_low(self) -> bool:
        """Are summaries too detailed to be worth having, with less than 2 tokens to 1?"""
        return Ratio(mean=self.compression).low

    @property
    def percent(self) -> float:
        """How full the newest window is."""
        return 100 * self.window_tokens / self.window_budget if self.window_budget else 0.0

    @property
    def ratio(self) -> float:
        """Stored tokens for each token sent; 1.0 before the first build."""
        return self.tokens / self.window_tokens if self.window_tokens else 1.0


def summary(history: History, head: Head, newest: BuildRecord | None, *, name: str, target: Target) -> Stats:
    """A session in numbers, from its turns and its newest build."""
    roles: Counter[str] = Counter()
    for entry in history.entries:
        roles[entry.role] += entry.tokens
    return Stats(
        session=name,
        model=head.model,
        preset=head.preset or presets.DEFAULT,
        format=head.format or "plain",
        counter=target.tokenizer.name,
        exact=target.exact,
        messages=len(history.entries),
        turns=len(history),
        tokens=history.tokens,
        tokens_by_role=dict(roles),
        pinned=sum(entry.pinned for entry in history.entries),
        absent=sum(bool(entry.absence) for entry in history.entries),
        limit=target.card.context,
        builds=newest.number if newest else 0,
        window_tokens=newest.tokens if newest else 0,
        window_budget=newest.budget if newest else 0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A decision, a constraint or a correction, word for word as a message had it."""

    kind: str
    text: str
    id: str
    """Of the message."""
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What left the windows of a session until it is restored."""

    ids: tuple[str, ...]
    original: int
    """Tokens before."""
    final: int
    """Tokens after."""
    summary: str = ""
    """What windows show instead, if anything."""
    unreached: str = ""
    """Where more tokens are left than were asked for: the numbers, and what is left."""
