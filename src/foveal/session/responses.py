"""The JSON shapes that the command line (`--json`) and the HTTP service share, one for each verb."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from foveal import catalog, presets
from foveal.catalog import ModelCard, Prices
from foveal.model import Conversation, Format
from foveal.pipeline.tokens import count
from foveal.session.target import target_for, warn
from foveal.session.values import Stats
from foveal.store import SessionRecord, TaskRecord
from foveal.window import Manifest, Window

if TYPE_CHECKING:
    from foveal.session.pool.pool import Pool
    from foveal.session.session import Session
    from foveal.sources.assemble import SmartContext

Mark = Literal["pinned", "unpinned", "left out", "erased", "restored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResponse:
    """A session in the list of sessions."""

    name: str
    messages: int
    format: Format | None
    """None before the first message in a provider's format."""
    model: str
    preset: str
    created_at: float


def session_response(record: SessionRecord, preset: str) -> SessionResponse:
    """The session with the preset that applies: its own, else that of the settings, else the default."""
    return SessionResponse(
        name=record.name,
        messages=record.head.length,
        format=record.format,
        model=record.model,
        preset=record.preset or preset or presets.DEFAULT,
        created_at=record.created_at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResponse:
    """A session of a pool, and what its next window has of the budget."""

    session: str
    tokens: int
    """0 if the pool has no budget."""
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolResponse:
    """A pool with its sessions, oldest first."""

    name: str
    budget: int | None
    agents: tuple[AgentResponse, ...]


def pool_response(pool: Pool) -> PoolResponse:
    agents = (
        AgentResponse(session=name, tokens=share.tokens, because=share.because)
        for name, share in pool.shares()
    )
    return PoolResponse(name=pool.name, budget=pool.budget, agents=tuple(agents))


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsResponse(Stats):
    """A session in numbers, with the ratios derived from them."""

    percent: float = field()
    ratio: float = field()
    ratio_low: bool = field()
    saved: float | None
    saved_percent: float | None


def stats_response(stats: Stats) -> StatsResponse:
    costs = stats.costs
    return StatsResponse(
        **{each.name: getattr(stats, each.name) for each in fields(stats)},
        percent=round(stats.percent, 1),
        ratio=round(stats.ratio, 2),
        ratio_low=stats.ratio_low,
        saved=costs.saved if costs else None,
        saved_percent=round(costs.percent, 1) if costs else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowResponse:
    """A window with its numbers and its reasons."""

    messages: list[dict[str, Any]]
    system: Any
    """The system prompt, where the format keeps it outside the messages; else null."""
    tokens: int
    budget: int
    manifest: Manifest


def window_response(window: Window) -> WindowResponse:
    return WindowResponse(
        messages=window.messages,
        system=window.system,
        tokens=window.tokens,
        budget=window.budget,
        manifest=window.manifest,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedList:
    """A bare list of messages, fitted."""

    messages: list[dict[str, Any]]
    tokens: int
    budget: int
    manifest: Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedBody:
    """A whole request body, fitted."""

    body: dict[str, Any]
    tokens: int
    budget: int
    manifest: Manifest


def fit_response(window: Window, *, bare: bool) -> FittedList | FittedBody:
    tokens, budget, manifest = window.tokens, window.budget, window.manifest
    if bare:
        return FittedList(messages=window.messages, tokens=tokens, budget=budget, manifest=manifest)
    return FittedBody(body=window.request, tokens=tokens, budget=budget, manifest=manifest)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountResponse:
    tokens: int
    exact: bool
    error_bound: float | None
    """The share by which the count may be too high; null where the tokenizer is a guess."""
    tokenizer: str


def count_response(
    content: str | Conversation,
    *,
    model: str,
    counter: str | None = None,
    catalogue: Path | None = None,
) -> CountResponse:
    """Count a text, or messages with everything their format adds."""
    name = model or ("" if isinstance(content, str) else content.model)
    form: Format = "plain" if isinstance(content, str) else content.format
    target = target_for(name, form, counter=counter, catalogue=catalogue)
    warn(target.warnings)
    tokens = (
        target.tokenizer.count(content)
        if isinstance(content, str)
        else target.price(content.messages, content.tools)
    )
    tokenizer, assumed = target.tokenizer, not counter and not catalog.find(name, extra=catalogue).known
    return CountResponse(
        tokens=tokens,
        exact=tokenizer.exact and not assumed,
        error_bound=None if assumed else tokenizer.error,
        tokenizer=tokenizer.name,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResponse(ModelCard):
    """A model's card, its prices, and whether its tokens are counted exactly."""

    exact: bool
    prices: Prices


def models_response(pattern: str = "", *, catalogue: Path | None = None) -> list[ModelResponse]:
    """The models whose name or provider contains the pattern or matches it as a glob."""
    found = [card for card in catalog.models(extra=catalogue) if _matches(card, pattern)]
    return [
        ModelResponse(
            **{each.name: getattr(card, each.name) for each in fields(card)},
            exact=count.tokenizer(card.tokenizer).exact,
            prices=catalog.prices(card.id, extra=catalogue) or Prices(),
        )
        for card in found
    ]


def _matches(card: ModelCard, pattern: str) -> bool:
    lower, names = pattern.lower(), (card.id.lower(), card.provider.lower())
    return any(lower in name or fnmatch(name, lower) for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkResponse:
    id: str
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class MarksResponse:
    """The message that the caller named, and all that the mark changed with it."""

    id: str
    mark: Mark
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedResponse:
    summary: str
    replaced: tuple[str, ...]
    """The messages in whose place windows show the summary."""


def complete_task(session: Session) -> tuple[CompletedResponse, TaskRecord, int]:
    """End the open task; also return its record and how many messages it has."""
    summary = session.complete_task()
    ended = session.tasks()[-1]
    entries = session.entries()[ended.first :]
    own = entries if ended.last is None else entries[: max(0, ended.last - ended.first + 1)]
    replaced = tuple(each.id for each in own if each.noted_by is not None)
    return CompletedResponse(summary=summary, replaced=replaced), ended, len(own)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextResponse:
    """What a workspace contributes to a task."""

    text: str
    tokens: int
    budget: int
    contributors: list[dict[str, Any]]
    categories: list[dict[str, Any]]
    refused: list[dict[str, str]]


def context_response(found: SmartContext) -> ContextResponse:
    pieces = [
        {
            "type": each.type,
            "source": each.source,
            "weight": each.weight,
            "salience": each.salience,
            "tokens": each.tokens,
            "chosen": each.verdict == "kept",
            "because": each.because,
        }
        for each in found.contributed
    ]
    categories = [
        {
            "name": each.name,
            "min": each.minimum,
            "max": each.maximum,
            "current": each.current,
            "borrowed": each.borrowed,
            "lent": each.lent,
            "use": round(each.use, 4),
        }
        for each in found.categories
    ]
    refused = [{"path": each.path, "why": each.why} for each in found.refused]
    return ContextResponse(
        text=found.text,
        tokens=found.tokens,
        budget=found.budget,
        contributors=pieces,
        categories=categories,
        refused=refused,
    )
