"""Windows and prices in → what sending them costs, by the rules of the provider's cache.

A request that begins as the one before is read from the cache up to the first message that differs, if that
beginning is long enough for the provider; the rest is written to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from foveal import catalog
from foveal.catalog import ModelCard, Prices
from foveal.model import Chunk
from foveal.pipeline.history import History
from foveal.window import Cost, Costs


def predicted(tokens: int, repeated: int, card: ModelCard) -> Cost:
    """One request, of which so many tokens are those that the one before began with."""
    least = card.cache_min or 0
    cached = repeated if repeated >= least else 0
    return Cost(tokens=tokens, cached=cached, written=tokens - cached if tokens >= least else 0)


def dollars(cost: Cost, prices: Prices | None) -> float | None:
    """US dollars; None when nobody knows the price of input. What has no price of its own costs that."""
    if prices is None or prices.input is None:
        return None
    read = prices.input if prices.cache_read is None else prices.cache_read
    write = prices.input if prices.cache_write is None else prices.cache_write
    plain = cost.tokens - cost.cached - cost.written
    return (plain * prices.input + cost.cached * read + cost.written * write) / 1e6


def priced(costs: Costs, model: str, catalogue: Path | None) -> Costs:
    """The same with dollars, at the prices of today."""
    prices = prices_of(model, catalogue)
    bill = costs.billed
    return Costs(
        managed=replace(costs.managed, dollars=dollars(costs.managed, prices)),
        unmanaged=replace(costs.unmanaged, dollars=dollars(costs.unmanaged, prices)),
        billed=replace(bill, dollars=dollars(bill, prices)) if bill else None,
    )


@lru_cache(maxsize=64)
def prices_of(model: str, catalogue: Path | None) -> Prices | None:
    """What a model costs, looked up once."""
    return catalog.prices(model, extra=catalogue)


def repeated(history: History, before: Sequence[Chunk], now: Sequence[Chunk], whole: int) -> int:
    """Tokens of the longest beginning in whole messages that two windows share, beside tools and framing.

    It has `whole` chunks, and maybe some messages of the next.
    """
    tokens = opening(history, now[:whole])
    if whole < min(len(before), len(now)):
        part = _part(history, before[whole], now[whole])
        joints = sum(history.joints(now[: whole + 1])) - sum(history.joints(now[:whole])) if part else 0
        tokens += part + history.note_tokens * joints
    return tokens


def opening(history: History, chunks: Sequence[Chunk]) -> int:
    """Tokens of chunks that stand at the beginning of a window, with the notes of ours between them."""
    notes = history.note_tokens * sum(history.joints(chunks))
    return notes + sum(chunk.tokens for chunk in chunks)


def alike(before: Sequence[Chunk], now: Sequence[Chunk]) -> int:
    """How many chunks two windows have in common at their beginnings."""
    pairs = zip(before, now, strict=False)
    differs = (at for at, (old, new) in enumerate(pairs) if old is not new and written(old) != written(new))
    return next(differs, min(len(before), len(now)))


def written(chunk: Chunk) -> tuple[str, ...]:
    """A chunk as it is sent. A system prompt that stands outside the messages is no piece of them."""
    return chunk.pieces or tuple(message.text for message in chunk.messages)


def _part(history: History, old: Chunk, new: Chunk) -> int:
    """Tokens of the messages that two versions of a turn begin with: one went on, the other was cut."""
    frame, least = history.frame, min(len(old.pieces), len(new.pieces))
    same = next((at for at in range(least) if old.pieces[at] != new.pieces[at]), least)
    rendered = frame.render(new.messages) if same else ()
    return sum(map(frame.price, rendered[:same])) if len(rendered) == len(new.pieces) else 0
