"""Override the numbers of the presets with those that users set in files or pass as arguments.

A table names fields of a preset's `…Numbers`; a field that is itself a table is merged entry by entry. An
unknown name or an invalid value is refused with its origin, its full name and a remedy. Pydantic is loaded
only for a table that sets something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, cast

from foveal.config import Tables, nearest
from foveal.errors import ConfigError
from foveal.pipeline.material import categories
from foveal.pipeline.material.categories import PenguinNumbers
from foveal.presets.fifth.levels import FifthNumbers
from foveal.presets.foveal.select import FovealNumbers
from foveal.presets.omar.score import USUAL_CAPS, OmarNumbers
from foveal.presets.openscroll.layers import OpenscrollNumbers
from foveal.presets.recent import RecentNumbers
from foveal.presets.reploid import ReploidNumbers

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

Numbers = (
    RecentNumbers
    | OmarNumbers
    | OpenscrollNumbers
    | PenguinNumbers
    | FifthNumbers
    | ReploidNumbers
    | FovealNumbers
)
T = TypeVar("T")

DEFAULTS: Mapping[str, Numbers] = MappingProxyType(
    {
        "recent": RecentNumbers(),
        "omar": OmarNumbers(),
        "openscroll": OpenscrollNumbers(),
        "penguin": PenguinNumbers(),
        "fifth": FifthNumbers(),
        "reploid": ReploidNumbers(),
        "foveal": FovealNumbers(),
    }
)
"""By preset. A preset that is not here has no numbers."""

MOST = 1_000_000_000_000
"""No token count, weight or revenue is larger, and the product of two is still finite."""
_SHARES = {
    "bent", "faded", "full_at", "jit_least", "least", "shares", "target", "topic_pressure",
    "unpriced_high", "unpriced_low",
}  # fmt: skip
"""Fields that are at most 1, like all whose names end in `share`."""
_DIVISORS = {
    "densities", "exact_steps", "fades", "jit_topic_share", "pressure_share", "project_docs", "revenue_scale",
    "target", "total",
}  # fmt: skip
"""Fields that are above 0."""
_WORDS = {
    "depth": ("minimal", "standard", "deep"),
    "recency": ("linear", "exponential"),
    "solver": ("greedy", "exact"),
}
_PATH_MOST = 200
"""The longest name of a file."""
_NAMED_IN = {"minimums": "shares"}
"""Tables that are empty by default: they may have the entries of another."""
_NAMES = {"group_caps": tuple(USUAL_CAPS)}
"""Tables that are empty by default: the entries they may have."""
_LISTS = {"project_docs"}
"""Tables of file names. They replace the default as a whole: their order counts."""
_LOWER_CASE = "write the word in small letters, with `_` between its parts"
_OPEN = {"client_tier", "deal_status", "relationship_stage", "urgency"}
"""Tables whose entries are words of the user's trade."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One number in effect, and where it was set."""

    key: str
    """With a dot before an entry of a table: `base.tool_output`."""
    value: object
    origin: str


def resolved(layers: Iterable[tuple[str, Tables]]) -> dict[str, Numbers]:
    """The numbers of every preset; each layer, a pair of origin and tables, overrides the ones before it.

    >>> resolved([("foveal.toml", {"reploid": {"keep": 4}}), ("numbers", {"reploid": {"length": 0}})])[
    ...     "reploid"
    ... ] == ReploidNumbers(keep=4, length=0.0)
    True
    """
    found = dict(DEFAULTS)
    for origin, tables in layers:
        if not isinstance(tables, Mapping):
            what = f"{origin}: `presets` is {tables!r}"
            raise ConfigError(what, remedy="make `presets` a table", field="presets")
        for name, table in tables.items():
            if name not in found:
                what = f"{origin}: there is no preset {name!r} that has numbers"
                raise ConfigError(what, remedy=nearest(str(name), tuple(DEFAULTS)), field=str(name))
            found[name] = overridden(found[name], table, f"{origin}, preset {name}")
    return found


def listed(name: str, layers: Iterable[tuple[str, Tables]]) -> list[Number]:
    """Every number of a preset with the origin of its value; none if the preset has no numbers."""
    layers = tuple(layers)
    if name not in DEFAULTS:
        return []
    origins = {key: origin for origin, tables in layers for key, _ in _leaves(tables.get(name, {}))}
    return [
        Number(key=key, value=value, origin=origins.get(key, "default"))
        for key, value in _leaves(resolved(layers)[name])
    ]


def _leaves(found: object, under: str = "") -> Iterator[tuple[str, object]]:
    """Every value with its full name; an empty table is a value."""
    if is_dataclass(found):
        found = {field.name: getattr(found, field.name) for field in fields(found)}
    if not isinstance(found, Mapping) or not found:
        yield under, found
        return
    for key, value in found.items():
        yield from _leaves(value, f"{under}.{key}" if under else key)


