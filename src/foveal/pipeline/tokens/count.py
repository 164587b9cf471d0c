"""Texts and messages in, tokens out: exact where the vocabulary is public, else a stated upper bound.

`tokenizer` finds a counter by name; a `Meter` prices whole messages with it and the format's framing.
Every content is counted once: the meter remembers the counts, not the texts.
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

SCALED = "×"
"""Between the name of an estimate and the factor that bills put on it."""
UNVERIFIED = 0.1
"""Stated error of public vocabularies that were not found the same as their reference."""
HEURISTIC = 0.5
HEURISTICS: Mapping[str, Callable[[str], int]] = MappingProxyType(
    {"chars": by_characters, "density": by_density, "words": by_words}
)


class Counter(Protocol):
    """Anything that can price a text. A plain function fits; no base class, no registration."""

    def __call__(self, text: str, /) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokenizer:
    """A counter with its name and how far it may be off."""

    name: str
    exact: bool
    error: float
    """How far the truth may lie below the count, as a share of the count; 0.0 when exact."""
    count: Counter = field(repr=False, compare=False)


def tokenizer(name: str | Counter) -> Tokenizer:
    """Find a tokenizer by name, or make one of a callable.

    Its vocabulary is loaded when the first text is counted.

    >>> exact = tokenizer("o200k_base")
    >>> exact.count("Fix the bug in auth.js"), exact.exact
    (6, True)
    """
    return _named(name) if isinstance(name, str) else custom(name)


def custom(count: Counter, *, name: str = "custom") -> Tokenizer:
    """A tokenizer of any callable. It is taken at its word: called exact."""
    return Tokenizer(name=name, exact=True, error=0.0, count=count)


def scaled(base: Tokenizer, factor: float) -> Tokenizer:
    """An estimate with what bills taught put on it."""

    def count(text: str, /) -> int:
        return math.ceil(base.count(text) * factor)

    error = round(max(0.0, 1 - (1 - base.error) / factor), 2)
    return Tokenizer(name=f"{base.name}{SCALED}{factor:g}", exact=False, error=error, count=count)


@cache
def names() -> tuple[str, ...]:
    """Every name `tokenizer` knows."""
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
    known = ", ".join(f"`{known}`" for known in names())
    raise ConfigError(f"no tokenizer is called {name!r}", remedy=f"use one of {known}")


SHORT = 32
"""Characters up to which a text is its own key: not longer than a hash, and sooner made."""


class Remembered:
    """A counter that counts each content once; as many threads as like may share it.

    Long texts are remembered by their hash and short ones as they are, so `limit` entries take at most
    about a quarter of a kilobyte each. The oldest entries go first.
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
    """Prices messages, tools and the request itself under one tokenizer and one format's framing."""

    def __init__(self, tokenizer: Tokenizer, framing: Framing, *, images: str = "") -> None:
        self.tokenizer = tokenizer
        self.framing = framing
        self.images = images or framing.images
        """The model's rule for images, else the dearest of the format's provider."""
        rules_of(self.images)  # an unknown rule is refused now, not at the first picture
        self.text = Remembered(tokenizer.count)

    @property
    def request(self) -> int:
        """What a request costs before its first message."""
        return self.framing.request

    def message(self, message: Message) -> int:
        """What one message costs: framing, role, author and every part."""
        author = self.framing.name + self.text(message.author) if message.author else 0
        rest = self.text(message.rest) if message.rest else 0
        return self.framing.message + self.text(message.role) + author + rest + self._parts(message.parts)

    def tools(self, tools: str) -> int:
        """What the definitions in `tools`, a JSON array, cost; nothing when there are none."""
        defined = json.loads(tools) if tools else []
        if not defined:
            return 0
        # Gemini keeps many functions in one entry; a name stands in each of them.
        each = max(len(defined), tools.count('"name"'))
        return self.framing.tools + self.framing.tool * each + self.text(tools)

    def _parts(self, parts: tuple[Part, ...]) -> int:
        texts = [part.text for part in parts if isinstance(part, Text)]
        # Some formats join a message's texts by newlines, others do not: the dearer of the two.
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
