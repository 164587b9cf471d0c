"""Find where one turn ends and the next begins.

A turn is what must stay together: an assistant message that calls tools, and the results right after it.
Calls and results pair by adjacency, never over the whole history: recorded agents reuse ids, and providers
only look at neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from foveal.model import Message, Opaque, Role

ANY = "~"
"""The key of a result that names neither a call id nor a tool; before a name, it is the key of a tool."""
REFERENCE = "item_reference"
"""The type of an item that refers to one stored by the provider, and its key: it may be any call."""
_ERASED = "#"
"""Before the hash of a key of an erased message."""


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


def links(message: Message) -> Links:
    """The keys that tie a message to its neighbours: ids, or tool names where the format has no ids."""
    stored = (REFERENCE,) if is_reference(message) else ()
    return Links(
        role=message.role,
        calls=(*(call.id or ANY + call.name for call in message.calls), *stored),
        answers=tuple(result.call_id or ANY + result.name for result in message.results),
    )


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
    if tail is None:
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
    return Tail(
        role=tail.role,
        calls=tail.calls | frozenset(link.calls),
        answered=tail.answered or bool(link.answers),
    )
