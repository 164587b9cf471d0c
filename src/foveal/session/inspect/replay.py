"""Replay a stored session under another preset, and measure its requests: tokens, cost, facts kept, time.

No model is asked and nothing is stored. The messages are appended one by one to a session in memory, and
wherever the model was called a window is built. The measurements do not trust the window's manifest: the
window is read as the provider would read it, counted again and checked against the provider's rules.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import takewhile

from foveal import catalog, presets, wire
from foveal.catalog import Prices
from foveal.errors import BudgetError, InputError
from foveal.model import Entry, Message
from foveal.pipeline.signals import identifiers
from foveal.session.budget import budget_for, check_budget
from foveal.session.costs import dollars, predicted
from foveal.session.history.append import append_messages
from foveal.session.session import Session
from foveal.session.state import SessionState
from foveal.session.target import Target, warn
from foveal.store import BuildRecord
from foveal.window import Window

Progress = Callable[[int, int], None]
"""Called with the number of requests done, and how many there are."""
Scratch = Callable[[str, str], AbstractContextManager[Session]]
"""Opens an empty session in memory, for a model and a preset."""
WHOLE = "sent whole"
"""The name of the run that sends the whole history each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of the model."""

    messages: int
    """Messages of the history at that time."""
    tokens: int
    cached: int
    """Tokens at the start that are those of the request before, as a provider's cache would find them."""
    cost: float | None
    """US dollars with a prompt cache; None if the prices are unknown."""
    facts: int
    """Identifiers in the arguments of the recorded answer's calls that had been read before."""
    kept: int
    """How many of them the request contains."""
    invalid: int
    """Rules of the provider that it breaks."""
    over: bool
    """Whether it has more tokens than the budget."""
    seconds: float
    """Time to append the new messages and build the window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All requests of the session under one policy."""

    name: str
    """The preset, or that everything is sent."""
    tokens: int
    largest: int
    cost: float | None
    prefix_hit: float
    """Share of the tokens that the request before began with too."""
    facts: int
    kept_facts: float
    """Share of the facts that were in the request that needed them."""
    invalid: int
    """Requests that break a rule of the provider."""
    over: int
    """Requests with more tokens than the budget."""
    refused: int
    """Calls for which no window fits the budget."""
    seconds: float
    requests: tuple[Request, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A session under another preset, under its own, and with everything sent."""

    session: str
    model: str
    counter: str
    budget: int
    messages: int
    calls: int
    run: Run
    recorded: Run | None
    """Under the session's own preset; None if that is the requested one."""
    whole: Run
    """With the whole history in every request."""


def replay_session(
    state: SessionState,
    scratch: Scratch,
    *,
    preset: str,
    budget: int | None,
    model: str,
    progress: Progress | None = None,
) -> Replayed:
    check_budget(budget)
    requested = presets.find(preset, state.resources.numbers).name
    with state.reading():
        target, messages = state.target(model), recorded_messages(state)
        own = state.log.head.preset or presets.DEFAULT
        latest = state.store.build(state.id)
    warn(target.warnings)
    facts, names = Facts(messages), list(dict.fromkeys((requested, own)))
    setup = _Setup(
        scratch=scratch,
        target=target,
        model=model or state.model,
        messages=messages,
        budget=_budget(target, budget, latest),
        prices=catalog.prices(target.card.id, extra=state.resources.catalogue),
        facts=facts,
        done=_counter(progress, len(facts.needed) * len(names)),
    )
    runs = [_play(setup, name) for name in names]
    return Replayed(
        session=state.name,
        model=target.card.id,
        counter=target.tokenizer.name,
        budget=setup.budget,
        messages=len(messages),
        calls=len(facts.needed),
        run=runs[0],
        recorded=runs[1] if len(runs) > 1 else None,
        whole=_send_whole(setup),
    )


def _budget(target: Target, given: int | None, latest: BuildRecord | None) -> int:
    """The given budget, else that of the session's newest build if the model takes it, else the limit."""
    limit = budget_for(target.card, given)
    return limit if given is not None or latest is None else min(limit, latest.budget)


def calls(messages: Sequence[Message]) -> list[int]:
    """The lengths of the history at which the model was called: it answered a user or a tool, or should."""
    roles = [message.role for message in messages]
    ends = range(1, len(roles) + 1)
    answered = [role == "assistant" for role in roles[1:]] + [True]
    return [at for at in ends if roles[at - 1] in ("user", "tool") and answered[at - 1]]


def sent(window: Window) -> tuple[Message, ...]:
    """The window as its provider reads it, the system prompt first, without cache markers."""
    request = wire.without_markers(window.request) if window.format == "anthropic" else window.request
    return wire.load(request, format=window.format).messages


def broken(window: Window) -> int:
    """How many rules of the provider a window breaks."""
    return len(wire.check(window.request, window.format))


class Facts:
    """What the model needed for each of its calls: identifiers in their arguments that it had read before."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._names: dict[str, frozenset[str]] = {}
        self.needed: Mapping[int, set[str]] = dict(self._needed(messages))
        """By the length of the history at that time."""

    def kept(self, at: int, messages: Sequence[Message]) -> int:
        """How many of the identifiers that were needed then are in these messages."""
        missing = self.needed[at].copy()
        for message in messages if missing else ():
            missing -= self._of(message)
        return len(self.needed[at]) - len(missing)

    def _needed(self, messages: Sequence[Message]) -> Iterator[tuple[int, set[str]]]:
        read: set[str] = set()
        start = 0
        for at in calls(messages):
            for message in messages[start:at]:
                read |= self._of(message) if message.role in ("user", "tool") else set()
            start = at
            answer = takewhile(lambda message: message.role == "assistant", messages[at:])
            arguments = "\n".join(
                value
                for message in answer
                for call in message.calls
                for value in argument_values(call.arguments)
            )
            yield at, read.intersection(identifiers(arguments))

    def _of(self, message: Message) -> frozenset[str]:
        """The identifiers of a message, found once for all windows that contain it."""
        if message.digest not in self._names:
            self._names[message.digest] = frozenset(identifiers(message.text))
        return self._names[message.digest]


def argument_values(arguments: str) -> Iterator[str]:
    """The values in a call's arguments, without their names; the text itself if it is not JSON."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setup:
    """What all runs have in common."""

    scratch: Scratch
    target: Target
    model: str
    messages: Sequence[Message]
    budget: int
    prices: Prices | None
    facts: Facts
    done: Callable[[], None]
    """Called after every request."""


def recorded_messages(state: SessionState) -> list[Message]:
    """All messages of the session as they were added, except erased ones: pruning was another policy's."""
    entries = state.log.entries
    read = state.log.read_unerased(entries)
    return [_as_added(message, entry) for message, entry in zip(read, entries, strict=True) if message]


def _as_added(message: Message, entry: Entry) -> Message:
    return replace(
        message,
        created_at=entry.created_at,
        important=entry.important,
        level=entry.level,
        priority=entry.priority,
        private=entry.private,
        metadata=json.loads(entry.metadata) if entry.metadata else {},
    )


def _counter(progress: Progress | None, of: int) -> Callable[[], None]:
    numbers = iter(range(1, of + 1))

    def done() -> None:
        if progress:
            progress(next(numbers), of)

    return done


def _play(setup: _Setup, preset: str) -> Run:
    """Go through the session once, from its first call to its last, each as of its own time."""
    measure, requests, refused, taken = _Measure(setup), [], 0, 0
    with setup.scratch(setup.model, preset) as session:
        for at in setup.facts.needed:
            started = time.perf_counter()
            with session._state.writing() as events:
                append_messages(session._state, setup.messages[taken:at], events)
            taken = at
            try:
                window = session.build(budget=setup.budget, now=setup.messages[at - 1].created_at)
            except (BudgetError, InputError):  # the budget is too small, or there is no message to answer
                refused += 1
            else:
                seconds = time.perf_counter() - started
                requests.append(measure(sent(window), at, seconds=seconds, invalid=broken(window)))
            setup.done()
    return _run(preset, requests, refused)


def _send_whole(setup: _Setup) -> Run:
    measure = _Measure(setup)
    return _run(WHOLE, [measure(setup.messages[:at], at) for at in setup.facts.needed], 0)


class _Measure:
    """Measures consecutive requests; each finds the beginning it shares with the last one in the cache."""

    def __init__(self, setup: _Setup) -> None:
        self._setup = setup
        self._before: Sequence[Message] = ()

    def __call__(
        self, messages: Sequence[Message], at: int, *, seconds: float = 0.0, invalid: int = 0
    ) -> Request:
        """A request with these messages, when the history had `at` messages."""
        target, facts = self._setup.target, self._setup.facts
        cost = predicted(target.price(messages, ""), self._repeated(messages), target.card)
        self._before = messages
        return Request(
            messages=at,
            tokens=cost.tokens,
            cached=cost.cached,
            cost=dollars(cost, self._setup.prices),
            facts=len(facts.needed[at]),
            kept=facts.kept(at, messages),
            invalid=invalid,
            over=cost.tokens > self._setup.budget,
            seconds=seconds,
        )

    def _repeated(self, messages: Sequence[Message]) -> int:
        """Tokens of the messages at the beginning that both requests share."""
        pairs = zip(self._before, messages, strict=False)
        shared = [new for _, new in takewhile(lambda pair: _same(*pair), pairs)]
        return self._setup.target.price(shared, "") if shared else 0


def _same(old: Message, new: Message) -> bool:
    return old is new or (old.role, old.digest) == (new.role, new.digest)


def _run(name: str, requests: Sequence[Request], refused: int) -> Run:
    costs = [request.cost for request in requests]
    tokens, facts = (sum(getattr(request, of) for request in requests) for of in ("tokens", "facts"))
    return Run(
        name=name,
        tokens=tokens,
        largest=max((request.tokens for request in requests), default=0),
        cost=None if None in costs else math.fsum(cost for cost in costs if cost is not None),
        prefix_hit=sum(request.cached for request in requests) / tokens if tokens else 0.0,
        facts=facts,
        kept_facts=sum(request.kept for request in requests) / facts if facts else 1.0,
        invalid=sum(request.invalid > 0 for request in requests),
        over=sum(request.over for request in requests),
        refused=refused,
        seconds=math.fsum(request.seconds for request in requests),
        requests=tuple(requests),
    )
