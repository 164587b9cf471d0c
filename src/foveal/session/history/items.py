"""List what windows may show of a history, without reading any text: no level or slot depends on it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from foveal.model import Entry
from foveal.pipeline.history import History
from foveal.pipeline.kinds import kind_of
from foveal.pipeline.values import Item


def items_without_text(history: History) -> Iterator[Item]:
    """One item for each message that windows may show, and for each note in place of messages."""
    for entry in history.entries:
        if entry.stand_in:
            tokens = history.chunk(history.turn_of(entry.seq)).tokens
            yield Item(
                index=entry.seq, id=entry.id, role="user", kind="rag_memory_commit", text="", tokens=tokens
            )
        elif not entry.absence:
            yield _item(entry)


def tokens_shown(history: History, framing: int) -> int:
    """Tokens of a request with everything that windows may show of a history; 0 if that is nothing."""
    tokens = sum(item.tokens for item in items_without_text(history))
    return framing + tokens if tokens else 0


def _item(entry: Entry) -> Item:
    return Item(
        index=entry.seq,
        id=entry.id,
        role=entry.role,
        kind=entry.kind or kind_of(entry.role, tool_call=bool(entry.calls), newest_user=False),
        text="",
        tokens=entry.tokens,
        timestamp=entry.aged_from,
        pinned=entry.pinned,
        level=entry.level,
        metadata=json.loads(entry.metadata) if entry.metadata else {},
    )
