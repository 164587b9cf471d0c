"""Count the tokens of texts, messages and tools: exactly where the vocabulary is public, else an upper bound.

`tokenizer` finds a counter by name; a `Meter` counts whole messages with it and the format's framing.
Every content is counted once: the meter caches the counts, not the texts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import blake2b
from threading import Lock
from types import MappingProxyType
from typing import Protocol

from foveal.errors import ConfigError
from foveal.model import File, Framing, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from foveal.pipeline.tokens import vocabularies
from foveal.pipeline.tokens.estimate import ESTIMATES, by_characters, by_density, by_words
from foveal.pipeline.tokens.images import file_tokens, image_tokens, rules_of

SCALE_SIGN = "×"
"""Between the name of an estimate and the factor learnt from bills."""
UNVERIFIED = 0.1
"""The stated error of public vocabularies that were not verified against their reference."""
HEURISTIC = 0.5
HEURISTICS: Mapping[str, Callable[[str], int]] = MappingProxyType(
    {"chars": by_characters, "density": by_density, "words": by_words}
)


class Counter(Protocol):
    """Counts the tokens of a text. Any function will do."""

    def __call__(self, text: str, /) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokenizer:
    """A counter with its name and its possible error."""

    name: str
    exact: bool
    error: float
    """How far the true number may be below the count, as a share of the count; 0.0 when exact."""
    count: Counter = field(repr=False, compare=False)


def tokenizer(name: str | Counter) -> Tokenizer:
    """Find a tokenizer by name, or make one from a callable, which is assumed to be exact.

    Its vocabulary is loaded when the first text is counted.

    >>> exact = tokenizer("o200k_base")
    >>> exact.count("Fix the bug in auth.js"), exact.exact
    (6, True)
    """
    if isinstance(name, str):
        return _named(name)
    return Tokenizer(name="custom", exact=True, error=0.0, count=name)


def scaled_tokenizer(base: Tokenizer, factor: float) -> Tokenizer:
    """An estimate multiplied by the factor learnt from bills."""

    def count(text: str, /) -> int:
        return math.ceil(base.count(text) * factor)

    error = round(max(0.0, 1 - (1 - base.error) / factor), 2)
    return Tokenizer(name=f"{base.name}{SCALE_SIGN}{factor:g}", exact=False, error=error, count=count)


@cache
def tokenizer_names() -> tuple[str, ...]:
    """Every name that `tokenizer` accepts."""
    return tuple(sorted((*vocabularies.PUBLIC, *ESTIMATES, *HEURISTICS)))


@cache
def _named(name: str) -> Tokenizer:
    if name in vocabularies.PUBLIC:
        exact = name in vocabularies.VERIFIED
        count = partial(vocabularies.count, name)
        return Tokenizer(name=name, exact=exact, error=0.0 if exact else UNVERIFIED, count=count)
    if name in ESTIMATES:
        estimate = ESTIMATES[name]
        return Tokenizer(name=name, exact=False, error=estimate.error, count=estimate.count)
    if name in HEURISTICS:
        return Tokenizer(name=name, exact=False, error=HEURISTIC, count=HEURISTICS[name])
    from difflib import get_close_matches

    close = get_close_matches(name, tokenizer_names(), n=1)
    known = ", ".join(f"`{known}`" for known in tokenizer_names())
    remedy = f"did you mean `{close[0]}`? use one of {known}" if close else f"use one of {known}"
    raise ConfigError(f"there is no tokenizer {name!r}", remedy=remedy, field="counter")


SHORT = 32
"""Characters up to which a text is its own cache key: no larger than a hash, and faster."""


class CachedCounter:
    """A counter that counts each content once, and that threads may share.

    Long texts are cached by their hash and short ones as they are, so that each of the `limit` entries takes
    at most about 250 bytes. The oldest entries are dropped first.
    """

    def __init__(self, count: Counter, *, limit: int = 1 << 16) -> None:
        self._count = count
        self._limit = limit
        self._known: dict[str | bytes, int] = {}
        self._lock = Lock()

    def __call__(self, text: str, /) -> int:
        key = text if len(text) <= SHORT else _digest(text)
        known = self._known.get(key)
        if known is not None:
            return known
        tokens = self._count(text)
        with self._lock:
            self._known[key] = tokens
            if len(self._known) > self._limit:
                del self._known[next(iter(self._known))]
        return tokens

    def __len__(self) -> int:
        return len(self._known)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Meter:
    """Counts messages, tools and the request itself with one tokenizer and one format's framing."""

    def __init__(self, tokenizer: Tokenizer, framing: Framing, *, images: str = "") -> None:
        self.tokenizer = tokenizer
        self.framing = framing
        self.images = images or framing.images
        """The model's rule for images, else the most expensive one of the format's provider."""
        rules_of(self.images)  # raises for an unknown rule now, not at the first image
        self.text = CachedCounter(tokenizer.count)

    @property
    def request(self) -> int:
        """The cost of a request before its first message."""
        return self.framing.request

    def message(self, message: Message) -> int:
        """The cost of one message: framing, role, author and every part."""
        author = self.framing.name + self.text(message.author) if message.author else 0
        rest = self.text(message.rest) if message.rest else 0
        return self.framing.message + self.text(message.role) + author + rest + self._parts(message.parts)

    def tools(self, tools: str) -> int:
        """The cost of the definitions in `tools`, a JSON array; 0 when there are none."""
        defined = json.loads(tools) if tools else []
        if not defined:
            return 0
        # Gemini puts many functions into one entry; each of them has a name.
        each = max(len(defined), tools.count('"name"'))
        return self.framing.tools + self.framing.tool * each + self.text(tools)

    def _parts(self, parts: tuple[Part, ...]) -> int:
        if len(parts) == 1 and isinstance(text := parts[0], Text) and not text.rest:
            return self.text(text.text)  # most messages
        texts = [part.text for part in parts if isinstance(part, Text)]
        # Some formats join a message's texts with newlines, others do not: take the more expensive way.
        words = max(self.text("\n".join(texts)), sum(map(self.text, texts))) if len(texts) > 1 else 0
        rest = sum(self.text(p.rest) for p in parts if not isinstance(p, Opaque) and p.rest)
        return words + rest + sum(self._part(p) for p in parts if len(texts) < 2 or not isinstance(p, Text))

    def _part(self, part: Part) -> int:
        match part:
            case Image():
                return image_tokens(part, self.images)
            case File(text=text, name=name, images=images):
                size = file_tokens(part) if part.data or part.url else 0
                return size + self.text(name) + self.text(text) + self._parts(images)
            case ToolCall(name=name, arguments=arguments):
                return self.framing.call + self.text(name) + self.text(arguments)
            case ToolResult(name=name, parts=parts):
                return self.framing.result + self.text(name) + self._parts(parts)
            case Text(text=text) | Opaque(raw=text):
                return self.text(text)
            case Thinking(text=text, signature=signature):
                return self.text(text) + self.text(signature)
