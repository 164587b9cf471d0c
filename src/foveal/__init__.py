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
    StoreTimeoutError,
    UpstreamError,
)

if typing.TYPE_CHECKING:
    from foveal.model import Message
    from foveal.session.fit import afit, count_tokens, fit
    from foveal.session.foveal import Foveal
    from foveal.session.inspect.compare import Comparison, compare
    from foveal.session.session import Session
    from foveal.sources.assemble import assemble_smart_context
    from foveal.sources.contributor import Offer
    from foveal.window import Manifest, Window
else:
    _MODULES = {
        "foveal.model": ("Message",),
        "foveal.session.fit": ("afit", "count_tokens", "fit"),
        "foveal.session.foveal": ("Foveal",),
        "foveal.session.inspect.compare": ("Comparison", "compare"),
        "foveal.session.session": ("Session",),
        "foveal.sources.assemble": ("assemble_smart_context",),
        "foveal.sources.contributor": ("Offer",),
        "foveal.window": ("Manifest", "Window"),
    }

    def __getattr__(name: str) -> object:
        """Import a name on first use, so that a program loads only the parts that it uses."""
        import importlib

        for module, names in _MODULES.items():
            if name in names:
                value = globals()[name] = getattr(importlib.import_module(module), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


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
    "StoreTimeoutError",
    "UpstreamError",
    "Window",
    "afit",
    "assemble_smart_context",
    "compare",
    "count_tokens",
    "fit",
]
