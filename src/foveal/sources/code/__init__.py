"""Map the code of a workspace: the files and symbols that matter for a task, within a number of tokens."""

from __future__ import annotations

from foveal.sources.code.map import codebase, codebase_map, definitions

__all__ = ["codebase", "codebase_map", "definitions"]
