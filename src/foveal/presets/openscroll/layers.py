"""Negotiate how many tokens each of the eight layers gets.

    request     every layer's minimum, ideal and maximum
    fix         the user's message, the identity and the preferences
    share       minimums by priority, then the rest in proportion to what each layer lacks
    distribute  leftovers, the highest priority first; identity and preferences last

The allocations never exceed the budget, every layer gets 0 or between its minimum and maximum, and tokens
stay unallocated only if every layer that got anything is at its maximum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from foveal.errors import BudgetError, InputError
from foveal.pipeline.kinds import (
    ARC,
    ENTITY,
    IDENTITY,
    LAYERS,
    MESSAGE_HISTORY,
    PREFERENCES,
    RETRIEVAL,
    TOPIC,
    USER_MESSAGE,
    layer_of,
)
from foveal.pipeline.material.categories import round_down
from foveal.pipeline.values import Item
from foveal.presets.openscroll.zones import KeyMessageNumbers
from foveal.window import Slot

TOTAL = 12_000
"""The budget of a negotiation that names none."""
ELASTIC = (TOPIC, ENTITY, ARC, RETRIEVAL, MESSAGE_HISTORY)
ELASTICITY: Mapping[str, float] = MappingProxyType(
    {
        IDENTITY: 0.0,
        PREFERENCES: 0.1,
        TOPIC: 0.6,
        ENTITY: 0.7,
        ARC: 0.3,
        RETRIEVAL: 0.5,
        MESSAGE_HISTORY: 0.4,
        USER_MESSAGE: 0.0,
    }
)
"""How willing each layer is to shrink. Reported, as the design does; it decides nothing."""
UNCONTESTED: Mapping[str, int] = MappingProxyType({ARC: 30, USER_MESSAGE: 100})
"""Priorities that are reported and decide nothing: of an arc without tokens, and of what is always in."""
BUNDLES: Mapping[str, str] = MappingProxyType(
    {
        "identity": IDENTITY,
        "global_prefs": PREFERENCES,
        "topic": TOPIC,
        "entity": ENTITY,
        "conversation": ARC,
        "jit": RETRIEVAL,
        "history": MESSAGE_HISTORY,
    }
)
"""The names under which callers state how many tokens a layer could show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenscrollNumbers:
    """The settings of the negotiation. Shares are of the total budget."""

    depth: str = "standard"
    """How much is shown of topics and entities: `minimal`, `standard` or `deep`."""
    prioritize_history: bool = False
    """Whether the history asks for more, by `history_boost`."""
    minimal_depth: float = 0.5
    """Factor for topics, arc and retrieval at depth `minimal`."""
    standard_depth: float = 1.0
    """The same factor at depth `standard`."""
    deep_depth: float = 1.5
    """The same factor at depth `deep`."""
    pressure_share: float = 0.7
    """The pressure of the conversation is at its highest from this share of the budget on."""
    heavy_topics: int = 2
    """From this many topics on, the topic layer has its raised priority."""
    heavy_messages: int = 20
    """Above this many messages, a prioritized history has its raised priority and asks for more."""
    identity_min: int = 150
    """The least that L0, identity, gets."""
    identity_ideal: int = 400
    """The most that L0 asks for."""
    identity_share: float = 0.02
    """Share that L0 asks for."""
    identity_max: int = 500
    """The most that L0 gets."""
    prefs_min: int = 100
    """The least that L1, preferences, gets."""
    prefs_ideal: int = 600
    """The most that L1 asks for."""
    prefs_share: float = 0.03
    """Share that L1 asks for."""
    prefs_max: int = 800
    """The most that L1 gets."""
    topic_min: int = 300
    """The least that L2, topics, gets if there is a topic."""
    topic_share: float = 0.12
    """Share that L2 asks for with one topic."""
    topic_step: float = 0.3
    """Part of that share that each further topic adds."""
    topic_pressure: float = 0.4
    """Part of what L2 asks for that a long history takes from it."""
    topic_max_share: float = 0.25
    """Share that L2 gets at most."""
    most_growth: float = 2.0
    """The most by which many topics or entities multiply their share."""
    entity_min: int = 150
    """The least that L3, entities, gets if there is an entity."""
    entity_share: float = 0.06
    """Share that L3 asks for with one entity."""
    entity_step: float = 0.4
    """Part of that share that each further entity adds."""
    entity_tokens: int = 400
    """Tokens that L3 asks for at most per entity."""
    entity_max_share: float = 0.12
    """Share that L3 gets at most."""
    arc_min: int = 200
    """The least that L4, the arc, gets in an active conversation."""
    arc_tokens: int = 150
    """Tokens that L4 asks for each time the number of messages doubles."""
    arc_share: float = 0.15
    """Share that L4 asks for at most."""
    arc_max_share: float = 0.20
    """Share that L4 gets at most."""
    jit_min: int = 200
    """The least that L5, retrieval, gets."""
    jit_share: float = 0.10
    """Share that L5 asks for while topics cover little."""
    jit_topic_share: float = 0.15
    """Share of topic material at which topics cover everything."""
    jit_least: float = 0.3
    """Part of `jit_share` that L5 asks for even then."""
    jit_max_share: float = 0.18
    """Share that L5 gets at most."""
    history_min: int = 500
    """The least that L6, the history, gets in an active conversation."""
    history_max_share: float = 0.60
    """Share that L6 gets at most."""
    small_history: int = 3_000
    """Tokens up to which a history is small."""
    medium_history: int = 10_000
    """Tokens up to which a history is medium."""
    large_history: int = 50_000
    """Tokens up to which a history is large; beyond, it is huge."""
    small_share: float = 1.0
    """Share that a small history asks for."""
    medium_share: float = 0.35
    """Share that a medium history asks for."""
    large_share: float = 0.30
    """Share that a large history asks for."""
    huge_share: float = 0.25
    """Share that a huge history asks for."""
    history_boost: float = 1.3
    """Factor for what a prioritized history asks for."""
    dialogue_boost: float = 1.2
    """Further factor for a prioritized history of more than `heavy_messages` messages."""
    priorities: Mapping[str, float] = field(
        default_factory=lambda: {
            IDENTITY: 100,
            PREFERENCES: 95,
            TOPIC: 70,
            ENTITY: 65,
            RETRIEVAL: 75,
            MESSAGE_HISTORY: 80,
        }
    )
    """Priority by layer: of two that lack something, the higher gets more, and leftovers first."""
    raised_priorities: Mapping[str, float] = field(
        default_factory=lambda: {TOPIC: 85, ARC: 88, MESSAGE_HISTORY: 90}
    )
    """The priority of topics if there are many, of an active arc, and of a long prioritized history."""
    key_messages: KeyMessageNumbers = field(default_factory=KeyMessageNumbers)
    """Which messages are quoted when the history is compacted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The conversation and the knowledge that the layers compete for."""

    total: int
    messages: int
    history_tokens: int
    user_tokens: int
    topics: int = 0
    entities: int = 0
    active: bool = True
    depth: str = "standard"
    """Minimal, standard or deep."""
    prioritize_history: bool = False
    available: Mapping[str, int] = field(default_factory=dict)
    """Tokens that each layer could show, by the names of `BUNDLES`; a missing name means unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerBudget:
    """The tokens that one layer requests and gets."""

    layer: str
    min_tokens: int
    ideal_tokens: int
    max_tokens: int
    priority: int | float
    elasticity: float
    allocated: int

    @property
    def gap(self) -> int:
        return max(0, self.ideal_tokens - self.min_tokens)

    @property
    def slot(self) -> Slot:
        return Slot(
            name=self.layer,
            floor=self.min_tokens,
            ideal=self.ideal_tokens,
            ceiling=self.max_tokens,
            allotted=self.allocated,
        )


def slot_of(item: Item) -> str:
    """The layer that shows an item: the one in its metadata, else the one of its kind.

    >>> slot_of(Item(index=0, id="m1", role="user", kind="chat_history_user", text="hello", tokens=1))
    'L6_message_history'
    """
    return layer_of(item.kind, item.metadata)


def negotiate(situation: Situation, numbers: OpenscrollNumbers | None = None) -> tuple[LayerBudget, ...]:
    """Allocate the budget to the eight layers, in their order.

    >>> talk = Situation(
    ...     total=12_000, messages=30, history_tokens=9_000, user_tokens=120, topics=2, entities=3
    ... )
    >>> [layer.allocated for layer in negotiate(talk)]
    [240, 360, 2378, 1102, 2400, 1200, 4200, 120]
    """
    requests = {request.layer: request for request in _requests(situation, numbers or OpenscrollNumbers())}
    got = _fixed(requests, situation.total)
    got |= _shared([requests[name] for name in ELASTIC], situation.total - sum(got.values()))
    last = [requests[name] for name in (IDENTITY, PREFERENCES) if got[name] or not requests[name].min_tokens]
    got |= _topped(last, got, situation.total - sum(got.values()))
    return tuple(replace(requests[name], allocated=got[name]) for name in LAYERS)


Limits = tuple[int, float, float]
"""Minimum, ideal and maximum tokens."""


def _requests(situation: Situation, numbers: OpenscrollNumbers) -> tuple[LayerBudget, ...]:
    """Phase 1: minimum, ideal and maximum of every layer."""
    if situation.total < 1:
        raise BudgetError(f"the budget is {situation.total:,} tokens", remedy="raise `total_budget` above 0")
    limits = {
        **_fixed_limits(situation, numbers),
        **_material_limits(situation, numbers),
        **_conversation_limits(situation, numbers),
    }
    known = {BUNDLES[name]: tokens for name, tokens in situation.available.items() if name in BUNDLES}
    known[MESSAGE_HISTORY] = min(
        situation.history_tokens, known.get(MESSAGE_HISTORY, situation.history_tokens)
    )
    empty = {TOPIC: not situation.topics, ENTITY: not situation.entities, ARC: not situation.active}
    priorities = {**UNCONTESTED, **numbers.priorities, **_raised(situation, numbers)}
    return tuple(
        _request(name, (0, 0, 0) if empty.get(name) else limits[name], known.get(name), priorities[name])
        for name in LAYERS
    )


def _request(layer: str, limits: Limits, known: int | None, priority: float) -> LayerBudget:
    minimum, ideal, most = limits
    maximum = round_down(most) if known is None else min(round_down(most), known)
    return LayerBudget(
        layer=layer,
        min_tokens=min(minimum, maximum),
        ideal_tokens=round_down(ideal) if maximum else 0,
        max_tokens=maximum,
        priority=priority,
        elasticity=ELASTICITY[layer],
        allocated=0,
    )


def _fixed_limits(situation: Situation, n: OpenscrollNumbers) -> dict[str, Limits]:
    total, user = situation.total, situation.user_tokens
    return {
        IDENTITY: (n.identity_min, min(n.identity_ideal, n.identity_share * total), n.identity_max),
        PREFERENCES: (n.prefs_min, min(n.prefs_ideal, n.prefs_share * total), n.prefs_max),
        USER_MESSAGE: (user, user, user),
    }


def _material_limits(situation: Situation, n: OpenscrollNumbers) -> dict[str, Limits]:
    total, depth = situation.total, _depth(situation, n)
    pressure = min(1.0, situation.history_tokens / (n.pressure_share * total))
    topics = min(n.most_growth, 1 + n.topic_step * (situation.topics - 1))
    entities = min(n.most_growth, 1 + n.entity_step * (situation.entities - 1))
    covered = min(1.0, situation.available.get("topic", 0) / (n.jit_topic_share * total))
    return {
        TOPIC: (
            n.topic_min,
            n.topic_share * total * depth * topics * (1 - n.topic_pressure * pressure),
            n.topic_max_share * total,
        ),
        ENTITY: (
            n.entity_min,
            min(n.entity_share * total * entities, n.entity_tokens * situation.entities),
            n.entity_max_share * total,
        ),
        RETRIEVAL: (
            n.jit_min,
            n.jit_share * total * max(n.jit_least, 1 - covered) * depth,
            n.jit_max_share * total,
        ),
    }


def _conversation_limits(situation: Situation, n: OpenscrollNumbers) -> dict[str, Limits]:
    total, tokens = situation.total, situation.history_tokens
    arc = n.arc_tokens * math.log2(max(1, situation.messages) + 1) * _depth(situation, n)
    boost = n.history_boost if situation.prioritize_history else 1.0
    boost *= n.dialogue_boost if _dialogue_heavy(situation, n) else 1.0
    return {
        ARC: (n.arc_min, min(arc, n.arc_share * total), n.arc_max_share * total),
        MESSAGE_HISTORY: (
            n.history_min if situation.active else 0,
            min(tokens, total * _history_share(tokens, n) * boost),
            n.history_max_share * total,
        ),
    }


def _depth(situation: Situation, n: OpenscrollNumbers) -> float:
    depths = {"minimal": n.minimal_depth, "standard": n.standard_depth, "deep": n.deep_depth}
    if situation.depth not in depths:
        raise InputError(f"the depth is {situation.depth!r}", remedy=f"use one of: {', '.join(depths)}")
    return depths[situation.depth]


def _history_share(tokens: int, n: OpenscrollNumbers) -> float:
    if tokens <= n.small_history:
        return n.small_share
    if tokens <= n.medium_history:
        return n.medium_share
    return n.large_share if tokens <= n.large_history else n.huge_share


def _dialogue_heavy(situation: Situation, n: OpenscrollNumbers) -> bool:
    return situation.messages > n.heavy_messages and situation.prioritize_history


def _raised(situation: Situation, n: OpenscrollNumbers) -> dict[str, float]:
    heavy = {
        TOPIC: situation.topics >= n.heavy_topics or situation.depth == "deep",
        ARC: situation.active,
        MESSAGE_HISTORY: _dialogue_heavy(situation, n),
    }
    return {name: priority for name, priority in n.raised_priorities.items() if heavy.get(name)}


def _fixed(requests: Mapping[str, LayerBudget], total: int) -> dict[str, int]:
    """Phase 2: the user's message whole; preferences and identity shrink step by step to make room for it."""
    identity, prefs, user = requests[IDENTITY], requests[PREFERENCES], requests[USER_MESSAGE].max_tokens
    steps = (
        (_clamped(identity), _clamped(prefs)),
        (_clamped(identity), prefs.min_tokens),
        (identity.min_tokens, prefs.min_tokens),
        (identity.min_tokens, 0),
    )
    for first, second in steps:
        if first + second + user <= total:
            return {IDENTITY: first, PREFERENCES: second, USER_MESSAGE: user}
    least = identity.min_tokens
    raise BudgetError(
        f"the user message has {user:,} tokens and the identity needs {least:,}; the budget is {total:,}",
        remedy=f"raise `total_budget` to {user + least:,} or more, or shorten the user message",
    )


