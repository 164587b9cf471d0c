"""Keep what is private in a session private, in whatever form it comes back.

A client that sends a session's window back repeats private messages without their mark, and maybe in another
format. What has the role and the text of a private message of the same session, on any branch, is private
too, and so is what answers a call of a private message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from foveal import wire
from foveal.model import Entry, Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from foveal.pipeline.turns import ANY, links
from foveal.session.state import SessionState

Said = tuple[Role, str]
"""Who said something, and what."""


class PrivateTexts:
    """What the private messages of one session say, on any branch."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._branch, self._at = -1, 0
        self.said: set[Said] = set()
        self._identities: dict[str, tuple[Said, ...]] = {}

    def identity(self, entry: Entry) -> tuple[Said, ...]:
        """What a private message says as a whole, to compare it with what a client sends."""
        if entry.digest not in self._identities:
            (message,) = self._state.log.read(entry.seq, entry.seq + 1)
            self._identities[entry.digest] = _identity(message) or ((entry.role, entry.digest),)
        return self._identities[entry.digest]

    def catch_up(self) -> None:
        """Read the private messages that are new; those of all branches after an edit of the history."""
        state, log = self._state, self._state.log
        if log.head.branch != self._branch or self._at > len(log.entries):
            self._branch, self._at = log.head.branch, len(log.entries)
            self.said = set()
            for content, role in state.store.private_messages(state.id):
                self._read(wire.reread(content.body, content.format, role, digest=content.digest))
            return
        for entry in log.entries[self._at :]:
            if entry.private:
                self._read(log.read(entry.seq, entry.seq + 1)[0])
        self._at = len(log.entries)

    def _read(self, message: Message) -> None:
        self.said |= set(said_in(message))


def with_private_marks(
    state: SessionState, messages: Sequence[Message], before: Sequence[Entry]
) -> list[Message]:
    """The messages that follow the entries `before`, private where they repeat or answer a private one."""
    return _with_private_answers(state, _with_private_texts(state, messages), before)


def hide_older_copies(state: SessionState, messages: Sequence[Message]) -> None:
    """Make what the private ones of these messages say private on the branches that the session left."""
    texts = {said for message in messages if message.private for said in said_in(message)}
    if texts:
        state.store.hide(state.id, sorted(texts))


def said_in(message: Message) -> Iterator[Said]:
    """What each part of a message says, and the message as a whole: formats divide messages differently."""
    texts = [_said(part, message.role) for part in message.parts if not isinstance(part, Thinking | Opaque)]
    yield from (said for said in texts if said[1])
    own = "\n".join(text for role, text in texts if text and role == message.role)
    if own:
        yield message.role, own


def _said(part: Part, role: Role) -> Said:
    match part:
        case ToolCall(name=name, arguments=arguments):
            return "assistant", f"{name}({_canonical(arguments)})"
        case ToolResult(parts=parts):
            return "tool", Message(role="tool", parts=parts, format="plain").text.strip()
        case _:
            return role, part.text.strip() if isinstance(part, Text) else ""


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def _with_private_texts(state: SessionState, messages: Sequence[Message]) -> list[Message]:
    texts = state.part(PrivateTexts)
    texts.catch_up()
    known = texts.said | {said for message in messages if message.private for said in said_in(message)}
    if not known:
        return list(messages)
    return [
        message if message.private or known.isdisjoint(said_in(message)) else replace(message, private=True)
        for message in messages
    ]


@dataclass(frozen=True, slots=True)
class Addresses:
    """Content addresses by which a stored and a given history are compared."""

    stored: list[str]
    given: list[str]


def addresses(state: SessionState, entries: Sequence[Entry], messages: Sequence[Message]) -> Addresses:
    """The addresses of both; a message that says what a private one says has the address of that one."""
    texts = state.part(PrivateTexts)
    private: dict[tuple[Said, ...], str] = {}
    same: dict[str, str] = {}
    for entry in entries:
        if entry.private:
            same[entry.digest] = private.setdefault(texts.identity(entry), entry.digest)
    if private:
        for message in messages:
            if (found := private.get(_identity(message))) is not None:
                same.setdefault(message.digest, found)
    return Addresses(
        stored=[same.get(entry.digest, entry.digest) for entry in entries],
        given=[same.get(message.digest, message.digest) for message in messages],
    )


def _identity(message: Message) -> tuple[Said, ...]:
    """What a message says, call ids included; empty for one that has more than what can be compared."""
    found: list[Said] = []
    for part in message.parts:
        if not isinstance(part, Text | ToolCall | ToolResult):
            return ()
        id = part.id if isinstance(part, ToolCall) else part.call_id if isinstance(part, ToolResult) else ""
        role, text = _said(part, message.role)
        found.append((role, f"{id}\n{text}"))
    return tuple(found)


def _with_private_answers(
    state: SessionState, messages: Sequence[Message], before: Sequence[Entry]
) -> list[Message]:
    """The messages; what answers a call of a private one is private too."""
    linked = [links(message) for message in messages]
    hidden = _private_calls(state, {key for link in linked for key in link.answers}, before)
    found = []
    for message, link in zip(messages, linked, strict=True):
        private = message.private or not hidden.isdisjoint(link.answers)
        calls = _call_keys(message)
        hidden = hidden | calls if private else hidden - calls
        found.append(message if private == message.private else replace(message, private=private))
    return found


def _private_calls(state: SessionState, answered: set[str], before: Sequence[Entry]) -> set[str]:
    """Which of these keys of answers belong to calls that a private message made: the latest call of each."""
    hidden: set[str] = set()
    if not any(entry.private for entry in before):
        return hidden
    for entry in reversed(before):
        if not answered:
            break
        if not entry.calls:
            continue
        calls = set(entry.calls)
        if entry.absence != "erased" and any(key.startswith(ANY) for key in answered):
            calls = _call_keys(state.log.read(entry.seq, entry.seq + 1)[0])
        hidden |= answered & calls if entry.private else set()
        answered = answered - calls
    return hidden


def _call_keys(message: Message) -> set[str]:
    """The keys by which the calls of a message are answered: ids, and names where the answer has no id."""
    names = {ANY + call.name for call in message.calls}
    return {*links(message).calls, *names, *({ANY} if names else ())}
