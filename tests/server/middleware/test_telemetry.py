"""Spans with the GenAI names, where OpenTelemetry is set up; they contain numbers and no text."""

from __future__ import annotations

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import foveal
from foveal.server.middleware import telemetry

SAID = [{"role": "user", "content": "the harbour opens at six"}]


def traced() -> foveal.Window:
    with telemetry.traced("build_window", session="plan", model="gpt-5") as recorded:
        return recorded(foveal.fit(SAID, model="gpt-5", budget=100))


def test_a_window_leaves_a_span_with_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    provider, spans = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    window = traced()
    (span,) = spans.get_finished_spans()
    assert span.name == "build_window gpt-5"
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "build_window",
        "gen_ai.conversation.id": "plan",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.usage.input_tokens": window.tokens,
        "foveal.budget": 100,
    }


def test_without_opentelemetry_the_work_is_done_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "_api", lambda: None)
    assert traced().tokens <= 100
