"""The rules of every provider, by format."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from foveal.model import Format
from foveal.wire.judge import anthropic, gemini, openai, plain, responses
from foveal.wire.judge.common import Rule

TABLES: Mapping[Format, Mapping[str, Rule]] = MappingProxyType(
    {
        "openai": openai.RULES,
        "responses": responses.RULES,
        "anthropic": anthropic.RULES,
        "gemini": gemini.RULES,
        "plain": plain.RULES,
    }
)
