"""A name or a code and a request in → a result out: every operation there is, for every surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foveal.operations import history, omar, plans, windows
from foveal.operations.registry import Operation, Registry

__all__ = ["REGISTRY", "Operation", "find", "run", "schema"]

REGISTRY = Registry((*history.OPERATIONS, *omar.OPERATIONS, *plans.OPERATIONS, *windows.OPERATIONS))


def find(name: str) -> Operation:
    """The operation of that name or code."""
    return REGISTRY.find(name)


def run(name: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Run an operation on plain data and give plain data back.

    >>> run("tokens_count", {"text": "Fix the bug in auth.js", "model": "gpt-5"})
    {'tokens': 6, 'exact': True, 'error_bound': 0.0, 'tokenizer': 'o200k_base'}
    """
    return REGISTRY.run(name, request)


def schema(name: str) -> dict[str, Any]:
    """JSON Schema of an operation's request and result."""
    return REGISTRY.schema(name)
