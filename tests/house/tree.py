"""Where things are in this repository, for the tests that look at the tree itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "foveal"
DOCS = ROOT / "docs"


def modules() -> dict[str, Path]:
    """Every module of the package that has a line in it, by its path below `src/foveal`."""
    found = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}
    return {name: path for name, path in found.items() if path.stat().st_size}


def pages() -> list[Path]:
    """What people read: the README, the guide for contributors, and `docs/`."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def tracked() -> list[Path]:
    """Every file git knows or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [path for path in (ROOT / name for name in names) if path.is_file()]


def python(code: str, folder: Path) -> str:
    """What a fresh interpreter prints when it runs `code` in `folder`."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
