"""A history in → its messages as items and its turns as units, for presets that look at every one.

Texts are read once and remembered; nothing is counted again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from foveal.model import Chunk, Entry, Message
from foveal.pipeline.history import History
from foveal.pipeline.kinds import kind_of
from foveal.pipeline.values import Item, Scene, Score, Unit

Scorer = Callable[[Sequence[Item], Scene], Sequence[Score]]


def items(history: History) -> dict[int, tuple[Item, ...]]:
    """The items of every turn that may be in a window, in order."""
    found = {
        turn: history.remembered(turn, _items)
        for turn in range(len(history))
        if not history.absence(turn) and history.chunk(turn).messages
    }
    newest = next((t for t in reversed(found) if any(i.role == "user" for i in found[t])), None)
    if newest is not None:
        found[newest] = tuple(map(_asked, found[newest]))
    return found


def _items(history: History, turn: int) -> tuple[Item, ...]:
    first, last = history.span(turn)
    if text := history.stand_in(turn):
        tokens = history.chunk(turn).tokens
        summary = Item(
            index=last,
            id=history.entries[last].id,
            role="user",
            kind="rag_memory_commit",
            text=text,
            tokens=tokens,
            timestamp=history.entries[last].created_at,
            metadata={"layer": "L6_message_history"},  # it stands for talk, not for something retrieved
        )
        return (summary,)
    pairs = zip(history.entries[first : last + 1], history.read(first, last + 1), strict=True)
    return tuple(_item(entry, message) for entry, message in pairs)


def _item(entry: Entry, message: Message) -> Item:
    calls = bool(message.calls)
    return Item(
        index=entry.seq,
        id=entry.id,
        role=entry.role,
        kind=entry.kind or kind_of(entry.role, tool_call=calls, newest_user=False),
        text=message.text,
        tokens=entry.tokens,
        timestamp=entry.created_at,
        pinned=entry.pinned,
        important=entry.important,
        level=entry.level,
        priority=entry.priority,
        tool=calls or bool(message.results),
        metadata=json.loads(entry.metadata) if entry.metadata else {},
    )


def _asked(item: Item) -> Item:
    """The newest user message is what the model is asked now, unless it was given a kind of its own."""
    return replace(item, kind="current_user_prompt") if item.kind == "chat_history_user" else item


def units(
    history: History,
    forced: Mapping[int, str],
    scores: Mapping[int, Score],
    *,
    turns: Mapping[int, tuple[Item, ...]],
    slot_of: Callable[[Item], str],
) -> list[Unit]:
    """Every turn with the score of its best message and its tokens by slot."""
    return [
        Unit(
            turn=turn,
            items=found,
            tokens=_cost(history, history.chunk(turn)),
            score=max((scores[item.index] for item in found), key=lambda score: score.total),
            by_slot=_by_slot(found, history.chunk(turn).tokens, slot_of),
            forced=forced.get(turn, ""),
        )
        for turn, found in turns.items()
    ]


def _cost(history: History, chunk: Chunk) -> int:
    """A turn that calls tools may need a note before it, depending on its neighbour: reckon with it."""
    noted = history.frame.rules.calls_follow_input and bool(chunk.messages[0].calls)
    return chunk.tokens + history.note_tokens * noted


def _by_slot(found: Sequence[Item], tokens: int, slot_of: Callable[[Item], str]) -> dict[str, int]:
    """Message by message; what a repair added or took is the last one's."""
    charged: dict[str, int] = {}
    left = tokens
    for item in found[:-1]:
        part = min(item.tokens, left)
        charged[slot_of(item)] = charged.get(slot_of(item), 0) + part
        left -= part
    last = slot_of(found[-1])
    return charged | {last: charged.get(last, 0) + left}
