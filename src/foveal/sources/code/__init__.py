"""A workspace's code in → a map of it: the files and symbols that matter for a task, in so many tokens."""

from __future__ import annotations

from foveal.sources.code.map import codebase, codebase_map, definitions

__all__ = ["codebase", "codebase_map", "definitions"]
