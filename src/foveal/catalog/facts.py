"""A model file in, its checked facts out. Ours and the user's have one shape.

`[models."name"]` holds what is known of one model, `[families."name"]` what holds for every model whose
name fits one of its `match` patterns. Where files are laid over each other, the user's win key by key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from foveal.catalog.names import spelled
from foveal.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What a file says of a model or a family; None where it says nothing."""

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
    """Which files say it, the strongest first."""

    def over(self, weaker: Fact) -> Fact:
        """This fact, with the other's words where this one is silent."""
        said = {
            field.name: value
            if (value := getattr(self, field.name)) is not None
            else getattr(weaker, field.name)
            for field in fields(self)
        }
        return Fact(**{**said, "files": (*self.files, *weaker.files)})


_TEXTS = ("images", "provider", "tokenizer")
_COUNTS = ("cache_min", "cache_ttl", "context", "max_input", "max_output")
_PRICES = ("cache_read", "cache_write", "input", "output")
_MODEL_KEYS = frozenset((*_TEXTS, *_COUNTS, *_PRICES))
_FAMILY_KEYS = _MODEL_KEYS | {"match"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one file says, or several laid over each other."""

    models: Mapping[str, Fact]
    families: Mapping[str, Fact]


def load(extra: Path | None) -> Facts:
    """Our facts, with the user's laid over them."""
    if extra is None:
        return _packaged()
    try:
        text = extra.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigError(
            f"model file {extra} cannot be read: {fault}", remedy="correct the path of the model file"
        ) from fault
    return _combined(parse(text, str(extra)))


def parse(text: str, file: str) -> Facts:
    """Check a model file; an error names the file, the key and the value."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise ConfigError(f"{file} is not TOML: {fault}", remedy="correct the file at that place") from fault
    for section in data:
        if section not in ("families", "models"):
            raise ConfigError(
                f"{file}: unknown section `{section}`",
                remedy='write `[models."name"]` or `[families."name"]`',
            )
    return Facts(
        models=_section(data.get("models", {}), file, "models", keys=_MODEL_KEYS),
        families=_section(data.get("families", {}), file, "families", keys=_FAMILY_KEYS),
    )


@cache
def _packaged() -> Facts:
    file = Path(__file__).with_name("models.toml")
    return parse(file.read_text(encoding="utf-8"), file.name)


@cache
def _named() -> Mapping[str, str]:
    return {spelled(name): name for name in _packaged().models}


def _combined(theirs: Facts) -> Facts:
    ours = _packaged()
    models = dict(ours.models)
    for name, fact in theirs.models.items():
        known = _named().get(spelled(name), name)
        models[known] = fact.over(models[known]) if known in models else fact
    # Theirs stand first: the first family that fits is taken.
    return Facts(models=models, families={**theirs.families, **ours.families, **theirs.families})


def _section(section: object, file: str, kind: str, *, keys: frozenset[str]) -> dict[str, Fact]:
    if not isinstance(section, dict):
        raise ConfigError(f"{file}: {kind} = {section!r} makes no sense", remedy=f'write `[{kind}."name"]`')
    return {name: _fact(table, file, f'{kind}."{name}"', keys=keys) for name, table in section.items()}


def _fact(table: object, file: str, where: str, *, keys: frozenset[str]) -> Fact:
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: {where} = {table!r} makes no sense", remedy=f"write `[{where}]`")
    for key, value in table.items():
        if key not in keys:
            known = ", ".join(f"`{known}`" for known in sorted(keys))
            raise ConfigError(
                f"{file}: {where} has no key `{key}` (= {value!r})", remedy=f"use one of {known}"
            )
        if not _makes_sense(key, value):
            raise ConfigError(f"{file}: {where}.{key} = {value!r} makes no sense", remedy=_remedy(key))
    if "match" in keys and "match" not in table:
        raise ConfigError(f"{file}: {where} has no `match`", remedy=_remedy("match"))
    patterns = {"match": tuple(table["match"])} if "match" in table else {}
    return Fact(**{**table, **patterns, "files": (file,)})


def _makes_sense(key: str, value: object) -> bool:
    if key == "match":
        return isinstance(value, list) and bool(value) and all(isinstance(pattern, str) for pattern in value)
    if key in _TEXTS:
        return isinstance(value, str) and bool(value)
    if key in _COUNTS:
        return isinstance(value, int) and not isinstance(value, bool) and value > 0
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _remedy(key: str) -> str:
    if key == "match":
        return "give `match` a list of name patterns, such as `['my-model*']`"
    if key in _TEXTS:
        return f"give `{key}` a name in quotes"
    if key in _COUNTS:
        return f"give `{key}` a whole number above 0"
    return f"give `{key}` in US dollars for a million tokens, or leave it out when it is not known"
