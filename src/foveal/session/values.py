"""The values that a session returns: search hits, statistics, records, removals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from foveal.model import Role
from foveal.presets.base import Managing
from foveal.store import CompressionRecord
from foveal.window import Costs, Retrieved, Slot

LOW = 2.0
"""Below this ratio, summaries are too detailed to be worth having."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """How many tokens a summary replaces with one."""

    mean: float | None
    """None before the first compression."""

    @property
    def low(self) -> bool:
        return self.mean is not None and self.mean < LOW


def ratio(compressions: Iterable[tuple[int, int]]) -> Ratio:
    """The mean over pairs of tokens before and after; pairs with nothing before do not count.

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
    """When it was said, if known; else when it was stored."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """The parts of the score, if a single session was searched."""
    weak: bool = False
    """It has no word of the query, and is only somewhat near in meaning: perhaps by coincidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """A session in numbers."""

    session: str
    model: str
    preset: str
    format: str
    counter: str
    exact: bool
    """False if counts are estimated, or use a vocabulary assumed for an unknown model."""
    messages: int
    turns: int
    tokens: int
    """Tokens of everything stored on this branch."""
    tokens_by_role: Mapping[str, int]
    pinned: int
    absent: int
    """Messages left out on request or erased."""
    limit: int
    """The model's window."""
    builds: int
    window_tokens: int
    """Tokens of the latest build; 0 before the first."""
    window_budget: int
    used_tokens: int = 0
    """Tokens of the latest window without what was left out since; with the preset `reploid`, with `fifth` if
    the next build compresses, and before the first build, of everything that windows may show."""
    used_limit: int = 0
    """What they are a share of: the budget of the latest window; with the preset `reploid` and before the
    first build the model's limit, unless the caller gave a budget."""
    full_at: float = 0.8
    """The share of `used_limit` above which the history needs pruning."""
    needs_pruning: bool = False
    """Whether it is fuller than that. With the preset `fifth`: whether the next build compresses, which also
    depends on its levels."""
    manages: Managing = ""
    """What the next build does by itself to a history above that share; empty: nothing."""
    summaries: int = 0
    """Summaries made so far, of tasks and of compressed messages."""
    stand_ins: int = 0
    """Notes that replace messages in windows now."""
    compression: float | None = None
    """The mean compression ratio; None before the first."""
    last_compression: CompressionRecord | None = None
    levels: tuple[Slot, ...] = ()
    """Each memory level's use and budget: of the latest window if it has levels; else, and if the next build
    compresses, of everything that windows may show, within `used_limit`."""
    retrieved: tuple[Retrieved, ...] = ()
    """What the latest window retrieved."""
    costs: Costs | None = None
    """What all requests cost, and what the whole history would have; None before the first request."""
    pending: bool = False
    """Whether `costs` is without the latest build: no answer followed it, and no usage was reported."""

    @property
    def ratio_low(self) -> bool:
        """Whether summaries are too detailed to be worth having: less than 2 tokens to 1."""
        return Ratio(mean=self.compression).low

    @property
    def percent(self) -> float:
        """How full the session is: the share of `used_tokens` in `used_limit`."""
        return 100 * self.used_tokens / self.used_limit if self.used_limit else 0.0

    @property
    def ratio(self) -> float:
        """Stored tokens per token sent; 1.0 before the first build."""
        return self.tokens / self.window_tokens if self.window_tokens else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A decision, a constraint or a correction, verbatim from a message."""

    kind: str
    text: str
    id: str
    """The message's id."""
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What was left out of a session's windows until it is restored."""

    ids: tuple[str, ...]
    original: int
    """Tokens before."""
    final: int
    """Tokens after."""
    summary: str = ""
    """What windows show instead, if anything."""
    unreached: str = ""
    """If more tokens remain than requested: the numbers, and what remains."""
