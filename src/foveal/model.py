"""The values that every stage takes and returns, all frozen.

Nothing here reads, counts or decides. Values with the same content are equal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

Role = Literal["system", "user", "assistant", "tool"]
Format = Literal["openai", "responses", "anthropic", "gemini", "plain"]
Level = Literal["permanent", "session", "working", "volatile"]
Detail = Literal["full", "trimmed", "folded"]
Absence = Literal["", "left out", "erased"]
Kind = Literal[
    "system_prompt",
    "current_user_prompt",
    "critical_rag_document",
    "tool_output",
    "tool_input",
    "chat_history_user",
    "chat_history_assistant",
    "rag_memory_commit",
    "rag_document_chunk",
    "rag_ebook_chunk",
    "rag_generic_chunk",
]

MESSAGES_KEY: Mapping[Format, str] = MappingProxyType(
    {
        "openai": "messages",
        "plain": "messages",
        "anthropic": "messages",
        "responses": "input",
        "gemini": "contents",
    }
)
"""The key of the messages in a request body."""
SYSTEM_KEY: Mapping[Format, str] = MappingProxyType(
    {"anthropic": "system", "responses": "instructions", "gemini": "systemInstruction"}
)
"""The key of the system prompt in a request body, for formats that keep it outside the messages."""
SYSTEM_KEYS = frozenset({"system", "instructions", "systemInstruction", "system_instruction"})

# Parts. `raw` is the JSON of the block exactly as it came, where it was a block of its own; it has every
# field we do not know. `edited` means that the named fields override those of `raw`. `rest` is the text of
# the fields of `raw` beyond the named ones: it is sent like them, so it is counted.


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    text: str
    raw: str = ""
    rest: str = ""
    edited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image: base64 `data`, or a `url` (which may be a provider's file id)."""

    data: str = ""
    url: str = ""
    media_type: str = ""
    detail: str = ""
    raw: str = ""
    rest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A document, audio or video: base64 `data`, a `url`, or inline `text`."""

    data: str = ""
    url: str = ""
    text: str = ""
    media_type: str = ""
    name: str = ""
    images: tuple[Image, ...] = ()
    """Images between the paragraphs of `text`."""
    raw: str = ""
    rest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    id: str
    """Empty where the format has no ids (Gemini, plain): such calls pair with results by name and order."""
    name: str
    arguments: str
    """JSON text as the model wrote it, possibly invalid."""
    by_name: bool = False
    """It came as OpenAI's `function_call`, which has no id: formats with that shape answer it by name."""
    raw: str = ""
    rest: str = ""
    edited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """The model's reasoning. With a signature it is never altered and never moved to another message."""

    text: str
    signature: str = ""
    raw: str = ""
    rest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """A block of an unknown type: passed through unchanged, never split, never dropped alone."""

    type: str
    raw: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    call_id: str
    parts: tuple[Text | Image | File | Opaque, ...]
    name: str = ""
    error: bool = False
    raw: str = ""
    rest: str = ""
    edited: bool = False


Part = Text | Image | File | ToolCall | ToolResult | Thinking | Opaque


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One provider message: its content (`parts`) and the exact JSON it came as (`body`)."""

    role: Role
    parts: tuple[Part, ...]
    format: Format
    body: str = ""
    """The provider's JSON as it came. Empty once anything was changed: then the message is written from
    `parts` and `extra`."""
    extra: str = ""
    """JSON object of the top-level fields other than role and content, unknown ones included."""
    rest: str = ""
    """The text of `extra` that the model reads: it is sent, so it is counted."""
    flaw: str = ""
    """Why no provider accepts `body` as it came (`content` is null, `tool_calls` is an empty list): the
    message must be written again from its parts."""
    digest: str = ""
    """Content address: equal for equal content, independent of key order and cache markers."""
    id: str = ""
    author: str = ""
    created_at: float | None = None
    kind: Kind | None = None
    level: Level | None = None
    priority: float | None = None
    """For `omar`, instead of the priority of its kind; for `fifth`, between equal scores."""
    pinned: bool = False
    important: bool = False
    private: bool = False
    """Seen in its own session only: in no other session's window, search or knowledge."""
    outside: bool = False
    """A system prompt that came outside the messages."""
    in_place: bool = False
    """A system message after the beginning of the conversation: it stays where it is, and is not the system
    prompt."""
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    @property
    def text(self) -> str:
        """The readable text: text, results and arguments, one part per line."""
        return "\n".join(filter(None, map(_readable, self.parts)))


PRIORITY_MOST = 1_000
"""The highest priority that a message may have."""


def is_priority(value: object) -> bool:
    """Whether a message may have this priority.

    >>> is_priority(0), is_priority(99.5), is_priority(True), is_priority("high")
    (True, True, False, False)
    """
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return known and 0 <= value <= PRIORITY_MOST  # type: ignore[operator]  # NaN compares false


