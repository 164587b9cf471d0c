"""A time as a request spells it in → seconds since 1970."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, FiniteFloat

from foveal.wire.times import seconds


def _time(value: object) -> float:
    found = seconds(value)
    if found is None:
        raise ValueError("give seconds since 1970 or an ISO 8601 text such as 2025-01-31T09:30:00Z")
    return found


Time = Annotated[FiniteFloat, BeforeValidator(_time, json_schema_input_type=float | str)]
