"""NUL characters and lone surrogates anywhere in a message: kept as they came, replaced where sent."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal import wire
from foveal.model import Format
from foveal.wire.jsontext import sendable
from strategies import FORMATS, histories

BAD = ["\0", "\ud800", "\udc80", "a\0b", "\\\0", "\\u0000\0", "é\udfff\0"]
"""Unsendable characters alone, in a text, and next to backslashes and the spelling of a NUL."""
some = settings(max_examples=max(1, settings().max_examples // 2))


def in_every_text(value: Any, change: Callable[[str], str], *, names: frozenset[str] = frozenset()) -> Any:
    """The value with every text in it changed, apart from those under the given names."""
    match value:
        case str():
            return change(value)
        case list():
            return [in_every_text(item, change, names=names) for item in value]
        case dict():
            return {k: v if k in names else in_every_text(v, change, names=names) for k, v in value.items()}
        case _:
            return value


def unsendable(text: str) -> bool:
    return any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text)


def texts(value: Any) -> list[str]:
    found: list[str] = []
    in_every_text(value, lambda text: found.append(text) or text)  # type: ignore[func-returns-value]
    return found


@pytest.mark.parametrize("format", FORMATS)
@some
@given(data=st.data())
def test_every_text_of_a_message_may_have_unsendable_characters(format: Format, data: st.DataObject) -> None:
    bad = data.draw(st.sampled_from(BAD))
    # These decide what a block is; the others are free.
    fixed = frozenset({"type", "role", "timestamp", "url", "image_url"})
    history = in_every_text(data.draw(histories(format)), lambda text: f"{text}{bad}", names=fixed)
    found = wire.load(history, format=format)
    for given_, message in zip(history, found.messages, strict=True):
        assert json.loads(message.body) == given_
        assert message.body.encode()
        assert message.digest == wire.address(message.body)
        assert not unsendable(message.text)
        assert ("U+FFFD" in message.flaw) is any(map(unsendable, texts(given_)))
        again = wire.reread(message.body, format, message.role, digest=message.digest)
        assert (again.parts, again.flaw) == (message.parts, message.flaw)


@pytest.mark.parametrize("bad", BAD)
def test_the_replacement_character_is_in_place(bad: str) -> None:
    shown, replaced = sendable({"text": f"before{bad}after", f"key{bad}": [bad]})
    expected = "".join("\ufffd" if unsendable(character) else character for character in bad)
    assert shown == {"text": f"before{expected}after", f"key{expected}": [expected]}
    assert replaced == 3 * sum(map(unsendable, bad))


def test_the_spelling_of_a_nul_in_a_text_is_a_text() -> None:
    (message,) = wire.load([{"role": "user", "content": r"printf '\u0000' \ud800"}]).messages
    assert (message.text, message.flaw) == (r"printf '\u0000' \ud800", "")


def test_two_surrogates_that_form_a_character_are_that_character() -> None:
    (message,) = wire.load([{"role": "user", "content": "\ud83d\ude00"}]).messages
    assert (message.text, message.flaw) == ("\U0001f600", "")


def test_tools_and_the_rest_of_a_request_are_sendable() -> None:
    body = {"messages": [{"role": "user", "content": "x"}], "tools": [{"name": "f\0"}], "user": "\ud800"}
    found = wire.load(body)
    assert (json.loads(found.tools), json.loads(found.envelope)["user"]) == ([{"name": "f\ufffd"}], "\ufffd")


def test_arguments_that_become_an_object_are_sendable() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": r'{"a":"\u0000\ud800"}'}}
    found = wire.load([{"role": "assistant", "content": None, "tool_calls": [call]}]).messages
    assert found[0].flaw == ""
    assert json.loads(wire.dump(found, "anthropic").pieces[0])["content"][0]["input"] == {"a": "\ufffd\ufffd"}


@pytest.mark.parametrize("text", ["\\", "\0", "\\\0", "\ud800", "\\u0000", "\n\0"])
def test_replacing_takes_linear_time(text: str) -> None:
    def seconds(length: int) -> float:
        began = time.process_time()
        sendable({"text": text * length + "\0"})
        return time.process_time() - began

    seconds(1_000)
    assert seconds(200_000) < 40 * seconds(20_000) + 0.1
