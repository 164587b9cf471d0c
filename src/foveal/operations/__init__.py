"""A name or a code and a request in → a result out: every operation there is, for every surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foveal.operations import fifth, fit, omar, openscroll, penguin, prediction, reploid
from foveal.operations.registry import Events, Operation, Registry

__all__ = ["REGISTRY", "Events", "Operation", "events", "find", "run", "schema"]

REGISTRY = Registry(
    (
        *openscroll.OPERATIONS,
        *reploid.OPERATIONS,
        *omar.OPERATIONS,
        *penguin.OPERATIONS,
        *fifth.OPERATIONS,
        *prediction.OPERATIONS,
        *fit.OPERATIONS,
    )
)


def find(name: str | int) -> Operation:
    """The operation of that name or code.

    >>> find(0x3211).name
    'context_estimate_business'
    """
    return REGISTRY.find(name)


def run(name: str | int, request: Mapping[str, Any]) -> dict[str, Any]:
    """Run an operation on plain data and give plain data back.

    >>> run("tokens_count", {"text": "Fix the bug in auth.js", "model": "gpt-5"})
    {'tokens': 6, 'exact': True, 'error_bound': 0.0, 'tokenizer': 'o200k_base'}
    """
    return REGISTRY.run(name, request)


def events(name: str | int, request: Mapping[str, Any]) -> Events:
    """What a run of an operation has to tell: names and payloads, in order. Who runs it emits them.

    >>> events("tokens_count", {"text": "hello"})
    []
    """
    return REGISTRY.events(name, request)


def schema(name: str | int) -> dict[str, Any]:
    """JSON Schema of an operation's request and result."""
    return REGISTRY.schema(name)
