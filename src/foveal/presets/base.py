"""What a preset is: a name for one choice of every stage."""

from __future__ import annotations

from dataclasses import dataclass

from foveal.knowledge.values import Depth
from foveal.pipeline.material import Admit
from foveal.pipeline.select.categorized import beside
from foveal.pipeline.select.selection import Selector


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    name: str
    about: str
    select: Selector
    looks_at_all: bool = False
    """It weighs every turn at every build, so their texts are kept at hand."""
    steady: bool = False
    """Its windows begin with the one before for as long as that fits."""
    retrieves: bool = False
    """Old tasks, repeated errors and past topics that are mentioned come back into its windows."""
    admit: Admit = beside
    """Who says what its windows show of material beside the conversation."""
    knows: bool = False
    """What is known of the user, the topics and the things at hand is offered to every window of its."""
    depth: Depth = "standard"
    """How much is told of what is known."""
    on_failure: str = ""
    """The event its design documents for a build that could not be made."""
