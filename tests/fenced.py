"""Build a workspace next to files that must never be read, and run code that fails rather than hangs."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from foveal.sources.workspace.workspace import Limits, Refusal, Workspace

T = TypeVar("T")
CANARY = "the-canary-sings-outside"
ON_WINDOWS = sys.platform == "win32"


@dataclass
class Fenced:
    """A folder `root` to be read, and a folder `outside` next to it."""

    root: Path
    outside: Path
    limits: Limits = field(default_factory=Limits)
    refused: list[Refusal] = field(default_factory=list)

    def workspace(self) -> Workspace:
        return Workspace(self.root, limits=self.limits, refused=self.refused.append)

    def put(self, path: str, content: str | bytes = "inside\n") -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    def link(self, path: str, target: str | Path) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            place.symlink_to(target)
        except OSError as error:
            pytest.skip(f"links cannot be made here: {error}")

    def everything(self, *paths: str) -> list[str]:
        """Every text that can be read, of what a scan lists and of the paths, in every way."""
        workspace = self.workspace()
        asked = [*(file.path for file in workspace.scan()), *paths]
        texts = [workspace.text(path) for path in asked]
        texts += [workspace.text(path, ignored=True) for path in asked]
        texts += [workspace.derived(path, "itself", str) for path in asked if workspace.info(path)]
        return [text for text in texts if text is not None]

    def why(self, path: str, *, ignored: bool = False) -> str:
        """Why a file is not read; fails where it is read, or where nothing is reported."""
        assert within(lambda: self.workspace().text(path, ignored=ignored)) is None
        assert len(self.refused) == 1, self.refused
        return self.refused[0].why


def fenced(folder: Path, **limits: int) -> Fenced:
    root, outside = folder / "root", folder / "outside"
    root.mkdir()
    (outside / "deep").mkdir(parents=True)
    for path in ("canary.txt", "deep/canary.txt", ".env"):
        (outside / path).write_text(CANARY, encoding="utf-8")
    return Fenced(root=root.resolve(), outside=outside.resolve(), limits=Limits(**limits))


def within(work: Callable[[], T], seconds: float = 20) -> T:
    """What `work` returns; a failure where it takes longer, so that no test ever hangs."""
    answers: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(work())
        except BaseException as error:  # noqa: BLE001 — raised again below, in the test's own thread
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        pytest.fail(f"still running after {seconds} s")
    if errors:
        raise errors[0]
    return answers[0]


_opens: list[tuple[object, int]] = []
_watching: list[bool] = []


@cache
def _add_hook() -> None:
    """Add the hook once: it cannot be removed, and a second one would list every file twice."""
    sys.addaudithook(_record)


def _record(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _watching:
        _opens.append((arguments[0], int(str(arguments[2]))))


@contextmanager
def opened() -> Iterator[list[tuple[object, int]]]:
    """What is opened meanwhile: each path with its flags."""
    _add_hook()
    _opens.clear()
    _watching.append(True)
    try:
        yield _opens
    finally:
        _watching.clear()


def stays_below(root: Path, opens: list[tuple[object, int]]) -> bool:
    """Whether each was the root itself or one single name, opened where links are not followed."""
    single = [(path, flags) for path, flags in opens if path != str(root)]
    return all(os.sep not in str(path) and path != ".." and flags & os.O_NOFOLLOW for path, flags in single)
