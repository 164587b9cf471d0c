"""A session's past as it is told: a build in numbers, a build to be drawn, a page of messages. Values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from foveal.model import Detail, Kind, Role
from foveal.window import Cost, Costs, Score, Slot, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """One build in numbers."""

    number: int
    created_at: float
    preset: str
    model: str
    budget: int
    tokens: int
    percent: float
    messages: int
    """That the history had."""
    kept: int
    left_out: int
    """Messages."""
    parts: Mapping[str, int]
    slots: tuple[Slot, ...]
    milliseconds: float | None
    """None: the preset does not measure itself."""
    managed: Cost | None
    unmanaged: Cost | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Builds:
    builds: tuple[Built, ...]
    """Newest first."""
    next: int | None
    """The `before` of the next page; None on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A decision, with what the messages it is about are."""

    first: int
    last: int
    verdict: Verdict
    detail: Detail
    tokens: int
    slot: str
    because: str
    score: Score | None
    role: Role | None = None
    kind: Kind | None = None
    id: str = ""
    handle: str = ""
    mark: str = ""
    """Of its first message; empty where the history was edited since."""
    roles: Mapping[str, int] = field(default_factory=dict)
    """Messages by role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One build, to be drawn."""

    number: int
    created_at: float
    preset: str
    model: str
    counter: str
    budget: int
    tokens: int
    current: bool
    """False: the history was edited since, and its positions are those of the branch that was left."""
    parts: Mapping[str, int]
    slots: tuple[Slot, ...]
    metrics: Mapping[str, float]
    warnings: tuple[str, ...]
    costs: Costs | None
    segments: tuple[Segment, ...]
    """In order of the history, without a gap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A message without its body."""

    place: int
    id: str
    handle: str
    role: Role
    kind: Kind | None
    tokens: int
    mark: str
    created_at: float | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    messages: tuple[Row, ...]
    total: int
    next: int | None
    """The `after` of the next page; None on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A message without its body, and what a build decided about it."""

    place: int
    id: str
    handle: str
    role: Role
    kind: Kind | None
    tokens: int
    mark: str
    created_at: float | None
    text: str
    verdict: Verdict
    detail: Detail
    slot: str
    because: str
    score: Score | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunks:
    number: int
    total: int
    """Messages that the build saw."""
    chunks: tuple[Chunk, ...]
