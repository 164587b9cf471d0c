"""The operations of the three plans: negotiated layers, borrowing categories, memory levels."""

from __future__ import annotations

from foveal.operations import budgets, layers, levels
from foveal.operations.registry import Operation

OPERATIONS: tuple[Operation, ...] = (*layers.OPERATIONS, *budgets.OPERATIONS, *levels.OPERATIONS)