def _clamped(request: LayerBudget) -> int:
    return max(request.min_tokens, min(request.ideal_tokens, request.max_tokens))


def _shared(requests: Sequence[LayerBudget], pool: int) -> dict[str, int]:
    """Phases 3 and 4: minimums, a share of each gap, leftovers; a layer whose minimum does not fit gets 0."""
    ranked = sorted(requests, key=lambda request: -request.priority)
    while ranked and sum(request.min_tokens for request in ranked) > pool:
        ranked.pop()
    got = {request.layer: request.min_tokens for request in ranked}
    left, gaps = pool - sum(got.values()), sum(request.gap for request in ranked)
    for request in ranked:
        share = round_down(left * request.gap * min(request.priority, 100) / (gaps * 100)) if gaps else 0
        got[request.layer] += min(share, request.gap, request.max_tokens - request.min_tokens)
    got |= _topped(ranked, got, pool - sum(got.values()))
    return dict.fromkeys((request.layer for request in requests), 0) | got


def _topped(requests: Sequence[LayerBudget], got: Mapping[str, int], left: int) -> dict[str, int]:
    """These layers with the leftovers added, the highest priority first, up to each maximum."""
    topped: dict[str, int] = {}
    for request in sorted(requests, key=lambda request: -request.priority):
        more = min(left, request.max_tokens - got[request.layer])
        topped[request.layer] = got[request.layer] + more
        left -= more
    return topped