def overridden(default: T, table: Mapping[str, object], origin: str) -> T:
    """The numbers with those of the table in place of the defaults.

    >>> overridden(ReploidNumbers(), {"roles": {"tool": 25}}, "foveal.toml").roles["tool"]
    25
    """
    if isinstance(table, Mapping) and not table:
        return default
    from pydantic import ValidationError

    try:
        _adapter(type(default)).validate_python(table)  # type: ignore[arg-type]  # classes are hashable
        merged = _merged(default, table)
        if isinstance(merged, PenguinNumbers):
            categories.check_numbers(merged)
    except ValidationError as error:
        raise _refusal(error, default, origin) from None
    except ConfigError as error:
        raise ConfigError(f"{origin}: {error.what}", remedy=error.remedy, field=error.field) from error
    return merged


def _merged(default: T, table: Mapping[str, object]) -> T:
    changes: dict[str, object] = {}
    for name, value in table.items():
        current: object = getattr(default, name)
        if isinstance(value, Mapping):
            changes[name] = _merged_table(name, current, value)
        else:
            changes[name] = float(value) if isinstance(current, float) and isinstance(value, int) else value
    return replace(default, **changes)  # type: ignore[type-var]  # a dataclass by contract


def _merged_table(name: str, current: object, given: Mapping[str, object]) -> object:
    if not isinstance(current, Mapping):
        return _merged(current, given)
    return dict(given) if name in _LISTS else {**current, **given}


@cache
def _adapter(numbers: type) -> TypeAdapter[object]:
    from pydantic import TypeAdapter

    return TypeAdapter(_schema(numbers()))


def _schema(numbers: object) -> type:
    """The `TypedDict` that a table must match: the fields of the numbers with their types and ranges."""
    from pydantic import ConfigDict, Field, StrictBool, StrictStr, with_config
    from typing_extensions import TypedDict  # pydantic accepts that of `typing` from Python 3.12 on

    table = cast("Callable[..., type]", TypedDict)  # type checkers know only the form with literal names
    word = Annotated[str, Field(strict=True, pattern="^[a-z0-9]+(_[a-z0-9]+)*$")]
    path = Annotated[str, Field(strict=True, min_length=1, max_length=_PATH_MOST)]
    types: dict[str, object] = {}
    for name in _names(numbers):
        value = getattr(numbers, name)
        above, least = (0, None) if name in _DIVISORS else (None, 0)
        in_range = Field(strict=True, allow_inf_nan=False, gt=above, ge=least, le=_most(name))
        number = Annotated[float, in_range]
        tokens = Annotated[int, in_range]
        if is_dataclass(value):
            types[name] = _schema(value)
        elif name in _LISTS:
            types[name] = dict[path, tokens]
        elif name in _OPEN:
            types[name] = dict[word, number]
        elif isinstance(value, Mapping):
            types[name] = table(name, dict.fromkeys(_names(numbers, name), number), total=False)
        elif isinstance(value, str):
            types[name] = Literal[_WORDS[name]] if name in _WORDS else StrictStr
        else:
            types[name] = StrictBool if isinstance(value, bool) else Annotated[type(value), in_range]
    return with_config(ConfigDict(extra="forbid"))(table(type(numbers).__name__, types, total=False))


def _most(name: str) -> int:
    """The highest value of a field."""
    return 1 if name in _SHARES or name.endswith("share") else MOST


def _valid(numbers: object, path: Sequence[str]) -> str:
    """What the value at that path may be; an entry of a table has the range of the table."""
    name, value = "", numbers
    for part in path:
        if isinstance(value, Mapping):
            value = 0 if name in _LISTS else 0.0
            break
        name, value = part, getattr(value, part)
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return " or ".join(f'"{word}"' for word in _WORDS.get(name, ())) or "text in quotes"
    if not isinstance(value, int | float):
        return "a table"
    number = "an integer" if isinstance(value, int) else "a number"
    most = f"{_most(name):,}"
    return f"{number} above 0, at most {most}" if name in _DIVISORS else f"{number} from 0 to {most}"


def _names(numbers: object, *path: str) -> tuple[str, ...]:
    """The names of the fields, or of the entries that the table at that path may have."""
    for name in path:
        if name in _NAMES:
            return _NAMES[name]
        numbers = getattr(numbers, _NAMED_IN.get(name, name))
    if isinstance(numbers, Mapping):
        return tuple(numbers)
    return tuple(field.name for field in fields(numbers))  # type: ignore[arg-type]  # a dataclass by contract


def _refusal(error: ValidationError, default: object, origin: str) -> ConfigError:
    """Our error for the first problem; a name that is unknown comes before any value."""
    unknown = ("extra_forbidden", "invalid_key")
    problem = min(error.errors(include_url=False), key=lambda each: each["type"] not in unknown)
    path = [str(part) for part in problem["loc"] if part != "[key]"]
    key, value = ".".join(path) or "numbers", problem["input"]
    if problem["type"] in unknown:
        *outer, name = path
        what = f"unknown number `{key}` (= {value!r})"
        remedy = nearest(name, _names(default, *outer), "".join(f"{part}." for part in outer))
    elif "[key]" in problem["loc"]:
        what = f"`{key}` would never match"
        listed = path[0] in _LISTS
        remedy = f"give a file name of 1 to {_PATH_MOST} characters" if listed else _LOWER_CASE
    else:
        what, remedy = f"`{key}` is {value!r}", f"make `{key}` {_valid(default, path)}"
    return ConfigError(f"{origin}: {what}", remedy=remedy, field=key)
