"""Find the recorded turns that a preset can be fitted to: what each needed of what earlier messages said.

An example is one call of the model in a stored session whose history does not fit the budget. What it needed
are the names (paths, ids, numbers, names in code) that the recorded answer used, that a user or a tool had
mentioned before, and that neither the newest turn nor the system prompt contains: whether the model can see
them depends on what the window keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Literal, get_args

from foveal.errors import BudgetError
from foveal.model import Entry, Message
from foveal.pipeline import fit as pipeline
from foveal.pipeline.history import History
from foveal.pipeline.recipe import items
from foveal.pipeline.requests import command_in
from foveal.pipeline.signals import identifier_counts, identifiers
from foveal.pipeline.summarize.tool_calls import command_action, read_call
from foveal.presets import Preset
from foveal.session.fit import entry_of
from foveal.session.inspect.replay import argument_values, calls, recorded_messages
from foveal.session.search.similarity import similarities_to
from foveal.session.state import SessionState
from foveal.session.target import Target

Work = Literal["coding", "chat", "research", "operations"]
KINDS_OF_WORK: tuple[Work, ...] = get_args(Work)
SHARE = 0.25
"""Of a session's tokens beside its system prompt: the budget where none is given and none was outgrown."""
CHAT_MOST = 0.05
"""Calls of tools per message below which a session is a chat."""
CHANGES_LEAST = 0.05
"""Share of a session's calls that change something from which on it does more than look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One call of the model, and the names of earlier messages that its answer used."""

    session: str
    messages: int
    """Messages of the history at that time."""
    needed: frozenset[str]
    order: pipeline.Order
    """The window to build; its preset is replaced by the one that is tried."""
    history: History

    def kept(self, preset: Preset) -> float:
        """The share of the needed names that the preset's window contains; 0 if there is no window."""
        order = replace(self.order, select=preset.select, preset=preset.name)
        try:
            fitted = pipeline.fit(self.history, order)
        except BudgetError:
            return 0.0
        missing = set(self.needed)
        for chunk in fitted.chunks:
            for message in chunk.messages if missing else ():
                missing.difference_update(identifier_counts(message.text))
        return 1 - len(missing) / len(self.needed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of the model in a session, before its history is prepared."""

    recording: Recording
    at: int
    """The length of the history at that time."""
    needed: frozenset[str]


@dataclass(frozen=True)
class Recording:
    """A stored session as its messages were added."""

    state: SessionState = field(repr=False)
    budget: int | None
    """Tokens of a window, if the caller gave a number."""

    @property
    def name(self) -> str:
        return self.state.name

    @cached_property
    def messages(self) -> Sequence[Message]:
        with self.state.reading():
            return recorded_messages(self.state)

    @cached_property
    def work(self) -> Work:
        return kind_of_work(self.messages)

    @cached_property
    def target(self) -> Target:
        with self.state.reading():
            return self.state.target("")

    @cached_property
    def entries(self) -> Sequence[Entry]:
        return [entry_of(seq, message, self.target) for seq, message in enumerate(self.messages)]

    @cached_property
    def size(self) -> int:
        """The budget of its windows: the given one, that of its newest build, or a share of its tokens."""
        if self.budget is not None:
            return self.budget
        with self.state.reading():
            latest = self.state.store.build(self.state.id)
        total = self.target.meter.request + sum(entry.tokens for entry in self.entries)
        if latest is not None and latest.budget < total:
            return latest.budget
        system = sum(entry.tokens for entry in self.entries if entry.role == "system")
        return system + int(SHARE * (total - system))

    def calls(self) -> Iterator[Call]:
        """The calls whose history did not fit and whose answers used what only the history has."""
        read: set[str] = set()
        start, tokens = 0, self.target.meter.request
        for at in calls(self.messages):
            tokens += sum(entry.tokens for entry in self.entries[start:at])
            visible: set[str] = set()
            for message in self.messages[start:at]:
                names = identifier_counts(message.text)
                read.update(names if message.role in ("user", "tool") else ())
                visible.update(names)
            start = at
            if tokens > self.size and (needed := (read & _used(self.messages, at)) - visible - self._system):
                yield Call(recording=self, at=at, needed=frozenset(needed))

    def release(self) -> None:
        """Let go of the messages; they are read again when they are needed."""
        for name in ("messages", "entries"):
            self.__dict__.pop(name, None)

    @cached_property
    def _system(self) -> frozenset[str]:
        texts = (message.text for message in self.messages if message.role == "system")
        return frozenset(name for text in texts for name in identifier_counts(text))

    def history(self, at: int, before: History | None) -> History:
        """The first messages as a history; turns that the shorter one before it prepared are taken over."""
        found = History(lambda start, stop: self.messages[start:stop], self.target.frame(self.target.format))
        found.extend(self.entries[:at])
        if before is not None:
            found.adopt(before)
        return found


def prepared(chosen: Sequence[Call], preset: Preset) -> Iterator[Example]:
    """The calls as examples for a preset, without those for which no window is large enough."""
    history: History | None = None
    last: Recording | None = None
    for call in chosen:
        recording = call.recording
        history = recording.history(call.at, history if recording is last else None)
        last = recording
        items(history)  # prepares every turn, for the next history too
        target, now = recording.target, recording.messages[call.at - 1].created_at
        order = target.order(preset, budget=recording.size, tools="", task="", now=now or 0.0)
        if similar := similarities_to(preset, history, ""):
            order = replace(order, scene=replace(order.scene, similarities=similar))
        example = Example(
            session=recording.name, messages=call.at, needed=call.needed, order=order, history=history
        )
        if _fits(example, preset):
            yield example


def _fits(example: Example, preset: Preset) -> bool:
    try:
        pipeline.fit(example.history, replace(example.order, select=preset.select))
    except BudgetError:
        return False
    return True


def spread(found: Sequence[Call], most: int) -> Sequence[Call]:
    """At most so many of them, evenly spaced.

    >>> spread([0, 1, 2, 3, 4, 5, 6, 7, 8], 3)
    [0, 3, 6]
    """
    return found if len(found) <= most else [found[at * len(found) // most] for at in range(most)]


def _used(messages: Sequence[Message], at: int) -> set[str]:
    """The names in the recorded answer: in its text and in the arguments of its calls."""
    answer = list(takewhile(lambda message: message.role == "assistant", messages[at:]))
    texts = [part for message in answer for part in _own_texts(message)]
    return {name for text in texts for name in identifiers(text)}


def _own_texts(message: Message) -> Iterator[str]:
    yield message.text
    for call in message.calls:
        yield from argument_values(call.arguments)


def kind_of_work(messages: Sequence[Message]) -> Work:
    """What a session is about, judged by the commands and the tools that its model calls."""
    read = [read_call(call.name, call.arguments) for message in messages for call in message.calls]
    said = (message.text for message in messages if message.role == "assistant" and not message.calls)
    read += [command_action("", command) for text in said if (command := command_in(text))]
    if len(read) <= CHAT_MOST * len(messages):
        return "chat"
    changes = [action for action in read if action.kind == "change" or action.checks]
    code = [action for action in changes if action.files or action.checks]
    if len(changes) < CHANGES_LEAST * len(read):
        return "research"
    return "coding" if 2 * len(code) >= len(changes) else "operations"
