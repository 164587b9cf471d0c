"""Which embedder a setting names."""

from __future__ import annotations

import subprocess
import sys

import pytest

from foveal.errors import ConfigError
from foveal.search.embed import embedder_named


def test_nothing_said_is_the_table() -> None:
    embedder = embedder_named("")
    assert embedder is not None
    assert (embedder.name, embedder.dimensions) == ("wordllama-256-lower", 256)


def test_none_means_no_vectors() -> None:
    assert embedder_named("none") is None


def test_a_url_is_asked_through_what_the_caller_gives() -> None:
    embedder = embedder_named("https://far.example/v1", lambda texts: [[2.0] for _ in texts])
    assert embedder is not None
    assert embedder.embed(["a"]).tolist() == [[1.0]]


def test_an_endpoint_without_a_client_is_an_error_with_a_remedy() -> None:
    with pytest.raises(ConfigError, match="cannot be called from here") as failure:
        embedder_named("https://far.example/v1")
    assert "`foveal[llm]`" in failure.value.remedy


def test_anything_else_is_a_folder_and_must_be_there() -> None:
    with pytest.raises(ConfigError, match="there is no such folder") as failure:
        embedder_named("/no/such/model")
    assert "`model.safetensors`" in failure.value.remedy


def test_choosing_loads_nothing_heavy() -> None:
    code = "import sys; from foveal.search import embed; embed.embedder_named('none'); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"numpy", "tokenizers"}.isdisjoint(modules.stdout.split())
