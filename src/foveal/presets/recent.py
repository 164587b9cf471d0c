"""The sliding window: the system prompt, the pins, and the newest turns that fit."""

from __future__ import annotations

from foveal.pipeline.select.recent import recent
from foveal.presets.base import Preset

RECENT = Preset(name="recent", about="system prompt, pins and the newest turns that fit", select=recent)
