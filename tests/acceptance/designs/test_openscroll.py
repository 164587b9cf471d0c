"""OpenScroll's context engine as its design describes it, run end to end with the preset `openscroll`.

Eight layers negotiate one budget, the conversation is compacted progressively and keeps its arc, and what the
user will probably need next is compiled before they ask.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foveal import Foveal, Session, operations
from foveal.pipeline.kinds import LAYERS
from foveal.testing.model_server import ModelServer, Received, Reply
from foveal.window import Slot

BUDGET = 12_000
TALK = (
    "Round {n}: the dance studio in Lisbon needs a schedule; my sister Maria asked for evening class {n}, "
    "and the dance studio has {n} rooms, each of which must be booked a week before, or it is given away. "
)
ARC = {
    "arc": "Maria's dance studio in Lisbon needed a schedule, and class after class was planned.",
    "decisions": ["Evening classes begin at seven."],
    "open_questions": ["Which rooms stay free?"],
    "current_focus": "evening classes of the dance studio",
    "key_topics": ["dance studio", "schedule"],
}


class Narrator(ModelServer):
    """A model that writes arcs, and nothing else that could be used."""

    def take(self, received: Received) -> Reply:
        super().take(received)
        asked = "open_questions" in json.dumps(received.body)
        return Reply(text=json.dumps(ARC) if asked else " ")


@pytest.fixture
def model() -> Iterator[Narrator]:
    with Narrator() as server:
        yield server


@pytest.fixture
def fov(tmp_path: Path, model: Narrator) -> Iterator[Foveal]:
    """A user who said who they are, what they prefer and, in another conversation, something of use."""
    with Foveal(tmp_path / "scroll.db", embedder="none", summary_url=model.url, summary_model="m") as fov:
        fov.remember("My name is Ada, I run a dance school.", kind="identity")
        fov.remember("Answer in short sentences.", kind="preference")
        fov.session("floors").add(
            "assistant",
            "The floor of the dance studio in Lisbon is renewed in May, so evening classes pause.",
        )
        yield fov


@pytest.fixture
def chat(fov: Foveal) -> Session:
    """A conversation that is several times as large as its layer."""
    session = fov.session("chat", model="gpt-5", preset="openscroll")
    session.add("system", "You plan classes.")
    for n in range(150):
        session.add("user", TALK.format(n=n) * 2)
        session.add("assistant", f"Class {n} is in the schedule. We decided to book room {n % 9} for it.")
    session.add("user", "Which evening classes pause when the floor of the dance studio is renewed?")
    assert fov.settle(120)
    return session


def layers(slots: tuple[Slot, ...]) -> dict[str, Slot]:
    return {slot.name: slot for slot in slots}


def test_the_walk_through_fills_eight_layers_that_were_predicted_and_warmed(
    fov: Foveal, chat: Session
) -> None:
    presence = {
        "active_conversation": "chat",
        "visible_conversations": ["chat", "floors"],
        "navigation_history": ["/notebook/1", "/chat/floors", "/chat/chat"],
    }
    first, second, *_ = predictions = fov.presence(presence)
    assert (first.type, first.conversation_id, first.probability) == ("continue_conversation", "chat", 0.85)
    assert {"conversation", "topic", "deep_knowledge"} <= set(first.required_bundles)
    assert (second.conversation_id, second.probability) == ("floors", 0.30)
    assert len(predictions) <= 8
    assert fov.settle(60)

    chat.prompt(budget=BUDGET)
    assert fov.predictions("chat").missed == 0  # every bundle of the window was compiled before
    assert fov.settle(60)  # in which the model writes the arc

    prompt = chat.prompt(budget=BUDGET)
    found = layers(prompt.layers)
    assert list(found) == list(LAYERS)
    assert all(0 < slot.used <= slot.allotted for slot in found.values()), found
    assert (found["L0_identity"].ideal - 240, found["L1_global_prefs"].ideal) >= (0, 300)
    assert sum(slot.allotted for slot in found.values()) <= BUDGET
    assert prompt.tokens <= BUDGET

    order = [
        "You plan classes.",
        "My name is Ada",
        "short sentences",
        "## Current conversation",
        ARC["arc"],
        "Decisions:\n",
        "Open questions:\n- Which rooms stay free?",
        "## Recent messages",
        "Class 149 is in the schedule.",
        "## Just-in-time knowledge",
        "renewed in May",
        "## User message",
        "Which evening classes pause",
    ]
    places = [prompt.text.find(str(each)) for each in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)
    assert "Maria" in prompt.text.partition("## Current conversation")[0]


def test_a_window_has_the_same_content_as_messages(chat: Session) -> None:
    window = chat.build(budget=BUDGET)
    said = [str(message["content"]) for message in window.messages]
    assert window.tokens <= BUDGET
    assert said[-1].startswith("Which evening classes pause")
    assert any("renewed in May" in each for each in said)
    assert any("My name is Ada" in each for each in said)


def test_the_negotiation_of_the_design() -> None:
    found = operations.run(
        "layers_negotiate",
        {
            "totalBudget": 12_000,
            "conversationMessageCount": 30,
            "conversationTotalTokens": 9_000,
            "userMessageTokens": 120,
            "detectedTopicCount": 2,
            "detectedEntityCount": 3,
            "hasActiveConversation": True,
            "knowledgeDepth": "standard",
            "prioritizeHistory": False,
            "availableBundles": {},
        },
    )
    assert [each["allocated"] for each in found["layers"].values()] == [
        240, 360, 2378, 1102, 2400, 1200, 4200, 120,
    ]  # fmt: skip
    assert (found["total_available"], found["total_allocated"], found["short_by"]) == (12_000, 12_000, 0)
    history = found["layers"]["L6_message_history"]
    assert (history["ideal_tokens"], history["max_tokens"]) == (4_200, 7_200)
    assert (history["priority"], history["elasticity"]) == (80, 0.4)


@pytest.mark.parametrize(
    ("share", "strategy", "label"),
    [
        (1.1, "full", "[user]: Step 0"),
        (0.5, "windowed", "verbatim]"),
        (0.2, "compacted", "[Key exchanges of messages"),
        (0.1, "multi-level", "verbatim]"),
    ],
)
def test_the_longer_a_conversation_the_denser_it_is_shown(share: float, strategy: str, label: str) -> None:
    messages: list[dict[str, Any]] = [
        {
            "role": ("user", "assistant")[n % 2],
            "parts": [
                {"text": f"Step {n}: we looked at module {n} and it was fine, so we went on from there."}
            ],
        }
        for n in range(200)
    ]
    whole = operations.run("history_compact", {"messages": messages, "l4Budget": 0, "l6Budget": 1_000_000})
    found = operations.run(
        "history_compact",
        {"messages": messages, "l4Budget": 300, "l6Budget": int(share * whole["l6_token_count"])},
    )
    assert found["strategy"] == strategy
    assert label in found["l6_messages"]
    assert (found["l4_arc"] != "") == (strategy != "full")
    coverage = found["coverage"]
    assert coverage.pop("total_messages") == sum(coverage.values()) == 200
