"""Read and check model files: the bundled `models.toml` and the user's, which overrides it key by key.

`[models."name"]` describes one model, `[families."name"]` every model whose name matches one of its `match`
patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from foveal.catalog.names import normalized
from foveal.errors import ConfigError
from foveal.toml_files import parse_toml, read_toml


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What a file says about a model or a family; None where it says nothing."""

    match: tuple[str, ...] | None = None
    provider: str | None = None
    tokenizer: str | None = None
    images: str | None = None
    context: int | None = None
    max_input: int | None = None
    max_output: int | None = None
    cache_min: int | None = None
    cache_ttl: int | None = None
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    files: tuple[str, ...] = ()
    """The files it comes from, in order of precedence."""

    def over(self, weaker: Fact) -> Fact:
        """This fact, with the values of the other where this one has none."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        values = {name: getattr(weaker, name) if value is None else value for name, value in own.items()}
        return Fact(**{**values, "files": (*self.files, *weaker.files)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one file says, or several combined."""

    models: Mapping[str, Fact]
    families: Mapping[str, Fact]


def load(extra: Path | None) -> Facts:
    """The bundled facts, overridden by those of the user's file."""
    if extra is None:
        return _bundled()
    return _combined(_facts(read_toml(extra), str(extra)))


@cache
def _bundled() -> Facts:
    file = Path(__file__).with_name("models.toml")
    return parse(file.read_text(encoding="utf-8"), file.name)


@cache
def _bundled_names() -> Mapping[str, str]:
    return {normalized(name): name for name in _bundled().models}


def _combined(user: Facts) -> Facts:
    bundled = _bundled()
    models = dict(bundled.models)
    for name, fact in user.models.items():
        known = _bundled_names().get(normalized(name), name)
        models[known] = fact.over(models[known]) if known in models else fact
    # The user's come first in order, too: the first family that matches is taken.
    return Facts(models=models, families={**user.families, **bundled.families, **user.families})


def parse(text: str, file: str) -> Facts:
    """Check a model file; an error names the file, the key and the value."""
    return _facts(parse_toml(text, file), file)


def _facts(data: Mapping[str, object], file: str) -> Facts:
    for section in data:
        if section not in ("families", "models"):
            raise ConfigError(
                f"{file}: unknown section `{section}`",
                remedy='write `[models."name"]` or `[families."name"]`',
                field=section,
            )
    return Facts(models=_section(data, "models", file), families=_section(data, "families", file))


def _section(data: Mapping[str, object], kind: str, file: str) -> dict[str, Fact]:
    section = data.get(kind, {})
    if not isinstance(section, dict):
        raise _invalid(file, kind, section, f'write `[{kind}."name"]`')
    return {name: _fact(table, file, kind, f'{kind}."{name}"') for name, table in section.items()}


def _fact(table: object, file: str, kind: str, where: str) -> Fact:
    if not isinstance(table, dict):
        raise _invalid(file, where, table, f"write `[{where}]`")
    known = _CHECKS.keys() - ({"match"} if kind == "models" else set())
    for key, value in table.items():
        if key not in known:
            raise ConfigError(
                f"{file}: {where} has no key `{key}` (= {value!r})",
                remedy=f"use one of {', '.join(f'`{name}`' for name in sorted(known))}",
                field=f"{where}.{key}",
            )
        is_valid, remedy = _CHECKS[key]
        if not is_valid(value):
            raise _invalid(file, f"{where}.{key}", value, f"give `{key}` {remedy}")
    if "match" in known and "match" not in table:
        raise ConfigError(f"{file}: {where} has no `match`", f"give `match` {_PATTERNS[1]}", field=where)
    patterns = {"match": tuple(table["match"])} if "match" in table else {}
    return Fact(**{**table, **patterns, "files": (file,)})


def _invalid(file: str, where: str, value: object, remedy: str) -> ConfigError:
    return ConfigError(f"{file}: {where} = {value!r} is invalid", remedy, field=where)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _is_patterns(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(pattern, str) for pattern in value)


_Check = tuple[Callable[[object], bool], str]
_TEXT: _Check = _is_text, "a name in quotes"
_COUNT: _Check = _is_count, "an integer above 0"
_PRICE: _Check = _is_price, "in US dollars for a million tokens, or omit it when it is not known"
_PATTERNS: _Check = _is_patterns, "a list of name patterns, such as `['my-model*']`"
_CHECKS: Mapping[str, _Check] = {
    "match": _PATTERNS,
    **dict.fromkeys(("images", "provider", "tokenizer"), _TEXT),
    **dict.fromkeys(("cache_min", "cache_ttl", "context", "max_input", "max_output"), _COUNT),
    **dict.fromkeys(("cache_read", "cache_write", "input", "output"), _PRICE),
}
"""By key: whether a value is valid, and what to give instead."""
