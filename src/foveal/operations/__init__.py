"""Find, describe and run every operation, for every surface.

>>> find(0x3211).name
'context_estimate_business'
>>> run("tokens_count", {"text": "Fix the bug in auth.js", "model": "gpt-5"})
{'tokens': 6, 'exact': True, 'error_bound': 0.0, 'tokenizer': 'o200k_base'}
>>> events("tokens_count", {"text": "hello"})
[]
"""

from __future__ import annotations

from foveal.operations import fifth, fit, omar, openscroll, penguin, prediction, reploid
from foveal.operations.registry import Events, Operation, Registry

__all__ = ["REGISTRY", "Events", "Operation", "events", "example", "find", "run", "run_in", "schema"]

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
find, run, events = REGISTRY.find, REGISTRY.run, REGISTRY.events
schema, example, run_in = REGISTRY.schema, REGISTRY.example, REGISTRY.run_in
