"""What a preset is: a name for one choice of every stage."""

from __future__ import annotations

from dataclasses import dataclass

from foveal.pipeline.fit import Selector


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    name: str
    about: str
    select: Selector
