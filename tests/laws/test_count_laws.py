"""An independent floor under every count: no window costs less than the texts it sends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foveal
from foveal.errors import BudgetError, InputError
from foveal.model import Format
from foveal.pipeline.tokens.count import tokenizer
from strategies import FORMATS, histories

pytestmark = pytest.mark.soak
FEWEST = settings(max_examples=settings.default.max_examples // 50)
BOOKKEEPING = {"type", "id", "call_id", "tool_call_id", "tool_use_id", "status", "cache_control"}
BOOKKEEPING |= {"metadata", "timestamp"}
MEDIA = {"source", "image_url", "file_id", "file", "file_data", "input_audio", "detail"}
MEDIA |= {"inlineData", "inline_data", "fileData"}


def texts(value: Any) -> Iterator[str]:
    """Every text a model reads; images and files are priced by other rules."""
    match value:
        case str():
            yield value
        case list():
            yield from (text for item in value for text in texts(item))
        case dict():
            kept = (item for key, item in value.items() if key not in BOOKKEEPING | MEDIA)
            yield from (text for item in kept for text in texts(item))


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("format", FORMATS)
@FEWEST
@given(data=st.data())
def test_a_window_costs_at_least_every_text_it_sends(
    source: Format, format: Format, data: st.DataObject
) -> None:
    with foveal.Foveal(":memory:") as fov:
        session = fov.session()
        session.extend(data.draw(histories(source, broken=True)), format=source)
        try:
            window = session.build(budget=100_000, format=format, counter="o200k_base")
        except (BudgetError, InputError):  # nothing to answer
            return
        count = tokenizer("o200k_base").count
        assert sum(map(count, texts([window.messages, window.system]))) <= window.tokens
