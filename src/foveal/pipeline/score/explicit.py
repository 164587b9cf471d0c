"""Items in → 1 for those somebody marked important, 0 for the others."""

from __future__ import annotations

from collections.abc import Sequence

from foveal.pipeline.values import Item, Scene, Score


def explicit(items: Sequence[Item], _scene: Scene) -> Sequence[Score]:
    """A mark of the item itself, or `important` in its metadata."""
    marks = [float(item.important or item.metadata.get("important") is True) for item in items]
    return [Score(total=mark, parts={"explicit": mark}) for mark in marks]
