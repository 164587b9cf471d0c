"""Requests of real agents: each can be fitted, is valid afterwards, and is unchanged if it fits."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import foveal
from foveal import BudgetError, Foveal, wire
from foveal.model import MESSAGES_KEY, Format

BENCH = Path(os.environ.get("FOVEAL_BENCH") or Path(__file__).parents[3] / "shared" / "bench")
RECORDINGS = sorted((BENCH.parent / "instruments" / "recordings").glob("*.jsonl.gz"))
pytestmark = [
    pytest.mark.skipif(not RECORDINGS, reason="no recorded requests beside the folder in FOVEAL_BENCH"),
    pytest.mark.filterwarnings("ignore:model .* is not in the catalogue"),
    pytest.mark.parametrize("file", RECORDINGS, ids=lambda file: file.name.partition(".")[0]),
]


def requests(file: Path) -> Iterator[tuple[Format, str, dict[str, Any]]]:
    """Each request with messages: its format, model and body."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            body, path = record["body"], record["path"]
            if isinstance(body, dict) and (format := _format(body, path)):
                yield format, body.get("model") or path.rpartition("/")[2].partition(":")[0], body


def _format(body: dict[str, Any], path: str) -> Format | None:
    if "contents" in body or "input" in body:
        return "gemini" if "contents" in body else "responses"
    if "messages" not in body:
        return None
    return "anthropic" if path.startswith("/v1/messages") else "openai"


def test_a_request_that_fits_comes_back_identical(file: Path) -> None:
    for format, model, body in requests(file):
        window = foveal.fit(body, model=model, budget=2 * foveal.count_tokens(body, model=model))
        assert (window.format, window.request) == (format, body)
        assert wire.check(window.request, format) == []


def test_a_smaller_window_is_valid_unless_the_fixed_part_is_larger(file: Path) -> None:
    for format, model, body in requests(file):
        tokens = foveal.count_tokens(body, model=model)
        for share in (1.0, 0.5, 0.25):
            try:
                window = foveal.fit(body, model=model, budget=int(share * tokens))
            except BudgetError:
                assert _fixed(body, model) > 0.9 * share * tokens
                continue
            assert window.tokens <= share * tokens
            assert wire.check(window.request, format) == []


def _fixed(body: dict[str, Any], model: str) -> int:
    """Tokens of the request without the messages between its beginning and its last turn."""
    key = next(key for key in ("messages", "input", "contents") if key in body)
    messages = body[key]
    leading = next((at for at, m in enumerate(messages) if not _leads(m)), len(messages))
    return foveal.count_tokens({**body, key: [*messages[:leading], *messages[-3:]]}, model=model)


def _leads(message: dict[str, Any]) -> bool:
    return message.get("role") in ("system", "developer")


@pytest.mark.filterwarnings("ignore:the budget of")
def test_a_session_that_is_sent_every_request_returns_the_latest_as_it_came(file: Path) -> None:
    for format, model, body in requests(file):
        with Foveal(":memory:") as fov:
            session = fov.session("agent", model=model)
            session.sync(body)
            window = session.build(budget=1_000_000, preset="recent")
            expected = body[MESSAGES_KEY[format]]
            assert (window.messages, session.format in (format, "plain")) == (expected, True)
