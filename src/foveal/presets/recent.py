"""The sliding window: the system prompt, the pins, and the newest turns that fit."""

from __future__ import annotations

from functools import partial

from foveal.pipeline.select.recent import RecentNumbers, newest
from foveal.presets.base import Preset


def recent(numbers: RecentNumbers) -> Preset:
    return Preset(
        name="recent",
        about="system prompt, pins and the newest turns that fit",
        select=partial(newest, numbers=numbers),
    )
