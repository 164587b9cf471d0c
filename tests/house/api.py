"""List the public API: every name of `foveal.__all__`, with signatures and the members of classes.

    PYTHONPATH=src:tests python tests/house/api.py

rewrites the committed listing after a deliberate change.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import foveal

PAGE = Path(__file__).with_name("public_api.txt")


def listing() -> str:
    """One line for every name, sorted."""
    return "".join(f"{line}\n" for name in sorted(foveal.__all__) for line in _lines(name))


def _lines(name: str) -> Iterator[str]:
    value = getattr(foveal, name)
    if not inspect.isclass(value):
        yield f"{name}{inspect.signature(value)}"
        return
    yield f"class {name}({', '.join(base.__name__ for base in value.__bases__)})"
    fields = getattr(value, "__dataclass_fields__", {})
    yield from (f"    {field.name}: {field.type}" for field in fields.values())
    for member, found in sorted(inspect.getmembers(value)):
        if not (member.startswith("_") or member in fields or member in vars(BaseException)):
            yield f"    {member}{_shape(found)}"


def _shape(found: object) -> str:
    return str(inspect.signature(found)) if inspect.isfunction(found) or inspect.ismethod(found) else ""


if __name__ == "__main__":
    PAGE.write_text(listing(), encoding="utf-8")
