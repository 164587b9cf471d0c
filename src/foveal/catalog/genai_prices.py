"""Look up windows and prices of models in the genai-prices package.

The package is imported at the first lookup, never before: see the docstring of `foveal.catalog`.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from importlib import import_module
from typing import Any

from foveal.catalog.cards import Prices

SOURCE = "genai-prices"


def context(model: str) -> int | None:
    """The context window that the package lists, or None."""
    info = _listed(_lookups(model, model, None))
    found: int | None = info.context_window if info else None
    return found


def prices(model: str, name: str, provider: str | None, *, at: datetime) -> Prices | None:
    """The prices at that time, by the model's spelling or by our `name` for it."""
    info = _listed(_lookups(model, name, provider))
    if info is None:
        return None
    listed = info.get_prices(at)
    return Prices(
        input=_dollars(listed.input_mtok),
        output=_dollars(listed.output_mtok),
        cache_read=_dollars(listed.cache_read_mtok),
        cache_write=_dollars(listed.cache_write_mtok),
    )


def _lookups(model: str, name: str, provider: str | None) -> tuple[tuple[str | None, str], ...]:
    """Provider and name of each lookup: the host the name came with, then the maker, then any provider."""
    host, _, hosted = model.partition("/")
    bare = model.rpartition("/")[2]
    pairs = (host, hosted), (host, bare), (provider, bare), (provider, name), (None, model)
    return tuple((where, what) for where, what in pairs if what and (where or what == model))


@cache
def _listed(lookups: tuple[tuple[str | None, str], ...]) -> Any:
    if not lookups:
        return None
    snapshot = import_module("genai_prices.data_snapshot").get_snapshot()
    for provider, name in lookups:
        try:
            return snapshot.find_provider_model(name, None, provider, None)[1]
        except LookupError:
            continue
    return None


def _dollars(price: Any) -> float | None:
    """A price as a number; of tiers by prompt length, the lowest."""
    amount = getattr(price, "base", price)
    return None if amount is None else float(amount)
