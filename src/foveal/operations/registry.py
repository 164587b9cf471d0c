"""Run typed, pure operations on plain data, by name or by code.

Python, the command line and the HTTP service all offer the operations of one registry. The types of an
operation's request and result, and those of the settings it takes, are the annotations of its function.

An operation declares the events of its preset's design as data, and running it emits none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BeforeValidator, ConfigDict, FiniteFloat, TypeAdapter, ValidationError

from foveal.config import Tables
from foveal.errors import InputError, NotFoundError
from foveal.events import Reports
from foveal.presets.numbers import DEFAULTS, overridden
from foveal.validation import FewFields, Many, place, wording
from foveal.wire.times import seconds

NOT_A_TIME = "a time is seconds since 1970 or an ISO 8601 text such as 2025-01-31T09:30:00Z"
Objects = Many[dict[str, Any]]
"""Messages in any provider's format."""


class Shape(FewFields):
    """The base of requests and results: frozen, and unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)


R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Worked(Generic[R]):
    """A result, and what was computed for it that its events report."""

    result: R
    work: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """An operation that has run."""

    result: Any
    work: Any = None
    """What it computed for its events; None if it returns its result alone."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One pure operation, typed at both ends."""

    name: str
    about: str
    run: Callable[..., Any]
    """Takes the request, and settings if it has a parameter `numbers`; returns the result or a `Worked`."""
    code: str = ""
    """Its number in the source design, such as `0x3200`; empty if it has none."""
    events: Callable[[Done], Reports] | None = None
    """The events that a run implies; None if there are none."""
    record: str = ""
    """The event among them that records the run; the others are transient."""
    on_failure: str = ""
    """The event that the design documents for a run that failed."""
    preset: str = ""
    """The preset whose step it is, and whose settings it takes; empty: it takes the tables of them all."""


@dataclass(frozen=True, slots=True)
class _Types:
    """What the annotations of an operation's function say."""

    request: TypeAdapter[Any]
    result: TypeAdapter[Any]
    takes_numbers: bool


class Registry:
    """Operations by name and by code."""

    def __init__(self, by_preset: Mapping[str, Iterable[Operation]]) -> None:
        """`by_preset`: the steps of each preset, and under the empty name the operations of none."""
        operations = [
            replace(operation, preset=preset) for preset, found in by_preset.items() for operation in found
        ]
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

    def run(
        self, name: str | int, request: Mapping[str, Any], *, numbers: Tables | None = None
    ) -> dict[str, Any]:
        """Run an operation on plain data and return plain data; it is pure.

        `numbers`: settings of presets that replace their defaults; the request takes precedence over them.
        """
        operation = self.find(name)
        return plain_result(operation, run_parsed(operation, request, numbers))

    def events(
        self, name: str | int, request: Mapping[str, Any], *, numbers: Tables | None = None
    ) -> Reports:
        """The events that running the operation on this request implies; none is emitted."""
        operation = self.find(name)
        if operation.events is None:
            _parse(operation, request)
            return []
        return operation.events(run_parsed(operation, request, numbers))

    def example(self, name: str | int) -> dict[str, Any]:
        """A request that the operation takes."""
        from foveal.operations.examples import EXAMPLES  # for those who look an operation up

        return dict(deepcopy(EXAMPLES[self.find(name).name]))

    def schema(self, name: str | int) -> dict[str, Any]:
        """JSON Schema of an operation's request and result, and an example of a request."""
        operation = self.find(name)
        types = _types(operation.run)
        return {
            "name": operation.name,
            "code": operation.code,
            "about": operation.about,
            "example": self.example(name),
            "request": types.request.json_schema(),
            "result": {"additionalProperties": False, **types.result.json_schema(mode="serialization")},
        }


@cache
def _types(function: Callable[..., Any]) -> _Types:
    """The types of the request, the settings and the result; adapters are built on first use."""
    hints = get_type_hints(function, include_extras=True)
    result = hints.pop("return")
    if get_origin(result) is Worked:
        (result,) = get_args(result)
    request = next(iter(hints.values()))
    return _Types(request=TypeAdapter(request), result=TypeAdapter(result), takes_numbers="numbers" in hints)


def run_parsed(operation: Operation, request: Mapping[str, Any], tables: Tables | None) -> Done:
    """Check a request of plain data and run the operation on it."""
    parsed = _parse(operation, request)
    takes_numbers = _types(operation.run).takes_numbers
    numbers = (_numbers_for(operation.preset, tables or {}),) if takes_numbers else ()
    found = operation.run(parsed, *numbers)
    return Done(result=found.result, work=found.work) if isinstance(found, Worked) else Done(result=found)


def _numbers_for(preset: str, tables: Tables) -> Any:
    """The settings of a preset, or the tables of all presets for an operation of none."""
    if not preset:
        return tables
    return overridden(DEFAULTS[preset], tables.get(preset, {}), f"numbers, preset {preset}")


def plain_result(operation: Operation, done: Done) -> dict[str, Any]:
    """The result as plain data."""
    plain: dict[str, Any] = _types(operation.run).result.dump_python(done.result, mode="json")
    return plain


def _parse(operation: Operation, request: Mapping[str, Any]) -> Any:
    try:
        return _types(operation.run).request.validate_python(request)
    except ValidationError as error:
        raise _invalid(operation.name, error) from None


def _invalid(name: str, error: ValidationError) -> InputError:
    """Name the first field that is wrong, and what is wrong with it."""
    first, *more = error.errors(include_url=False, include_input=False)
    field = place(first["loc"])
    what = f"`{field}`" if field else "the request"
    return InputError(
        f"{name}: {what} {wording(first)}{' (and more)' if more else ''}",
        remedy=f"`foveal op {name} --schema` shows what it takes",
        field=field,
        see="schemas",
    )


def _time(value: object) -> float:
    found = seconds(value)
    if found is None:
        raise ValueError(NOT_A_TIME)
    return found


Time = Annotated[FiniteFloat, BeforeValidator(_time, json_schema_input_type=float | str)]
"""Seconds since 1970, from a number or an ISO 8601 text."""
