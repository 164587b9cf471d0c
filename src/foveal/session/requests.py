"""Windows of one session in → what each costs as a request after the one before, and whether it is right.

Nothing is taken from the manifest: a window is read as the provider would read it, counted again and held
against the provider's rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from foveal import wire
from foveal.catalog import Prices
from foveal.model import Message
from foveal.pipeline.signals import identifiers
from foveal.session.costs import dollars, predicted
from foveal.session.target import Target
from foveal.window import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of the model."""

    messages: int
    """Of the history, before it."""
    tokens: int
    cached: int
    """Tokens at the start that the request before began with too, as a provider's cache would find them."""
    cost: float | None
    """US dollars with a prompt cache; None when nobody knows the prices."""
    facts: int
    """Identifiers in the arguments of the recorded answer's calls that had been read before."""
    kept: int
    """Those of them that the request holds."""
    invalid: int
    """Rules of the provider that it breaks."""
    over: bool
    """It has more tokens than the budget."""
    seconds: float
    """To take in what is new and build the window."""


def calls(messages: Sequence[Message]) -> list[int]:
    """How long the history was each time the model was called: it answered a user or a tool, or is to."""
    roles = [message.role for message in messages]
    ends = range(1, len(roles) + 1)
    answered = [role == "assistant" for role in roles[1:]] + [True]
    return [at for at in ends if roles[at - 1] in ("user", "tool") and answered[at - 1]]


def sent(window: Window) -> tuple[Message, ...]:
    """The window as its provider reads it, the system prompt first; where a cache marker is, is no matter."""
    request = wire.without_markers(window.request) if window.format == "anthropic" else window.request
    return wire.load(request, format=window.format).messages


def broken(window: Window) -> int:
    """Rules of the provider that it breaks."""
    return len(wire.check(window.request, window.format))


class Facts:
    """What the model needed for each of its calls: identifiers in their arguments that it had read."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._names: dict[str, frozenset[str]] = {}
        self.needed: Mapping[int, set[str]] = dict(self._needed(messages))
        """By how long the history was."""

    def _needed(self, messages: Sequence[Message]) -> Iterator[tuple[int, set[str]]]:
        read: set[str] = set()
        start = 0
        for at in calls(messages):
            for message in messages[start:at]:
                read |= self._of(message) if message.role in ("user", "tool") else set()
            start = at
            answer = takewhile(lambda message: message.role == "assistant", messages[at:])
            told = "\n".join(
                value for message in answer for call in message.calls for value in _values(call.arguments)
            )
            yield at, read.intersection(identifiers(told))

    def _of(self, message: Message) -> frozenset[str]:
        """Read once for all windows that it stands in."""
        if message.digest not in self._names:
            self._names[message.digest] = frozenset(identifiers(message.text))
        return self._names[message.digest]

    def kept(self, at: int, messages: Sequence[Message]) -> int:
        """How many of what was needed then the messages hold."""
        left = self.needed[at].copy()
        for message in messages if left else ():
            left -= self._of(message)
        return len(self.needed[at]) - len(left)


def _values(arguments: str) -> Iterator[str]:
    """What a call's arguments say, without their names; a text that is no JSON as it is."""
    try:
        waiting = [json.loads(arguments)]
    except (ValueError, RecursionError):
        waiting = [arguments]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting.extend(value.values() if isinstance(value, dict) else value)
        else:
            yield str(value)


class Till:
    """Prices requests one after another, each with what the provider still holds of the one before."""

    def __init__(self, aim: Target, budget: int, *, prices: Prices | None, facts: Facts) -> None:
        self._aim, self._budget, self._prices, self._facts = aim, budget, prices, facts
        self._before: Sequence[Message] = ()

    def window(self, window: Window, at: int, *, seconds: float) -> Request:
        return self.request(sent(window), at, seconds=seconds, invalid=broken(window))

    def request(
        self, messages: Sequence[Message], at: int, *, seconds: float = 0.0, invalid: int = 0
    ) -> Request:
        """A request of these messages, when the history was that long."""
        cost = predicted(self._aim.price(messages, ""), self._repeated(messages), self._aim.card)
        self._before = messages
        return Request(
            messages=at,
            tokens=cost.tokens,
            cached=cost.cached,
            cost=dollars(cost, self._prices),
            facts=len(self._facts.needed[at]),
            kept=self._facts.kept(at, messages),
            invalid=invalid,
            over=cost.tokens > self._budget,
            seconds=seconds,
        )

    def _repeated(self, messages: Sequence[Message]) -> int:
        """Tokens of the longest beginning of whole messages that both requests share."""
        pairs = zip(self._before, messages, strict=False)
        shared = [new for _, new in takewhile(lambda pair: _same(*pair), pairs)]
        return self._aim.price(shared, "") if shared else 0


def _same(old: Message, new: Message) -> bool:
    return old is new or (old.role, old.digest) == (new.role, new.digest)
