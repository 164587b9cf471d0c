"""Read messages: what an SDK or a client passes, what the store kept, and what a provider will read.

Every message is parsed, checked and addressed. The first one that cannot be stored or sent raises an error
with its index; nothing is read partially.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from foveal.errors import InputError, StoreDamagedError
from foveal.model import SYSTEM_KEYS, Conversation, Format, Message, Role, placed
from foveal.wire.detect import detect, is_guess
from foveal.wire.dump import dump
from foveal.wire.formats.codec import JSON, Codec, without
from foveal.wire.formats.registry import codec_of
from foveal.wire.jsontext import address, compact, encoded, plain, sealed, sendable, to_json

_REMEDY = "pass a list of messages, or a request body with `messages`, `input` or `contents`"


def load(data: Any, *, format: Format | None = None, model: str = "") -> Conversation:
    """Read a message list or a whole request body, of dicts, SDK objects or both.

    >>> conversation = load([{"role": "user", "content": "hello"}])
    >>> conversation.format, conversation.messages[0].text
    ('openai', 'hello')
    """
    if format is not None:
        codec_of(format)
    items, body = _opened(data)
    codec = codec_of(format or detect(items, body, model))
    found = _conversation(items, body, codec)
    return replace(found, guessed=format is None and is_guess(items, body))


def message_of(item: Any, format: Format, *, where: str = "message 0") -> Message:
    """Read one wire message."""
    return _message(plain(item, where), codec_of(format), where)


def unaddressed(item: Any, format: Format, *, where: str) -> Message:
    """Read one message that a client passes, of plain JSON values, without its address, to count it."""
    return _checked(item, codec_of(format), where, addressed=False)


def reread(body: str, format: Format, role: Role, *, digest: str) -> Message:
    """Read a stored message again; a system prompt from outside the messages is recognized by its shape.

    Raises `StoreDamagedError` for a body that is not the one with this digest; no digest fits every body.
    """
    try:
        value, codec = json.loads(body), codec_of(format)
        if role == "system" and codec.read_system is not None and _is_outside(value, format):
            found = _prompt(value, codec, "a stored system prompt", body=body, digest=address(body))
        else:
            found = message_of(value, format, where="a stored message")
    except (ValueError, RecursionError, InputError) as error:
        raise _changed(digest) from error
    if digest and found.digest != digest:
        raise _changed(digest)
    return found


def original(body: str, digest: str) -> Any:
    """The JSON value of a stored message, as it was passed.

    Raises `StoreDamagedError` for a body that is not the one with this digest.
    """
    try:
        value, found = json.loads(body), address(body)
    except (ValueError, RecursionError) as error:
        raise _changed(digest) from error
    if found != digest:
        raise _changed(digest)
    return value


def _changed(digest: str) -> StoreDamagedError:
    return StoreDamagedError(
        f"the store is damaged: the content {digest[:20]} is not what was stored",
        remedy="run `foveal verify` to see what is damaged, and restore a copy made with `foveal backup`",
    )


def _is_outside(value: Any, format: Format) -> bool:
    """Whether it is a system prompt from outside the messages; Gemini's may have the role user."""
    if not isinstance(value, dict):
        return True
    if format == "gemini":
        return bool(value.get("role", "user") == "user")
    return value.keys().isdisjoint({"role", "type"})


def rendered(messages: Sequence[Message], format: Format) -> tuple[Message, ...]:
    """The messages as a provider reads them after `dump` wrote them in `format`, for exact token counts.

    Messages that are all in that format are returned as they are. Of others only role and parts matter, and
    there may be fewer or more of them.
    """
    if all(message.format == format and (message.body or not message.in_place) for message in messages):
        return tuple(messages)
    dumped = dump(messages, format)
    system = [reread(dumped.system, format, "system", digest="")] if dumped.system else []
    return (*system, *(message_of(json.loads(piece), format) for piece in dumped.pieces))


def _opened(data: Any) -> tuple[list[Any], JSON | None]:
    """The messages, and the request body around them if there was one, as plain JSON values."""
    if isinstance(data, list | tuple | Iterator):
        return [plain(item, f"messages[{index}]") for index, item in enumerate(data)], None
    body = _body(data)
    if key := _key(body):
        return _items(body[key], key), body
    if "role" in body or "parts" in body or "type" in body:
        return [body], None
    raise InputError(f"an object without messages; its keys are {_key_list(body)}", _REMEDY, field="messages")


def _key(body: JSON) -> str:
    """The key under which a request body has its messages; empty for a single message."""
    if "role" in body or "type" in body:
        return ""
    return next((key for key in ("contents", "input", "messages") if key in body), "")


