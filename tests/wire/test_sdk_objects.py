"""Objects of the providers' own SDKs load as what those SDKs would send."""

from __future__ import annotations

import json

from anthropic.types import Message as AnthropicMessage
from anthropic.types import TextBlock, ToolUseBlock, Usage
from google.genai import types as google
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseReasoningItem

from foveal import wire
from foveal.model import Thinking

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def test_an_openai_chat_reply() -> None:
    reply = ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": [CALL]})
    found = wire.load([{"role": "user", "content": "x"}, reply])
    assert found.format == "openai"
    assert json.loads(found.messages[1].body) == {"role": "assistant", "content": None, "tool_calls": [CALL]}


def test_the_output_of_openai_responses() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    block = {"type": "output_text", "text": "hi", "annotations": []}
    said = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [block]}
    output = [
        ResponseReasoningItem.model_validate(thought),
        ResponseFunctionToolCall.model_validate(call),
        ResponseOutputMessage.model_validate(said),
    ]
    found = wire.load(output)
    assert found.format == "responses"
    assert [json.loads(message.body) for message in found.messages] == [thought, call, said]
    assert found.messages[0].parts == (Thinking(text="", signature="e", raw=found.messages[0].body),)


def test_the_content_of_an_anthropic_reply_and_the_reply_itself() -> None:
    blocks = [
        TextBlock(type="text", text="hi"),
        ToolUseBlock(type="tool_use", id="c1", name="f", input={"a": 1}),
    ]
    usage = Usage(input_tokens=1, output_tokens=1)
    reply = AnthropicMessage(
        id="m", type="message", role="assistant", model="claude", content=blocks, usage=usage
    )
    found = wire.load([{"role": "user", "content": "x"}, {"role": "assistant", "content": blocks}, reply])
    assert found.format == "anthropic"
    assert found.messages[1].digest == found.messages[2].digest
    assert found.messages[1].calls[0].arguments == '{"a":1}'


def test_a_google_content() -> None:
    call = google.Part(function_call=google.FunctionCall(name="f", args={"a": 1}), thought_signature=b"sig")
    found = wire.load([google.Content(role="model", parts=[google.Part(text="hi"), call])])
    assert found.format == "gemini"
    assert json.loads(found.messages[0].body) == {
        "role": "model",
        "parts": [
            {"text": "hi"},
            {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
        ],
    }


def test_what_comes_out_is_what_the_sdk_reads_back() -> None:
    history = [{"role": "user", "content": "x"}, {"role": "assistant", "content": None, "tool_calls": [CALL]}]
    pieces = wire.dump(wire.load(history).messages, "gemini").pieces
    assert [google.Content.model_validate_json(piece).role for piece in pieces] == ["user", "model"]
