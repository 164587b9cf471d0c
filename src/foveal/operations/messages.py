"""Read a plain list of messages as counted, typed turns that the presets can score and select.

The messages may be in any provider's format, as dicts or SDK objects. Each text is counted once per process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import Field

from foveal import catalog, wire
from foveal.errors import InputError
from foveal.model import Format, Kind, Message, Role
from foveal.operations.registry import Shape
from foveal.pipeline.kinds import kind_of
from foveal.pipeline.tokens.count import Meter, tokenizer
from foveal.pipeline.turns import Links, Turns, links
from foveal.pipeline.values import Item
from foveal.window import Score

USER_KINDS: frozenset[Kind | None] = frozenset({None, "current_user_prompt", "chat_history_user"})
"""Kinds of the user's own messages; retrieved material in a user's message has another kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A history whose messages are counted and grouped into turns."""

    format: Format
    messages: tuple[Message, ...]
    items: tuple[Item, ...]
    turns: tuple[range, ...]
    """The positions of each turn's messages."""
    framing: int
    """Tokens of a request before its first message."""
    limit: int
    """The model's context limit."""

    @property
    def tokens(self) -> int:
        return self.framing + sum(item.tokens for item in self.items)


def counted(history: Sequence[Any], model: str | None = None) -> Counted:
    """Read, count and group the messages of a list."""
    if not isinstance(history, list | tuple):
        raise InputError(
            f"the history is a {type(history).__name__}, not a list of messages",
            remedy="pass the list that the provider's SDK takes",
        )
    given = wire.load(history, model=model or "")
    card = catalog.find(model or "")
    costs = meter(card.tokenizer, given.format, card.images)
    ties = [links(message) for message in given.messages]
    return Counted(
        format=given.format,
        messages=given.messages,
        items=tuple(_items(given.messages, ties, costs)),
        turns=_turns(ties, runs=wire.rules(given.format).item_per_part),
        framing=costs.request,
        limit=card.context,
    )


@lru_cache(maxsize=32)
def meter(counter: str, format: Format, images: str) -> Meter:
    """One meter for each way of counting, so that a text is counted once per process."""
    return Meter(tokenizer(counter), wire.framing(format), images=images)


def text_counter() -> Callable[[str], int]:
    """How operations count a text whose model is not named."""
    return meter(catalog.find("").tokenizer, "plain", "").text


def newest_user(messages: Iterable[tuple[Role, Kind | None]]) -> int:
    """The position of the user's newest message, by role and kind; -1 if there is none.

    >>> newest_user([("user", None), ("user", "rag_document_chunk")])
    0
    """
    own = (at for at, (role, kind) in enumerate(messages) if role == "user" and kind in USER_KINDS)
    return max(own, default=-1)


def _items(messages: Sequence[Message], ties: Sequence[Links], meter: Meter) -> Iterator[Item]:
    newest = newest_user((message.role, message.kind) for message in messages)
    for at, (message, link) in enumerate(zip(messages, ties, strict=True)):
        yield Item(
            index=at,
            id=message.id or f"m{at + 1}",
            role=message.role,
            kind=message.kind
            or kind_of(message.role, tool_call=bool(message.calls), newest_user=at == newest),
            text=message.text,
            tokens=meter.message(message),
            timestamp=message.created_at,
            tool=bool(message.calls or link.answers),
            metadata=message.metadata,
        )


def _turns(ties: Sequence[Links], *, runs: bool) -> tuple[range, ...]:
    turns = Turns(runs=runs)
    for at, link in enumerate(ties):
        turns.add(at, link)
    return tuple(map(range, turns.starts, [*turns.starts[1:], len(ties)]))


class ScoreResult(Shape):
    """One score for each message or entry."""

    scores: list[float]
    parts: list[dict[str, float]] = Field(description="What each part added to the score.")


def score_result(scores: Sequence[Score]) -> ScoreResult:
    return ScoreResult(
        scores=[score.total for score in scores], parts=[dict(score.parts) for score in scores]
    )
