"""A name or a code and a request in → a result out; every operation is a typed pure function.

What Python, the command line and the service offer is this registry and nothing beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from foveal.errors import InputError, NotFoundError


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


class Registry:
    """Operations by name and by code."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = tuple(sorted(operations, key=lambda operation: operation.name))
        self._known: Mapping[str, Operation] = {
            **{operation.code: operation for operation in operations if operation.code},
            **{operation.name: operation for operation in operations},
        }

    def find(self, name: str) -> Operation:
        """The operation of that name or code."""
        try:
            return self._known[name if name in self._known else name.lower()]
        except KeyError:
            raise NotFoundError(
                f"there is no operation {name!r}", remedy="`foveal op --list` names them all"
            ) from None

    def run(self, name: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run an operation on plain data and give plain data back."""
        operation = self.find(name)
        try:
            typed = operation.request.model_validate(request)
        except ValidationError as error:
            raise _refused(operation.name, error) from None
        return operation.run(typed).model_dump(mode="json")

    def schema(self, name: str) -> dict[str, Any]:
        """JSON Schema of an operation's request and result."""
        operation = self.find(name)
        return {
            "name": operation.name,
            "code": operation.code,
            "about": operation.about,
            "request": operation.request.model_json_schema(),
            "result": operation.result.model_json_schema(mode="serialization"),
        }


def _refused(name: str, error: ValidationError) -> InputError:
    """Name the first field that is wrong, what it was and what is wanted."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(step) for step in first["loc"]) or "the request"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return InputError(
        f"{name}: `{place}`: {first['msg']}{more}", remedy=f"`foveal op {name} --schema` shows what it takes"
    )
