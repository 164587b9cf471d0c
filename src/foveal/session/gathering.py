"""A session and what a build wants beside it in → the material it may show: known, found, contributed.

Nothing here holds the session while files are read or searched for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from foveal.errors import InputError
from foveal.events import Event
from foveal.pipeline.material import Material
from foveal.pipeline.plan.categories import PenguinNumbers
from foveal.pipeline.scored import TASK_MOST
from foveal.presets import Preset
from foveal.presets.numbers import overridden
from foveal.session.core import Core
from foveal.window import Contributed

if TYPE_CHECKING:
    from foveal.session.contributing import Request
    from foveal.sources.assemble import SmartContext
    from foveal.sources.values import Contributor, Progress
    from foveal.sources.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What a caller may say of what belongs beside the conversation."""

    workspace: Workspace | str | Path | None = None
    active_files: tuple[str, ...] = ()
    contributors: tuple[Contributor | str, ...] = ()
    progress: Progress | None = None
    """Told how many files were looked at, of how many."""

    @classmethod
    def of(
        cls,
        workspace: Workspace | str | Path | None,
        active_files: Sequence[str],
        contributors: Sequence[Contributor | str],
        progress: Progress | None,
    ) -> Beside:
        """As callers give it."""
        return cls(
            workspace=workspace,
            active_files=tuple(active_files),
            contributors=tuple(contributors),
            progress=progress,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the material is for."""

    task: str
    budget: int
    count: Callable[[str], int]
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The material, what contributors failed to bring, and what there is to tell of it."""

    material: tuple[Material, ...] = ()
    left_out: tuple[Contributed, ...] = ()
    events: tuple[Event, ...] = ()


def gathered(core: Core, preset: Preset, beside: Beside, wish: Wish) -> Gathered:
    """Everything that may be shown beside the conversation."""
    task = wish.task or _asked(core)
    known = _known(core, preset, task, wish) if preset.knows else ()
    found = _contributed(core, beside, task, wish)
    if preset.knows and beside.workspace is None:
        known += _retrieved(core, task, wish)
    return Gathered(material=(*known, *found.material), left_out=found.left_out, events=found.events)


def _contributed(core: Core, beside: Beside, task: str, wish: Wish) -> Gathered:
    if beside.workspace is None:
        if beside.active_files or beside.contributors:
            raise InputError(
                "`active_files` or `contributors` were given without a `workspace`",
                remedy="give `workspace`, the folder they are about",
            )
        return Gathered()
    from foveal.session import contributing

    found = contributing.contributed(core, _request(core, beside, replace(wish, task=task)))
    return Gathered(material=found.material, left_out=found.left_out, events=found.events)


def context(core: Core, beside: Beside, wish: Wish) -> SmartContext:
    """What of a workspace belongs beside the conversation, as one text."""
    from foveal.session import contributing

    return contributing.context(core, _request(core, beside, wish))


def _request(core: Core, beside: Beside, wish: Wish) -> Request:
    from foveal.session.contributing import Request

    if beside.workspace is None:
        raise InputError("`workspace` is None", remedy="give `workspace`, the folder to look through")
    numbers = core.desk.numbers or {}
    return Request(
        workspace=beside.workspace,
        task=wish.task,
        budget=wish.budget,
        count=wish.count,
        now=wish.now,
        active_files=beside.active_files,
        contributors=beside.contributors,
        numbers=overridden(PenguinNumbers(), numbers.get("penguin", {}), "numbers, preset penguin"),
        progress=beside.progress,
    )


def _known(core: Core, preset: Preset, task: str, wish: Wish) -> tuple[Material, ...]:
    from foveal.session import knowing

    return knowing.known(core, task=task, depth=preset.depth, count=wish.count, now=wish.now)


def _retrieved(core: Core, task: str, wish: Wish) -> tuple[Material, ...]:
    from foveal.session import contributing

    return contributing.retrieval_material(core, task, wish.count, now=wish.now)


def _asked(core: Core) -> str:
    """What the user said last, the beginning of it."""
    with core.reading():
        for entry in reversed(core.ledger.entries):
            if entry.role == "user" and not entry.absence:
                (message,) = core.ledger.read(entry.seq, entry.seq + 1)
                return message.text[:TASK_MOST]
    return ""
