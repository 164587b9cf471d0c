"""What contributors are asked, and what they offer. Plain values.

A contributor is one function from a `Look` to offers, or to a text. Nothing here reads or decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foveal.sources.workspace import Workspace

PROJECT_DOCS, WORKING_FILES, CODEBASE_MAP = "PROJECT_DOCS", "WORKING_FILES", "CODEBASE_MAP"
RETRIEVAL, GIT, TEST_RESULTS = "RETRIEVAL", "GIT", "TEST_RESULTS"
STATIC_ANALYSIS, CUSTOM = "STATIC_ANALYSIS", "CUSTOM"

Progress = Callable[[int, int], None]
"""Told now and then: files done, of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a contributor is asked: where, what for, and how much it may offer."""

    workspace: Workspace
    task: str
    room: int
    """Tokens for all contributors together; each offers what is worth its part of them."""
    count: Callable[[str], int]
    now: float
    said: tuple[str, ...] = ()
    """The texts of the conversation, oldest first."""
    active_files: tuple[str, ...] = ()
    """What is open in the editor: paths below the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A piece of text that may go into the window, whole or not at all."""

    text: str
    type: str = CUSTOM
    source_path: str = ""
    """A path below the root, or what else says where it is from."""
    weight: float | None = None
    """None: that of its type."""
    salience: float | None = None
    """0..1; None: reckoned from the task, the conversation and when it was touched."""
    touched_at: float | None = None
    """Seconds since 1970; None where nothing touches it."""


Contributor = Callable[[Look], "Iterable[Offer | str] | Offer | str | None"]
"""Somebody who knows something about the workspace. A function fits; no base class, no registration."""
