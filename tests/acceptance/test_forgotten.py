"""Of a forgotten message, no string is left: in the file, its log, a backup, an export, or the events."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import SOAK
from distinctive import FORMATS, JSON, Tokens, left_in, shapes, tokens_in
from foveal import Foveal, Session
from foveal.errors import FovealError
from foveal.model import Format

PRESETS = ("foveal", "recent", "penguin", "reploid", "omar", "openscroll", "fifth")
MODELS = {"anthropic": "claude-sonnet-4-5", "gemini": "gemini-2.5-pro"}
BATCHES, EACH, IDLE = (40, 50, 60) if SOAK else (1, 5, 12)
"""Stores, messages of each format in each (10,000 or a sample), and how often nothing is done after one."""
Shapes = list[tuple[Session, list[JSON], tuple[str, ...]]]


def used(session: Session, format: Format, tokens: Tokens) -> Shapes:
    """A session with messages of many shapes, after everything that can be done with one."""
    first: JSON = {"role": "user", "parts": [{"text": "Begin"}]} if format == "gemini" else {
        "role": "user", "content": "Begin"
    }  # fmt: skip
    session.extend([first], format=format)
    stored: Shapes = []
    while sum(len(messages) for _, messages, _ in stored) < EACH:
        messages = shapes(format, tokens)
        with suppress(FovealError):
            stored.append((session, messages, session.extend(messages, format=format)))
        with suppress(FovealError):
            tokens.random.choice(_uses(session, stored, tokens))()
    for preset in PRESETS:
        for budget in (500, 4_000):
            with suppress(FovealError):
                session.build(budget=budget, preset=preset, task="go on")
    session.records()
    _branch(session, format)
    return stored


def _uses(session: Session, stored: Shapes, tokens: Tokens) -> list[Callable[[], object]]:
    random = tokens.random
    return [
        *(lambda: None for _ in range(IDLE)),
        *(
            lambda: session.build(budget=random.choice((600, 3_000)), preset=random.choice(PRESETS))
            for _ in "ab"
        ),
        lambda: session.build(budget=3_000, tools=session.tools(), task=tokens.sentence()),
        lambda: session.start_task("the work"),
        session.complete_task,
        lambda: session.compress(2_000),
        lambda: session.prune(4_000),
        lambda: session.summarize(5),
        lambda: session.pin(stored[-1][2][0]),
        lambda: session.search(tokens.text()),
        lambda: session.focus(tokens.text(), budget=2_000),
        lambda: session.compare(budget=3_000),
    ]


def _branch(session: Session, format: Format) -> None:
    """Continue as a client does that removed some of its latest messages."""
    history = session.export()
    with suppress(FovealError):
        session.sync([*history[:-4], *history[-2:]], format=format)
        session.build(budget=3_000)


def forget(stored: Shapes, tokens: Tokens, which: str) -> set[str]:
    """Forget all messages, some, or the first of each shape; returns the tokens that no other message has."""
    gone: list[JSON] = []
    kept: list[JSON] = []
    for session, messages, ids in stored:
        spared = which == "some" and tokens.random.random() < 0.5
        for number, (id, message) in enumerate(zip(ids, messages, strict=True)):
            if spared or (which == "first" and number):
                kept.append(message)
                continue
            gone.append(message)
            with suppress(FovealError):  # its copy elsewhere was forgotten, and this with it
                session.forget(id)
    return tokens_in(gone) - tokens_in(kept)


@pytest.mark.soak
@pytest.mark.parametrize("which", ["all", "some", "first"])
@pytest.mark.parametrize("batch", range(BATCHES))
def test_no_string_of_a_forgotten_message_is_left(batch: int, which: str, tmp_path: Path) -> None:
    tokens = Tokens(batch)
    with Foveal(tmp_path / "store.db") as fov:
        sessions = [(fov.session(each, model=MODELS.get(each, "gpt-5")), each) for each in FORMATS]
        stored = [shape for session, format in sessions for shape in used(session, format, tokens)]
        fov.profile()
        fov.settle(30)
        with fov._store.transaction():
            forgotten = forget(stored[:-2], tokens, which)
        forgotten |= forget(stored[-2:], tokens, which)
        assert fov.settle(30)
        assert len(forgotten) > EACH
        windows = []
        for session, _ in sessions:
            for preset in PRESETS:
                with suppress(FovealError):
                    windows.append(session.build(budget=4_000, preset=preset).messages)
        fov.backup(tmp_path / "backup.db")
        told = [event.payload for event in fov._store.events(limit=10**6)]
        shown = [*windows, *(session.export() for session, _ in sessions), told]
        assert not left_in(json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace"), forgotten)
        for file in tmp_path.iterdir():
            assert not left_in(file.read_bytes(), forgotten), file.name


@pytest.mark.parametrize("place", ["repairs", "events", "tombstones", "the file"])
def test_no_name_or_id_of_a_forgotten_call_is_left(place: str, tmp_path: Path) -> None:
    call = {"id": "id-xyzzy", "type": "function", "function": {"name": "xyzzy.ls", "arguments": "{}"}}
    results = [{"role": "tool", "tool_call_id": id, "content": "a"} for id in ("id-xyzzy", "orphan-xyzzy")]
    with Foveal(tmp_path / "store.db", embedder="none") as fov:
        session = fov.session("work", model="gpt-5")
        session.add("user", "hello")
        called: JSON = {"role": "assistant", "content": None, "tool_calls": [call, call]}
        ids = session.extend([called, *results])
        session.build(budget=2_000)
        for id in ids:
            session.forget(id)
        assert fov.settle(30)
        left: dict[str, object] = {
            "repairs": session.manifest().repairs,
            "events": [event.payload for event in fov._store.events(limit=10**6)],
            "tombstones": [(entry.calls, entry.answers) for entry in session.entries()],
            "the file": [file.read_bytes() for file in tmp_path.iterdir()],
        }
        assert "xyzzy" not in repr(left[place])
