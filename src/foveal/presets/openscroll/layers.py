"""A budget and what is there to show in → tokens for each of eight layers, negotiated in four phases.

    ask      what each layer needs, wants and can use at most
    fix      the user's message, the identity and the preferences
    share    minimums by priority, then what is left by the size of each gap
    hand out leftovers, the highest priority first; identity and preferences after all others

The promise: the allocations never exceed the budget, every layer gets 0 or something within its minimum and
maximum, and tokens stay unallocated only when every layer still in is at its maximum.
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

ELASTIC = (TOPIC, ENTITY, ARC, RETRIEVAL, MESSAGE_HISTORY)
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
"""Under which name the tokens that a layer could show are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenscrollNumbers:
    """Every number of the negotiation. Shares are of the total budget."""

    total: int = 12_000
    depth: str = "standard"
    prioritize_history: bool = False
    minimal_depth: float = 0.5
    standard_depth: float = 1.0
    deep_depth: float = 1.5
    pressure_share: float = 0.7
    """The conversation presses fully once it is this much of the budget."""
    heavy_topics: int = 2
    heavy_messages: int = 20
    identity_min: int = 150
    identity_ideal: int = 400
    identity_share: float = 0.02
    identity_max: int = 500
    prefs_min: int = 100
    prefs_ideal: int = 600
    prefs_share: float = 0.03
    prefs_max: int = 800
    topic_min: int = 300
    topic_share: float = 0.12
    topic_step: float = 0.3
    topic_pressure: float = 0.4
    topic_max_share: float = 0.25
    most_growth: float = 2.0
    """Many topics or entities multiply their share by at most this."""
    entity_min: int = 150
    entity_share: float = 0.06
    entity_step: float = 0.4
    entity_tokens: int = 400
    entity_max_share: float = 0.12
    arc_min: int = 200
    arc_tokens: int = 150
    arc_share: float = 0.15
    arc_max_share: float = 0.20
    jit_min: int = 200
    jit_share: float = 0.10
    jit_topic_share: float = 0.15
    jit_least: float = 0.3
    jit_max_share: float = 0.18
    history_min: int = 500
    history_max_share: float = 0.60
    small_history: int = 3_000
    medium_history: int = 10_000
    large_history: int = 50_000
    small_share: float = 1.0
    medium_share: float = 0.35
    large_share: float = 0.30
    huge_share: float = 0.25
    history_boost: float = 1.3
    dialogue_boost: float = 1.2
    priorities: Mapping[str, float] = field(
        default_factory=lambda: {
            IDENTITY: 100,
            PREFERENCES: 95,
            TOPIC: 70,
            ENTITY: 65,
            ARC: 30,
            RETRIEVAL: 75,
            MESSAGE_HISTORY: 80,
            USER_MESSAGE: 100,
        }
    )
    raised_priorities: Mapping[str, float] = field(
        default_factory=lambda: {TOPIC: 85, ARC: 88, MESSAGE_HISTORY: 90}
    )
    """Topics when knowledge is heavy, the arc of an active conversation, history when dialogue is heavy."""
    elasticity: Mapping[str, float] = field(
        default_factory=lambda: {
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
    key_messages: KeyMessageNumbers = field(default_factory=KeyMessageNumbers)
    """What makes a message worth quoting where the history is compacted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the layers negotiate about."""

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
    """Tokens there are to show, by the names of `BUNDLES`; a missing name means nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What one layer asked for and got."""

    name: str
    minimum: int
    ideal: int
    maximum: int
    priority: float
    elasticity: float
    allocated: int = 0

    @property
    def gap(self) -> int:
        return max(0, self.ideal - self.minimum)

    @property
    def slot(self) -> Slot:
        return Slot(
            name=self.name,
            floor=self.minimum,
            ideal=self.ideal,
            ceiling=self.maximum,
            allotted=self.allocated,
        )


def slot_of(item: Item) -> str:
    """The layer an item is shown in: what its metadata says, else by its kind.

    >>> slot_of(Item(index=0, id="m1", role="user", kind="chat_history_user", text="hello", tokens=1))
    'L6_message_history'
    """
    return layer_of(item.kind, item.metadata)


def negotiate(situation: Situation, numbers: OpenscrollNumbers | None = None) -> tuple[Layer, ...]:
    """Allocate the budget to the eight layers, in their order.

    >>> talk = Situation(
    ...     total=12_000, messages=30, history_tokens=9_000, user_tokens=120, topics=2, entities=3
    ... )
    >>> [layer.allocated for layer in negotiate(talk)]
    [240, 360, 2378, 1102, 2400, 1200, 4200, 120]
    """
    asked = {layer.name: layer for layer in asking(situation, numbers or OpenscrollNumbers())}
    got = _fixed(asked, situation.total)
    pool = situation.total - sum(got.values())
    got |= _shared([asked[name] for name in ELASTIC], pool)
    steady = [asked[name] for name in (IDENTITY, PREFERENCES) if got[name] or not asked[name].minimum]
    got |= _topped(steady, got, situation.total - sum(got.values()))
    return tuple(replace(asked[name], allocated=got[name]) for name in LAYERS)


def asking(situation: Situation, numbers: OpenscrollNumbers) -> tuple[Layer, ...]:
    """Phase 1: minimum, ideal and maximum of every layer."""
    if situation.total < 1:
        raise BudgetError(f"the budget is {situation.total:,} tokens", remedy="raise `total_budget` above 0")
    limits = {**_steady(situation, numbers), **_material(situation, numbers), **_talk(situation, numbers)}
    known = {BUNDLES[name]: tokens for name, tokens in situation.available.items() if name in BUNDLES}
    known[MESSAGE_HISTORY] = min(
        situation.history_tokens, known.get(MESSAGE_HISTORY, situation.history_tokens)
    )
    silent = {TOPIC: not situation.topics, ENTITY: not situation.entities, ARC: not situation.active}
    raised = _raised(situation, numbers)
    return tuple(
        _layer(name, (0, 0, 0) if silent.get(name) else limits[name], known.get(name), raised, numbers)
        for name in LAYERS
    )


def _layer(
    name: str,
    limits: tuple[int, float, float],
    known: int | None,
    raised: Mapping[str, float],
    numbers: OpenscrollNumbers,
) -> Layer:
    maximum = round_down(limits[2]) if known is None else min(round_down(limits[2]), known)
    return Layer(
        name=name,
        minimum=min(limits[0], maximum),
        ideal=round_down(limits[1]) if maximum else 0,
        maximum=maximum,
        priority=raised.get(name, numbers.priorities[name]),
        elasticity=numbers.elasticity[name],
    )


def _steady(situation: Situation, n: OpenscrollNumbers) -> dict[str, tuple[int, float, float]]:
    total, user = situation.total, situation.user_tokens
    return {
        IDENTITY: (n.identity_min, min(n.identity_ideal, n.identity_share * total), n.identity_max),
        PREFERENCES: (n.prefs_min, min(n.prefs_ideal, n.prefs_share * total), n.prefs_max),
        USER_MESSAGE: (user, user, user),
    }


def _material(situation: Situation, n: OpenscrollNumbers) -> dict[str, tuple[int, float, float]]:
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


def _talk(situation: Situation, n: OpenscrollNumbers) -> dict[str, tuple[int, float, float]]:
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


def _fixed(asked: Mapping[str, Layer], total: int) -> dict[str, int]:
    """Phase 2: the user's message whole; identity and preferences give way to it, in steps."""
    identity, prefs, user = asked[IDENTITY], asked[PREFERENCES], asked[USER_MESSAGE].maximum
    full, fair = _clamped(identity), _clamped(prefs)
    steps = ((full, fair), (full, prefs.minimum), (identity.minimum, prefs.minimum), (identity.minimum, 0))
    for first, second in steps:
        if first + second + user <= total:
            return {IDENTITY: first, PREFERENCES: second, USER_MESSAGE: user}
    raise BudgetError(
        f"the user message has {user:,} tokens and the identity needs {identity.minimum:,}; "
        f"the budget is {total:,}",
        remedy=f"raise `total_budget` to {user + identity.minimum:,} or more, or shorten the user message",
    )


def _clamped(layer: Layer) -> int:
    return max(layer.minimum, min(layer.ideal, layer.maximum))


def _shared(layers: Sequence[Layer], pool: int) -> dict[str, int]:
    """Phases 3 and 4: minimums, a share of each gap, then leftovers; what cannot be in gets 0."""
    ranked = sorted(layers, key=lambda layer: -layer.priority)
    while ranked and sum(layer.minimum for layer in ranked) > pool:
        ranked.pop()
    got = {layer.name: layer.minimum for layer in ranked}
    start, gaps = pool - sum(got.values()), sum(layer.gap for layer in ranked)
    for layer in ranked:
        share = round_down(start * layer.gap * min(layer.priority, 100) / (gaps * 100)) if gaps else 0
        got[layer.name] += min(share, layer.gap, layer.maximum - layer.minimum)
    got |= _topped(ranked, got, pool - sum(got.values()))
    return dict.fromkeys((layer.name for layer in layers), 0) | got


def _topped(layers: Sequence[Layer], got: Mapping[str, int], left: int) -> dict[str, int]:
    """What these layers have with the leftovers, the highest priority first, up to each maximum."""
    topped: dict[str, int] = {}
    for layer in sorted(layers, key=lambda layer: -layer.priority):
        more = min(left, layer.maximum - got[layer.name])
        topped[layer.name] = got[layer.name] + more
        left -= more
    return topped
