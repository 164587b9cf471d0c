"""The values of a build: what the caller asks for, and the material that was gathered for it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foveal.events import Event
from foveal.model import Format
from foveal.pipeline.material.values import Material
from foveal.session.budget import budget_for
from foveal.session.target import Count, Target
from foveal.window import Contributed

if TYPE_CHECKING:
    from foveal.session.pool.memory import Pooled
    from foveal.sources.contributor import Contributor, Progress
    from foveal.sources.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """The options of one build, as the caller gave them."""

    task: str = ""
    budget: int | None = None
    model: str = ""
    preset: str = ""
    tools: Any = None
    system: str | None = None
    format: Format | None = None
    now: float | None = None
    counter: str | Count | None = None
    workspace: Workspace | str | Path | None = None
    active_files: tuple[str, ...] = ()
    contributors: tuple[Contributor | str, ...] = ()
    progress: Progress | None = None
    """Called with the number of files read and the number of all."""

    @property
    def attached(self) -> bool:
        """Whether the caller attached a workspace, or options that need one."""
        return self.workspace is not None or bool(self.active_files or self.contributors)

    @property
    def moment(self) -> float:
        """The time the build is for: the caller's, else the clock's."""
        return time.time() if self.now is None else self.now

    def settled(self, target: Target) -> BuildRequest:
        """The same request with the target's budget and the time filled in."""
        return replace(self, budget=budget_for(target.card, self.budget), now=self.moment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The material that a window may show, and what to record about it."""

    material: tuple[Material, ...] = ()
    left_out: tuple[Contributed, ...] = ()
    """Contributors that failed and offers larger than any room; the manifest lists them."""
    pooled: Pooled | None = None
    """What the other agents of the session's pool share."""
    events: tuple[Event, ...] = ()
    """Refused files and failed contributors, to be logged with the build."""
