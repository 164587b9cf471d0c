"""A way to open a store in; every check of the suite, in order."""

from __future__ import annotations

from foveal.testing.derived import DERIVED_CHECKS
from foveal.testing.history import HISTORY_CHECKS
from foveal.testing.knowledge import KNOWLEDGE_CHECKS
from foveal.testing.memory import MEMORY_CHECKS
from foveal.testing.samples import OpenStore
from foveal.testing.vectors import VECTOR_CHECKS

STORE_CHECKS = (*HISTORY_CHECKS, *MEMORY_CHECKS, *DERIVED_CHECKS, *VECTOR_CHECKS, *KNOWLEDGE_CHECKS)


def check_store(open_store: OpenStore) -> None:
    """Run every check."""
    for check in STORE_CHECKS:
        check(open_store)