def _body(data: Any) -> JSON:
    if isinstance(data, str | bytes):
        raise InputError(
            f"messages are {type(data).__name__} of {len(data):,}, not a list", _REMEDY, field="messages"
        )
    key = _key(data) if isinstance(data, dict) else ""
    if key and isinstance(data[key], list | tuple):
        # Item by item, so that an error is reported with its index.
        items = [plain(item, f"{key}[{index}]") for index, item in enumerate(data[key])]
        return {k: items if k == key else plain(v, f"request: `{k}`") for k, v in data.items()}
    body = plain(data, "request")
    if not isinstance(body, dict):
        raise InputError(f"messages are of type {type(data).__name__}, not a list", _REMEDY, field="messages")
    return body


def _items(value: Any, key: str) -> list[Any]:
    """The list of messages; `input` and `contents` may also be a text or a single content."""
    match value:
        case list():
            return value
        case str() if key == "contents":
            return [{"role": "user", "parts": [{"text": value}]}]
        case str() if key == "input":
            return [{"role": "user", "content": value}]
        case dict() if key == "contents":
            return [value]
        case _:
            raise InputError(f"`{key}` is of type {type(value).__name__}, not a list", _REMEDY, field=key)


def _conversation(items: list[Any], body: JSON | None, codec: Codec) -> Conversation:
    if body is None:
        return Conversation(format=codec.format, messages=_messages(items, codec))
    system = [_system(body[key], key, codec) for key in body if key in SYSTEM_KEYS and body[key]]
    # An empty system prompt or tool list stays in the envelope: it is neither a message nor a tool.
    taken = {_key(body), *(key for key in (*SYSTEM_KEYS, "tools") if body.get(key))}
    envelope = {key: None if key in taken else value for key, value in body.items()}
    return Conversation(
        format=codec.format,
        messages=(*system, *_messages(items, codec)),
        tools=to_json(body["tools"], "request: `tools`") if body.get("tools") else "",
        envelope=to_json(envelope, "request"),
    )


def _system(value: Any, key: str, codec: Codec) -> Message:
    where = f"request: `{key}`"
    if codec.read_system is None:
        raise InputError(
            f"{where} is outside the messages, which {codec.format} does not support",
            remedy="make it the first of `messages` with the role system, or pass `format`",
            field=key,
        )
    body, digest = sealed(value, where)
    return _prompt(value, codec, where, body=body, digest=digest)


def _prompt(value: Any, codec: Codec, where: str, *, body: str, digest: str) -> Message:
    """A system prompt from outside the messages."""
    assert codec.read_system is not None
    shown, replaced = sendable(value, body)
    return Message(
        role="system",
        parts=codec.read_system(shown, where),
        format=codec.format,
        body=body,
        digest=digest,
        flaw=_replaced(replaced),
        outside=True,
    )


def _messages(items: list[Any], codec: Codec) -> tuple[Message, ...]:
    found = [_checked(item, codec, f"messages[{index}]") for index, item in enumerate(items)]
    begun = next((at for at, message in enumerate(found) if message.role != "system"), len(found))
    return (*found[:begun], *(placed(message, begun=True) for message in found[begun:]))


def _checked(item: Any, codec: Codec, where: str, *, addressed: bool = True) -> Message:
    """Read a message that a client passes, which has to meet more than a stored one."""
    message = _message(item, codec, where, addressed=addressed)
    if not isinstance(item.get("private"), bool | None):
        raise InputError(
            f"{where}: `private` is neither true nor false",
            remedy="make `private` true or false, or omit it",
            field="private",
        )
    if codec.check:
        codec.check(item, where)
    return message


def _message(item: Any, codec: Codec, where: str, *, addressed: bool = True) -> Message:
    if not isinstance(item, dict):
        raise InputError(
            f"{where} is of type {type(item).__name__}, not an object",
            remedy="give each message a role and a content",
            field="messages",
        )
    body, digest = sealed(item, where) if addressed else (encoded(item, where), "")
    shown, replaced = sendable(item, body)
    if codec.format != "plain":  # no part of a provider's message, so nothing is written with it
        shown = without(shown, "private")
    by_model = shown.get("role") == "model" and "parts" not in shown
    found = codec.read({**shown, "role": "assistant"} if by_model else shown, where)
    named = "the role is `model`, not `assistant`" if by_model else ""
    return Message(
        role=found.role,
        parts=found.parts,
        format=codec.format,
        body=body,
        digest=digest,
        extra=compact(found.extra) if found.extra else "",
        rest=found.rest,
        flaw="; ".join(filter(None, (found.flaw, named, _replaced(replaced)))),
        pinned=found.pinned,
        id=found.id,
        author=found.author,
        created_at=found.created_at,
        priority=found.priority,
        private=item.get("private") is True,
        metadata=found.metadata,
    )


def _replaced(characters: int) -> str:
    return f"NUL characters or lone surrogates, shown as U+FFFD: {characters:,}" if characters else ""


def _key_list(body: JSON) -> str:
    return ", ".join(f"`{key}`" for key in list(body)[:8]) or "none"
