"""What a workspace hands around: a file that may be read, one that may not, and its limits. Plain values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """A file that may be read, as it was a moment ago."""

    path: str
    """Below the root, with `/`, normalised; of a link, the path of what it leads to."""
    size: int
    """Bytes."""
    touched_at: float
    """Seconds since 1970."""
    version: str
    """Another one as soon as the file is another one or was written to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A file that was not read, and why not."""

    path: str
    """Below the root, or as it was asked for; what is not text in it is escaped."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a workspace is looked at. Each number bounds time or memory on a hostile one."""

    file_bytes: int = 1_000_000
    """A larger file is data or generated; a window could not show a tenth of it."""
    files: int = 20_000
    """Listed by one scan, those near the root first."""
    entries: int = 200_000
    """Looked at by one scan, ignored ones too."""
    depth: int = 40
    """Folders above a file."""
    path_length: int = 1_000
    """Characters below the root."""
    ignore_bytes: int = 64_000
    """Of all `.gitignore` files that apply to one file; the longest in common use have 10 000."""
    ignore_steps: int = 20_000_000_000
    """Letters of patterns times letters of paths in one scan: ten seconds at the very worst."""
    cached_characters: int = 64_000_000
    """Of texts kept in memory; what was derived from them is kept beside."""
    told: int = 1_000
    """Refusals that are told; one more says that the rest is not."""
