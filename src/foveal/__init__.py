"""Foveal: a context window manager for LLM agents. Store everything, send the best window that fits."""

import typing

from foveal.errors import (
    BudgetError,
    ConfigError,
    FovealError,
    InputError,
    NotFoundError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    UpstreamError,
)
from foveal.model import Message
from foveal.session import Comparison, Foveal, Session, afit, compare, count_tokens, fit
from foveal.window import Manifest, Window

if typing.TYPE_CHECKING:
    from foveal.sources.assemble import assemble_smart_context
    from foveal.sources.contributor import Offer
else:

    def __getattr__(name: str) -> object:
        """Import the parts that read workspaces on first use."""
        if name == "assemble_smart_context":
            from foveal.sources.assemble import assemble_smart_context

            return assemble_smart_context
        if name == "Offer":
            from foveal.sources.contributor import Offer

            return Offer
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__version__ = "0.1.0"

__all__ = [
    "BudgetError",
    "Comparison",
    "ConfigError",
    "Foveal",
    "FovealError",
    "InputError",
    "Manifest",
    "Message",
    "NotFoundError",
    "Offer",
    "Session",
    "StoreBusyError",
    "StoreDamagedError",
    "StoreError",
    "UpstreamError",
    "Window",
    "afit",
    "assemble_smart_context",
    "compare",
    "count_tokens",
    "fit",
]
