"""What a meter promises: whole messages priced as the provider does, every content counted once."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal import wire
from foveal.model import (
    File,
    Format,
    Framing,
    Image,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from foveal.pipeline.tokens.count import CachedCounter, Meter, tokenizer
from strategies import FORMATS, histories

FRAMING = Framing(request=3, message=3, name=1, call=3, result=2, tools=100, tool=10)
LETTERS = Meter(tokenizer(len), FRAMING)
BENCH = Path(os.environ.get("FOVEAL_BENCH", Path(__file__).parents[3] / "../shared/bench")) / "trajectories"


def message(*parts: Part, author: str = "") -> Message:
    return Message(role="user", parts=parts, format="openai", author=author)


def test_a_message_costs_its_framing_its_role_and_its_text() -> None:
    assert LETTERS.message(message(Text(text="hello"))) == 3 + 4 + 5


def test_a_message_without_content_still_costs_its_framing() -> None:
    assert LETTERS.message(message()) == 3 + 4


def test_an_author_costs_its_name_and_the_framing_of_names() -> None:
    assert LETTERS.message(message(author="ann")) == 3 + 4 + 1 + 3


def test_a_call_costs_its_name_and_arguments() -> None:
    call = ToolCall(id="call_1", name="read", arguments='{"a":1}')
    assert LETTERS.message(message(call)) == 7 + 3 + 4 + 7


def test_a_result_costs_what_is_in_it() -> None:
    result = ToolResult(call_id="call_1", parts=(Text(text="ab"), Text(text="cd")))
    assert LETTERS.message(message(result)) == 7 + 2 + 5


def test_thinking_costs_its_signature_too() -> None:
    assert LETTERS.message(message(Thinking(text="hm", signature="c2ln"))) == 7 + 2 + 4


def test_an_unknown_block_costs_its_json() -> None:
    assert LETTERS.message(message(Opaque(type="audio", raw='{"type":"audio"}'))) == 7 + 16


def test_images_and_files_cost_more_than_nothing() -> None:
    for part in (Image(url="https://example.com/a.png"), File(data="QUJD"), File(url="file-7")):
        assert LETTERS.message(message(part)) > 7


def test_an_inline_text_file_costs_its_text() -> None:
    assert LETTERS.message(message(File(text="abc"))) == 7 + 3


def test_a_file_costs_its_name_and_the_pictures_inside_it() -> None:
    picture = Image(url="https://example.com/a.png")
    inside = LETTERS.message(message(File(text="abc", name="ann", images=(picture,))))
    assert inside == LETTERS.message(message(picture)) + 3 + 3


def test_what_rides_along_unknown_costs_its_text() -> None:
    assert LETTERS.message(message(Text(text="hi", rest="more"))) == 7 + 2 + 4
    assert LETTERS.message(replace(message(Text(text="hi")), rest="more")) == 7 + 2 + 4


WORDS = "word " * 5_000
_SIGNED = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "QUJD" * 4_000}
_ANSWERED = {"name": "f", "response": {"output": "x"}, "scheduling": WORDS}
SENT: list[tuple[Format, dict[str, Any]]] = [
    ("openai", {"role": "assistant", "content": "a", "reasoning_details": [{"text": WORDS}]}),
    ("openai", {"role": "user", "content": [{"type": "text", "text": "a", "x_aside": WORDS}]}),
    ("openai", {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u", "alt": WORDS}}]}),
    ("openai", {"role": "user", "content": [{"type": "file", "file": {"file_data": WORDS}}]}),
    ("plain", {"role": "user", "content": "a", "mood": WORDS}),
    ("anthropic", {"role": "assistant", "content": [{"type": "text", "text": "a", "citations": [WORDS]}]}),
    ("anthropic", {"role": "assistant", "content": "a", "x_aside": WORDS}),
    ("responses", {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "x": WORDS}),
    ("responses", {"role": "user", "content": "a", "x_aside": {"deep": [WORDS]}}),
    ("gemini", {"role": "model", "parts": [_SIGNED]}),
    ("gemini", {"role": "model", "parts": [{"text": "a", "thought_signature": "QUJD" * 4_000}]}),
    ("gemini", {"role": "user", "parts": [{"functionResponse": _ANSWERED}]}),
    *(
        ("anthropic", {"role": "user", "content": [{"type": "document", **document}]})
        for document in (
            {"source": {"type": "content", "content": [{"type": "text", "text": WORDS}]}},
            {"source": {"type": "content", "content": WORDS}},
            {"source": {"type": "content", "content": [{"type": "x_new", "words": WORDS}]}},
            {"source": {"type": "text", "media_type": "text/plain", "data": "x"}, "context": WORDS},
            {"source": {"type": "text", "media_type": "text/plain", "data": "x"}, "title": WORDS},
        )
    ),
]


@pytest.mark.parametrize(("format", "item"), SENT)
def test_whatever_is_sent_is_counted(format: Format, item: dict[str, Any]) -> None:
    meter = Meter(tokenizer("o200k_base"), wire.framing(format))
    assert meter.message(wire.message_of(item, format)) >= 4_500


NAMED: list[tuple[Format, dict[str, Any], str]] = [
    ("openai", {"role": "tool", "tool_call_id": "c", "content": "a"}, "id"),
    ("plain", {"role": "user", "content": "a"}, "metadata"),
    ("responses", {"type": "message", "role": "assistant", "status": "completed", "content": "a"}, "id"),
    ("anthropic", {"role": "user", "content": "a"}, "cache_control"),
]


@pytest.mark.parametrize(("format", "item", "key"), NAMED)
def test_names_and_bookkeeping_cost_nothing(format: Format, item: dict[str, Any], key: str) -> None:
    meter = Meter(tokenizer("o200k_base"), wire.framing(format))
    more = {**item, key: {"a": WORDS} if key == "metadata" else WORDS}
    assert meter.message(wire.message_of(more, format)) == meter.message(wire.message_of(item, format))


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnW" + "AAAA" * 50_000
_SOURCE = {"type": "base64", "media_type": "image/png", "data": PNG}
_SHOT = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}
_PARTS = [{"inlineData": {"mimeType": "image/png", "data": PNG}}]
_PAGES = {"type": "content", "content": [{"type": "image", "source": _SOURCE}]}
PICTURED: list[tuple[Format, dict[str, Any]]] = [
    ("anthropic", {"role": "user", "content": [{"type": "document", "source": _PAGES}]}),
    ("responses", {"type": "computer_call_output", "call_id": "c", "output": _SHOT}),
    ("responses", {"type": "image_generation_call", "id": "ig_1", "result": PNG}),
    ("gemini", {"parts": [{"functionResponse": {"name": "f", "response": {}, "parts": _PARTS}}]}),
]


@pytest.mark.parametrize(("format", "item"), PICTURED)
def test_an_image_is_never_counted_as_its_letters(format: Format, item: dict[str, Any]) -> None:
    meter = Meter(tokenizer("o200k_base"), wire.framing(format))
    assert 0 < meter.message(wire.message_of(item, format)) < 2_000


QUIET = {
    "type",
    "role",
    "id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "status",
    "cache_control",
    "metadata",
}
MEDIA = {"source", "image_url", "file_id", "file", "input_audio", "inlineData", "inline_data", "fileData"}
MEDIA |= {"file_data", "detail", "timestamp"}


def leaves(value: Any) -> Iterator[str]:
    """Every text in a message but names, bookkeeping and media."""
    match value:
        case str():
            yield value
        case list():
            yield from (leaf for item in value for leaf in leaves(item))
        case dict():
            yield from (leaf for k, v in value.items() if k not in QUIET | MEDIA for leaf in leaves(v))


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.data())
@settings(max_examples=settings.default.max_examples // 2)
def test_no_message_costs_less_than_the_texts_in_it(format: Format, data: st.DataObject) -> None:
    meter = Meter(tokenizer(len), wire.framing(format))
    for item in data.draw(histories(format)):
        floor = sum(map(len, leaves(item)))
        assert meter.message(wire.message_of(item, format)) >= floor


def test_tools_cost_their_json_and_their_framing() -> None:
    tools = '[{"name":"a"},{"name":"b"}]'
    assert LETTERS.tools(tools) == 100 + 2 * 10 + len(tools)
    assert LETTERS.tools("") == LETTERS.tools("[]") == 0


def test_functions_in_one_gemini_tool_are_framed_each() -> None:
    tools = '[{"functionDeclarations":[{"name":"a"},{"name":"b"}]}]'
    assert LETTERS.tools(tools) == 100 + 2 * 10 + len(tools)


def test_a_request_costs_its_own_framing() -> None:
    assert LETTERS.request == 3


@given(st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_several_texts_never_cost_less_than_their_lines(texts: list[str]) -> None:
    meter = Meter(tokenizer("o200k_base"), Framing())
    parts = tuple(Text(text=text) for text in texts)
    assert meter.message(message(*parts)) >= meter.text("user") + meter.text("\n".join(texts))


def test_a_text_is_counted_once() -> None:
    seen: list[str] = []
    meter = Meter(tokenizer(lambda text: seen.append(text) or len(text)), FRAMING)
    for _ in range(3):
        meter.message(message(Text(text="a long text " * 50)))
    assert seen == ["user", "a long text " * 50]


def test_the_memory_of_counts_is_bounded() -> None:
    seen: list[str] = []
    count = CachedCounter(lambda text: seen.append(text) or 1, limit=2)
    for text in ("a", "b", "c", "a"):
        count(text)
    assert seen == ["a", "b", "c", "a"]
    assert len(count) == 2


def test_texts_that_utf8_cannot_carry_are_remembered_apart() -> None:
    count = CachedCounter(len)
    assert (count("\ud800" * 40), count("\ud801" * 50)) == (40, 50)


def test_threads_may_share_a_meter() -> None:
    count = CachedCounter(len, limit=50)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(count, ["x" * (n % 100) for n in range(5000)])) == [n % 100 for n in range(5000)]
    assert len(count) <= 50


def trajectories() -> list[dict[str, Any]]:
    file = BENCH / "data" / "dev.jsonl.gz"
    if not file.exists():
        pytest.skip(f"no trajectories at {file}: set FOVEAL_BENCH")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def harness() -> Any:
    spec = importlib.util.spec_from_file_location("harness_tokens", BENCH / "trajbench" / "tokens.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_openai_requests_cost_what_the_harness_says() -> None:
    histories, reference = trajectories(), harness()
    meter = Meter(tokenizer("o200k_base"), wire.framing("openai"))
    for history in histories:
        loaded = wire.load(history["messages"], format="openai")
        ours = meter.request + sum(map(meter.message, loaded.messages))
        assert ours == reference.request_tokens(history["messages"], reference.raw_count)
