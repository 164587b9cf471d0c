"""What an address says: which protocol, which model, and where each kind of request goes."""

from __future__ import annotations

import pytest

from foveal.errors import ConfigError
from foveal.upstream import endpoint_at
from foveal.upstream.endpoint import address
from foveal.upstream.protocols import completion_request


@pytest.mark.parametrize(
    ("url", "protocol"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("http://localhost:11434/v1/chat/completions", "openai"),
        ("https://api.anthropic.com", "anthropic"),
        ("https://proxy.example/claude/v1/messages/", "anthropic"),
    ],
)
def test_the_address_determines_the_protocol(url: str, protocol: str) -> None:
    assert endpoint_at(url, "m").protocol == protocol


@pytest.mark.parametrize(
    ("url", "leaf", "whole"),
    [
        ("https://a.io/v1", "chat/completions", "https://a.io/v1/chat/completions"),
        ("https://a.io/v1/", "embeddings", "https://a.io/v1/embeddings"),
        ("https://a.io/v1/chat/completions", "chat/completions", "https://a.io/v1/chat/completions"),
        ("https://a.io/x?api-version=2", "embeddings", "https://a.io/x/embeddings?api-version=2"),
        ("https://api.anthropic.com", "messages", "https://api.anthropic.com/v1/messages"),
        ("https://a.io/v1/messages", "messages", "https://a.io/v1/messages"),
    ],
)
def test_a_base_and_a_whole_address_lead_to_the_same_place(url: str, leaf: str, whole: str) -> None:
    assert address(endpoint_at(url, "m"), leaf) == whole


def test_a_model_may_stand_behind_the_address() -> None:
    found = endpoint_at("https://a.io/v1#small")
    assert (found.url, found.model) == ("https://a.io/v1", "small")


def test_an_endpoint_without_a_model_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"the endpoint at a\.io has no model"):
        endpoint_at("https://a.io/v1")


@pytest.mark.parametrize(
    "url",
    ["", "a.io/v1", "ftp://a.io", "https://", "https://me:hunter2@a.io", "http://[::1", "http://a.io:x/"],
)
def test_an_invalid_address_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(ConfigError, match=rf"\({len(url)} characters\)") as failure:
        endpoint_at(url, "m")
    assert "hunter2" not in str(failure.value)


@pytest.mark.parametrize(
    ("url", "limit"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://me.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://evil-api.openai.com.example/v1", "max_tokens"),
        ("http://localhost:11434/v1", "max_tokens"),
    ],
)
def test_openai_itself_gets_the_limit_under_its_new_name(url: str, limit: str) -> None:
    request = completion_request(endpoint_at(url, "m"), "hello", system="", max_tokens=5, key="")
    assert f'"{limit}": 5'.encode() in request.body
