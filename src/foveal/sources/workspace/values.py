"""Define what a workspace returns: files that may be read, files that were refused, and the limits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """What is known of a file that may be read, without reading it."""

    path: str
    """Relative to the root, normalized, with `/`. For a link, the path of its target."""
    size: int
    """Bytes."""
    touched_at: float
    """Seconds since 1970."""
    version: str
    """Changes when the file is written to or replaced by another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A file that was not read, and why not."""

    path: str
    """Relative to the root, or as the caller spelled it; unprintable characters are escaped."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a workspace is looked at. Each number bounds time or memory in a hostile one."""

    file_bytes: int = 1_000_000
    """A larger file is data or generated; a window could not show a tenth of it."""
    files: int = 20_000
    """Files that one scan lists, those near the root first."""
    entries: int = 200_000
    """Files and folders that one scan visits, ignored ones included."""
    depth: int = 40
    """Folders above a file."""
    path_length: int = 1_000
    """Characters of a path relative to the root."""
    ignore_bytes: int = 64_000
    """Of all `.gitignore` files that apply to one file; the longest in common use have 10,000."""
    ignore_steps: int = 20_000_000_000
    """Characters of patterns times characters of paths in one scan: ten seconds at the very worst."""
    cached_characters: int = 64_000_000
    """Of texts kept in memory; what was derived from them is kept in addition."""
    refusals: int = 1_000
    """Refusals that are reported; one more says that the rest is not."""
