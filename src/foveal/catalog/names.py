"""Normalize the spellings of a model's name, and find the known id it means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from foveal.errors import InputError

_FINE_TUNED = re.compile(r"^ft:([^:]+):.*$")
_VENDOR = re.compile(
    r"^(?:[a-z-]+\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshotai?|openai"
    r"|qwen|xai|zai)\."
)
_BUILD = re.compile(r"-v\d+(?::\w+)*$")
_SUFFIX = re.compile(r"(?:[\w.-]+:)*+(?:[\w-]+@)?")
"""A date after `@`, variants after `:`, read from the end: to the left it would be tried from each colon."""
_LONG = re.compile(r"\[\w+\]$")
_VERSION = re.compile(r"\d{1,2}(?:-|$)")
_NUMBER_FIRST = re.compile(r"^claude-(4|5|6|7|8|9|\d\d)(-\d{1,2})?-([a-z]+)(?![a-z])")
_NUMBER_LAST = re.compile(r"^claude-(haiku|opus|sonnet)-3(-[57])?(?!\d)")
"""Claude's names had the number before the line until 3.7, and have it after the line since 4."""
MOST_CHARACTERS = 256
"""The longest name of a model. The longest in use, a resource name of a cloud, has about 150."""


def checked(model: object) -> str:
    """The name of a model, which is text and not long; None is no name."""
    if model is None:
        return ""
    if not isinstance(model, str):
        raise InputError(
            f"`model` is a {type(model).__name__}, not text",
            remedy="pass the name of a model as text, or omit it",
            field="model",
        )
    if len(model) > MOST_CHARACTERS:
        raise InputError(
            f"`model` has {len(model):,} characters, more than {MOST_CHARACTERS}",
            remedy="pass the name of a model as its provider writes it",
            field="model",
        )
    if not model.isprintable():
        raise InputError(
            f"`model` is {model!r}, which has characters that cannot be shown",
            remedy="pass the name of a model as its provider writes it",
            field="model",
        )
    return model


@lru_cache(maxsize=4096)
def normalized(model: str) -> str:
    """One spelling for a model, independent of the service that hosts it.

    >>> normalized("us.anthropic.claude-sonnet-4-5-20250929-v1:0")
    'claude-sonnet-4-5-20250929'
    >>> normalized("openrouter/openai/gpt-4.1:free"), normalized("models/gemini-2.5-pro")
    ('gpt-4-1', 'gemini-2-5-pro')
    >>> normalized("claude-4.5-sonnet"), normalized("claude-sonnet-3-5")
    ('claude-sonnet-4-5', 'claude-3-5-sonnet')
    """
    name = _FINE_TUNED.sub(r"\1", model.strip().lower())
    name, vendors = _VENDOR.subn("", name.rsplit("/", 1)[-1])
    # Only Bedrock, which prefixes the vendor, appends a build version: deepseek-v3 is a model.
    name = _BUILD.sub("", name) if vendors else name
    if suffix := _SUFFIX.match(name[::-1]):
        name = name[: len(name) - suffix.end()]
    name = name.replace(".", "-").replace("_", "-").replace(" ", "-")
    name = _NUMBER_FIRST.sub(r"claude-\3-\1\2", name)
    return _NUMBER_LAST.sub(r"claude-3\2-\1", name)


def match(model: str, ids: Iterable[str]) -> str | None:
    """The longest known id that `model` equals, or extends by a date or a variant.

    A further version number makes another model: gpt-5 says nothing about gpt-5.9.
    """
    name, known = normalized(model), {normalized(each): each for each in ids}
    for candidate in (name, _LONG.sub("", name)):
        starts = [start for start in known if _means(candidate, start)]
        if starts:
            return known[max(starts, key=len)]
    return None


def _means(name: str, start: str) -> bool:
    if not name.startswith(f"{start}-"):
        return name == start
    return not _VERSION.match(name[len(start) + 1 :])
