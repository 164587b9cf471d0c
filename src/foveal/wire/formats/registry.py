"""Find a format by its name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from foveal.errors import InputError
from foveal.model import Format, Framing, Rules
from foveal.wire.formats import anthropic, gemini, openai, plain, responses
from foveal.wire.formats.codec import Codec

CODECS: Mapping[Format, Codec] = MappingProxyType(
    {module.CODEC.format: module.CODEC for module in (openai, responses, anthropic, gemini, plain)}
)


def codec_of(format: Format) -> Codec:
    """The codec of a format; an `InputError` for an unknown name, which may come from a user."""
    if not isinstance(format, str) or format not in CODECS:
        raise InputError(
            f"unknown format {format!r}",
            remedy=f"use one of {', '.join(f'`{name}`' for name in CODECS)}",
            field="format",
        )
    return CODECS[format]


def rules(format: Format, envelope: str = "") -> Rules:
    """What that provider refuses, for the request body in `envelope` if there was one.

    >>> rules("responses").needs_call, rules("responses", '{"previous_response_id":"resp_1"}').needs_call
    (True, False)
    """
    codec = codec_of(format)
    if codec.continues is not None and envelope and codec.continues(json.loads(envelope)):
        return replace(codec.rules, needs_call=False)
    return codec.rules


def framing(format: Format) -> Framing:
    """The tokens that format adds around content."""
    return codec_of(format).framing
