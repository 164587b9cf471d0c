"""Skim a plain list of messages: their tokens, importance and turns, each content read once per process.

A client passes its whole history before every call of a model, and has passed all but its end before. What is
known of a message is therefore kept by its content, and a message that was seen costs a look-up.
"""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from threading import Lock
from typing import Any, Generic, TypeVar

from foveal import catalog, wire
from foveal.errors import InputError
from foveal.model import Format
from foveal.operations.messages import meter
from foveal.pipeline.tokens.count import Meter
from foveal.pipeline.turns import Links, Turns, links
from foveal.presets.recency_curves import by_position
from foveal.presets.reploid import ReploidNumbers, importance_of_content
from foveal.session.target import warn

V = TypeVar("V")
NUMBERS = ReploidNumbers()
SHORT = 512
"""Bytes up to which a content is its own key; of a longer one the key is a hash, which takes less memory."""
MOST = 1 << 16
"""Contents that are remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skimmed:
    """What pruning needs of one message, wherever it stands."""

    links: Links
    tokens: int
    importance: tuple[float, float, float]
    """What its role, its keywords and its length add to its importance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skim:
    """A history whose messages are counted, and what it is measured against."""

    format: Format
    messages: Sequence[Skimmed]
    framing: int
    """Tokens of a request before its first message."""
    limit: int
    """The model's context limit."""
    warnings: tuple[str, ...] = ()

    def turns(self) -> list[range]:
        """The positions of the messages of each turn: what stays or goes together."""
        turns = Turns(runs=wire.rules(self.format).item_per_part)
        for at, message in enumerate(self.messages):
            turns.add(at, message.links)
        return [range(*ends) for ends in pairwise([*turns.starts, len(self.messages)])]

    def tokens(self) -> list[int]:
        """The tokens of each message."""
        return [message.tokens for message in self.messages]

    def scores(self) -> list[float]:
        """The importance of each message."""
        recency = by_position([message.links.role for message in self.messages], most=NUMBERS.recency)
        content = [message.importance for message in self.messages]
        return [
            age + role + keywords + length
            for age, (role, keywords, length) in zip(recency, content, strict=True)
        ]


def skim(history: Sequence[Any], model: str | None = None) -> Skim:
    """Read and count the messages of a list in any provider's format, as dicts or SDK objects."""
    if not isinstance(history, list | tuple):
        raise InputError(
            f"the history is a {type(history).__name__}, not a list of messages",
            remedy="pass the list that the provider's SDK takes",
        )
    card = catalog.find(model or "")
    doubt = catalog.doubt(model or "", card)
    warnings = (doubt,) if doubt else ()
    warn(warnings)
    keys = [_key(item) for item in history]
    items = list(history)
    shapes = [_SHAPES.get(key) or _new_shape(key, items, at) for at, key in enumerate(keys)]
    format = wire.decide(filter(None, shapes), model or "")
    reader = _reader(card.tokenizer, format, card.images)
    known = reader.known.get
    return Skim(
        format=format,
        messages=[known(key) or reader.read(key, items[at], at) for at, key in enumerate(keys)],
        framing=reader.meter.request,
        limit=card.context,
        warnings=warnings,
    )


class _Memory(Generic[V]):
    """Values by the key of a content, the oldest dropped first; threads may share it."""

    def __init__(self) -> None:
        self._values: dict[bytes | None, V] = {}
        self._lock = Lock()
        self.get = self._values.get

    def keep(self, key: bytes, value: V) -> None:
        with self._lock:
            self._values[key] = value
            if len(self._values) > MOST:
                del self._values[next(iter(self._values))]


_SHAPES: _Memory[wire.ShapeOfMessage] = _Memory()
"""Of messages that are plain JSON values as they are: only those are remembered."""


def _key(item: Any) -> bytes | None:
    """The same for equal plain values of the same types; None for what is not plain."""
    try:
        content = marshal.dumps(item, 2)  # the last version without references, which depend on identity
    except ValueError:
        return None
    return content if len(content) <= SHORT else blake2b(content, digest_size=16).digest()


def _new_shape(key: bytes | None, items: list[Any], at: int) -> wire.ShapeOfMessage | None:
    """The shape of a message that was not seen before, which is replaced by its plain values."""
    item = items[at]
    items[at] = wire.plain(item, f"messages[{at}]")
    if not isinstance(items[at], dict):
        return None
    shape = wire.shape_of(items[at])
    if key is not None and items[at] == item:
        _SHAPES.keep(key, shape)
    return shape


class _Reader:
    """Reads messages of one format, and counts them in one way."""

    def __init__(self, format: Format, meter: Meter) -> None:
        self.meter = meter
        self.known: _Memory[Skimmed] = _Memory()
        self._format = format

    def read(self, key: bytes | None, item: Any, at: int) -> Skimmed:
        message = wire.unaddressed(item, self._format, where=f"messages[{at}]")
        ties = links(message)
        tool = bool(ties.answers or message.calls)
        found = Skimmed(
            links=ties,
            tokens=self.meter.message(message),
            importance=importance_of_content(message.text, message.role, tool=tool, numbers=NUMBERS),
        )
        if key is not None and _SHAPES.get(key):
            self.known.keep(key, found)
        return found


@lru_cache(maxsize=32)
def _reader(counter: str, format: Format, images: str) -> _Reader:
    return _Reader(format, meter(counter, format, images))
