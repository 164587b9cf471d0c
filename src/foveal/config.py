"""Load the settings from options, environment and files, and record where each value came from.

Only the surfaces read them. An option beats a `FOVEAL_…` variable, which beats the project's file, which
beats the user's, which beats the default. The defaults are here and nowhere else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, Literal, cast, get_args

from foveal.errors import ConfigError, masked
from foveal.toml_files import parse_toml, read_text, read_toml

Value = str | int
Tables = Mapping[str, Mapping[str, object]]
"""Numbers by preset: `{"reploid": {"recency": 20}}`."""
Durability = Literal["normal", "full"]
Summaries = Literal["extractive", "llm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting. An empty text leaves the choice to the library."""

    store: str = ""
    session: str = "default"
    tenant: str = "default"
    pool: str = ""
    """The pool that sessions join when a command opens them; empty for none."""
    model: str = ""
    budget: int | None = None
    preset: str = ""
    counter: str = ""
    durability: Durability = "normal"
    catalogue: str = ""
    """The path of the user's own models file."""
    summaries: Summaries = "extractive"
    summary_url: str = ""
    """The address of the model that writes summaries. It is called by Anthropic's protocol where the path
    ends in `/messages` or the host is `api.anthropic.com`, by OpenAI's everywhere else."""
    summary_model: str = ""
    summary_key: str = ""
    """The name of the environment variable that holds the key, never the key itself."""
    embedder: str = ""
    """Empty for the bundled static embeddings; `none`; a folder with a model; or an address with its model,
    as in `https://api.openai.com/v1#text-embedding-3-small`, whose key `embedder_key` chooses."""

    @property
    def catalogue_path(self) -> Path | None:
        return Path(self.catalogue).expanduser() if self.catalogue else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    settings: Settings
    origins: Mapping[str, str]
    """For every setting: `option`, a variable's name, a file, or `default`."""
    files: tuple[Path, ...]
    """The files that were read, highest precedence first."""
    layers: tuple[tuple[str, Tables], ...] = ()
    """The `[presets]` of each file, lowest precedence first; the presets validate them."""
    serve: Mapping[str, object] = field(default_factory=dict)
    """The merged `[serve]` of the files; the service validates it."""

    @property
    def numbers(self) -> Tables:
        """The presets' numbers, each from the file with the highest precedence."""
        found: Mapping[str, object] = {}
        for _, tables in self.layers:
            found = merged(found, tables)
        return cast("Tables", found)


KEYS = tuple(each.name for each in fields(Settings))
_CHOICES = {"durability": get_args(Durability), "summaries": get_args(Summaries)}
_PRESETS = "presets"
_SERVE = "serve"
_TABLES = (_PRESETS, _SERVE)
SERVE_VARIABLES = (
    "SERVE_HOST",
    "SERVE_PORT",
    "SERVE_HOSTS",
    "SERVE_ALLOWED_ORIGINS",
    "SERVE_WORKSPACES",
    "TOKEN",
    "METRICS_TOKEN",
)
"""The variables of the service, without the prefix `FOVEAL_`."""
_PATHS = ("store", "catalogue", "embedder")
_PREFIX = "FOVEAL_"
_ADDRESS = re.compile(r"https?://[^\s/?#@\\]+(?:[/?#]\S*)?")
_TOKENS = re.compile(r"([0-9]+|[0-9]{1,3}(?:[_,][0-9]{3})+)(?:\.([0-9]+))?([km]?)")
_UNITS = {"": 0, "k": 3, "m": 6}
"""The zeros of each unit."""
TOKENS_MOST = 2**53 - 1
"""The largest number of tokens: the store and every JSON reader hold it exactly."""
EXPECTED_COUNT = "a number of tokens above 0, such as 8000, 8k or 1.5m"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
_DIGITS = 6
"""The most in the name of a variable; a key has more."""


def default_store() -> Path:
    """The path of the store in the platform's data folder."""
    import platformdirs

    return Path(platformdirs.user_data_dir("foveal", appauthor=False)) / "foveal.db"


def user_file() -> Path:
    """The path of the user's own settings, for all projects."""
    import platformdirs

    return Path(platformdirs.user_config_dir("foveal", appauthor=False)) / "config.toml"


