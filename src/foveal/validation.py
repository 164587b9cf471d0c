"""Say in plain words what pydantic refused of a request and where, and keep the number of its errors small.

An error costs a kilobyte, so a list of a million wrong items would cost a gigabyte: lists stop at the first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

T = TypeVar("T")
Many = Annotated[list[T], Field(fail_fast=True)]
"""A list of which the first wrong item is reported."""
Series = Annotated[tuple[T, ...], Field(fail_fast=True)]
"""The same, frozen."""
LARGEST = 10**12
"""The largest number of an operation: its arithmetic is exact up to there."""
FIELDS_MOST = 100
"""Fields that an object may have whose fields are known; none of ours knows as many."""


def _few(value: object) -> object:
    if isinstance(value, Mapping) and len(value) > FIELDS_MOST:
        raise PydanticCustomError(
            "too_many_fields", f"has {len(value):,} fields; at most {FIELDS_MOST} are read"
        )
    return value


Few = BeforeValidator(_few)
"""For a mapping whose keys are checked."""


class FewFields(BaseModel):
    """The base of objects that refuse unknown fields: of a million, it does not report each."""

    @model_validator(mode="before")
    @classmethod
    def _few_fields(cls, value: object) -> object:
        return value if cls.model_config.get("extra") == "allow" else _few(value)


_INNER = re.compile(
    r"(function|list|dict|tuple|union|constrained|nullable|model|literal)\W.*|int|float|str|bool"
)
"""Steps of a location that name a type instead of a field."""


def place(steps: Sequence[int | str]) -> str:
    """Where a value is in a request.

    >>> place(("chunks", 0, "type")), place(("messages", "list[dict[str,any]]", 3)), place(())
    ('chunks[0].type', 'messages[3]', '')
    """
    *outer, last = steps or ("",)
    shown = [step for step in outer if isinstance(step, int) or not _INNER.fullmatch(step)]
    if isinstance(last, int) or not (outer and _INNER.fullmatch(last)):
        shown.append(last)
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in shown).lstrip(".")


_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not a field of this request",
    "unexpected_keyword_argument": "is not a field of this request",
    "int_type": "is not an integer",
    "int_parsing": "is not an integer",
    "int_parsing_size": "is an integer with too many digits",
    "int_from_float": "is not an integer",
    "float_type": "is not a number",
    "float_parsing": "is not a number",
    "finite_number": "is not a finite number",
    "bool_type": "is not true or false",
    "bool_parsing": "is not true or false",
    "string_type": "is not text",
    "string_unicode": "has half of a surrogate pair, which is no character",
    "string_pattern_mismatch": "has a character that it may not have",
    "list_type": "is not an array",
    "tuple_type": "is not an array",
    "dict_type": "is not an object",
    "model_type": "is not an object",
    "model_attributes_type": "is not an object",
    "dataclass_type": "is not an object",
    "greater_than": "is not above {gt}",
    "greater_than_equal": "is less than {ge}",
    "less_than_equal": "is more than {le}",
    "too_long": "has more than {max_length} items",
    "too_short": "has fewer than {min_length} items",
    "string_too_short": "is shorter than {min_length} characters",
    "string_too_long": "is longer than {max_length} characters",
    "literal_error": "is not one of {expected}",
}
"""Our words for the errors of pydantic, by their types."""


def wording(error: Mapping[str, Any]) -> str:
    """What is wrong with a value, to be read after its place."""
    details = error.get("ctx", {})
    if words := _WORDS.get(error["type"]):
        return words.format(**{name: _number(value) for name, value in details.items()})
    if error["type"] == "value_error":  # in words of ours
        return f"is refused: {details['error']}"
    message = str(error["msg"])
    return message if error["type"] == "too_many_fields" else f"is refused: {message}"


def _number(value: object) -> object:
    """A limit as it is read: `1,000` also where it is a fraction."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{value:,}" if isinstance(value, int) else value
