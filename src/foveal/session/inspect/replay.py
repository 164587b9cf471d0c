"""A stored session in → its requests as another preset would have made them: tokens, cost, facts kept, time.

No model is asked and nothing is stored: the messages come one after another into a session in memory, and
wherever the model was called a window is built and measured.

Windows of one session in → what each costs as a request after the one before, and whether it is right.

Nothing is taken from the manifest: a window is read as the provider would read it, counted again and held
against the provider's rules.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from foveal import catalog, presets, wire
from foveal.catalog import Prices
from foveal.errors import BudgetError, InputError
from foveal.model import Entry, Message
from foveal.pipeline.signals import identifiers
from foveal.session.costs import dollars, predicted
from foveal.session.foveal import Foveal
from foveal.session.history.append import append_messages
from foveal.session.session import Session
from foveal.session.state import Resources, SessionState
from foveal.session.target import Target, checked_budget, warn
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

    def __init__(self, target: Target, budget: int, *, prices: Prices | None, facts: Facts) -> None:
        self._aim, self._budget, self._prices, self._facts = target, budget, prices, facts
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


Progress = Callable[[int, int], None]
"""Called with the requests that are done, and how many there are."""
WHOLE = "sent whole"


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
    """Calls for which there is no window so small."""
    seconds: float
    requests: tuple[Request, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A session under another policy, beside its own and beside no policy at all."""

    session: str
    model: str
    counter: str
    budget: int
    messages: int
    calls: int
    run: Run
    recorded: Run | None
    """Under the session's own preset; None where that is the one asked for."""
    whole: Run
    """With the whole history in every request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """What every run is given."""

    resources: Resources
    target: Target
    model: str
    messages: Sequence[Message]
    budget: int
    prices: Prices | None
    facts: Facts
    told: Callable[[], None]
    """Called after every request."""

    @property
    def till(self) -> Till:
        return Till(self.target, self.budget, prices=self.prices, facts=self.facts)


def replay_session(
    state: SessionState, *, preset: str, budget: int | None, model: str, progress: Progress | None = None
) -> Replayed:
    checked_budget(budget)
    resources, wanted = state.resources, presets.find(preset, state.resources.numbers).name
    with state.reading():
        target, messages = state.target(model), _messages(state)
        own = state.log.head.preset or presets.DEFAULT
    warn(target.warnings)
    facts, names = Facts(messages), list(dict.fromkeys((wanted, own)))
    stage = _Stage(
        resources=resources,
        target=target,
        model=model or state.model,
        messages=messages,
        budget=target.budget(None) if budget is None else budget,
        prices=catalog.prices(target.card.id, extra=resources.catalogue),
        facts=facts,
        told=_counting(progress, len(facts.needed) * len(names)),
    )
    runs = [_played(stage, name) for name in names]
    return Replayed(
        session=state.name,
        model=target.card.id,
        counter=target.tokenizer.name,
        budget=stage.budget,
        messages=len(messages),
        calls=len(facts.needed),
        run=runs[0],
        recorded=runs[1] if len(runs) > 1 else None,
        whole=_whole(stage),
    )


def _messages(state: SessionState) -> list[Message]:
    """All that was ever said: what was pruned or summarized meanwhile was another policy's doing."""
    entries = state.log.entries
    read = state.log.read_unerased(entries)
    return [_as_it_was(message, entry) for message, entry in zip(read, entries, strict=True) if message]


def _as_it_was(message: Message, entry: Entry) -> Message:
    return replace(
        message,
        created_at=entry.created_at,
        important=entry.important,
        level=entry.level,
        priority=entry.priority,
        metadata=json.loads(entry.metadata) if entry.metadata else {},
    )


def _counting(progress: Progress | None, of: int) -> Callable[[], None]:
    done = iter(range(1, of + 1))

    def told() -> None:
        if progress:
            progress(next(done), of)

    return told


def _played(stage: _Stage, preset: str) -> Run:
    """The session once more, from its first call to its last."""
    till, requests, refused = stage.till, [], 0
    # Vectors come in their own time: without them, the same session gives the same windows.
    with Foveal(
        ":memory:",
        catalogue=stage.resources.catalogue,
        counter=stage.resources.counter,
        numbers=stage.resources.numbers,
        embedder="none",
    ) as fov:
        player = Player(fov.session("replay", model=stage.model, preset=preset))
        for at in stage.facts.needed:
            started = time.perf_counter()
            player.append(stage.messages[player.taken : at])
            try:
                window = player.build(stage.budget)
            except (BudgetError, InputError):  # too small a budget, or nothing that could be answered
                refused += 1
            else:
                requests.append(till.window(window, at, seconds=time.perf_counter() - started))
            stage.told()
    return _run(preset, requests, refused)


class Player:
    """A session to play into: takes messages as they were, builds windows as of the newest one's time."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._now: float | None = None
        self.taken = 0
        """Messages so far."""

    def append(self, messages: Sequence[Message]) -> None:
        state = self._session._state
        with state.writing() as events:
            append_messages(state, messages, events)
        self.taken += len(messages)
        self._now = messages[-1].created_at if messages else self._now

    def build(self, budget: int) -> Window:
        return self._session.build(budget=budget, now=self._now)


def _whole(stage: _Stage) -> Run:
    till = stage.till
    return _run(WHOLE, [till.request(stage.messages[:at], at) for at in stage.facts.needed], 0)


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
