"""Every error this package raises on purpose, in one place.

* FovealError
  - InputError        messages, files or requests that cannot be understood
  - BudgetError       what must stay does not fit
  - NotFoundError     no session, message, handle or build of that name
  - ConfigError       a setting, model file or preset that makes no sense
  - StoreError        the store cannot be opened, read or written
    - StoreBusyError     another process holds it
    - StoreDamagedError  the file is foreign or corrupt
  - UpstreamError     a model could not be asked, or gave no answer that can be used
"""

from __future__ import annotations

from typing import Literal

See = Literal["", "sessions", "messages", "operations", "profile", "tasks"]
"""A listing that a remedy refers to; each surface has its own way to show it."""


class FovealError(Exception):
    """What happened, and what to do about it. Catch this to catch all of ours."""

    def __init__(self, what: str, remedy: str, *, field: str = "", see: See = "") -> None:
        super().__init__(what, remedy)  # both, so the error survives pickling
        self.what = what
        self.remedy = remedy
        self.field = field
        """The argument, option or field that the error is about; empty where it is about none."""
        self.see = see

    def __str__(self) -> str:
        return f"{self.what}\n  try: {self.remedy}"


class InputError(FovealError):
    """Messages, a file or a request that cannot be understood; names the place and the field."""


class BudgetError(FovealError):
    """What must be in the window does not fit; names the numbers by part."""


class NotFoundError(FovealError):
    """No session, message, handle or build of that name."""


class ConfigError(FovealError):
    """A setting, model file or preset that makes no sense; names the key and where it came from."""


class StoreError(FovealError):
    """The store cannot be opened, read or written. Nothing was half-written."""


class StoreBusyError(StoreError):
    """Another process held the store for longer than we wait."""


class StoreDamagedError(StoreError):
    """The file is not a Foveal store, or its content is corrupt."""


class UpstreamError(FovealError):
    """A model could not be asked, or gave no answer that can be used; names the host, never the key."""
