"""Run typed, pure operations on plain data, by name or by code.

Python, the command line and the HTTP service all offer the operations of one registry. The request and
result types of an operation are the annotations of its function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, FiniteFloat, TypeAdapter, ValidationError

from foveal.errors import InputError, NotFoundError
from foveal.wire.times import seconds

Events = list[tuple[str, Mapping[str, object]]]
"""Names and payloads, in the order in which things happened."""
Objects = list[dict[str, Any]]
"""Messages in any provider's format."""


class Shape(BaseModel):
    """The base of requests and results: frozen, and unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Operation:
    """One pure operation, typed at both ends."""

    name: str
    about: str
    run: Callable[[Any], Any]
    """Takes the request, returns the result; its annotations are their types."""
    code: str = ""
    """Its number in the source design, such as `0x3200`; empty if it has none."""
    events: Callable[[Any], Events] | None = None
    """Takes the request, returns the events of running it; None if there are none."""


class Registry:
    """Operations by name and by code."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = tuple(sorted(operations, key=lambda operation: operation.name))
        self._known: Mapping[str, Operation] = {
            **{operation.code: operation for operation in operations if operation.code},
            **{operation.name: operation for operation in operations},
        }

    def find(self, name: str | int) -> Operation:
        """The operation with that name or code; a code may be given as a number."""
        key = f"{name:#06x}" if isinstance(name, int) else name
        try:
            return self._known[key if key in self._known else key.lower()]
        except KeyError:
            raise NotFoundError(
                f"there is no operation {key!r}",
                remedy="`foveal op --list` names them all",
                see="operations",
            ) from None

    def run(self, name: str | int, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run an operation on plain data and return plain data."""
        operation = self.find(name)
        result = operation.run(_parse(operation, request))
        plain: dict[str, Any] = _types(operation.run)[1].dump_python(result, mode="json")
        return plain

    def events(self, name: str | int, request: Mapping[str, Any]) -> Events:
        """The events of running the operation on this request; most operations have none."""
        operation = self.find(name)
        parsed = _parse(operation, request)
        return operation.events(parsed) if operation.events else []

    def example(self, name: str | int) -> dict[str, Any]:
        """A request that the operation takes."""
        from foveal.operations.examples import EXAMPLES  # for those who look an operation up

        return dict(EXAMPLES[self.find(name).name])

    def schema(self, name: str | int) -> dict[str, Any]:
        """JSON Schema of an operation's request and result, and an example of a request."""
        operation = self.find(name)
        request, result = _types(operation.run)
        return {
            "name": operation.name,
            "code": operation.code,
            "about": operation.about,
            "example": self.example(name),
            "request": request.json_schema(),
            "result": {"additionalProperties": False, **result.json_schema(mode="serialization")},
        }


@cache
def _types(function: Callable[[Any], Any]) -> tuple[TypeAdapter[Any], TypeAdapter[Any]]:
    """Adapters of the request and the result, built on first use."""
    hints = get_type_hints(function, include_extras=True)
    result = hints.pop("return")
    (request,) = hints.values()
    return TypeAdapter(request), TypeAdapter(result)


def _parse(operation: Operation, request: Mapping[str, Any]) -> Any:
    try:
        return _types(operation.run)[0].validate_python(request)
    except ValidationError as error:
        raise _invalid(operation.name, error) from None


def _invalid(name: str, error: ValidationError) -> InputError:
    """Name the first field that is wrong, and what is wrong with it."""
    first = error.errors(include_url=False)[0]
    field = ".".join(str(step) for step in first["loc"])
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return InputError(
        f"{name}: `{field or 'the request'}`: {first['msg']}{more}",
        remedy=f"`foveal op {name} --schema` shows what it takes",
        field=field,
    )


def _time(value: object) -> float:
    found = seconds(value)
    if found is None:
        raise ValueError("give seconds since 1970 or an ISO 8601 text such as 2025-01-31T09:30:00Z")
    return found


Time = Annotated[FiniteFloat, BeforeValidator(_time, json_schema_input_type=float | str)]
"""Seconds since 1970, from a number or an ISO 8601 text."""
