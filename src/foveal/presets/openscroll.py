"""Eight negotiated layers; each shows its newest, and history is compacted to what it got."""

from __future__ import annotations

from functools import partial
from typing import cast

from foveal.knowledge.values import Depth
from foveal.pipeline.plan.layering import layers
from foveal.pipeline.plan.layers import OpenscrollNumbers, slot_of
from foveal.pipeline.score.recency import unscored
from foveal.pipeline.scored import Recipe
from foveal.pipeline.select.compaction import compacted
from foveal.pipeline.select.layered import layered
from foveal.pipeline.select.layers import by_layer, settled
from foveal.presets.base import Preset


def openscroll(numbers: OpenscrollNumbers) -> Preset:
    return Preset(
        name="openscroll",
        about="eight negotiated layers, history compacted in its own",
        select=Recipe(
            score=unscored,
            slot_of=slot_of,
            plan=partial(layers, numbers=numbers),
            pick=lambda units, room, slots: by_layer(units, room, slots=slots),
            compact=compacted,
            settle=settled,
        ),
        looks_at_all=True,
        admit=partial(layered, numbers=numbers),
        knows=True,
        depth=cast("Depth", numbers.depth),
    )
