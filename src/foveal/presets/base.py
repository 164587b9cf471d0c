"""What a preset is: a name for one choice of every stage."""

from __future__ import annotations

from dataclasses import dataclass

from foveal.pipeline.select.selection import Selector


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    name: str
    about: str
    select: Selector
    looks_at_all: bool = False
    """It weighs every turn at every build, so their texts are kept at hand."""
    retrieves: bool = False
    """Old tasks, repeated errors and past topics that are mentioned come back into its windows."""
    on_failure: str = ""
    """The event its design documents for a build that could not be made."""
