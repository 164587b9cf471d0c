"""Find, describe and run every operation, for every surface.

>>> find(0x3211).name
'context_estimate_business'
>>> run("tokens_count", {"text": "Fix the bug in auth.js", "model": "gpt-5"})
{'tokens': 6, 'exact': True, 'error_bound': 0.0, 'tokenizer': 'o200k_base'}
>>> events("tokens_count", {"text": "hello"})
[]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foveal.events import Reports
from foveal.operations import fifth, fit, omar, openscroll, penguin, prediction, reploid, stored
from foveal.operations.registry import Operation, Registry
from foveal.session.foveal import Foveal

__all__ = ["REGISTRY", "Operation", "Reports", "events", "example", "find", "run", "run_in", "schema"]

REGISTRY = Registry(
    {
        "openscroll": openscroll.OPERATIONS,
        "reploid": reploid.OPERATIONS,
        "omar": omar.OPERATIONS,
        "penguin": penguin.OPERATIONS,
        "fifth": fifth.OPERATIONS,
        "": (*prediction.OPERATIONS, *fit.OPERATIONS),
    }
)
find, run, events = REGISTRY.find, REGISTRY.run, REGISTRY.events
schema, example = REGISTRY.schema, REGISTRY.example


def run_in(fov: Foveal, name: str | int, request: Mapping[str, Any]) -> dict[str, Any]:
    """Run an operation with the settings of an open store, and leave its events on the event stream."""
    return stored.run_in(fov, find(name), request)
