"""The values that a file of messages is read into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foveal.model import Conversation, Format
from foveal.wire.formats.codec import JSON

NAME_MOST = 256
"""Characters of a model's name; a longer text is not one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a JSONL file."""

    number: int
    value: JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A part of a file that cannot be read."""

    where: str
    """As in `line 12`, or `messages[3]`."""
    why: str
    line: int | None = None
    """None where the file is one JSON value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A message in a provider's format, with its time and where it begins."""

    value: Any
    date: float | None = None
    where: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The messages that one reader found in a file."""

    format: Format
    found: list[Found]
    model: str = ""
    title: str = ""
    id: str = ""
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One conversation of a file, and what was skipped."""

    conversation: Conversation
    title: str = ""
    id: str = ""
    """Its title and id in an export of many conversations; else empty."""
    skipped: tuple[Skipped, ...] = ()


def model_name(value: object) -> str:
    """The name of a model in a file; empty where it is none, such as `<synthetic>`."""
    known = isinstance(value, str) and len(value) <= NAME_MOST and not value.startswith("<")
    return str(value).strip() if known else ""
