"""Find the `ModelCard` and the `Prices` of a model; the card of an unknown model says so."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from foveal.catalog import genai_prices
from foveal.catalog.cards import HIDDEN_TOKENIZER, UNKNOWN_CONTEXT, UNKNOWN_TOKENIZER, ModelCard, Prices
from foveal.catalog.model_files import Fact, Facts, load
from foveal.catalog.names import checked, match, normalized

SIMILAR = 0.8
"""How much two names must have in common for one to be a slip of the other, from 0 to 1."""


def find(model: str, *, extra: Path | None = None) -> ModelCard:
    """What is known of a model; for an unknown one a small window and `known=False`.

    >>> card = find("anthropic/claude-sonnet-4-5-20250929")
    >>> card.id, card.context, card.max_output, card.tokenizer
    ('claude-sonnet-4-5', 200000, 64000, 'claude')
    >>> find("").context, find("").known
    (100000, False)
    """
    model = checked(model)
    return _bundled_card(model) if extra is None else _find(model, load(extra))


@lru_cache(maxsize=1024)
def _bundled_card(model: str) -> ModelCard:
    return _find(model, load(None))


def _find(model: str, facts: Facts) -> ModelCard:
    name, fact = _fact(model, facts)
    if fact.context:
        return _card(name, fact, fact.context, known=True)
    listed = genai_prices.context(model)
    if listed:
        return _card(name, Fact(files=(genai_prices.SOURCE,)).over(fact), listed, known=True)
    return _card(name, fact, UNKNOWN_CONTEXT, known=False)


def models(*, extra: Path | None = None) -> Sequence[ModelCard]:
    """The cards of every model in the bundled file or the user's, by provider and name."""
    facts = load(extra)
    cards = (_find(name, facts) for name in facts.models)
    return sorted(cards, key=lambda card: (card.provider, card.id))


@lru_cache(maxsize=256)
def nearest(model: str, *, extra: Path | None = None) -> str:
    """The known model whose name is most similar; empty where none is.

    >>> nearest("claude-sonet-4-5"), nearest("my-own-model")
    ('claude-sonnet-4-5', '')
    """
    known = {normalized(id): id for id in load(extra).models}
    near = get_close_matches(normalized(checked(model)), known, n=1, cutoff=SIMILAR)
    return known[near[0]] if near else ""


def doubt(model: str, card: ModelCard, *, extra: Path | None = None) -> str:
    """What to tell a caller who named a model that is not known; empty for one that is, and for no name."""
    if not model or card.known:
        return ""
    near = nearest(model, extra=extra)
    hint = f"did you mean `{near}`? A" if near else "a"
    return (
        f"model `{model}` is not in the catalogue: {hint} limit of {card.context:,} tokens and "
        f"{card.tokenizer} counts are assumed; name it in a models file to correct that"
    )


def prices(model: str, *, extra: Path | None = None, at: datetime | None = None) -> Prices | None:
    """The prices of a model at a time, now by default; None when they are unknown."""
    name, fact = _fact(checked(model), load(extra))
    from_files = Prices(
        input=fact.input, output=fact.output, cache_read=fact.cache_read, cache_write=fact.cache_write
    )
    listed = genai_prices.prices(model, name, fact.provider, at=at or datetime.now(UTC)) or Prices()
    found = from_files.over(listed)
    return None if found == Prices() else found


def _fact(model: str, facts: Facts) -> tuple[str, Fact]:
    """The id a name means (itself when no file has it), and what files say about it and its family."""
    name = normalized(model)
    matching = (f for f in facts.families.values() if any(fnmatchcase(name, p) for p in f.match or ()))
    family = next(matching, Fact())
    id = match(model, facts.models)
    return (id, facts.models[id].over(family)) if id else (model, family)


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
