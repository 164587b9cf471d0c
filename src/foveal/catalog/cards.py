"""The values of the catalog: the card of a model, and its prices."""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN_CONTEXT = 100_000
UNKNOWN_TOKENIZER = "o200k_base"
HIDDEN_TOKENIZER = "other"
"""For a model whose window is known but whose vocabulary is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars per million tokens; None means unknown, never free.

    Where a provider charges more for long prompts, these are the prices of short ones.
    """

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None

    def over(self, weaker: Prices) -> Prices:
        """These prices, completed by the other's where they are unknown."""
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
    """Its id in the catalog; for an unknown model, the name that the caller passed."""
    provider: str = ""
    context: int = UNKNOWN_CONTEXT
    """Tokens of prompt and reply together."""
    max_input: int | None = None
    """Where the prompt alone has a limit below `context`."""
    max_output: int | None = None
    tokenizer: str = UNKNOWN_TOKENIZER
    images: str = ""
    """The name of the rule by which images are charged; empty when it is unknown."""
    cache_min: int | None = None
    """The shortest prompt that the provider caches, in tokens."""
    cache_ttl: int | None = None
    """The minimum time that the provider keeps a cached prompt, in seconds."""
    known: bool = True
    """False when the limits are a safe guess; the caller then warns."""
    sources: tuple[str, ...] = ()
    """Where the limits come from, in order of precedence."""
