"""A role or a kind in → what the kind is worth and where it belongs, under every plan.

One table ties the vocabularies of the presets together. What a message's metadata says of itself wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, cast, get_args

from foveal.model import Kind, Level

IDENTITY, PREFERENCES, TOPIC, ENTITY = "L0_identity", "L1_global_prefs", "L2_topic", "L3_entity"
ARC, RETRIEVAL, MESSAGE_HISTORY, USER_MESSAGE = (
    "L4_conversation",
    "L5_jit",
    "L6_message_history",
    "L7_user_message",
)
LAYERS = (IDENTITY, PREFERENCES, TOPIC, ENTITY, ARC, RETRIEVAL, MESSAGE_HISTORY, USER_MESSAGE)
"""The layers of the `openscroll` plan, in the order of the window."""
LONG_OUTPUT = 500
"""A tool's output above this is volatile."""


class KindDefaults(NamedTuple):
    """Where a kind stands before anything is known of the message itself."""

    priority: float
    layer: str
    category: str
    level: Level


KINDS: Mapping[Kind, KindDefaults] = MappingProxyType(
    {
        "system_prompt": KindDefaults(200, IDENTITY, "SYSTEM", "permanent"),
        "current_user_prompt": KindDefaults(190, USER_MESSAGE, "DIALOG", "working"),
        "critical_rag_document": KindDefaults(180, RETRIEVAL, "CONTEXT", "working"),
        "tool_output": KindDefaults(170, MESSAGE_HISTORY, "SYSTEM_OUTPUT", "working"),
        "tool_input": KindDefaults(160, MESSAGE_HISTORY, "DIALOG", "working"),
        "chat_history_user": KindDefaults(150, MESSAGE_HISTORY, "DIALOG", "working"),
        "chat_history_assistant": KindDefaults(140, MESSAGE_HISTORY, "DIALOG", "working"),
        "rag_memory_commit": KindDefaults(130, RETRIEVAL, "CONTEXT", "session"),
        "rag_document_chunk": KindDefaults(120, RETRIEVAL, "CONTEXT", "working"),
        "rag_ebook_chunk": KindDefaults(110, RETRIEVAL, "CONTEXT", "working"),
        "rag_generic_chunk": KindDefaults(100, RETRIEVAL, "CONTEXT", "volatile"),
    }
)
PROMPTS: frozenset[Kind] = frozenset({"system_prompt", "current_user_prompt"})
HISTORY: frozenset[Kind] = frozenset(
    {"chat_history_user", "chat_history_assistant", "tool_input", "tool_output"}
)
RAG: frozenset[Kind] = frozenset(KINDS) - PROMPTS - HISTORY


def kind_of(role: str, *, tool_call: bool, newest_user: bool) -> Kind:
    """The kind of a message that does not say it.

    >>> kind_of("assistant", tool_call=True, newest_user=False)
    'tool_input'
    """
    if role == "user":
        return "current_user_prompt" if newest_user else "chat_history_user"
    if role == "assistant":
        return "tool_input" if tool_call else "chat_history_assistant"
    return "tool_output" if role == "tool" else "system_prompt"


def layer_of(kind: Kind, metadata: Mapping[str, object]) -> str:
    """A remembered fact about a topic or an entity goes to their layers, any other is retrieved material."""
    said = metadata.get("layer")
    if isinstance(said, str) and said:
        return said if said in LAYERS else KINDS[kind].layer
    if kind == "rag_memory_commit":
        if any(metadata.get(key) for key in ("topic", "topic_slug", "topic_id")):
            return TOPIC
        if any(metadata.get(key) for key in ("entity", "entity_id")):
            return ENTITY
    return KINDS[kind].layer


def category_of(kind: Kind, metadata: Mapping[str, object]) -> str:
    said = metadata.get("category")
    return said if isinstance(said, str) and said else KINDS[kind].category


def level_of(kind: Kind, tokens: int, metadata: Mapping[str, object]) -> Level:
    said = metadata.get("level")
    if said in get_args(Level):
        return cast("Level", said)
    if kind == "tool_output" and tokens > LONG_OUTPUT:
        return "volatile"
    return KINDS[kind].level
