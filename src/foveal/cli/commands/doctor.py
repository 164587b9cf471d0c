"""What foveal knows and whether it works: the models, a check-up.

This machine in → what works here and what does not, one finding for each thing foveal stands on.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Annotated, Literal

import typer

from foveal import __version__, catalog, config
from foveal.cli import output
from foveal.cli.state import Json, Shell, absent, catalogue, shell_of
from foveal.errors import FovealError
from foveal.pipeline.tokens import count, vocabularies
from foveal.pipeline.tokens.count import tokenizer
from foveal.session.responses import ModelTold, models_told

SQLITE = (3, 51, 3)
"""Older ones can lose a write when two processes meet while the log is reset."""
PATIENCE = 10.0
"""Seconds that an endpoint has for its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    what: str
    remedy: str = ""
    """What to do; empty when all is well."""


def checkup(shell: Shell) -> list[Finding]:
    """Every check, each whether or not the others found something."""
    checks: tuple[Callable[[Shell], Iterator[Finding]], ...] = (
        _version,
        _settings,
        _sqlite,
        _store,
        _tokenizers,
        _embedder,
        _model,
        _workspaces,
    )
    findings = (finding for check in (*checks, _catalogue) for finding in _guarded(check, shell))
    return list(dict.fromkeys(findings))  # several stand on the settings; their fault is told once


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
        yield _place_for(file)
        return
    with shell.store() as fov:
        sessions = fov.sessions()
    messages = sum(record.head.length for record in sessions)
    held = f"{output.counted(messages, 'message')}, {output.counted(len(sessions), 'session')}"
    yield Finding(what=f"store {settings.store} opens and can be written; {held}")


def _place_for(file: Path) -> Finding:
    """Whether a store that is not there could be made."""
    folder = next(folder for folder in file.absolute().parents if folder.exists())
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        return Finding(what=f"store {file} is not there yet; the first `foveal add` makes it")
    return Finding(
        what=f"store {file} is not there, and {folder} cannot be written",
        remedy="make that folder writable, or choose another place with `--store PATH`",
    )


def _tokenizers(_: Shell) -> Iterator[Finding]:
    loaded = []
    for name in vocabularies.PUBLIC:
        try:
            count.tokenizer(name).count("hello")
        except (ImportError, OSError) as fault:
            yield Finding(what=f"tokenizer {name}: {fault}", remedy="`pip install --force-reinstall foveal`")
        else:
            loaded.append(name)
    yield Finding(what=f"{len(loaded)} of {len(vocabularies.PUBLIC)} tokenizers load")


def _embedder(shell: Shell) -> Iterator[Finding]:
    """Whether texts get vectors. An endpoint is sent one word, and no key but its own."""
    settings = shell.settings
    if "://" in settings.embedder:
        variable = config.embedder_key(settings)
        yield from _answering("embedder", settings.embedder, "", variable)
        return
    from foveal.search.embed import embedder_named

    found = embedder_named(settings.embedder)
    size = found.embed(["hello"]).shape[1] if found else 0
    loaded = f"embedder {found.name} loads, {size:,} numbers a text" if found else ""
    yield Finding(what=loaded or "no embedder: search goes by words alone")


def _model(shell: Shell) -> Iterator[Finding]:
    """Whether the model answers that writes summaries, where one does. It is sent one question."""
    settings = shell.settings
    if settings.summaries == "llm":
        yield from _answering("model", settings.summary_url, settings.summary_model, settings.summary_key)
    else:
        yield Finding(what="no model is asked for summaries")


def _answering(what: Literal["embedder", "model"], url: str, model: str, variable: str) -> Iterator[Finding]:
    """Whether an endpoint answers; its address is not shown, for it may hold secrets."""
    from foveal import upstream

    place = upstream.endpoint_at(url, model, key_variable=variable)
    place = replace(place, timeout=PATIENCE, retries=0)
    try:
        if what == "model":
            upstream.reach(place, key=config.secret(variable))
        else:
            upstream.embed(place, ["hello"], key=config.secret(variable))
    except FovealError as error:
        yield Finding(what=f"{what} {place.model}: {error.what}", remedy=error.remedy)
    else:
        yield Finding(what=f"{what} {place.model} at {place.host} answers")


def _workspaces(_: Shell) -> Iterator[Finding]:
    """What looking through a workspace stands on."""
    from foveal.sources.code.languages import LANGUAGES

    missing = sorted({each.module for each in LANGUAGES.values() if find_spec(each.module) is None})
    yield Finding(
        what=f"no grammar: {', '.join(missing)}" if missing else f"{len(LANGUAGES)} languages can be parsed",
        remedy="`pip install --force-reinstall foveal`" if missing else "",
    )
    # Whoever works without git misses nothing that could be repaired here.
    there = (
        "git, for what changed in a workspace" if which("git") else "no git: workspaces are read without it"
    )
    yield Finding(what=there)


def _catalogue(shell: Shell) -> Iterator[Finding]:
    extra = catalogue(shell.settings)
    cards = catalog.models(extra=extra)
    beside = f" and {extra}" if extra else ""
    yield Finding(what=f"{len(cards)} models in the catalogue{beside}")


def models(
    context: typer.Context,
    pattern: Annotated[
        str, typer.Argument(metavar="PATTERN", help="Part of a name, or a pattern such as 'claude-*-4*'.")
    ] = "",
    *,
    json: Json = False,
) -> None:
    """List the models: limits, prices, tokenizer."""
    rows = models_told(pattern, catalogue=catalogue(shell_of(context).settings))
    if json:
        output.tell_list(map(asdict, rows))
        return
    if not rows:
        output.note(f"no model fits {pattern!r}; others work too, with careful guesses")
        return
    table = [
        ("model", "window", "reply", "$ in", "cached", "$ out", "tokenizer"),
        *map(_row, rows),
    ]
    for at, line in enumerate(output.columns(table, right=(1, 2, 3, 4, 5))):
        output.say(line if at else output.styled(line, bold=True))
    output.note("prices in US dollars for a million tokens; ~ marks counts estimated on the safe side")


def _row(model: ModelTold) -> tuple[str, ...]:
    prices, by = model.prices, tokenizer(model.tokenizer).name
    return (
        model.id,
        f"{model.context:,}",
        f"{model.max_output:,}" if model.max_output else "–",
        _dollars(prices.input),
        _dollars(prices.cache_read),
        _dollars(prices.output),
        by if model.exact else f"~{by}",
    )


def _dollars(price: float | None) -> str:
    return "–" if price is None else f"{price:.2f}" if price == round(price, 2) else f"{price:.3g}"


def doctor(context: typer.Context, *, json: Json = False) -> None:
    """Check that everything works here.

    Say what to do about what does not, and exit 1.
    """

    findings = checkup(shell_of(context))
    if json:
        output.tell_list(asdict(finding) for finding in findings)
    else:
        for finding in findings:
            mark = (
                output.styled("problem", "red", bold=True)
                if finding.remedy
                else output.styled("ok     ", "green")
            )
            output.say(f"{mark}  {finding.what}")
            if finding.remedy:
                output.say(f"         try: {finding.remedy}")
    if any(finding.remedy for finding in findings):
        raise typer.Exit(1)
