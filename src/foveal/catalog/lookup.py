"""A model's name in, its `ModelCard` or its `Prices` out; an unknown model is a card that says so."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from foveal.catalog import genai_prices
from foveal.catalog.cards import HIDDEN_TOKENIZER, UNKNOWN_CONTEXT, UNKNOWN_TOKENIZER, ModelCard, Prices
from foveal.catalog.facts import Fact, Facts, load
from foveal.catalog.names import match, spelled


def find(model: str, *, extra: Path | None = None) -> ModelCard:
    """What is known of a model. Of an unknown one: a small window and `known=False`, never an error.

    >>> card = find("anthropic/claude-sonnet-4-5-20250929")
    >>> card.id, card.context, card.max_output, card.tokenizer
    ('claude-sonnet-4-5', 200000, 64000, 'claude')
    >>> find("").context, find("").known
    (100000, False)
    """
    return _packaged_card(model) if extra is None else _found(model, load(extra))


@lru_cache(maxsize=1024)
def _packaged_card(model: str) -> ModelCard:
    return _found(model, load(None))


def _found(model: str, facts: Facts) -> ModelCard:
    name, fact = _fact(model, facts)
    if fact.context:
        return _card(name, fact, fact.context, known=True)
    listed = genai_prices.context(model)
    if listed:
        return _card(name, Fact(files=(genai_prices.SOURCE,)).over(fact), listed, known=True)
    return _card(name, fact, UNKNOWN_CONTEXT, known=False)


def models(*, extra: Path | None = None) -> Sequence[ModelCard]:
    """The cards of every model our file or the user's names, by provider and name."""
    facts = load(extra)
    cards = (_found(name, facts) for name in facts.models)
    return sorted(cards, key=lambda card: (card.provider, card.id))


def prices(model: str, *, extra: Path | None = None, at: datetime | None = None) -> Prices | None:
    """What a model costs at a moment, now unless said; None when nobody knows."""
    name, fact = _fact(model, load(extra))
    ours = Prices(
        input=fact.input, output=fact.output, cache_read=fact.cache_read, cache_write=fact.cache_write
    )
    listed = genai_prices.prices(model, name, fact.provider, at=at or datetime.now(UTC)) or Prices()
    found = ours.over(listed)
    return None if found == Prices() else found


def _fact(model: str, facts: Facts) -> tuple[str, Fact]:
    """The id a name means (itself, when no file has it), and what is said of it and its family."""
    spelling = spelled(model)
    fitting = (f for f in facts.families.values() if any(fnmatchcase(spelling, p) for p in f.match or ()))
    family = next(fitting, Fact())
    name = match(model, facts.models)
    return (name, facts.models[name].over(family)) if name else (model, family)


def _card(name: str, fact: Fact, context: int, *, known: bool) -> ModelCard:
    return ModelCard(
        id=name,
        provider=fact.provider or "",
        context=context,
        max_input=fact.max_input,
        max_output=fact.max_output,
        tokenizer=fact.tokenizer or (HIDDEN_TOKENIZER if known else UNKNOWN_TOKENIZER),
        images=fact.images or "",
        cache_min=fact.cache_min,
        cache_ttl=fact.cache_ttl,
        known=known,
        sources=tuple(dict.fromkeys(fact.files)),
    )
