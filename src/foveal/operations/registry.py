"""A name or a code and a request in → a result out; every operation is a typed pure function.

What Python, the command line and the service offer is this registry and nothing beside it.

A time as a request spells it in → seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, FiniteFloat, ValidationError

from foveal.errors import InputError, NotFoundError
from foveal.wire.times import seconds

Events = list[tuple[str, Mapping[str, object]]]
"""Names and payloads, in the order in which things happened."""


class Shape(BaseModel):
    """The base of every request and result: unknown fields are refused, values are frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One pure operation, typed at both ends."""

    name: str
    about: str
    request: type[BaseModel]
    result: type[BaseModel]
    run: Callable[[Any], BaseModel]
    """Takes a value of `request`, returns one of `result`."""
    code: str = ""
    """Its number in the source design, such as `0x3200`; empty for those without one."""
    events: Callable[[Any], Events] | None = None
    """Takes a value of `request`, returns what a run of it has to tell; None where nothing is told."""


class Registry:
    """Operations by name and by code."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = tuple(sorted(operations, key=lambda operation: operation.name))
        self._known: Mapping[str, Operation] = {
            **{operation.code: operation for operation in operations if operation.code},
            **{operation.name: operation for operation in operations},
        }

    def find(self, name: str | int) -> Operation:
        """The operation of that name or code; a code is a number too."""
        wanted = f"{name:#06x}" if isinstance(name, int) else name
        try:
            return self._known[wanted if wanted in self._known else wanted.lower()]
        except KeyError:
            raise NotFoundError(
                f"there is no operation {wanted!r}",
                remedy="`foveal op --list` names them all",
                see="operations",
            ) from None

    def run(self, name: str | int, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run an operation on plain data and give plain data back."""
        operation = self.find(name)
        return operation.run(_typed(operation, request)).model_dump(mode="json")

    def events(self, name: str | int, request: Mapping[str, Any]) -> Events:
        """What a run of the operation on this request has to tell; nothing for most of them."""
        operation = self.find(name)
        typed = _typed(operation, request)
        return operation.events(typed) if operation.events else []

    def schema(self, name: str | int) -> dict[str, Any]:
        """JSON Schema of an operation's request and result."""
        operation = self.find(name)
        return {
            "name": operation.name,
            "code": operation.code,
            "about": operation.about,
            "request": operation.request.model_json_schema(),
            "result": operation.result.model_json_schema(mode="serialization"),
        }


def _typed(operation: Operation, request: Mapping[str, Any]) -> BaseModel:
    try:
        return operation.request.model_validate(request)
    except ValidationError as error:
        raise _refused(operation.name, error) from None


def _refused(name: str, error: ValidationError) -> InputError:
    """Name the first field that is wrong, what it was and what is wanted."""
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
