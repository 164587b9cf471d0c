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
)
from foveal.model import Manifest, Message, Window
from foveal.session import Foveal, Session, afit, count_tokens, fit

__version__ = "0.1.0"

__all__ = [
    "BudgetError",
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
    "Window",
    "afit",
    "count_tokens",
    "fit",
]
