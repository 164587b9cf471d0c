"""The answer of a build: the window, and the manifest that says what is in it, what is not, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from foveal.model import MESSAGES_KEY, SYSTEM_KEY, SYSTEM_KEYS, Detail, Entry, Format, Repair

Verdict = Literal["kept", "left out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What an item is worth, and what it is made of."""

    total: float
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A share of the budget: a layer, a category, a level, or the whole."""

    name: str
    floor: int
    ideal: int
    ceiling: int
    allotted: int
    used: int = 0
    borrowed: int = 0
    """Taken from other slots; negative when lent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two units that could not both be in."""

    chunk1: int
    chunk2: int
    type: Literal["priority_conflict", "budget_exceeded"]
    resolution: Literal["keep_chunk1", "keep_chunk2", "drop_both"] = "keep_chunk1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A run of messages, its verdict, and the reason in words a person can read."""

    first: int
    last: int
    verdict: Verdict
    tokens: int
    because: str
    detail: Detail = "full"
    score: Score | None = None
    """None where the preset does not score."""
    slot: str = ""
    """The slots of the plan it was charged to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """A stretch of the past whose words were brought back into the window, in a note of ours."""

    first: int
    last: int
    """Positions of its messages, both included."""
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What is in the window and what is not, and why. One decision for every message."""

    preset: str
    counter: str
    budget: int
    tokens: int
    parts: Mapping[str, int]
    """Tokens by part: framing, tools, system, pinned, open turn, history, notes, retrieved."""
    decisions: tuple[Decision, ...]
    repairs: tuple[Repair, ...] = ()
    warnings: tuple[str, ...] = ()
    slots: tuple[Slot, ...] = ()
    """The plan: what each slot was allotted, used and borrowed."""
    conflicts: tuple[Conflict, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    """What the preset measures of its own choice."""
    record: Mapping[str, str] = field(default_factory=dict)
    """Ids under which the preset's design files the build."""
    retrieved: tuple[Retrieved, ...] = ()
    """What the note of retrieved messages holds."""

    @property
    def kept(self) -> tuple[Decision, ...]:
        return tuple(d for d in self.decisions if d.verdict == "kept")

    @property
    def left_out(self) -> tuple[Decision, ...]:
        return tuple(d for d in self.decisions if d.verdict == "left out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The answer: what to send to the model now, and the manifest that explains it."""

    format: Format
    model: str
    tokens: int
    budget: int
    pieces: tuple[str, ...]
    """The messages, each as JSON."""
    system_json: str = ""
    tools_json: str = ""
    envelope: str = ""
    entries: Sequence[Entry] = field(repr=False, compare=False)
    tell: Callable[[], Manifest] = field(repr=False, compare=False)
    fetch: Callable[[str], Any] = field(repr=False, compare=False)
    describe: Callable[[Manifest], str] = field(repr=False, compare=False)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages in the format that came in; a fresh copy each time."""
        found: list[dict[str, Any]] = json.loads(f"[{','.join(self.pieces)}]")
        return found

    @property
    def system(self) -> Any:
        """The system prompt, where the format keeps it outside the messages; else None."""
        return json.loads(self.system_json) if self.system_json else None

    @property
    def request(self) -> dict[str, Any]:
        """The whole request body that came in, with this window in place of its messages."""
        key = MESSAGES_KEY[self.format]
        body: dict[str, Any] = json.loads(self.envelope or "{}")
        body.setdefault(key, None)
        if self.system_json and not SYSTEM_KEYS & body.keys():
            body[SYSTEM_KEY[self.format]] = None
        if self.tools_json:
            body["tools"] = json.loads(self.tools_json)
        for name in SYSTEM_KEYS & body.keys():
            if self.system_json:
                body[name] = self.system
            elif body[name] is None:
                del body[name]
        body[key] = self.messages
        return body

    @property
    def manifest(self) -> Manifest:
        """What is in and what is not, and why."""
        return self.tell()

    def handles(self, decision: Decision) -> tuple[str, ...]:
        """The handles of the messages a decision is about: each brings its original back."""
        return tuple(entry.handle for entry in self.entries[decision.first : decision.last + 1])

    def recall(self, handle: str) -> Any:
        """The original message behind a handle, exactly as it came in."""
        return self.fetch(handle)

    def explain(self) -> str:
        """The manifest in words."""
        return self.describe(self.manifest)
