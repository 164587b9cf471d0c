"""One line of a JSONL file, with its number for error messages."""

from __future__ import annotations

from dataclasses import dataclass

from foveal.wire.formats.codec import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    number: int
    value: JSON
