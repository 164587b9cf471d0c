"""List the models, and check that everything foveal depends on works on this machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from textwrap import wrap
from typing import Annotated, Literal

import typer

from foveal import __version__, catalog, config
from foveal.cli import output
from foveal.cli.state import Json, Shell, absent, shell_of
from foveal.errors import FovealError, masked
from foveal.pipeline.tokens import count, vocabularies
from foveal.pipeline.tokens.count import tokenizer
from foveal.session.responses import ModelResponse, models_response

SQLITE = (3, 51, 3)
"""The oldest safe version: earlier ones can lose a write when two processes race to reset the log."""
INDENT = 9
"""Columns of the mark before a finding."""
PATIENCE = 10.0
"""Seconds that an endpoint has to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    what: str
    remedy: str = ""
    """What to do; empty when all is well."""


def checkup(shell: Shell) -> list[Finding]:
    """Run every check, whatever the others find."""
    checks: tuple[Callable[[Shell], Iterator[Finding]], ...] = (
        _version,
        _settings,
        _sqlite,
        _store,
        _preset,
        _counter,
        _tokenizers,
        _embedder,
        _model,
        _workspaces,
    )
    findings = (finding for check in (*checks, _catalogue) for finding in _guarded(check, shell))
    return list(dict.fromkeys(findings))  # several checks read the settings; an error there is reported once


def _guarded(check: Callable[[Shell], Iterator[Finding]], shell: Shell) -> Iterator[Finding]:
    try:
        yield from check(shell)
    except FovealError as error:
        yield Finding(what=error.what, remedy=error.remedy)


def _version(_: Shell) -> Iterator[Finding]:
    yield Finding(what=f"foveal {__version__} on Python {platform.python_version()}, {platform.system()}")


def _settings(shell: Shell) -> Iterator[Finding]:
    loaded = shell.load()
    variables = sorted(origin for origin in loaded.origins.values() if origin.startswith("FOVEAL_"))
    files = f"settings from {', '.join(map(str, loaded.files))}" if loaded.files else "settings: no file"
    yield Finding(what=f"{files}; in the environment: {', '.join(variables) or 'nothing'}")


def _sqlite(_: Shell) -> Iterator[Finding]:
    import apsw

    version = apsw.sqlite_lib_version()
    old = tuple(map(int, version.split("."))) < SQLITE
    yield Finding(what=f"SQLite {version}", remedy="`pip install --upgrade apsw`" if old else "")
    indexed = "ENABLE_FTS5" in apsw.compile_options
    yield Finding(
        what="full-text search (FTS5)" if indexed else "this SQLite has no full-text search (FTS5)",
        remedy="" if indexed else "install the `apsw` wheel instead of a build against the system's SQLite",
    )


def _store(shell: Shell) -> Iterator[Finding]:
    settings = shell.settings
    if file := absent(settings.store):
        yield _could_create(file)
        return
    with shell.store() as fov:
        sessions = fov.sessions()
    messages = sum(record.head.length for record in sessions)
    content = f"{output.counted(messages, 'message')}, {output.counted(len(sessions), 'session')}"
    yield Finding(what=f"store {masked(settings.store)} opens and can be written; {content}")


def _could_create(file: Path) -> Finding:
    """Whether a store that does not exist could be created."""
    folder = next(folder for folder in file.absolute().parents if folder.exists())
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        return Finding(what=f"store {file} does not exist yet; the first `foveal add` creates it")
    return Finding(
        what=f"store {file} does not exist, and {folder} cannot be written",
        remedy="make that folder writable, or choose another place with `--store PATH`",
    )


def _preset(shell: Shell) -> Iterator[Finding]:
    from foveal import presets

    yield Finding(what=f"preset {presets.find(shell.settings.preset).name}")


def _counter(shell: Shell) -> Iterator[Finding]:
    if name := shell.settings.counter:
        yield Finding(what=f"counter {tokenizer(name).name}")


def _tokenizers(_: Shell) -> Iterator[Finding]:
    loaded = []
    for name in vocabularies.PUBLIC:
        try:
            count.tokenizer(name).count("hello")
        except (ImportError, OSError) as error:
            yield Finding(what=f"tokenizer {name}: {error}", remedy="`pip install --force-reinstall foveal`")
        else:
            loaded.append(name)
    yield Finding(what=f"{len(loaded)} of {len(vocabularies.PUBLIC)} tokenizers load")


def _embedder(shell: Shell) -> Iterator[Finding]:
    """Whether the embedder works. An endpoint is sent one word, and no key but its own."""
    settings = shell.settings
    if "://" in settings.embedder:
        variable = config.embedder_key(settings)
        yield from _answering("embedder", settings.embedder, "", variable)
        return
    from foveal.search.embed import embedder_named

    found = embedder_named(settings.embedder)
    size = found.embed(["hello"]).shape[1] if found else 0
    loaded = f"embedder {found.name} loads, {size:,} dimensions" if found else ""
    yield Finding(what=loaded or "no embedder: search uses keywords alone")


