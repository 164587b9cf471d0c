"""Map roles to kinds, and kinds to what each preset does with them: priority, layer, category and level.

A value in a message's own metadata takes precedence over the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from foveal.model import Kind, Level

IDENTITY, PREFERENCES, TOPIC, ENTITY = "L0_identity", "L1_global_prefs", "L2_topic", "L3_entity"
ARC, RETRIEVAL, MESSAGE_HISTORY, USER_MESSAGE = (
    "L4_conversation",
    "L5_jit",
    "L6_message_history",
    "L7_user_message",
)
LAYERS = (IDENTITY, PREFERENCES, TOPIC, ENTITY, ARC, RETRIEVAL, MESSAGE_HISTORY, USER_MESSAGE)
"""The layers of the `openscroll` preset, in the order of the window."""


class KindDefaults(NamedTuple):
    """What applies to messages of a kind unless their metadata differs."""

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
    """The kind of a message whose caller gave none.

    >>> kind_of("assistant", tool_call=True, newest_user=False)
    'tool_input'
    """
    if role == "user":
        return "current_user_prompt" if newest_user else "chat_history_user"
    if role == "assistant":
        return "tool_input" if tool_call else "chat_history_assistant"
    return "tool_output" if role == "tool" else "system_prompt"


def layer_of(kind: Kind, metadata: Mapping[str, object]) -> str:
    """The layer of a kind; a remembered fact about a topic or an entity goes to their layers."""
    layer = metadata.get("layer")
    if isinstance(layer, str) and layer:
        return layer if layer in LAYERS else KINDS[kind].layer
    if kind == "rag_memory_commit":
        if any(metadata.get(key) for key in ("topic", "topic_slug", "topic_id")):
            return TOPIC
        if any(metadata.get(key) for key in ("entity", "entity_id")):
            return ENTITY
    return KINDS[kind].layer


def category_of(kind: Kind, metadata: Mapping[str, object]) -> str:
    category = metadata.get("category")
    return category if isinstance(category, str) and category else KINDS[kind].category
