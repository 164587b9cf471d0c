"""What the library returns in → the same as programs are told it, by the command line and by the service.

One shape for each verb, so that both say the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from foveal import catalog, presets
from foveal.catalog import ModelCard, Prices
from foveal.model import Conversation, Format
from foveal.pipeline.tokens.count import tokenizer
from foveal.session.target import target_for, warn
from foveal.session.values import Stats
from foveal.store import SessionRecord, TaskRecord
from foveal.window import Manifest, Window

if TYPE_CHECKING:
    from foveal.session.session import Session
    from foveal.sources.assemble import SmartContext

Mark = Literal["pinned", "unpinned", "left out", "erased", "restored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTold:
    """One of the sessions that there are."""

    name: str
    messages: int
    format: Format | None
    """None before the first message of a provider's."""
    model: str
    preset: str
    created_at: float


def session_told(record: SessionRecord, preset: str) -> SessionTold:
    """A session with the preset that applies: where it has none, that of the settings, else the default."""
    return SessionTold(
        name=record.name,
        messages=record.head.length,
        format=record.format,
        model=record.model,
        preset=record.preset or preset or presets.DEFAULT,
        created_at=record.created_at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsTold(Stats):
    """A session in numbers, and what follows from them."""

    percent: float = field()
    ratio: float = field()
    ratio_low: bool = field()
    saved: float | None
    saved_percent: float | None


def stats_told(found: Stats) -> StatsTold:
    costs = found.costs
    return StatsTold(
        **{each.name: getattr(found, each.name) for each in fields(found)},
        percent=round(found.percent, 1),
        ratio=round(found.ratio, 2),
        ratio_low=found.ratio_low,
        saved=costs.saved if costs else None,
        saved_percent=round(costs.percent, 1) if costs else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowTold:
    """A window with its numbers and its reasons."""

    messages: list[dict[str, Any]]
    system: Any
    """The system prompt, where the format keeps it outside the messages; else null."""
    tokens: int
    budget: int
    manifest: Manifest


def window_told(window: Window) -> WindowTold:
    return WindowTold(
        messages=window.messages,
        system=window.system,
        tokens=window.tokens,
        budget=window.budget,
        manifest=window.manifest,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedList:
    """What became of a bare list of messages."""

    messages: list[dict[str, Any]]
    tokens: int
    budget: int
    manifest: Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedBody:
    """What became of a whole request body."""

    body: dict[str, Any]
    tokens: int
    budget: int
    manifest: Manifest


def fit_told(window: Window, *, bare: bool) -> FittedList | FittedBody:
    tokens, budget, manifest = window.tokens, window.budget, window.manifest
    if bare:
        return FittedList(messages=window.messages, tokens=tokens, budget=budget, manifest=manifest)
    return FittedBody(body=window.request, tokens=tokens, budget=budget, manifest=manifest)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountTold:
    tokens: int
    exact: bool
    error_bound: float | None
    """The share by which the number may be too high; null where the tokenizer is a guess."""
    tokenizer: str


def count_told(
    content: str | Conversation,
    *,
    model: str,
    counter: str | None = None,
    catalogue: Path | None = None,
) -> CountTold:
    """The tokens of a text, or of messages with everything their format adds."""
    wanted = model or ("" if isinstance(content, str) else content.model)
    form: Format = "plain" if isinstance(content, str) else content.format
    target = target_for(wanted, form, counter=counter, catalogue=catalogue)
    warn(target.warnings)
    tokens = (
        target.tokenizer.count(content)
        if isinstance(content, str)
        else target.price(content.messages, content.tools)
    )
    by, assumed = target.tokenizer, not counter and not catalog.find(wanted, extra=catalogue).known
    return CountTold(
        tokens=tokens,
        exact=by.exact and not assumed,
        error_bound=None if assumed else by.error,
        tokenizer=by.name,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTold(ModelCard):
    """A model: its card, whether its tokens are counted exactly, its prices."""

    exact: bool
    prices: Prices


def models_told(pattern: str = "", *, catalogue: Path | None = None) -> list[ModelTold]:
    """The models whose names have the pattern in them, or fit it."""
    found = [card for card in catalog.models(extra=catalogue) if _fits(card, pattern)]
    return [
        ModelTold(
            **{each.name: getattr(card, each.name) for each in fields(card)},
            exact=tokenizer(card.tokenizer).exact,
            prices=catalog.prices(card.id, extra=catalogue) or Prices(),
        )
        for card in found
    ]


def _fits(card: ModelCard, pattern: str) -> bool:
    wanted, names = pattern.lower(), (card.id.lower(), card.provider.lower())
    return any(wanted in name or fnmatch(name, wanted) for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkTold:
    id: str
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class MarksTold:
    """One message was named; the mark may be on others with it."""

    id: str
    mark: Mark
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedTold:
    summary: str
    replaced: tuple[str, ...]
    """The messages that windows show the summary in place of."""


def completed(session: Session) -> tuple[CompletedTold, TaskRecord, int]:
    """End the open task; with it, the task and how many messages it has."""
    summary = session.complete_task()
    ended = session.tasks()[-1]
    entries = session.entries()[ended.first :]
    own = entries if ended.last is None else entries[: max(0, ended.last - ended.first + 1)]
    replaced = tuple(each.id for each in own if each.noted_by is not None)
    return CompletedTold(summary=summary, replaced=replaced), ended, len(own)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextTold:
    """What a workspace has to say to a task."""

    text: str
    tokens: int
    budget: int
    contributors: list[dict[str, Any]]
    categories: list[dict[str, Any]]
    refused: list[dict[str, str]]


def context_told(found: SmartContext) -> ContextTold:
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
    return ContextTold(
        text=found.text,
        tokens=found.tokens,
        budget=found.budget,
        contributors=pieces,
        categories=categories,
        refused=refused,
    )
