"""The `openscroll` preset: eight negotiated layers, with the history compacted within its own."""

from __future__ import annotations

from functools import partial
from typing import cast

from foveal.knowledge.values import Depth
from foveal.pipeline.recipe import Recipe
from foveal.presets.base import Preset
from foveal.presets.openscroll.admit import layered
from foveal.presets.openscroll.history_layer import compacted
from foveal.presets.openscroll.layers import OpenscrollNumbers, slot_of
from foveal.presets.openscroll.plan import by_layer, layers, settled
from foveal.presets.recency_curves import unscored


def openscroll(numbers: OpenscrollNumbers = OpenscrollNumbers()) -> Preset:
    return Preset(
        name="openscroll",
        about="eight negotiated layers, history compacted in its own",
        select=Recipe(
            score=unscored,
            slot_of=slot_of,
            plan=partial(layers, numbers=numbers),
            pick=lambda units, room, slots: by_layer(units, room, slots=slots),
            compact=partial(compacted, numbers=numbers.key_messages),
            settle=settled,
        ),
        looks_at_all=True,
        admit=partial(layered, numbers=numbers),
        knows=True,
        searches_sessions=True,
        depth=cast("Depth", numbers.depth),
    )
