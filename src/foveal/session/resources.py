"""What every session of one `Foveal` shares: the store, the event bus, the worker, the embedder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, TypeVar

from foveal.config import Tables, secret, variable_name
from foveal.events import Bus, SummaryFailed
from foveal.jobs import Worker
from foveal.pipeline.summarize.values import Answer
from foveal.pipeline.tokens.count import tokenizer
from foveal.session.summaries.library import Library
from foveal.store import Store

if TYPE_CHECKING:
    from foveal.presets.fifth.levels import FifthNumbers
    from foveal.presets.reploid import ReploidNumbers
    from foveal.search.embed import Embedder

T = TypeVar("T")
Owner = TypeVar("Owner")
MANAGING = "managing"
"""The job that manages the histories of sessions while they are quiet."""
COUNTED_BY = "o200k_base"
"""The tokenizer that counts summaries and bundles, whichever model the windows are for."""


class Parts:
    """Components that an owner makes on first use, one of each kind."""

    def __init__(self) -> None:
        self._made: dict[Any, Any] = {}
        self._lock = RLock()

    def of(self, owner: Owner, kind: Callable[[Owner], T]) -> T:
        with self._lock:
            if kind not in self._made:
                self._made[kind] = kind(owner)
            made: T = self._made[kind]
            return made


class Unchecked:
    """The sessions whose history the background is to check, because they may have changed."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._all = False
        self._lock = Lock()

    def add(self, name: str) -> None:
        with self._lock:
            self._names.add(name)

    def add_all(self) -> None:
        """Check all sessions that have changed since this process checked them, in whichever process."""
        with self._lock:
            self._all = True

    def take(self) -> tuple[set[str], bool]:
        """The names that were added since the last call, and whether all sessions were."""
        with self._lock:
            taken, self._names, self._all = (self._names, self._all), set(), False
        return taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What the sessions of one tenant share."""

    store: Store
    bus: Bus
    worker: Worker
    library: Library
    catalogue: Path | None = None
    counter: str | None = None
    numbers: Tables | None = None
    choose_embedder: Callable[[], Embedder | None]
    """Loads the embedder on first use."""
    light: bool = True
    """Vectors come from static embeddings or not at all: embedding a query asks no model and no endpoint."""
    writer: Answer | None = None
    """The model that writes summaries, if one is configured."""
    parts: Parts = field(default_factory=Parts)
    unchecked: Unchecked = field(default_factory=Unchecked)

    def changed(self, session: str) -> None:
        """Have the background manage the history of a session that has just changed."""
        self.unchecked.add(session)
        self.worker.wake(MANAGING)

    def manage_all(self) -> None:
        """Have the background manage the histories of all sessions, as far as there is something to do."""
        self.unchecked.add_all()
        self.worker.wake(MANAGING)

    def part(self, kind: Callable[[Resources], T]) -> T:
        """The component of that kind, shared by all sessions and made on first use."""
        return self.parts.of(self, kind)

    @property
    def embedder(self) -> Embedder | None:
        return self.choose_embedder()

    @property
    def reploid(self) -> ReploidNumbers:
        return self.part(_reploid)

    @property
    def fifth(self) -> FifthNumbers:
        return self.part(_fifth)


def _reploid(resources: Resources) -> ReploidNumbers:
    from foveal.presets.numbers import overridden
    from foveal.presets.reploid import ReploidNumbers

    return overridden(ReploidNumbers(), _numbers(resources, "reploid"), "numbers, preset reploid")


def _fifth(resources: Resources) -> FifthNumbers:
    from foveal.presets.fifth.levels import FifthNumbers
    from foveal.presets.numbers import overridden

    return overridden(FifthNumbers(), _numbers(resources, "fifth"), "numbers, preset fifth")


def _numbers(resources: Resources, preset: str) -> Mapping[str, object]:
    return (resources.numbers or {}).get(preset, {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The embedder and the model that writes summaries. Keys are environment variables' names, never keys."""

    embedder: str = ""
    embedder_key: str = ""
    summary_url: str = ""
    summary_model: str = ""
    summary_key: str = ""


def load_embedder(models: Models) -> Callable[[], Embedder | None]:
    """A function that returns the configured embedder, loaded on its first call."""

    @lru_cache(maxsize=1)
    def load() -> Embedder | None:
        from foveal.search.embed import embedder_named

        if "://" not in models.embedder:
            return embedder_named(models.embedder)
        from foveal.upstream import embed, endpoint_at

        variable_name(models.embedder_key, "embedder_key")
        endpoint = endpoint_at(models.embedder, key_variable=models.embedder_key)

        def ask(texts: Sequence[str]) -> list[list[float]]:
            return embed(endpoint, texts, key=secret(models.embedder_key))

        return embedder_named(models.embedder, ask)

    return load


def summary_writer(models: Models, bus: Bus) -> Answer | None:
    """The model that writes summaries, if one is configured."""
    if not models.summary_url:
        return None
    from foveal.pipeline.summarize.extract import extractive_summary
    from foveal.session.summaries.by_model import ModelSummarizer
    from foveal.upstream import endpoint_at

    variable_name(models.summary_key, "summary_key")
    endpoint = endpoint_at(models.summary_url, models.summary_model, key_variable=models.summary_key)
    count = tokenizer(COUNTED_BY).count
    return ModelSummarizer(
        endpoint,
        secret(models.summary_key),
        count=count,
        fallback=partial(extractive_summary, count=count),
        on_failure=lambda key, problem: bus.emit([SummaryFailed(session="", key=key, fault=problem)]),
    )
