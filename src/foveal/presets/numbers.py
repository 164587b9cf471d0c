"""A preset's numbers and a table of somebody's in → the numbers with the table laid over them.

A table names fields of the preset's `…Numbers`; a field that is a table itself is merged entry by entry. What
is unknown or makes no sense is refused with its place, its name, its value and what is wanted instead.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from types import MappingProxyType
from typing import TypeVar, cast

from foveal.config import Tables, nearest
from foveal.errors import ConfigError
from foveal.pipeline.material import categories
from foveal.pipeline.material.categories import PenguinNumbers
from foveal.presets.fifth.levels import FifthNumbers
from foveal.presets.foveal.select import FovealNumbers
from foveal.presets.omar.score import OmarNumbers
from foveal.presets.openscroll.layers import OpenscrollNumbers
from foveal.presets.recent import RecentNumbers
from foveal.presets.reploid import ReploidNumbers

Numbers = (
    FovealNumbers
    | OmarNumbers
    | OpenscrollNumbers
    | PenguinNumbers
    | FifthNumbers
    | ReploidNumbers
    | RecentNumbers
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
"""No token, weight or revenue is larger, and every product of two still is a number."""
_WORDS = {
    "depth": ("minimal", "standard", "deep"),
    "recency": ("linear", "exponential"),
    "solver": ("greedy", "exact"),
}
_SHARES = frozenset(
    {
        "asked_share",
        "bent",
        "elasticity",
        "faded",
        "full_at",
        "full_share",
        "jit_least",
        "least",
        "near_share",
        "shares",
        "short_share",
        "target",
        "topic_pressure",
        "unpriced_high",
        "unpriced_low",
    }
)
_DIVISORS = frozenset(
    {
        "densities",
        "exact_steps",
        "fades",
        "jit_topic_share",
        "pressure_share",
        "revenue_scale",
        "target",
        "total",
    }
)
_NAMED_IN = {"group_caps": "usual_caps", "minimums": "shares"}
"""Tables that are empty unless somebody asks: the names they may hold are those of another."""
_OPEN = frozenset({"client_tier", "deal_status", "relationship_stage", "urgency"})
"""Their entries are words of the user's trade."""
_WORD = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One number as it stands, and who said so."""

    key: str
    """With a dot before an entry of a table: `base.tool_output`."""
    value: object
    origin: str


def settled(layers: Iterable[tuple[str, Tables]]) -> dict[str, Numbers]:
    """The numbers of every preset; each layer, told by its origin, is laid over the ones before it.

    >>> settled([("foveal.toml", {"reploid": {"keep": 4}}), ("numbers", {"reploid": {"length": 0}})])[
    ...     "reploid"
    ... ] == ReploidNumbers(keep=4, length=0.0)
    True
    """
    found = dict(DEFAULTS)
    for origin, tables in layers:
        _table(tables, origin, "presets")
        for name, table in tables.items():
            if name not in found:
                raise ConfigError(
                    f"{origin}: there are no numbers of a preset {name!r}",
                    remedy=nearest(str(name), tuple(DEFAULTS)),
                )
            found[name] = overridden(found[name], table, f"{origin}, preset {name}")
    return found


def listed(name: str, layers: Iterable[tuple[str, Tables]]) -> list[Number]:
    """Every number of a preset with the origin of its value; none where the preset has none."""
    layers = tuple(layers)
    if name not in DEFAULTS:
        return []
    origins = {key: origin for origin, tables in layers for key, _ in _leaves(tables.get(name, {}))}
    return [
        Number(key=key, value=value, origin=origins.get(key, "default"))
        for key, value in _leaves(settled(layers)[name])
    ]


def overridden(default: T, table: Mapping[str, object], where: str) -> T:
    """The numbers with the table laid over them.

    >>> overridden(ReploidNumbers(), {"roles": {"tool": 25}}, "foveal.toml").roles["tool"]
    25
    """
    laid = _overridden(default, _table(table, where, "numbers"), where, "")
    if isinstance(laid, PenguinNumbers):
        try:
            categories.check_numbers(laid)
        except ConfigError as fault:
            raise ConfigError(f"{where}: {fault.what}", remedy=fault.remedy) from fault
    return laid


def _overridden(default: T, table: Mapping[str, object], where: str, under: str) -> T:
    known = [field.name for field in fields(default)]  # type: ignore[arg-type]  # a dataclass by contract
    for key, value in table.items():
        _known(key, value, known, where, under)
    changes = {key: _laid(default, key, value, where, under) for key, value in table.items()}
    return replace(default, **changes)  # type: ignore[type-var]  # as above


def _laid(numbers: object, name: str, value: object, where: str, under: str) -> object:
    """The new value of one field."""
    current, key = getattr(numbers, name), under + name
    if is_dataclass(current):
        return _overridden(current, _table(value, where, key), where, f"{key}.")
    if isinstance(current, Mapping):
        entries = getattr(numbers, _NAMED_IN.get(name, name))
        return {**current, **_entries(entries, name, value, where, under)}
    if isinstance(current, bool):
        return _wanted(value, where, key, "true or false", fits=isinstance(value, bool))
    if isinstance(current, str):
        return _text(value, where, key, _WORDS.get(name, ()))
    if isinstance(current, int):
        return _number(value, where, key, name, whole=True)
    return float(_number(value, where, key, name))


def _entries(
    entries: Collection[str], name: str, value: object, where: str, under: str
) -> dict[str, int | float]:
    table = _table(value, where, under + name)
    for entry, number in table.items():
        if name not in _OPEN:
            _known(entry, number, tuple(entries), where, f"{under}{name}.")
        elif not (isinstance(entry, str) and _WORD.fullmatch(entry)):
            raise ConfigError(
                f"{where}: `{name}.{entry}` would never be found",
                remedy="write the word in small letters, with `_` between its parts",
            )
    return {entry: _number(number, where, f"{under}{name}.{entry}", name) for entry, number in table.items()}


def _known(key: object, value: object, known: Collection[str], where: str, under: str) -> None:
    if key not in known:
        raise ConfigError(
            f"{where}: unknown number `{under}{key}` (= {value!r})",
            remedy=nearest(str(key), tuple(known), under),
        )


def _table(value: object, where: str, key: str) -> Mapping[str, object]:
    _wanted(value, where, key, "a table", fits=isinstance(value, Mapping))
    return cast("Mapping[str, object]", value)


def _text(value: object, where: str, key: str, words: tuple[str, ...]) -> object:
    wanted = " or ".join(f'"{word}"' for word in words) or "a text in quotes"
    return _wanted(value, where, key, wanted, fits=isinstance(value, str) and (not words or value in words))


def _number(value: object, where: str, key: str, name: str, *, whole: bool = False) -> int | float:
    """The value, if it is a number that this field can be; `name` is the field's, `key` its full name."""
    most = 1 if name in _SHARES or name.endswith("share") else MOST
    wanted = f"a {'whole ' if whole else ''}number {'above 0' if name in _DIVISORS else 'from 0'}"
    kinds = int if whole else int | float
    # A comparison is false for what is not a number, and takes an integer of any length.
    fits = isinstance(value, kinds) and not isinstance(value, bool) and 0 <= value <= most
    positive = fits and (name not in _DIVISORS or bool(value))
    _wanted(value, where, key, f"{wanted} to {most:,}", fits=positive)
    return cast("int | float", value)


def _wanted(value: object, where: str, key: str, wanted: str, *, fits: bool) -> object:
    if not fits:
        raise ConfigError(f"{where}: `{key}` is {value!r}", remedy=f"make `{key}` {wanted}")
    return value


def _leaves(found: object, under: str = "") -> Iterator[tuple[str, object]]:
    """What is no table, or an empty one, under its full name."""
    if is_dataclass(found):
        found = {field.name: getattr(found, field.name) for field in fields(found)}
    if not isinstance(found, Mapping) or not found:
        yield under, found
        return
    for key, value in found.items():
        yield from _leaves(value, f"{under}.{key}" if under else key)
