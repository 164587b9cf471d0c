"""Foveal: a context window manager for LLM agents. Store everything, send the best window that fits."""

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
    "Session",
    "StoreBusyError",
    "StoreDamagedError",
    "StoreError",
    "UpstreamError",
    "Window",
    "afit",
    "compare",
    "count_tokens",
    "fit",
]
