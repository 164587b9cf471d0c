"""Check that a store keeps the promises of the store port.

    from foveal.testing import check_store
    check_store(lambda tenant: MyStore(url, tenant))

A check is a plain function that raises `AssertionError`. Each uses its own tenants, so that all of them can
share one store. Their names, read from top to bottom, are the specification.
"""

from collections.abc import Callable
from inspect import isfunction

from foveal.testing import derived, history, knowledge, messages, pools, vectors
from foveal.testing.samples import OpenStore, draft

__all__ = ["STORE_CHECKS", "OpenStore", "check_store", "draft"]

STORE_CHECKS: tuple[Callable[[OpenStore], None], ...] = tuple(
    check
    for module in (history, messages, derived, vectors, knowledge, pools)
    for name, check in vars(module).items()
    if isfunction(check) and check.__module__ == module.__name__ and not name.startswith("_")
)
"""Every public function of these modules, in order."""


def check_store(open_store: OpenStore) -> None:
    """Run every check."""
    for check in STORE_CHECKS:
        check(open_store)
