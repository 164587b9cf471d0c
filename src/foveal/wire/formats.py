"""The formats there are: a name in, its codec out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from foveal.errors import InputError
from foveal.model import Format, Framing, Rules
from foveal.wire import anthropic, gemini, openai, plain, responses
from foveal.wire.codec import Codec

CODECS: Mapping[Format, Codec] = MappingProxyType(
    {module.CODEC.format: module.CODEC for module in (openai, responses, anthropic, gemini, plain)}
)


def codec_of(format: Format) -> Codec:
    """The codec of that name; the name may come from a user."""
    if format not in CODECS:
        raise InputError(
            f"unknown format {format!r}", remedy=f"use one of {', '.join(f'`{name}`' for name in CODECS)}"
        )
    return CODECS[format]


def rules(format: Format) -> Rules:
    """What that provider refuses."""
    return codec_of(format).rules


def framing(format: Format) -> Framing:
    """What that format adds to a token count."""
    return codec_of(format).framing
