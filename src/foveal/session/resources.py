"""The settings of a store in → what its sessions share, with the background work that belongs to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from foveal.config import secret, variable_name
from foveal.errors import FovealError
from foveal.events import Bus, SummaryFailed, Warned
from foveal.jobs import Job, Worker
from foveal.pipeline.summarize.extract import extractive
from foveal.pipeline.summarize.values import Answer
from foveal.pipeline.tokens.count import tokenizer
from foveal.session.summaries.library import Library
from foveal.store import Store

if TYPE_CHECKING:
    from foveal.search.embed import Embedder
    from foveal.session.knowledge.mine import Reader
    from foveal.session.knowledge.warmup import Warmer

COUNTED_BY = "o200k_base"
"""How the words of a model's summary are counted, whichever model the windows are for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Helpers:
    """Who embeds, and who writes summaries. Keys are named by their environment variable, never held."""

    embedder: str = ""
    embedder_key: str = ""
    summary_url: str = ""
    summary_model: str = ""
    summary_key: str = ""


def embedder_of(helpers: Helpers) -> Callable[[], Embedder | None]:
    """The way to the embedder, which is made when it is first asked for."""

    @lru_cache(maxsize=1)
    def made() -> Embedder | None:
        from foveal.search.embed import embedder_named

        if "://" not in helpers.embedder:
            return embedder_named(helpers.embedder)
        from foveal.upstream import embed, endpoint_at

        variable_name(helpers.embedder_key, "embedder_key")
        place = endpoint_at(helpers.embedder, key_variable=helpers.embedder_key)

        def ask(texts: Sequence[str]) -> list[list[float]]:
            return embed(place, texts, key=secret(helpers.embedder_key))

        return embedder_named(helpers.embedder, ask)

    return made


def writer_of(helpers: Helpers, bus: Bus) -> Answer | None:
    """The model that writes summaries, if one is named."""
    if not helpers.summary_url:
        return None
    from foveal.session.summaries.by_model import ModelSummarizer
    from foveal.upstream import endpoint_at

    variable_name(helpers.summary_key, "summary_key")
    place = endpoint_at(helpers.summary_url, helpers.summary_model, key_variable=helpers.summary_key)
    count = tokenizer(COUNTED_BY).count
    return ModelSummarizer(
        place,
        secret(helpers.summary_key),
        count=count,
        fallback=partial(extractive, count=count),
        faults=lambda key, fault: bus.emit([SummaryFailed(session="", key=key, fault=fault)]),
    )


def reader_of(store: Store, bus: Bus) -> Reader:
    """Who reads messages for what is known of their user."""
    from foveal.session.knowledge.mine import Reader

    return Reader(store, bus)


def warmer_of() -> Warmer:
    """Who compiles what will probably be asked next."""
    from foveal.session.knowledge.warmup import Warmer

    return Warmer()


def worker_of(
    reader: Reader,
    warmer: Warmer,
    library: Library,
    choose: Callable[[], Embedder | None],
    writer: Answer | None,
    bus: Bus,
) -> Worker:
    """The background work of a store: vectors, what is known of its user, a model's words for extracts."""

    def embed() -> bool:
        from foveal.session.search.search import embed_some

        embedder = choose()
        return embedder is not None and embed_some(library.store, embedder)

    jobs: dict[str, Job] = {
        "embedding": embed,
        "knowledge": reader.read_some,
        "warm-up": warmer.warm_some,
    }
    if writer:
        jobs["summaries"] = partial(library.write_one, writer)
    return Worker(jobs, on_error=partial(_told, bus))


def _told(bus: Bus, job: str, fault: Exception) -> None:
    what = fault.what if isinstance(fault, FovealError) else type(fault).__name__
    bus.emit([Warned(session="", text=f"background work ({job}) failed: {what}")])
