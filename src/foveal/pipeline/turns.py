"""Find where one turn ends and the next begins.

A turn is what must stay together: an assistant message that calls tools, and the results right after it.
Calls and results pair by adjacency: recorded agents reuse ids, and most providers only look at neighbours.
Responses pairs them by id over the whole input; there a result joins the turn of its call with all items in
between.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import get_args

from foveal.model import Message, Opaque, Role, Text

ANY = "~"
"""The key of a result that names neither a call id nor a tool; before a name, it is the key of a tool."""
REFERENCE = "item_reference"
"""The type of an item that refers to one stored by the provider, and its key: it may be any call."""
_ID = "="
"""Before an id that would be taken for the key of a tool."""
_ERASED = "#"
"""Before the hash of a key of an erased message."""
REACH = 20
"""Messages back to a call within which its result joins it. All of them become one turn, which is in a window
as a whole: a late result must not turn the conversation into one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The keys of the calls and results in one message."""

    role: Role
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The newest turn so far, which more messages may join."""

    role: Role
    calls: frozenset[str] = frozenset()
    answered: bool = False


_UNTIED: Mapping[Role, Links] = MappingProxyType({role: Links(role=role) for role in get_args(Role)})
_ALONE: Mapping[Role, Tail] = MappingProxyType({role: Tail(role=role) for role in get_args(Role)})


def links(message: Message) -> Links:
    """The keys that tie a message to its neighbours: ids, or tool names where the format has no ids."""
    stored = (REFERENCE,) if is_reference(message) else ()
    if len(message.parts) == 1 and isinstance(message.parts[0], Text):
        return _UNTIED[message.role]
    return Links(
        role=message.role,
        calls=(*(key_of(call.id, call.name) for call in message.calls), *stored),
        answers=tuple(key_of(result.call_id, result.name) for result in message.results),
    )


def key_of(id: str, name: str) -> str:
    """The key of a call or a result: its id, or the name of its tool. No id is taken for a tool's name.

    >>> key_of("c1", "ls"), key_of("", "ls"), key_of("~", "ls")
    ('c1', '~ls', '=~')
    """
    if not id:
        return ANY + name
    return f"{_ID}{id}" if id.startswith((ANY, _ID)) else id


def is_reference(message: Message) -> bool:
    """Does the message refer to an item stored by the provider?"""
    return any(isinstance(part, Opaque) and part.type == REFERENCE for part in message.parts)


def joins(tail: Tail | None, link: Links, *, runs: bool = False) -> bool:
    """Does the message belong to the turn before it?

    `runs`: the format makes every block an item, so consecutive assistant items are one response.

    >>> call = Tail(role="assistant", calls=frozenset({"c1"}))
    >>> joins(call, Links(role="tool", answers=("c1",))), joins(call, Links(role="user"))
    (True, False)
    """
    if tail is None or (link.calls and not runs):
        return False
    if link.answers:
        known = REFERENCE in tail.calls or any(_pairs(answer, tail.calls) for answer in link.answers)
        return known or any(_unaddressed(answer, tail) for answer in link.answers)
    return runs and link.role == "assistant" and tail.role == "assistant" and not tail.answered


def erased_key(key: str) -> str:
    """A key that pairs like this one but has no name or id: what is kept of the keys of an erased message.

    >>> call = Tail(role="assistant", calls=frozenset({erased_key("c1")}))
    >>> joins(call, Links(role="tool", answers=("c1",))), joins(call, Links(role="tool", answers=("c2",)))
    (True, False)
    """
    if key in (ANY, REFERENCE):
        return key
    digest = sha256(key.encode("utf-8", "backslashreplace")).hexdigest()
    return f"{ANY if key.startswith(ANY) else ''}{_ERASED}{digest[:16]}"


def _pairs(answer: str, calls: frozenset[str]) -> bool:
    """Does a result belong to one of these calls? Either may have been erased."""
    return answer in calls or erased_key(answer) in calls or answer in map(erased_key, calls)


def _unaddressed(answer: str, tail: Tail) -> bool:
    """In formats without ids, a tool result right after an assistant message belongs to it."""
    return tail.role == "assistant" and (answer == ANY or (answer.startswith(ANY) and not tail.calls))


def joined(tail: Tail | None, link: Links, *, runs: bool = False) -> Tail:
    """The newest turn after this message."""
    if tail is None or not joins(tail, link, runs=runs):
        return Tail(role=link.role, calls=frozenset(link.calls))
    return _extended(tail, link)


def _extended(tail: Tail, link: Links) -> Tail:
    """The turn with a message that joins it."""
    return Tail(
        role=tail.role,
        calls=tail.calls | frozenset(link.calls),
        answered=tail.answered or bool(link.answers),
    )


class Turns:
    """The positions at which turns begin, as messages arrive.

    `runs`: the format makes every block an item, and pairs calls and results by id over the whole input.

    >>> turns = Turns(runs=True)
    >>> for seq, link in enumerate([Links(role="assistant", calls=("c",)), Links(role="user")]):
    ...     turns.add(seq, link)
    >>> turns.starts
    [0, 1]
    >>> turns.add(2, Links(role="tool", answers=("c",)))
    >>> turns.starts
    [0]
    """

    def __init__(self, *, runs: bool) -> None:
        self.starts: list[int] = []
        self._runs = runs
        self._tail: Tail | None = None
        self._waiting: dict[str, int] = {}
        """The position of the newest call without a result, by its id."""

    def add_all(self, links: Iterable[Links]) -> None:
        """Add all messages of a history, quickly where nothing ties them to one another."""
        starts, runs = self.starts, self._runs
        for seq, link in enumerate(links):
            if runs or link.answers or link.calls:
                self.add(seq, link)
            else:
                starts.append(seq)
                self._tail = _ALONE[link.role]

    def add(self, seq: int, link: Links, *, since: int = 0) -> None:
        """Add a message; if it answers a call of an earlier turn, from `since` on, all become one."""
        if not link.answers and not self._runs:  # most messages: nothing ties them to an earlier one
            self.starts.append(seq)
            self._tail = (
                Tail(role=link.role, calls=frozenset(link.calls)) if link.calls else _ALONE[link.role]
            )
            return
        if self._tail and joins(self._tail, link, runs=self._runs):
            self._tail = _extended(self._tail, link)
        else:
            called = self._called(seq, link, since)
            if called is None:
                self.starts.append(seq)
            else:
                del self.starts[bisect_right(self.starts, called) :]
                self._tail = Tail(role="assistant", calls=frozenset(link.answers), answered=True)
            self._tail = joined(self._tail, link, runs=self._runs)
        if self._runs:
            for answer in link.answers:
                self._waiting.pop(answer, None)
            self._waiting |= {call: seq for call in link.calls if not call.startswith(ANY)}

    def _called(self, seq: int, link: Links, since: int) -> int | None:
        """The position of the call that this message answers; None if it is unknown or too far back."""
        keys = (key for answer in link.answers for key in (answer, erased_key(answer)))
        calls = [self._waiting[key] for key in keys if key in self._waiting]
        return min((at for at in calls if at >= max(since, seq - REACH)), default=None)