def load(
    options: Mapping[str, Value | None],
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Loaded:
    """Resolve every setting; `None` among the options means that it was not given.

    >>> loaded = load({"session": "fix-auth"}, {"FOVEAL_MODEL": "gpt-5"}, Path("/"))
    >>> loaded.settings.session, loaded.settings.model, loaded.origins["model"]
    ('fix-auth', 'gpt-5', 'FOVEAL_MODEL')
    """
    values: dict[str, Value | None] = {**asdict(Settings()), "store": str(default_store())}
    origins = dict.fromkeys(KEYS, "default")
    files = tuple(_files(Path.cwd() if cwd is None else cwd))
    for file, table in reversed(files):
        found = {key: _checked(key, value, str(file)) for key, value in table.items() if key not in _TABLES}
        values |= {key: _resolved(file, key, value) for key, value in found.items()}
        origins |= dict.fromkeys(found, str(file))
    for key, (name, text) in _variables(os.environ if environment is None else environment).items():
        values[key] = _checked(key, text, name)
        origins[key] = name
    for key, option in options.items():
        if option is not None:
            values[key] = _checked(key, option, f"--{key}")
            origins[key] = "option"
    settings = Settings(**values)  # type: ignore[arg-type]  # every value was checked against its field
    _complete(settings, origins["summaries"])
    return Loaded(
        settings=settings,
        origins=origins,
        files=tuple(file for file, _ in files),
        layers=tuple(
            (str(file), _tables(file, table)) for file, table in reversed(files) if _PRESETS in table
        ),
        serve=_serve_table(files),
    )


def unknown_variables(environment: Mapping[str, str] | None = None) -> list[str]:
    """A warning for each variable that has our prefix and sets nothing.

    >>> unknown_variables({"FOVEAL_BUGDET": "8000"})
    ['the variable FOVEAL_BUGDET sets nothing; did you mean `FOVEAL_BUDGET`?']
    """
    variables = os.environ if environment is None else environment
    names = sorted(name.removeprefix(_PREFIX) for name in variables if name.startswith(_PREFIX))
    known = [*(key.upper() for key in KEYS), *SERVE_VARIABLES]
    return [
        f"the variable {_PREFIX}{name} sets nothing; {nearest(name, known, _PREFIX)}"
        for name in names
        if name not in known
    ]


def secret(
    variable: str, environment: Mapping[str, str] | None = None, *, setting: str = "summary_key"
) -> str:
    """The key in an environment variable, read when needed and never stored; empty where no name is given."""
    found = (os.environ if environment is None else environment).get(variable, "").strip()
    if found or not variable:
        return found
    raise ConfigError(
        f"the variable {variable}, named by `{setting}`, is not set or empty",
        remedy=f"set `{variable}` to the key, or name another variable in `{setting}`",
        field=setting,
    )


def serve_variables(environment: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """The variables of the service that are not empty, by name without the prefix."""
    variables = os.environ if environment is None else environment
    return {name: variables[_PREFIX + name] for name in SERVE_VARIABLES if variables.get(_PREFIX + name)}


def embedder_key(settings: Settings) -> str:
    """The variable whose key goes to the embedder: `summary_key`, if it is at the address of `summary_url`.

    >>> api = "https://api.openai.com/v1"
    >>> embedder_key(Settings(summary_url=api, summary_key="OPENAI_API_KEY", embedder=f"{api}#small"))
    'OPENAI_API_KEY'
    """
    from urllib.parse import urlsplit

    same = urlsplit(settings.embedder)[:2] == urlsplit(settings.summary_url)[:2]
    return settings.summary_key if same and settings.summary_url else ""


def shown(settings: Settings) -> dict[str, Value | None]:
    """Every setting as it may be shown: addresses without what may be secret in them."""
    values: dict[str, Value | None] = asdict(settings)
    return {
        key: masked(value, fragment=key == "embedder") if isinstance(value, str) else value
        for key, value in values.items()
    }


def coloured(stream: IO[str]) -> bool:
    """Whether to write colour to a stream: `NO_COLOR`, `CI` and a pipe mean plain text."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and not os.environ.get("CI")


def _files(cwd: Path) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """The project's file and the user's, if they exist."""
    for folder in (cwd, *cwd.parents):
        if (file := folder / "foveal.toml").is_file():
            yield file, read_toml(file)
            break
        if (file := folder / "pyproject.toml").is_file() and (table := _tool(file)) is not None:
            yield file, table
            break
    if (file := user_file()).is_file():
        yield file, read_toml(file)


def _tool(file: Path) -> Mapping[str, object] | None:
    """The `[tool.foveal]` of a project; a file that never mentions foveal is not even parsed."""
    text = read_text(file)
    if "foveal" not in text:
        return None
    tool = parse_toml(text, str(file)).get("tool")
    table = tool.get("foveal") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _variables(environment: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The variables that are set and not empty, by setting."""
    names = {key: _PREFIX + key.upper() for key in KEYS}
    return {key: (name, environment[name]) for key, name in names.items() if environment.get(name)}


def token_count(text: str) -> int | None:
    """A number of tokens as people write it; None where the text is not one.

    Any number above `TOKENS_MOST` is read as the next one.

    >>> [token_count(text) for text in ("8k", "1.5m", "8_000", "8,000", "8000", "8 apples", "1,5k")]
    [8000, 1500000, 8000, 8000, 8000, None, None]
    """
    found = _TOKENS.fullmatch(text.strip().lower())
    if not found:
        return None
    whole, part, unit = re.sub("[_,]", "", found[1]), found[2] or "", _UNITS[found[3]]
    if len(part.rstrip("0")) > unit:
        return None  # a fraction of a token
    digits = (whole + part[:unit].ljust(unit, "0")).lstrip("0") or "0"
    return min(int(digits), TOKENS_MOST + 1) if len(digits) <= len(str(TOKENS_MOST)) else TOKENS_MOST + 1


def _checked(key: str, value: object, origin: str) -> Value:
    """The value, if it is valid for that setting."""
    if key not in KEYS:
        shown = "" if "key" in key.lower() else f" (= {_shown(value)})"
        raise ConfigError(f"{origin}: unknown setting `{key}`{shown}", remedy=nearest(key, KEYS), field=key)
    if key == "budget":
        given, value = value, token_count(value) if isinstance(value, str) else value
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return _limited(key, value, origin)
        raise _invalid(key, given, origin, EXPECTED_COUNT)
    if key == "summary_key":
        return variable_name(value, key, f"{origin}: ")
    if not isinstance(value, str):
        raise _invalid(key, value, origin, "text in quotes")
    if key == "summary_url" or (key == "embedder" and "://" in value):
        return _address(key, value, origin)
    if key in _CHOICES and value not in _CHOICES[key]:
        raise _invalid(key, value, origin, " or ".join(f'"{choice}"' for choice in _CHOICES[key]))
    if not value and key in ("session", "store", "tenant"):
        raise _invalid(key, value, origin, "a name that is not empty")
    return value


def _limited(key: str, value: int, origin: str) -> int:
    if value <= TOKENS_MOST:
        return value
    raise ConfigError(
        f"{origin}: `{key}` is above {TOKENS_MOST:,}", remedy=f"make `{key}` smaller", field=key
    )


def variable_name(value: object, setting: str, origin: str = "") -> str:
    """The name of a variable. An invalid value may be the key itself, so errors never show it."""
    valid = isinstance(value, str) and (not value or _VARIABLE.fullmatch(value))
    if isinstance(value, str) and valid and sum(map(str.isdigit, value)) <= _DIGITS:
        return value
    raise ConfigError(
        f"{origin}`{setting}` is not the name of an environment variable (its value is not shown)",
        remedy=f"put the key into a variable such as `OPENAI_API_KEY`, and set `{setting}` to that name",
        field=setting,
    )


def _address(key: str, value: str, origin: str) -> str:
    """A valid address. An invalid one may contain a password, so errors never show it."""
    valid = not value or _ADDRESS.fullmatch(value)
    if valid and (key != "embedder" or value.partition("#")[2]):
        return value
    example = "https://api.openai.com/v1" + ("#text-embedding-3-small" if key == "embedder" else "")
    raise ConfigError(
        f"{origin}: `{key}` is not an address that can be used (its value is not shown)",
        remedy=f"make `{key}` an http or https address without a password, such as `{example}`",
        field=key,
    )


def _complete(settings: Settings, origin: str) -> None:
    """Summaries by a model need its address and its name."""
    for key in ("summary_url", "summary_model"):
        if settings.summaries == "llm" and not getattr(settings, key):
            raise ConfigError(
                f"{origin}: `summaries` is 'llm', and `{key}` is empty",
                remedy=f'set `{key}`, or `summaries = "extractive"`, which needs no model',
                field=key,
            )


def _invalid(key: str, value: object, origin: str, expected: str) -> ConfigError:
    return ConfigError(f"{origin}: `{key}` is {_shown(value)}", remedy=f"make `{key}` {expected}", field=key)


def _shown(value: object) -> str:
    return repr(masked(value) if isinstance(value, str) else value)


def nearest(name: str, known: Sequence[str], prefix: str = "") -> str:
    """A suggestion: the known name that is most similar, or all of them."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    every = ", ".join(f"`{prefix}{each}`" for each in known)
    return f"did you mean `{prefix}{near[0]}`?" if near else f"use one of {every}"


def _tables(file: Path, table: Mapping[str, object]) -> Tables:
    """The `[presets.…]` of a file."""
    found = table[_PRESETS]
    if not isinstance(found, dict):
        raise _invalid(_PRESETS, found, str(file), "a table, such as `[presets.omar]`")
    for name, numbers in found.items():
        if not isinstance(numbers, dict):
            raise _invalid(f"{_PRESETS}.{name}", numbers, str(file), "a table of numbers")
    return found


def _serve_table(files: Sequence[tuple[Path, Mapping[str, object]]]) -> Mapping[str, object]:
    """The `[serve]` of all files."""
    found: dict[str, object] = {}
    for file, table in reversed(files):
        values = table.get(_SERVE, {})
        if not isinstance(values, dict):
            raise ConfigError(f"{file}: `serve` is not a table", remedy="write it as `[serve]`", field=_SERVE)
        found |= values
    return found


def merged(weak: Mapping[str, object], strong: Mapping[str, object]) -> Mapping[str, object]:
    """Both tables in one; where they differ, `strong` wins."""
    both = dict(weak)
    for key, value in strong.items():
        below = weak.get(key)
        both[key] = merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return both


def _resolved(file: Path, key: str, value: Value) -> Value:
    """Relative paths in a file are relative to that file."""
    if key not in _PATHS or not isinstance(value, str) or not value:
        return value
    if "://" in value or value == ":memory:" or value.startswith("~"):
        return value
    if key == "embedder" and value == "none":
        return value
    return str(file.parent / value)
