"""Exports of ChatGPT and Claude.ai: many conversations in one file, each a tree."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foveal import wire
from foveal.errors import InputError
from foveal.wire.transcripts import Transcript, read_text


def node(
    id: str,
    role: str,
    content: Any,
    *,
    parent: str | None = None,
    children: tuple[str, ...] = (),
    **more: Any,
) -> dict[str, Any]:
    """A node of ChatGPT's tree; a text is content of the type text."""
    given = {"content_type": "text", "parts": [content]} if isinstance(content, str) else content
    author = {"role": role, "name": more.pop("name", None), "metadata": {}}
    message = {"id": id, "author": author, "create_time": 1_700_000_000.5, "content": given, "metadata": {}}
    return {"id": id, "message": {**message, **more}, "parent": parent, "children": list(children)}


def chat(*nodes: dict[str, Any], newest: str | None = None, **more: Any) -> dict[str, Any]:
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": [nodes[0]["id"]]}}
    mapping |= {each["id"]: each for each in nodes}
    named = {"title": "Ports", "conversation_id": "c-1", "current_node": newest or nodes[-1]["id"]}
    return {**named, "mapping": mapping, **more}


def chain(*nodes: dict[str, Any]) -> dict[str, Any]:
    """A conversation without branches."""
    parents = ["root", *(each["id"] for each in nodes)]
    return chat(*({**each, "parent": parent} for each, parent in zip(nodes, parents, strict=False)))


def read(*conversations: Any) -> tuple[Transcript, ...]:
    return read_text(json.dumps([*conversations]))


def bodies(*conversations: Any) -> list[Any]:
    (found,) = read(*conversations)
    return [json.loads(message.body) for message in found.conversation.messages]


def test_every_conversation_of_an_export_has_its_title_id_and_model() -> None:
    answer = node("a", "assistant", "8080", metadata={"model_slug": "gpt-4o"})
    one, two = read(chain(node("q", "user", "port?"), answer), chat(node("x", "user", "hi"), title="Hi"))
    assert (one.title, one.id, one.conversation.model) == ("Ports", "c-1", "gpt-4o")
    assert (two.title, [message.text for message in two.conversation.messages]) == ("Hi", ["hi"])
    assert one.conversation.messages[0].created_at == 1_700_000_000.5


def test_the_conversation_is_the_path_to_the_current_node() -> None:
    nodes = (
        node("q", "user", "port?", parent="root", children=("a1", "a2")),
        node("a1", "assistant", "8080", parent="q"),
        node("a2", "assistant", "8081", parent="q"),
    )
    assert [body["content"] for body in bodies(chat(*nodes, newest="a1"))] == ["port?", "8080"]
    assert [body["content"] for body in bodies(chat(*nodes, newest="a2"))] == ["port?", "8081"]
    assert len(bodies(chat(*nodes, newest="lost"))) == 2


def test_what_chatgpt_hides_stays_out() -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    thoughts = {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}
    found = bodies(
        chain(
            node("s", "system", ""),
            node("h", "system", "hidden", metadata=hidden),
            node("q", "user", "port?"),
            node("t", "assistant", thoughts),
            node("a", "assistant", "8080"),
        )
    )
    assert found == [{"role": "user", "content": "port?"}, {"role": "assistant", "content": "8080"}]


def test_a_call_of_a_tool_has_its_results() -> None:
    code = {"content_type": "code", "language": "python", "text": "1+1"}
    out = {"content_type": "execution_output", "text": "2"}
    (found,) = read(
        chain(
            node("q", "user", "sum?"),
            node("c", "assistant", code, recipient="python"),
            node("r", "tool", out, name="python"),
            node("e", "tool", out, name="python"),
            node("a", "assistant", "It is 2."),
            node("t", "user", "Thanks."),
        )
    )
    call, result = (json.loads(message.body) for message in found.conversation.messages[1:3])
    assert call["tool_calls"][0]["function"] == {"name": "python", "arguments": '{"input":"1+1"}'}
    assert (result["content"], result["tool_call_id"]) == ("2\n2", call["tool_calls"][0]["id"])
    request = {"messages": [json.loads(message.body) for message in found.conversation.messages]}
    assert not wire.check(request, "openai")


def test_images_are_named_and_other_contents_keep_their_text() -> None:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"}
    quote = {"content_type": "tether_quote", "title": "T", "url": "https://x.test", "text": "words"}
    many = {"content_type": "multimodal_text", "parts": [image, "What is this?"]}
    found = bodies(chain(node("q", "user", many), node("w", "user", quote), node("n", "user", {"new": 1})))
    assert [body["content"] for body in found] == [
        "[image: file-service://file-1]\nWhat is this?",
        "T\nhttps://x.test\nwords",
    ]


def test_a_path_in_a_circle_ends() -> None:
    one, two = node("1", "user", "one", parent="2"), node("2", "user", "two", parent="1")
    assert [body["content"] for body in bodies(chat(one, two))] == ["one", "two"]


@pytest.mark.parametrize(
    "message", [5, [], {}, {"author": 5}, {"author": {"role": "user"}, "content": None}, {"author": {}}]
)
def test_messages_that_cannot_be_read_are_skipped(message: Any) -> None:
    good = node("q", "user", "port?", parent="bad")
    bad = {"id": "bad", "message": message, "parent": "root", "children": ["q"]}
    (found,) = read(chat(bad, good))
    assert [each.text for each in found.conversation.messages] == ["port?"]
    assert [each.where for each in found.skipped] == ["message bad"]


def test_an_export_without_a_message_is_an_error() -> None:
    with pytest.raises(InputError, match="input has no messages"):
        read(chat(node("s", "system", "")))


def test_a_claude_export_has_calls_results_and_attachments() -> None:
    use = {"type": "tool_use", "id": "t", "name": "search", "input": {"q": "port"}}
    used = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "8080"}]}
    blocks = [{"type": "thinking", "thinking": "hm"}, use, used, {"type": "text", "text": "It is 8080."}]
    when = "2025-01-31T09:30:00Z"
    file = {"file_name": "a.txt", "extracted_content": "port = 8080"}
    (found,) = read(
        {
            "uuid": "u-1",
            "name": "Ports",
            "chat_messages": [
                {"sender": "human", "text": "port?", "created_at": when, "attachments": [file]},
                {"sender": "assistant", "text": "", "content": blocks, "created_at": when},
                {"sender": "robot"},
            ],
        }
    )
    assert (found.title, found.id, found.skipped[0].where) == ("Ports", "u-1", "chat_messages[2]")
    messages = [json.loads(message.body) for message in found.conversation.messages]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"]
    assert messages[0]["content"][1]["text"] == "a.txt:\nport = 8080"
    assert messages[2]["content"][0]["content"] == "8080"
