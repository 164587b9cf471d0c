"""The presets by name: each one short declaration of which stages to use."""

from __future__ import annotations

from foveal.errors import ConfigError
from foveal.presets.base import Preset
from foveal.presets.recent import RECENT

PRESETS = {preset.name: preset for preset in (RECENT,)}
DEFAULT = RECENT.name

__all__ = ["DEFAULT", "PRESETS", "Preset", "find"]


def find(name: str) -> Preset:
    """The preset of that name."""
    try:
        return PRESETS[name or DEFAULT]
    except KeyError:
        raise ConfigError(
            f"there is no preset {name!r}", remedy=f"use one of: {', '.join(sorted(PRESETS))}"
        ) from None
