"""Count tokens exactly in public vocabularies.

The vocabularies are part of installed packages: nothing is downloaded, and each is loaded when its first text
is counted. Special tokens are counted as plain text. Time is linear in the text, and no text raises: what
UTF-8 cannot encode is counted as replacement characters, and when a tokenizer fails, the text's bytes are
counted, which no byte-level vocabulary exceeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from threading import Lock
from types import MappingProxyType
from typing import Protocol

LARGE = 1 << 16
"""Characters passed to splintr at a time: with more its time grows faster, and its cache keeps them."""

VERIFIED = frozenset(
    {"cl100k_base", "deepseek_v3", "gemma3", "gpt_oss", "llama3", "mistral_v3", "o200k_base"}
)
"""Vocabularies whose tokens were verified against the reference implementation."""

PUBLIC: Mapping[str, str] = MappingProxyType(
    {
        "cl100k_base": "cl100k_base",
        "deepseek_v3": "deepseek_v3",
        "gemma3": "gemma3",
        "glm4": "glm4",
        "gpt_oss": "o200k_base",
        "kimi_k2": "kimi_k2",
        "llama3": "llama3",
        "mistral_v3": "mistral_v3",
        "o200k_base": "o200k_base",
        "phi4": "phi4",
        "qwen3": "qwen3",
    }
)
"""The vocabulary behind each name. gpt-oss differs from o200k only in its special tokens."""

_loading = Lock()


class Encoder(Protocol):
    """What we use of splintr's tokenizers."""

    @property
    def family(self) -> str: ...

    def encode_ordinary(self, text: str, /) -> list[int]: ...

    def clear_cache(self) -> None: ...


def count(name: str, text: str) -> int:
    """Count `text` in the public vocabulary `name`, whatever the text contains."""
    if not text:
        return 0
    try:
        return _loaded(PUBLIC[name])(text)
    except UnicodeEncodeError:
        return count(name, text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
    except BaseException as error:
        # A Rust panic reaches Python as a BaseException of a class that cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        return len(text.encode("utf-8", "surrogatepass"))


def _loaded(name: str) -> Callable[[str], int]:
    with _loading:
        return _load(name)


@cache
def _load(name: str) -> Callable[[str], int]:
    return (_rs_bpe(name) if name in ("cl100k_base", "o200k_base") else None) or _splintr(name)


def _rs_bpe(name: str) -> Callable[[str], int] | None:
    """The counter that is fastest on hostile input; there is no build for Python 3.14 yet."""
    try:
        package = import_module("rs_bpe").openai
    except ImportError:
        return None
    found: Callable[[str], int] = getattr(package, name)().count
    return found


def _splintr(name: str) -> Callable[[str], int]:
    return counter(import_module("splintr").Tokenizer.from_pretrained(name))


def counter(encoder: Encoder) -> Callable[[str], int]:
    """A counter whose time stays linear, and whose encoder keeps no large text in its cache."""
    caching = encoder.family == "BPE"  # the other family has no cache, and raises

    def counted(text: str) -> int:
        if len(text) <= LARGE:
            return len(encoder.encode_ordinary(text))
        tokens = sum(len(encoder.encode_ordinary(piece)) for piece in pieces(text))
        if caching:
            encoder.clear_cache()
        return tokens

    return counted


def pieces(text: str) -> Iterator[str]:
    """A large text in parts that together cost the same.

    It is cut at line ends, which no vocabulary joins to a word. A run without line ends is cut anyway, and
    may cost a token or two more for each cut.
    """
    start = 0
    while len(text) - start > LARGE:
        cut = text.rfind("\n", start, start + LARGE)
        while cut > start and not text[cut + 1].isalnum():
            cut = text.rfind("\n", start, cut)
        end = cut + 1 if cut > start else start + LARGE
        yield text[start:end]
        start = end
    yield text[start:]
