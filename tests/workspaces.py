"""Build workspaces for the tests of contributors: files on disk, a git repository, a request."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from foveal.sources.contributor import ContextRequest
from foveal.sources.workspace.workspace import Refusal, Workspace

NOW = 1_800_000_000.0
DAY = 86_400.0


def words(text: str) -> int:
    """One token per word, so that numbers can be checked by hand."""
    return len(text.split())


def write(root: Path, files: Mapping[str, str], *, age: float = 30 * DAY) -> Path:
    """Files below a root, touched so many seconds before `NOW`."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        os.utime(path, (NOW - age, NOW - age))
    return root


def request_for(
    root: Path,
    task: str = "",
    *,
    room: int = 10_000,
    said: Sequence[str] = (),
    active_files: Sequence[str] = (),
    refused: list[Refusal] | None = None,
) -> ContextRequest:
    return ContextRequest(
        workspace=Workspace(root, refused=refused.append if refused is not None else None),
        task=task,
        room=room,
        count=words,
        now=NOW,
        said=tuple(said),
        active_files=tuple(active_files),
    )


def git(root: Path, *arguments: str) -> None:
    """Git as people run it, with a name for its commits."""
    named = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    day = {"GIT_AUTHOR_DATE": "2026-01-02T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-02T00:00:00Z"}
    subprocess.run(
        ["git", *named, *arguments], cwd=root, check=True, capture_output=True, env={**os.environ, **day}
    )


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)


def repository(root: Path, files: Mapping[str, str]) -> Path:
    """A repository with one commit of these files."""
    write(root, files)
    git(root, "init", "-q", "-b", "main")
    commit(root, "Begin")
    return root


def installed(root: Path, entry: str = "contributor.weather = foveal_weather:rain") -> str:
    """A package with a contributor, as installers leave it: a module, and a folder with its entry points."""
    info = "foveal_weather-1.0.dist-info"
    write(
        root,
        {
            "foveal_weather.py": "def rain(request):\n    return 'Rain'\n",
            f"{info}/METADATA": "Metadata-Version: 2.1\nName: foveal-weather\nVersion: 1.0\n",
            f"{info}/entry_points.txt": f"[foveal.plugins]\n{entry}\nother = foveal_weather:rain\n",
        },
    )
    return str(root)
