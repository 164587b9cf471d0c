"""The 21 operations over chunks in token space, each by its name and by its code."""

from __future__ import annotations

from foveal.operations import allocations, boosting, optimizing
from foveal.operations.registry import Operation

OPERATIONS: tuple[Operation, ...] = (
    *optimizing.OPERATIONS,
    *allocations.OPERATIONS,
    *boosting.OPERATIONS,
)
