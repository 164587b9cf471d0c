"""Work on a window in → the same work in a span with the GenAI names, where OpenTelemetry is set up.

Without the extra `otel` nothing is imported, without a provider the spans go nowhere. They carry names and
numbers, never a word of a message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from foveal.window import Window


@contextmanager
def traced(operation: str, *, session: str = "", model: str = "") -> Iterator[Callable[[Window], Window]]:
    """One span; who has made the window hands it through for its numbers."""
    trace = _api()
    if trace is None:
        yield lambda window: window
        return
    named = {"gen_ai.operation.name": operation, "gen_ai.conversation.id": session}
    asked = {name: value for name, value in named.items() if value}
    with trace.get_tracer("foveal").start_as_current_span(operation, attributes=asked) as span:

        def told(window: Window) -> Window:
            reader = model or window.model
            span.update_name(f"{operation} {reader}".strip())
            span.set_attribute("gen_ai.request.model", reader)
            span.set_attribute("gen_ai.usage.input_tokens", window.tokens)
            span.set_attribute("foveal.budget", window.budget)
            return window

        yield told


@lru_cache(maxsize=1)
def _api() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace
