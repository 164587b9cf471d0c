"""Request bodies: the options of the commands as fields. Unknown fields are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, PlainValidator, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from foveal.knowledge.values import MemoryKind
from foveal.model import PRIORITY_MOST, Format, Kind, Level, Role
from foveal.server.problems import Problem
from foveal.validation import FewFields, Many

MESSAGES_MOST = 10_000
INTEGER_MOST = 2**53 - 1
"""The largest integer that every JSON client represents exactly."""


def _exact(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """The text as it came, with its lone surrogates, which pydantic refuses and messages may have."""
    found = check(value.encode("utf-8", "replace").decode() if isinstance(value, str) else value)
    return value if isinstance(value, str) else found


Tokens = Annotated[int, Field(ge=1, le=INTEGER_MOST)]
Name = Annotated[str, Field(min_length=1, max_length=500)]
Folder = Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[^\x00]+$")]
Label = Annotated[str, Field(max_length=256)]
Words = Annotated[str, Field(max_length=100_000)]
Written = Literal["json", "openai", "responses", "anthropic", "gemini"]


def _limited(messages: Any) -> Any:
    """The messages, if there are at most `MESSAGES_MOST`; what they are is checked where they are read."""
    if not isinstance(messages, list | dict):
        raise PydanticCustomError("messages_type", "is not an array of messages or a request that has one")
    keys = ("messages", "input", "contents")
    found = messages if isinstance(messages, list) else next((messages[k] for k in keys if k in messages), [])
    if isinstance(found, list) and len(found) > MESSAGES_MOST:
        raise Problem(
            "too-large",
            f"`messages` has {len(found):,} messages; a request may have {MESSAGES_MOST:,}",
            "send them in several requests",
            field="messages",
        )
    return messages


Messages = Annotated[
    list[dict[str, Any]] | dict[str, Any],
    PlainValidator(_limited, json_schema_input_type=list[dict[str, Any]] | dict[str, Any]),
]
"""A list of messages in any provider's format, or a whole request body."""


class Body(FewFields):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class NewSession(Body):
    name: Name
    model: Label = ""
    preset: Label = ""
    pool: Label = ""


class PoolBudget(Body):
    budget: Tokens | None = None


class Member(Body):
    session: Name


class Fork(Body):
    name: Name
    messages: Annotated[int, Field(ge=0, le=INTEGER_MOST)] | None = None


class NewMessage(Body):
    role: Role
    text: Annotated[str, Field(min_length=1), WrapValidator(_exact)]
    pin: bool = False
    important: bool = False
    private: bool = False
    kind: Kind | None = None
    level: Level | None = None
    priority: Annotated[float, Field(ge=0, le=PRIORITY_MOST)] | None = None
    name: Annotated[Words, WrapValidator(_exact)] = ""


class Import(Body):
    messages: Messages
    format: Format | None = None
    sync: bool = False


class Marked(Body):
    id: Name


class Forgotten(Body):
    id: Name
    keep: bool = False


class Restored(Body):
    id: Name | None = None


class Shrunk(Body):
    max_tokens: Tokens | None = None
    dry_run: bool = False


class Summarized(Body):
    keep: Annotated[int, Field(ge=0, le=INTEGER_MOST)] | None = None
    dry_run: bool = False


class Choice(Body):
    """Options that every window takes."""

    budget: Tokens | None = None
    model: Label = ""
    task: Words = ""


class Build(Choice):
    preset: Label = ""
    system: str | None = None
    tools: Many[dict[str, Any]] | None = None
    workspace: Folder | None = None
    active: Many[Name] = Field(default=[])
    contributors: Many[Name] = Field(default=[])
    format: Written = "json"


class Fit(Choice):
    messages: Messages
    preset: Label = ""
    system: str | None = None
    tools: Many[dict[str, Any]] | None = None
    format: Format | None = None


class Count(Body):
    text: str | None = None
    messages: Messages | None = None
    model: Label = ""


class Compare(Choice):
    presets: Many[Name] | None = None


class CompareMessages(Compare):
    messages: Messages
    format: Format | None = None


class Replay(Body):
    preset: Name
    budget: Tokens | None = None
    model: Label = ""


class Focus(Body):
    question: Annotated[str, Field(min_length=1, max_length=100_000)]
    budget: Tokens = 2_000
    model: Label = ""
    format: Written = "json"


class NewTask(Body):
    name: Name


class Context(Choice):
    workspace: Folder
    active: Many[Name] = Field(default=[])
    contributors: Many[Name] = Field(default=[])


class Remembered(Body):
    text: Annotated[str, Field(min_length=1)]
    kind: MemoryKind | None = None


class Edited(Body):
    text: Annotated[str, Field(min_length=1)]


class Renamed(Body):
    name: Name


class Present(Body):
    """Where a user is in a client."""

    active_conversation: Words = ""
    visible_conversations: Many[Words] = Field(default=[])
    active_notebook: Words = ""
    active_persona: Words = ""
    last_path: Words = ""
    navigation_history: Many[Words] = Field(default=[])
    local_hour: Annotated[int, Field(ge=0, le=23)] | None = None
    session_start: float | None = None
    idle_since: float | None = None
    session: Words = ""
    warm: bool | None = None
