"""A model's name in, what the genai-prices package lists for it out.

The package is imported at the first question, never before: see the catalogue's own docstring.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from importlib import import_module
from typing import Any

from foveal.catalog.cards import Prices

SOURCE = "genai-prices"


def context(model: str) -> int | None:
    """The window the package lists, or None."""
    info = _listed(_questions(model, model, None))
    found: int | None = info.context_window if info else None
    return found


def prices(model: str, name: str, provider: str | None, *, at: datetime) -> Prices | None:
    """What the package lists for that moment under a model's spelling, or under our `name` for it."""
    info = _listed(_questions(model, name, provider))
    if info is None:
        return None
    listed = info.get_prices(at)
    return Prices(
        input=_dollars(listed.input_mtok),
        output=_dollars(listed.output_mtok),
        cache_read=_dollars(listed.cache_read_mtok),
        cache_write=_dollars(listed.cache_write_mtok),
    )


def _questions(model: str, name: str, provider: str | None) -> tuple[tuple[str | None, str], ...]:
    """Whom to ask for what: the host the name came with, then the maker, then anybody."""
    host, _, hosted = model.partition("/")
    bare = model.rpartition("/")[2]
    asked = (host, hosted), (host, bare), (provider, bare), (provider, name), (None, model)
    return tuple((whom, what) for whom, what in asked if what and (whom or what == model))


@cache
def _listed(questions: tuple[tuple[str | None, str], ...]) -> Any:
    if not questions:
        return None
    snapshot = import_module("genai_prices.data_snapshot").get_snapshot()
    for provider, name in questions:
        try:
            return snapshot.find_provider_model(name, None, provider, None)[1]
        except LookupError:
            continue
    return None


def _dollars(price: Any) -> float | None:
    """A price may be one number, or tiers by prompt length: then the lowest tier's."""
    amount = getattr(price, "base", price)
    return None if amount is None else float(amount)
