"""Read a plain list of messages, in any provider's format, as what the presets can score and select.

`counted` reads messages whole, as typed turns. `skim` reads what pruning needs. A client passes its whole
history before every call of a model, and has passed all but its end before: what is known of a message is
therefore kept by a hash of its content, and a message that was seen costs a look-up. Both refuse the same
messages.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from typing import Any

from pydantic import Field

from foveal import catalog, wire
from foveal.errors import InputError
from foveal.jobs import Memo
from foveal.model import Format, Kind, Message, Role
from foveal.operations.registry import Shape
from foveal.pipeline.kinds import kind_of
from foveal.pipeline.tokens.count import Meter, tokenizer
from foveal.pipeline.turns import Links, Turns, links
from foveal.pipeline.values import Item
from foveal.presets.reploid import ReploidNumbers, Traits, importance_by_traits, importance_totals, traits_of
from foveal.session.target import warn
from foveal.window import Score

USER_KINDS: frozenset[Kind | None] = frozenset({None, "current_user_prompt", "chat_history_user"})
"""Kinds of the user's own messages; retrieved material in a user's message has another kind."""
REPLOID = ReploidNumbers()
REMEMBERED = 3600.0
"""Seconds for which what is known of a message is kept."""
MOST = 1 << 16
"""Messages of which it is kept, of all clients and formats together."""
READERS = 4
"""Ways of reading a message of which the results are kept."""


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
    _check_list(history)
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


def _check_list(history: object) -> None:
    if not isinstance(history, list | tuple):
        raise InputError(
            f"the history is a {type(history).__name__}, not a list of messages",
            remedy="pass the list that the provider's SDK takes",
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
    turns.add_all(ties)
    return tuple(map(range, turns.starts, [*turns.starts[1:], len(ties)]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Skimmed:
    """What pruning needs of one message, wherever it stands."""

    links: Links
    tokens: int
    traits: Traits


@dataclass(frozen=True, slots=True, kw_only=True)
class Skim:
    """A history whose messages are counted, and what it is measured against."""

    format: Format
    messages: Sequence[Skimmed]
    framing: int
    """Tokens of a request before its first message."""
    limit: int
    """The model's context limit."""
    numbers: ReploidNumbers
    warnings: tuple[str, ...] = ()

    def turns(self) -> Sequence[range]:
        """The positions of the messages of each turn: what stays or goes together."""
        ties = [message.links for message in self.messages]
        return _turns(ties, runs=wire.rules(self.format).item_per_part)

    def tokens(self) -> list[int]:
        """The tokens of each message."""
        return [message.tokens for message in self.messages]

    def totals(self) -> list[float]:
        """The importance of each message."""
        return importance_totals([message.traits for message in self.messages], self.numbers)

    def scores(self) -> list[Score]:
        """The importance of each message, with its parts."""
        return importance_by_traits([message.traits for message in self.messages], self.numbers)


def skim(history: Sequence[Any], model: str | None = None, numbers: ReploidNumbers = REPLOID) -> Skim:
    """Read and count the messages of a list in any provider's format, as dicts or SDK objects."""
    _check_list(history)
    card = catalog.find(model or "")
    doubt = catalog.doubt(model or "", card)
    warnings = (doubt,) if doubt else ()
    warn(warnings)
    keys = _keys(history)
    items = list(history)
    known = [each or _first_seen(keys[at], items, at) for at, each in enumerate(_KNOWN.get_all(keys))]
    format = wire.decide(dict.fromkeys(each.shape for each in known if each.shape), model or "")
    words = (numbers.error_words, numbers.operation_words, numbers.long_above)
    reader = _reader(card.tokenizer, format, card.images, *words)
    number = reader.number
    return Skim(
        format=format,
        messages=[
            each.skimmed.get(number) or reader.read(each, items[at], at) for at, each in enumerate(known)
        ],
        framing=reader.meter.request,
        limit=card.context,
        numbers=numbers,
        warnings=warnings,
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a message."""

    shape: wire.ShapeOfMessage | None
    """None of what is not an object; reading it fails."""
    skimmed: dict[int, Skimmed]
    """By the number of the reader."""


UNKNOWN = b""
"""The key of a message that is not plain JSON values as it is: nothing is kept of it."""
_KNOWN: Memo[_Known] = Memo(REMEMBERED, MOST)


def _keys(history: Sequence[Any]) -> list[bytes]:
    """A key for each message, the same for equal plain values of the same types."""
    keys = []
    for item in history:
        try:
            content = marshal.dumps(item, 2)  # the last version without references, which depend on identity
        except ValueError:
            keys.append(UNKNOWN)
        else:
            keys.append(blake2b(content, digest_size=16).digest())
    return keys


def _first_seen(key: bytes, items: list[Any], at: int) -> _Known:
    """What is known of a message that was not seen before, which is replaced by its plain values."""
    item = items[at]
    items[at] = wire.plain(item, f"messages[{at}]")
    if not isinstance(items[at], dict):
        return _Known(None, {})
    found = _Known(wire.shape_of(items[at]), {})
    if key and items[at] == item:
        _KNOWN.put(key, found)
    return found


class _Reader:
    """Reads messages of one format, counts them in one way, and looks for the same words."""

    _numbered = count()

    def __init__(self, format: Format, meter: Meter, numbers: ReploidNumbers) -> None:
        self.meter = meter
        self.number = next(self._numbered)
        self._format = format
        self._numbers = numbers

    def read(self, known: _Known, item: Any, at: int) -> Skimmed:
        message = wire.unaddressed(item, self._format, where=f"messages[{at}]")
        ties = links(message)
        tool = bool(ties.answers or message.calls)
        found = Skimmed(
            links=ties,
            tokens=self.meter.message(message),
            traits=traits_of(message.text, message.role, tool=tool, numbers=self._numbers),
        )
        if len(known.skimmed) == READERS:
            known.skimmed.clear()
        known.skimmed[self.number] = found
        return found


@lru_cache(maxsize=32)
def _reader(
    counter: str, format: Format, images: str, error_words: str, operation_words: str, long_above: int
) -> _Reader:
    numbers = replace(
        REPLOID, error_words=error_words, operation_words=operation_words, long_above=long_above
    )
    return _Reader(format, meter(counter, format, images), numbers)


class ScoreResult(Shape):
    """One score for each message or entry."""

    scores: list[float]
    parts: list[dict[str, float]] = Field(description="What each part added to the score.")


def score_result(scores: Sequence[Score]) -> ScoreResult:
    return ScoreResult(
        scores=[score.total for score in scores], parts=[dict(score.parts) for score in scores]
    )
