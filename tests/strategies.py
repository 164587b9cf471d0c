"""Hypothesis strategies for histories in every format: valid ones, and broken ones like those of real agents.

A broken history still loads: repairing it is the job of the pipeline. Strategies that are used often are
created once, because creating one costs more than drawing from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import strategies as st

from breakage import breakages
from foveal.model import MESSAGES_KEY, Format
from foveal.wire.markers import marked_blocks
from payloads import objects, values

JSON = dict[str, Any]
FORMATS: tuple[Format, ...] = ("openai", "responses", "anthropic", "gemini", "plain")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg=="

_letters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.text(_letters, min_size=1, max_size=40).filter(lambda text: bool(text.strip()))
names = st.sampled_from(["read_file", "Bash", "search-web", "x"])
_unknown = st.just({}) | values.map(lambda value: {"x_unknown": value})
_marker = st.just({}) | st.just({"cache_control": {"type": "ephemeral"}})
_either = st.booleans()
_kinds = st.sampled_from(["user", "assistant", "calls", "user", "assistant", "calls", "later"])
_outputs = texts | st.just("") | texts.map(lambda text: text * 40)


@st.composite
def histories(draw: st.DrawFn, format: Format, *, broken: bool = False, longest: int = 6) -> list[JSON]:
    """The messages of a conversation, as dicts of that format."""
    history: list[JSON] = draw(_systems(format)) + draw(_user(format))
    kind = "user"
    for number in range(draw(st.integers(0, longest))):
        # Gemini refuses a call right after the model's own words.
        kind = draw(_kinds) if format != "gemini" or kind != "assistant" else "user"
        if kind == "later" and format == "gemini":
            kind = "user"
        history += draw(_turn(kind, format, number))
    history = draw(breakages(history)) if broken else _few_markers(history)
    # Anthropic's system prompt is outside the messages, so none of them begins with one.
    led = format == "anthropic" and history[:1] and history[0].get("role") == "system"
    return [*draw(_user(format)), *history] if led else history


def _few_markers(history: list[JSON]) -> list[JSON]:
    """At most two in the messages, so that a system prompt and a tool may have one too."""
    for block in list(marked_blocks(history))[2:]:
        del block["cache_control"]
    return history


@st.composite
def requests(draw: st.DrawFn, format: Format, *, broken: bool = False) -> JSON:
    """A whole request body: model, system prompt outside the messages where the format has it, tools."""
    body: JSON = {"model": "m-1", MESSAGES_KEY[format]: draw(histories(format, broken=broken))}
    outside = draw(_outside(format))
    if outside is not None:
        body |= outside
    if draw(_either):
        body["tools"] = [{"name": "read_file", "x_schema": draw(objects)}]
    return body


@cache
def _outside(format: Format) -> st.SearchStrategy[JSON | None]:
    block = st.builds(lambda text, marker: {"type": "text", "text": text, **marker}, texts, _marker)
    blocks = st.lists(block, min_size=1, max_size=2)
    kinds: dict[Format, st.SearchStrategy[JSON | None]] = {
        "anthropic": st.fixed_dictionaries({"system": texts | blocks}),
        "responses": st.fixed_dictionaries({"instructions": texts}),
        "gemini": st.builds(
            lambda key, text: {key: {"parts": [{"text": text}]}},
            st.sampled_from(["systemInstruction", "system_instruction"]),
            texts,
        ),
    }
    return st.none() | kinds.get(format, st.none())


@cache
def _systems(format: Format) -> st.SearchStrategy[list[JSON]]:
    roles = {"openai": ["system", "developer"], "plain": ["system"], "responses": ["system", "developer"]}
    if format not in roles:
        return st.just([])
    message = st.fixed_dictionaries({"role": st.sampled_from(roles[format]), "content": texts})
    return st.lists(message, max_size=2)


@cache
def _turn(kind: str, format: Format, number: int) -> st.SearchStrategy[list[JSON]]:
    if kind == "calls":
        return _CALLS[format](number)
    if kind == "later":
        return _LATER[format]
    return _user(format) if kind == "user" else _ASSISTANTS[format]


@cache
def _user(format: Format) -> st.SearchStrategy[list[JSON]]:
    return _USERS[format].map(lambda message: [message])


def _message(
    role: str, content: st.SearchStrategy[Any], **more: st.SearchStrategy[Any]
) -> st.SearchStrategy[JSON]:
    return st.builds(
        lambda content, known, unknown: {"role": role, "content": content, **known, **unknown},
        content,
        st.fixed_dictionaries({}, optional=more),
        _unknown,
    )


def _blocks(*kinds: st.SearchStrategy[JSON]) -> st.SearchStrategy[list[JSON]]:
    return st.lists(st.one_of(*kinds), min_size=1, max_size=3)


def _block(type: str, fields: JSON, extra: st.SearchStrategy[JSON] = _unknown) -> st.SearchStrategy[JSON]:
    drawn = {key: value for key, value in fields.items() if isinstance(value, st.SearchStrategy)}
    fixed = {"type": type, **{key: value for key, value in fields.items() if key not in drawn}}
    return st.builds(lambda more, **known: {**fixed, **known, **more}, extra, **drawn)


_openai_text = _block("text", {"text": texts})
_openai_texts = _blocks(_openai_text)
_openai_content = texts | _blocks(
    _openai_text,
    _block("image_url", {"image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}}),
    _block("image_url", {"image_url": {"url": "https://example.org/a.png"}}),
    _block("file", {"file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PNG}"}}),
    _block("input_audio", {"input_audio": {"data": PNG, "format": "wav"}}),
    _block("x_new", {"payload": values}),
)
_responses_content = texts | _blocks(
    _block("input_text", {"text": texts}),
    _block("input_image", {"image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}),
    _block("input_image", {"file_id": "file-1"}),
    _block("input_file", {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PNG}"}),
)
_anthropic_text = _block("text", {"text": texts}, _marker)
_picture = _block("image", {"source": {"type": "base64", "media_type": "image/png", "data": PNG}})
_anthropic_texts, _texts_and_pictures = _blocks(_anthropic_text), _blocks(_anthropic_text, _picture)
_document = texts.map(
    lambda text: {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}}
)
_pages = st.builds(
    lambda content, known: {"type": "document", "source": {"type": "content", "content": content}, **known},
    texts | st.lists(_anthropic_text | _picture, min_size=1, max_size=2),
    st.fixed_dictionaries({}, optional={"title": texts, "context": texts}),
)
_anthropic_content = texts | _blocks(
    _anthropic_text,
    _picture,
    _document,
    _pages,
    _block("image", {"source": {"type": "url", "url": "https://example.org/a.png"}}),
    _block("document", {"source": {"type": "base64", "media_type": "application/pdf", "data": PNG}}),
    _block("x_new", {"payload": values}),
)
_thoughts = _block("thinking", {"thinking": texts, "signature": "c2ln"}) | _block(
    "redacted_thinking", {"data": "cmVk"}
)
_server_tools = texts.map(
    lambda query: [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": query}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
    ]
)
_gemini_parts = st.lists(
    st.one_of(
        texts.map(lambda text: {"text": text}),
        st.just({"inlineData": {"mimeType": "image/png", "data": PNG}}),
        st.just({"inline_data": {"mime_type": "application/pdf", "data": PNG}}),
        st.just({"fileData": {"mimeType": "video/mp4", "fileUri": "gs://bucket/a.mp4"}}),
    ),
    min_size=1,
    max_size=3,
)
_plain_extras = {
    "id": texts,
    "name": names,
    "timestamp": st.floats(0, 2e9) | st.just("2025-01-31T09:30:00Z"),
    "metadata": objects,
}
_USERS: dict[Format, st.SearchStrategy[JSON]] = {
    "openai": _message("user", _openai_content, name=names),
    "plain": _message("user", texts, **_plain_extras),
    "responses": _message("user", _responses_content, type=st.just("message")),
    "anthropic": _message("user", _anthropic_content).map(
        lambda m: {"role": "user", "content": m["content"]}
    ),
    "gemini": st.builds(lambda parts: {"role": "user", "parts": parts}, _gemini_parts),
}
_reasoning = texts.map(
    lambda text: {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": text}],
        "encrypted_content": "ZW5j",
    }
)
_output_message = st.builds(
    lambda text, more: {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
        **more,
    },
    texts,
    _unknown,
)
_model_part = st.one_of(
    texts.map(lambda text: {"text": text}),
    texts.map(lambda text: {"text": text, "thoughtSignature": "c2ln"}),
    texts.map(lambda code: {"executableCode": {"language": "PYTHON", "code": code}}),
)
_model_thought = texts.map(lambda text: {"text": text, "thought": True})


def _one(message: st.SearchStrategy[JSON]) -> st.SearchStrategy[list[JSON]]:
    return message.map(lambda found: [found])


_ASSISTANTS: dict[Format, st.SearchStrategy[list[JSON]]] = {
    "openai": _one(
        _message(
            "assistant",
            texts | _openai_texts,
            reasoning_content=texts,
            reasoning_details=st.lists(_block("reasoning.text", {"text": texts}), max_size=2),
            refusal=st.none(),
        )
    ),
    "plain": _one(_message("assistant", texts, **_plain_extras)),
    "responses": st.builds(
        lambda thought, said: [*thought, said],
        st.lists(_reasoning, max_size=1),
        _output_message | _message("assistant", texts),
    )
    | st.just([{"type": "web_search_call", "id": "ws_1", "status": "completed"}]),
    "anthropic": st.builds(
        lambda thought, server, said: [{"role": "assistant", "content": [*thought, *server, *said]}],
        st.lists(_thoughts, max_size=2),
        st.just([]) | _server_tools,
        st.lists(_anthropic_text, min_size=1, max_size=2),
    )
    | _one(st.builds(lambda text: {"role": "assistant", "content": text}, texts)),
    "gemini": st.builds(
        lambda thought, parts: [{"role": "model", "parts": [*thought, *parts]}],
        st.lists(_model_thought, max_size=1),
        st.lists(_model_part, min_size=1, max_size=2),
    ),
}


_later = texts.map(lambda text: [{"role": "system", "content": text}])
_LATER: dict[Format, st.SearchStrategy[list[JSON]]] = {
    "openai": _later,
    "plain": _later,
    "anthropic": _later,
    "responses": _later | objects.map(lambda found: [{**found, "type": "x_settings"}]),
}
"""System messages in the middle of a conversation, and items that only their application knows."""


@st.composite
def _calls_drawn(draw: st.DrawFn, number: int) -> list[tuple[str, str, JSON, str]]:
    """Parallel calls: id, name, arguments, what the tool printed."""
    count = draw(st.integers(1, 3))
    return [(f"call_{number}_{at}", draw(names), draw(objects), draw(_outputs)) for at in range(count)]


@st.composite
def _openai_calls(draw: st.DrawFn, number: int) -> list[JSON]:
    calls = draw(_calls_drawn(number))
    asked = [
        {
            "id": key,
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
            **draw(_unknown),
        }
        for key, name, arguments, _ in calls
    ]
    if draw(_either):
        asked[0] = {
            "id": calls[0][0],
            "type": "custom",
            "custom": {"name": calls[0][1], "input": draw(texts)},
        }
    said = draw(texts) if draw(_either) else None
    results = [
        {"role": "tool", "tool_call_id": key, "content": draw(_openai_texts) if draw(_either) else output}
        for key, _, _, output in calls
    ]
    return [{"role": "assistant", "content": said, "tool_calls": asked}, *results]


@st.composite
def _plain_calls(draw: st.DrawFn, number: int) -> list[JSON]:
    """Results without ids are what makes plain histories plain."""
    said = {"role": "assistant", "content": draw(texts)}
    return [said, *({"role": "tool", "content": draw(texts), "name": draw(names)} for _ in range(number % 3))]


_screenshot = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}
_printed = _outputs.map(lambda text: [{"stdout": text, "stderr": "", "outcome": {"type": "timeout"}}])
_shaped_tools = st.tuples(st.just("shell"), st.just({"action": {"commands": ["ls"]}}), _printed) | st.just(
    ("computer", {"action": {"type": "screenshot"}}, _screenshot)
)
"""Kind, call and output of tools whose output is no text."""
_input_texts = _blocks(_block("input_text", {"text": texts}))


@st.composite
def _responses_calls(draw: st.DrawFn, number: int) -> list[JSON]:
    calls = draw(_calls_drawn(number))
    asked: list[JSON] = [
        {
            "type": "function_call",
            "call_id": key,
            "name": name,
            "arguments": json.dumps(arguments),
            **draw(_unknown),
        }
        for key, name, arguments, _ in calls
    ]
    outputs: list[JSON] = [
        {
            "type": "function_call_output",
            "call_id": key,
            "output": draw(_input_texts) if draw(_either) else output,
        }
        for key, _, _, output in calls
    ]
    if draw(_either):
        asked[0] = {
            "type": "custom_tool_call",
            "call_id": calls[0][0],
            "name": calls[0][1],
            "input": draw(texts),
        }
        outputs[0] = {"type": "custom_tool_call_output", "call_id": calls[0][0], "output": calls[0][3]}
    if len(calls) > 1:
        kind, did, output = draw(_shaped_tools)
        asked[1] = {"type": f"{kind}_call", "call_id": calls[1][0], **did}
        outputs[1] = {"type": f"{kind}_call_output", "call_id": calls[1][0], "output": output}
    return [*draw(st.lists(_reasoning, max_size=1)), *asked, *outputs]


@st.composite
def _anthropic_calls(draw: st.DrawFn, number: int) -> list[JSON]:
    calls = draw(_calls_drawn(number))
    asked = [
        {"type": "tool_use", "id": key, "name": name, "input": arguments} for key, name, arguments, _ in calls
    ]
    results: list[JSON] = [
        {
            "type": "tool_result",
            "tool_use_id": key,
            "content": draw(_texts_and_pictures) if draw(_either) else output,
            **({"is_error": True} if draw(_either) else {}),
        }
        for key, _, _, output in calls
    ]
    words = draw(_anthropic_texts) if draw(_either) else []
    before = draw(st.lists(_thoughts, max_size=1)) + draw(st.lists(_anthropic_text, max_size=1))
    return [
        {"role": "assistant", "content": [*before, *asked]},
        {"role": "user", "content": [*results, *words]},
    ]


_shown = {"inlineData": {"mimeType": "image/png", "data": PNG}}


@st.composite
def _gemini_calls(draw: st.DrawFn, number: int) -> list[JSON]:
    calls = draw(_calls_drawn(number))
    with_ids = draw(_either)
    asked = [
        {"functionCall": {**({"id": key} if with_ids else {}), "name": name, "args": arguments}}
        for key, name, arguments, _ in calls
    ]
    asked[0] |= {"thoughtSignature": "c2ln"} if draw(_either) else {}
    answered = [
        {
            "functionResponse": {
                **({"id": key} if with_ids else {}),
                "name": name,
                "response": draw(objects) if draw(_either) else {"output": output},
                **({"parts": [_shown]} if draw(_either) else {}),
            }
        }
        for key, name, _, output in calls
    ]
    role = draw(st.sampled_from(["user", "function"]))
    before = draw(st.lists(_model_thought, max_size=1)) + draw(st.lists(_model_part, max_size=1))
    return [{"role": "model", "parts": [*before, *asked]}, {"role": role, "parts": answered}]


_CALLS: dict[Format, Callable[[int], st.SearchStrategy[list[JSON]]]] = {
    "openai": _openai_calls,
    "plain": _plain_calls,
    "responses": _responses_calls,
    "anthropic": _anthropic_calls,
    "gemini": _gemini_calls,
}
