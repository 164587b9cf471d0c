"""What the catalogue says: a card for a model, and its prices."""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN_CONTEXT = 100_000
UNKNOWN_TOKENIZER = "o200k_base"
HIDDEN_TOKENIZER = "other"
"""For a model whose window is known and whose vocabulary is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars for a million tokens; None means unknown, never free.

    Where a provider charges more above a prompt length, these are the prices below it.
    """

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None

    def over(self, weaker: Prices) -> Prices:
        """These prices, with the other's where these are unknown."""
        return Prices(
            input=weaker.input if self.input is None else self.input,
            output=weaker.output if self.output is None else self.output,
            cache_read=weaker.cache_read if self.cache_read is None else self.cache_read,
            cache_write=weaker.cache_write if self.cache_write is None else self.cache_write,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What is known of one model."""

    id: str
    """The catalogue's name for it; for an unknown model, the name that was asked for."""
    provider: str = ""
    context: int = UNKNOWN_CONTEXT
    """Tokens of prompt and reply together."""
    max_input: int | None = None
    """Where the prompt alone has a limit below `context`."""
    max_output: int | None = None
    tokenizer: str = UNKNOWN_TOKENIZER
    images: str = ""
    """The name of the rule by which pictures are charged; empty when it is not known."""
    cache_min: int | None = None
    """Shortest prompt the provider caches, in tokens."""
    cache_ttl: int | None = None
    """Seconds a cached prompt is kept at least, by default."""
    known: bool = True
    """False when the limits are a guess on the safe side; then the caller warns."""
    sources: tuple[str, ...] = ()
    """Where the limits came from, the strongest first."""
