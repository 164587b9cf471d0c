"""Every error this package raises on purpose.

* FovealError
  - InputError        messages, files or requests that cannot be understood
  - BudgetError       what must stay does not fit
  - NotFoundError     no session, message, handle or build of that name
  - ConfigError       a setting, model file or preset that is invalid
  - StoreError        the store cannot be opened, read or written
    - StoreBusyError     another process has locked it
    - StoreTimeoutError  reading it took too long
    - StoreDamagedError  the file is not a store, or is corrupt
  - UpstreamError     a model could not be called, or its response cannot be used
"""

from __future__ import annotations

from typing import Literal

See = Literal["", "sessions", "messages", "operations", "profile", "tasks"]
"""Another call that a remedy refers to; the command line and the HTTP service each name their own."""


class FovealError(Exception):
    """What happened, and what to do about it. Catch this to catch every error of this package."""

    def __init__(self, what: str, remedy: str, *, field: str = "", see: See = "") -> None:
        super().__init__(what, remedy)  # both, so that the error survives pickling
        self.what = what
        self.remedy = remedy
        self.field = field
        """The argument, option or field that the error is about; empty where there is none."""
        self.see = see

    def __str__(self) -> str:
        return f"{self.what}\n  try: {self.remedy}"


class InputError(FovealError):
    """Messages, a file or a request that cannot be understood; names the position and the field."""


class BudgetError(FovealError):
    """What must be in the window does not fit; lists the tokens by part."""


class NotFoundError(FovealError):
    """No session, message, handle or build of that name."""


class ConfigError(FovealError):
    """A setting, model file or preset that is invalid; names the key and its origin."""


class StoreError(FovealError):
    """The store cannot be opened, read or written. Nothing was half-written."""


class StoreBusyError(StoreError):
    """Another process locked the store for longer than we wait."""


class StoreTimeoutError(StoreError):
    """Reading the store took too long and was stopped."""


class StoreDamagedError(StoreError):
    """The file is not a Foveal store, or its content is corrupt."""


class UpstreamError(FovealError):
    """A model could not be called, or its response cannot be used; names the host, never the key."""
