"""Every number of `openscroll` has an effect, in windows and in operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import pytest

import foveal
from foveal import operations
from foveal.pipeline.kinds import ARC, ENTITY, IDENTITY, MESSAGE_HISTORY, PREFERENCES, RETRIEVAL, TOPIC
from foveal.presets.numbers import listed
from foveal.presets.openscroll.layers import OpenscrollNumbers, Situation, negotiate

Numbers = Mapping[str, Any]
NEGOTIATION: dict[str, object] = {
    "depth": "deep",
    "prioritize_history": True,
    "minimal_depth": 0.2,
    "standard_depth": 0.8,
    "deep_depth": 2.0,
    "pressure_share": 0.9,
    "heavy_topics": 4,
    "heavy_messages": 60,
    "identity_min": 300,
    "identity_ideal": 200,
    "identity_share": 0.03,
    "identity_max": 200,
    "prefs_min": 500,
    "prefs_ideal": 200,
    "prefs_share": 0.04,
    "prefs_max": 300,
    "topic_min": 1_000,
    "topic_share": 0.2,
    "topic_step": 0.5,
    "topic_pressure": 0.9,
    "topic_max_share": 0.15,
    "most_growth": 1.1,
    "entity_min": 900,
    "entity_share": 0.03,
    "entity_step": 0.1,
    "entity_tokens": 100,
    "entity_max_share": 0.05,
    "arc_min": 900,
    "arc_tokens": 50,
    "arc_share": 0.02,
    "arc_max_share": 0.05,
    "jit_min": 900,
    "jit_share": 0.02,
    "jit_topic_share": 0.5,
    "jit_least": 0.9,
    "jit_max_share": 0.05,
    "history_min": 2_000,
    "history_max_share": 0.2,
    "small_history": 1_000,
    "medium_history": 4_000,
    "large_history": 20_000,
    "small_share": 0.1,
    "medium_share": 0.1,
    "large_share": 0.1,
    "huge_share": 0.1,
    "history_boost": 2.0,
    "dialogue_boost": 2.0,
    "priorities": {IDENTITY: 50, PREFERENCES: 150, TOPIC: 20, ENTITY: 99, RETRIEVAL: 10, MESSAGE_HISTORY: 5},
    "raised_priorities": {TOPIC: 10, ARC: 5, MESSAGE_HISTORY: 5},
}
KEY_MESSAGES: dict[str, object] = {
    "recency": 200.0,
    "substance": 40.0,
    "substance_most": 400.0,
    "code_block": 200.0,
    "question": 0.1,
    "question_most": 200.0,
    "decision": 200.0,
    "decisions": "blue",
    "problem": 0.1,
    "problem_most": 200.0,
    "problems": "blue",
    "user": 200.0,
    "edge": 0.0,
}
TOGETHER = {
    "substance": {"substance_most": 400.0},
    "substance_most": {"substance": 40.0},
    "question_most": {"question": 40.0},
    "problem_most": {"problem": 50.0},
}
"""A limit shows where the numbers it limits are larger, and these where their limit is."""
SITUATIONS = [
    Situation(total=total, messages=messages, history_tokens=tokens, user_tokens=120, **more)
    for total in (2_000, 12_000)
    for messages, tokens in ((4, 2_000), (30, 6_000), (50, 30_000), (400, 90_000))
    for more in (
        {"topics": 3, "entities": 3},
        {"topics": 1, "entities": 1, "depth": "minimal", "available": {"topic": total // 20}},
        {"topics": 1, "available": {"topic": total // 8}},
        {"topics": 1, "entities": 3, "depth": "deep", "prioritize_history": True},
        {"available": {"history": 100, "jit": 0, "conversation": 0}},
    )
]
ENDS = [
    "ends there",
    "Why? Why? Why? Why? Why?",
    "We decided to go on",
    "Error, bug, crash, broken, failed",
    "```\nx = 1\n```",
    "a blue one",
    "and " * 60,
]
TALK = [
    {
        "role": ("user", "assistant")[at % 2],
        "content": f"Message {at} of this talk, and it says little: {ENDS[at // 2 % len(ENDS)]}",
    }
    for at in range(120)
] + [{"role": "user", "content": "And now?"}]


def numbers(name: str, value: object) -> Numbers:
    outer, _, inner = name.rpartition(".")
    return {outer: {inner: value, **TOGETHER.get(inner, {})}} if outer else {name: value}


def entries() -> dict[str, object]:
    """Another value for every number, entry by entry."""
    flat = {name: value for name, value in NEGOTIATION.items() if not isinstance(value, Mapping)}
    tables = {"key_messages": KEY_MESSAGES} | {
        name: value for name, value in NEGOTIATION.items() if isinstance(value, Mapping)
    }
    return flat | {f"{name}.{key}": value for name, table in tables.items() for key, value in table.items()}


OTHER = entries()
IN_KEY_MESSAGES = [name for name in OTHER if name.startswith("key_messages.")]


def negotiated(table: Numbers) -> list[list[int]]:
    """What the layers get in many situations; nothing that is only reported."""
    merged = {
        name: {**getattr(OpenscrollNumbers(), name), **value} if isinstance(value, Mapping) else value
        for name, value in table.items()
    }
    by = replace(OpenscrollNumbers(), **merged)
    return [[layer.allocated for layer in negotiate(each, by)] for each in SITUATIONS]


def window(table: Numbers) -> list[Any]:
    return foveal.fit(
        TALK, budget=1_500, preset="openscroll", now=0.0, numbers={"openscroll": table}
    ).messages


def compacted(table: Numbers) -> object:
    request = {"messages": TALK, "l4_budget": 200, "l6_budget": 1_200, "strategy": "compacted"}
    return operations.run("history_compact", request, numbers={"openscroll": table})["l6_messages"]


def without(name: str) -> Numbers:
    """The numbers that go with this one, and not this one."""
    return {"key_messages": TOGETHER.get(name.rpartition(".")[2], {})}


def test_no_number_is_missing_here() -> None:
    assert OTHER.keys() == {number.key for number in listed("openscroll", [])}
    assert NEGOTIATION.keys() | {"key_messages"} == {field.name for field in fields(OpenscrollNumbers)}


@pytest.mark.parametrize("name", sorted(OTHER.keys() - {*IN_KEY_MESSAGES, "depth", "prioritize_history"}))
def test_another_number_of_the_negotiation_gives_another_result(name: str) -> None:
    assert negotiated(numbers(name, OTHER[name])) != negotiated({})


@pytest.mark.parametrize("name", ["depth", "prioritize_history"])
def test_depth_and_priority_of_the_history_change_the_layers_of_a_window(name: str) -> None:
    talk = [*TALK[:60], {"role": "user", "content": "x" * 90, "metadata": {"layer": TOPIC}}, *TALK[60:]]

    def layers(table: Numbers) -> object:
        fitted = foveal.fit(talk, budget=1_500, preset="openscroll", now=0.0, numbers={"openscroll": table})
        return fitted.manifest.slots

    assert layers({name: OTHER[name]}) != layers({})


@pytest.mark.parametrize("name", IN_KEY_MESSAGES)
def test_another_number_quotes_other_key_messages_in_a_window(name: str) -> None:
    assert window(numbers(name, OTHER[name])) != window(without(name))


@pytest.mark.parametrize("name", IN_KEY_MESSAGES)
def test_another_number_quotes_other_key_messages_in_history_compact(name: str) -> None:
    assert compacted(numbers(name, OTHER[name])) != compacted(without(name))
