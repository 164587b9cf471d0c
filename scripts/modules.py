"""Write the table of modules in `docs/architecture.md` from their docstrings.

Only the text between the two markers is generated; the rest of the page is written by hand.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
SOURCE = ROOT / "src" / "foveal"
START, END = "<!-- made by `make docs` -->\n", "<!-- to here -->\n"


def page() -> str:
    """The page with an up-to-date table."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    return f"{before}{START}{table()}{END}{rest.partition(END)[2]}"


def table() -> str:
    """One row per module that has anything in it, folder by folder."""
    modules = sorted(SOURCE.rglob("*.py"), key=lambda path: (path.parent != SOURCE, path.parent, path))
    rows = [
        f"| `{path.relative_to(SOURCE).as_posix()}` | {purpose(path)} |"
        for path in modules
        if path.stat().st_size
    ]
    return "\n".join(["| module | what it does |", "|---|---|", *rows, ""])


def purpose(path: Path) -> str:
    """The first line of the docstring, up to the promise."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.partition("\n\n")[0].split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
