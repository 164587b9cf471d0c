"""Operations of the `fifth` preset: plan the memory levels, and score entries for a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from pydantic import AliasChoices, Field, StrictBool

from foveal.model import Kind, Level, Role
from foveal.operations.messages import ScoreResult, newest_user, score_result
from foveal.operations.registry import Operation, Shape, Time
from foveal.pipeline.kinds import kind_of
from foveal.pipeline.material.categories import tokens_by_slot
from foveal.pipeline.tokens.count import tokenizer
from foveal.pipeline.values import Item, Scene
from foveal.presets.fifth.due import Due, due
from foveal.presets.fifth.levels import FifthNumbers, levels, slot_of
from foveal.presets.fifth.score import fifth
from foveal.validation import LARGEST, Many

COUNTER = "o200k_base"


class Entry(Shape):
    id: str = ""
    role: Role = "user"
    content: str
    type: Kind | None = Field(default=None, description="By default from the role.")
    tokens: int | None = Field(
        default=None, strict=True, ge=0, le=LARGEST, description="Counted when it is not given."
    )
    priority: float | None = Field(default=None, strict=True, ge=0, le=100)
    timestamp: Time | None = Field(
        default=None,
        validation_alias=AliasChoices("timestamp", "created_at"),
        description="`created_at` too.",
    )
    level: Level | None = None
    important: StrictBool = False
    pinned: StrictBool = False
    metadata: dict[str, Any] = Field(default={})


class PlanRequest(Shape):
    entries: Many[Entry]
    total: int = Field(default=FifthNumbers().total, strict=True, gt=0, le=LARGEST)
    task: str | None = Field(default=None, description="By default the newest user entry.")
    now: Time | None = None


class LevelResult(Shape):
    budget: int
    used: int
    entries: int


class PlanResult(Shape):
    levels: dict[str, LevelResult]
    total: int
    used: int
    percent: float
    needs_space: bool
    compress: tuple[Due, ...] = Field(description="In the order in which they go.")


class ScoreRequest(Shape):
    entries: Many[Entry]
    task: str
    now: Time | None = None


def _items(entries: Sequence[Entry]) -> list[Item]:
    newest = newest_user((entry.role, entry.type) for entry in entries)
    count = tokenizer(COUNTER).count
    return [
        Item(
            index=at,
            id=entry.id or f"m{at + 1}",
            role=entry.role,
            kind="current_user_prompt"
            if at == newest
            else entry.type or kind_of(entry.role, tool_call=False, newest_user=False),
            text=entry.content,
            tokens=count(entry.content) if entry.tokens is None else entry.tokens,
            timestamp=entry.timestamp,
            pinned=entry.pinned,
            important=entry.important,
            level=entry.level,
            priority=entry.priority,
            metadata=entry.metadata,
        )
        for at, entry in enumerate(entries)
    ]


def _plan(request: PlanRequest, numbers: FifthNumbers) -> PlanResult:
    items = _items(request.entries)
    newest = next((item.text for item in reversed(items) if item.kind == "current_user_prompt"), "")
    task = newest if request.task is None else request.task
    scene = Scene(now=request.now or 0.0, task=task, budget=request.total)
    home = partial(slot_of, numbers=numbers)
    used = tokens_by_slot(items, home)
    homes: Counter[str] = Counter(map(home, items))
    tokens = sum(used.values())
    return PlanResult(
        levels={
            slot.name: LevelResult(
                budget=slot.allotted, used=used.get(slot.name, 0), entries=homes[slot.name]
            )
            for slot in levels(items, scene, numbers=numbers)
        },
        total=request.total,
        used=tokens,
        percent=round(100 * tokens / request.total, 2),
        needs_space=tokens > numbers.full_at * request.total,
        compress=due(items, fifth(items, scene, numbers=numbers), scene, numbers=numbers),
    )


def _score(request: ScoreRequest, numbers: FifthNumbers) -> ScoreResult:
    scene = Scene(now=request.now or 0.0, task=request.task)
    return score_result(fifth(_items(request.entries), scene, numbers=numbers))


OPERATIONS = (
    Operation("levels_plan", "Each memory level's budget and use, and what to compress.", _plan),
    Operation("entries_score", "What each entry is worth for a task, 0 to 1.", _score),
)