def placed(message: Message, *, begun: bool) -> Message:
    """The message as one of a conversation that has begun or not; only a system message differs."""
    in_place = begun and message.role == "system"
    return message if in_place == message.in_place else replace(message, in_place=in_place)


def _readable(part: Part) -> str:
    match part:
        case Text(text=text) | Thinking(text=text) | File(text=text):
            return text
        case ToolCall(name=name, arguments=arguments):
            return f"{name}({arguments})"
        case ToolResult(parts=parts):
            return "\n".join(filter(None, map(_readable, parts)))
        case Image() | Opaque():
            return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What a caller passed: a message list, or a whole request body."""

    format: Format
    messages: tuple[Message, ...]
    """System prompts first, as messages of role system, wherever the format keeps them."""
    tools: str = ""
    """JSON of the tool definitions as they came; empty when there were none."""
    envelope: str = ""
    """JSON of the request body in its key order, with null for its messages, system prompt and tools; empty
    for a bare list."""
    guessed: bool = False
    """Whether the format is a guess: messages of other formats look the same."""
    answered_by: str = ""
    """The model that a transcript names for its answers."""

    @property
    def model(self) -> str:
        """The model that the request body or the transcript names."""
        asked = str(json.loads(self.envelope).get("model") or "") if self.envelope else ""
        return asked or self.answered_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a provider refuses, as data, for `pipeline.repair`."""

    results_first: bool = False
    """Tool results come before any other block of their message."""
    results_together: bool = False
    """The results of one message's calls are in one message."""
    object_arguments: bool = False
    """Arguments must be a JSON object, not any JSON."""
    needs_call: bool = True
    """A tool result without a call is refused."""
    pairs_by_name: bool = False
    """Calls may lack ids; results then pair with them by name and order."""
    function_calls: bool = False
    """OpenAI's `function_call` is among its shapes: such a call lacks an id, and its result has its name."""
    item_per_part: bool = False
    """Every block is a message of its own, so a run of assistant items is one response and stays together."""
    calls_follow_input: bool = False
    """A message with calls must come right after a user message or a result."""
    max_markers: int | None = None
    """The most cache markers in one request; None where the format has none."""
    max_name: int = 64
    legal_name: str = "A-Za-z0-9_-"
    """The characters allowed in a tool's name, as a character set of a regular expression."""
    legal_id: str = ""
    """Likewise for the id of a call; empty where any text is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Framing:
    """Tokens a format adds around content."""

    request: int = 0
    message: int = 0
    name: int = 0
    call: int = 0
    result: int = 0
    tools: int = 0
    """Once, when any tool is defined."""
    tool: int = 0
    """For each tool, in addition to its JSON."""
    images: Literal["openai", "anthropic", "gemini"] = "openai"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One stored message without its body: enough to form turns, count tokens and select."""

    seq: int
    id: str
    digest: str
    role: Role
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    tokens: int = 0
    """Framing included."""
    counter: str = ""
    """How they were counted: tokenizer and format."""
    kind: Kind | None = None
    pinned: bool = False
    important: bool = False
    private: bool = False
    absence: Absence = ""
    created_at: float | None = None
    beside: bool = False
    """Added by the session's owner, not part of the client's history."""
    stand_in: str = ""
    """The text that windows show in place of this message and those whose `noted_by` is its position."""
    noted_by: int | None = None
    """The position of the message whose `stand_in` covers this one; None where none does."""
    level: Level | None = None
    priority: float | None = None
    metadata: str = ""
    """JSON; empty when there is none."""
    restored_at: float | None = None
    """When the session's owner last had it shown again, after it was left out."""

    @property
    def handle(self) -> str:
        return handle_of(self.digest)

    @property
    def aged_from(self) -> float | None:
        """The time that its age counts from: when it was said, or restored later."""
        times = [at for at in (self.created_at, self.restored_at) if at is not None]
        return max(times, default=None)


def handle_of(digest: str) -> str:
    """The short name by which a message's original can be recalled."""
    return f"fv-{digest[:20]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One defect of the history, and what was done about it for this window.

    `what` has no text, name or id of a message: reports are stored, and outlive the messages.
    """

    rule: str
    seq: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One candidate for the window: a turn as the provider may receive it, repaired and counted."""

    first: int
    last: int
    """Positions of its first and last message in the history, both included."""
    messages: tuple[Message, ...]
    pieces: tuple[str, ...]
    """The messages as the provider's JSON."""
    tokens: int
    detail: Detail = "full"
    repairs: tuple[Repair, ...] = ()
    cut_to: int = 0
    """The room that it was shortened for; 0 if it was not. The same turn and room give the same chunk."""