def _model(shell: Shell) -> Iterator[Finding]:
    """Whether the model that writes summaries answers, if one is set. It is sent one question."""
    settings = shell.settings
    if settings.summaries == "llm":
        yield from _answering("model", settings.summary_url, settings.summary_model, settings.summary_key)
    else:
        yield Finding(what="no model writes summaries")


def _answering(what: Literal["embedder", "model"], url: str, model: str, variable: str) -> Iterator[Finding]:
    """Whether an endpoint answers; its address may contain secrets, so only its host is shown."""
    from foveal import upstream

    endpoint = upstream.endpoint_at(url, model, key_variable=variable)
    endpoint = replace(endpoint, timeout=PATIENCE, retries=0)
    try:
        if what == "model":
            upstream.reach(endpoint, key=config.secret(variable))
        else:
            upstream.embed(endpoint, ["hello"], key=config.secret(variable))
    except FovealError as error:
        yield Finding(what=f"{what} {endpoint.model}: {error.what}", remedy=error.remedy)
    else:
        yield Finding(what=f"{what} {endpoint.model} at {endpoint.host} answers")


def _workspaces(_: Shell) -> Iterator[Finding]:
    """What reading a workspace depends on: grammars and git."""
    from foveal.sources.code.languages import LANGUAGES

    missing = sorted({each.module for each in LANGUAGES.values() if find_spec(each.module) is None})
    yield Finding(
        what=f"no grammar: {', '.join(missing)}" if missing else f"{len(LANGUAGES)} languages can be parsed",
        remedy="`pip install --force-reinstall foveal`" if missing else "",
    )
    git = "git, for changes in a workspace" if which("git") else "no git: workspaces are read without it"
    yield Finding(what=git)


def _catalogue(shell: Shell) -> Iterator[Finding]:
    extra = shell.settings.catalogue_path
    cards = catalog.models(extra=extra)
    also = f" and {extra}" if extra else ""
    yield Finding(what=f"{len(cards)} models in the catalogue{also}")


def models(
    context: typer.Context,
    pattern: Annotated[
        str, typer.Argument(metavar="PATTERN", help="Part of a name, or a pattern such as 'claude-*-4*'.")
    ] = "",
    *,
    json: Json = False,
) -> None:
    """List the models: limits, prices, tokenizer."""
    rows = models_response(pattern, catalogue=shell_of(context).settings.catalogue_path)
    if json:
        output.print_json_list(map(asdict, rows))
        return
    if not rows:
        output.note(f"no model matches {pattern!r}; unknown models work too, with cautious estimates")
        return
    table = [
        ("model", "window", "reply", "$ in", "cached", "$ out", "tokenizer"),
        *map(_row, rows),
    ]
    for at, line in enumerate(output.columns(table, right=(1, 2, 3, 4, 5))):
        output.say(line if at else output.styled(line, bold=True))
    output.note("prices in US dollars per million tokens; ~ marks estimated upper bounds")


def _row(model: ModelResponse) -> tuple[str, ...]:
    prices, name = model.prices, tokenizer(model.tokenizer).name
    return (
        model.id,
        f"{model.context:,}",
        f"{model.max_output:,}" if model.max_output else "–",
        _dollars(prices.input),
        _dollars(prices.cache_read),
        _dollars(prices.output),
        name if model.exact else f"~{name}",
    )


def _dollars(price: float | None) -> str:
    return "–" if price is None else f"{price:.2f}" if price == round(price, 2) else f"{price:.3g}"


def doctor(context: typer.Context, *, json: Json = False) -> None:
    """Check that everything works on this machine.

    Print a remedy for each problem, and exit 1 if there is one.
    """
    findings = checkup(shell_of(context))
    if json:
        output.print_json_list(asdict(finding) for finding in findings)
    else:
        for finding in findings:
            mark = (
                output.styled("problem", "red", bold=True)
                if finding.remedy
                else output.styled("ok     ", "green")
            )
            first, *rest = _wrapped(finding.what)
            output.say(f"{mark}  {first}")
            for line in [*rest, *_wrapped(f"try: {finding.remedy}" if finding.remedy else "")]:
                output.say(f"{' ' * INDENT}{line}")
    if any(finding.remedy for finding in findings):
        raise typer.Exit(1)


def _wrapped(text: str) -> list[str]:
    """The text in lines that fit beside the marks; a path is never broken."""
    return wrap(text, output.WIDTH - INDENT, break_long_words=False, break_on_hyphens=False)
