"""Accept the field names of a preset's design beside ours: camelCase, and other words for the same thing.

Results are always in our names. A field that is given under two names is an error.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from pydantic import model_validator

from foveal.operations.registry import Shape

_CAPITAL = re.compile(r"[A-Z]")


class DesignShape(Shape):
    """A request whose fields may be spelled as in the design."""

    DESIGN_NAMES: ClassVar[Mapping[str, str]] = {}
    """Names that the design has for fields that have other names here, in snake_case."""

    @model_validator(mode="before")
    @classmethod
    def _in_our_names(cls, given: Any) -> Any:
        known = {field.alias or name for name, field in cls.model_fields.items()}
        return in_our_names(given, known, cls.DESIGN_NAMES)


def in_our_names(given: Any, known: Collection[str], design: Mapping[str, str]) -> Any:
    """The fields under our names; those that are unknown in any spelling stay as they are.

    >>> in_our_names({"idleSince": 5, "lastPlace": "/"}, ["idle_since", "path"], {"last_place": "path"})
    {'idle_since': 5, 'path': '/'}
    """
    if not isinstance(given, Mapping):
        return given
    found: dict[Any, Any] = {}
    for key, value in given.items():
        name = _our_name(key, known, design)
        if name in found:
            raise ValueError(f"`{name}` is given twice, once as `{key}`")
        found[name] = value
    return found


def _our_name(key: Any, known: Collection[str], design: Mapping[str, str]) -> Any:
    if not isinstance(key, str) or key in known:
        return key
    snake = _CAPITAL.sub(lambda found: f"_{found[0].lower()}", key)
    name = design.get(snake, snake)
    return name if name in known else key
