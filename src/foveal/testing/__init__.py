"""A way to open a store in, silence out, or an `AssertionError`: the suite that every store must pass.

    from foveal.testing import check_store
    check_store(lambda tenant: MyStore(url, tenant))

The checks are plain functions in `STORE_CHECKS`; each uses tenants of its own, so that they may share one
store. Their names, read top to bottom, are the specification.
"""

from foveal.testing.checks import STORE_CHECKS, check_store
from foveal.testing.samples import OpenStore, draft

__all__ = ["STORE_CHECKS", "OpenStore", "check_store", "draft"]
