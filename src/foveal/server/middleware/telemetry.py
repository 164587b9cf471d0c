"""Trace the building of windows as OpenTelemetry spans with the GenAI attribute names.

Without the extra `otel` nothing is imported; without a provider the spans are discarded. Spans contain names
and numbers, never the text of a message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from foveal.window import Window


@contextmanager
def traced(operation: str, *, session: str = "", model: str = "") -> Iterator[Callable[[Window], Window]]:
    """One span; the caller passes the window through the yielded function, which records its numbers."""
    trace = _api()
    if trace is None:
        yield lambda window: window
        return
    named = {"gen_ai.operation.name": operation, "gen_ai.conversation.id": session}
    attributes = {name: value for name, value in named.items() if value}
    with trace.get_tracer("foveal").start_as_current_span(operation, attributes=attributes) as span:

        def recorded(window: Window) -> Window:
            name = model or window.model
            span.update_name(f"{operation} {name}".strip())
            span.set_attribute("gen_ai.request.model", name)
            span.set_attribute("gen_ai.usage.input_tokens", window.tokens)
            span.set_attribute("foveal.budget", window.budget)
            return window

        yield recorded


@lru_cache(maxsize=1)
def _api() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace
