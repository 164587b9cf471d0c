"""Replay a long session request by request: sent whole, cut naively, and managed.

Every number is measured: each request is built, counted and checked against the provider's rules.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from foveal import catalog, wire
from foveal.cli.demo import script
from foveal.session.foveal import Foveal
from foveal.session.inspect.replay import broken, calls, sent
from foveal.session.session import Session
from foveal.session.target import target_for
from foveal.session.values import Hit
from foveal.window import Window

BUDGET = 16_000
QUERY = "grace period rotated refresh tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What was measured."""

    messages: int
    tokens: int
    requests: int
    naive_refused: int
    """Requests that break a rule of the provider when only the newest messages that fit are sent."""
    naive_ruleless: int
    """Of the same requests, those without the user's request at the start."""
    refused: int
    over: int
    ruleless: int
    """The same three of the managed requests: refused, over the budget, without the user's request."""
    sent: int
    """Input tokens of all managed requests."""
    sent_whole: int
    """Input tokens of all requests, had each carried the whole history."""
    largest: int
    seconds: float
    dollars: float | None
    """The list price of a million input tokens, without any cache discount."""
    window: Window
    sizes: tuple[int, ...]
    """Tokens of every message of the history."""
    hits: tuple[Hit, ...]
    """What `QUERY` finds, up to the first hit that is not in the last window."""
    original: dict[str, Any]
    """What its handle recalls."""


def rehearse(budget: int = BUDGET) -> Rehearsal:
    """Replay the bundled session from its first request to its last."""
    history = list(script.messages())
    target = target_for(script.MODEL, "openai")
    loaded = wire.load(history, format="openai").messages
    sizes = tuple(map(target.meter.message, loaded))
    requests = calls(loaded)
    prices = catalog.prices(script.MODEL)
    naive = [_naive(history, sizes, at, budget - target.meter.request) for at in requests]
    with Foveal(":memory:") as fov:
        session = fov.session("login-service", model=script.MODEL)
        started = time.perf_counter()
        windows = play(session, history, requests, budget)
        seconds = time.perf_counter() - started
        hits = tuple(_up_to_first_outside(windows[-1], session.search(QUERY)))
        original = session.recall(hits[-1].handle)
    return Rehearsal(
        messages=len(history),
        tokens=target.meter.request + sum(sizes),
        requests=len(requests),
        naive_refused=sum(bool(wire.check({"messages": cut}, "openai")) for cut in naive),
        naive_ruleless=sum(history[1] not in cut for cut in naive),
        refused=sum(broken(window) > 0 for window in windows),
        over=sum(target.price(sent(window), "") > budget for window in windows),
        ruleless=sum(history[1] not in window.messages for window in windows),
        sent=sum(window.tokens for window in windows),
        sent_whole=sum(target.meter.request + sum(sizes[:at]) for at in requests),
        largest=max(window.tokens for window in windows),
        seconds=seconds,
        dollars=prices.input if prices else None,
        window=windows[-1],
        sizes=sizes,
        hits=hits,
        original=original,
    )


def play(
    session: Session, history: Sequence[dict[str, Any]], requests: Sequence[int], budget: int
) -> list[Window]:
    """A window for every request."""
    windows, stored = [], 0
    for at in requests:
        session.extend(history[stored:at], format="openai")
        stored = at
        windows.append(session.build(budget=budget))
    return windows


def _naive(
    history: Sequence[dict[str, Any]], sizes: Sequence[int], at: int, room: int
) -> list[dict[str, Any]]:
    """The system prompt and as many of the newest messages as fit."""
    left, first = room - sizes[0], at
    while first > 1 and sizes[first - 1] <= left:
        first -= 1
        left -= sizes[first]
    return [history[0], *history[first:at]]


def _up_to_first_outside(window: Window, hits: Sequence[Hit]) -> Iterator[Hit]:
    inside = [message["content"] for message in window.messages]
    for hit in hits:
        yield hit
        if hit.text not in inside:
            return
