"""What every command starts from: the options before its name, the settings, the open store."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from foveal import config
from foveal.cli import output
from foveal.config import Loaded, Settings
from foveal.errors import NotFoundError
from foveal.events import Event, SummaryFailed, Warned
from foveal.presets.numbers import resolved
from foveal.session import Foveal, Session

SESSIONS_NAMED = 3
"""Names that an error offers."""
PATIENCE = 120.0
"""Seconds that a command waits in the end for a model to write the summaries it asked for."""


@dataclass(slots=True)
class Open:
    """What stays open from one command to the next, once one of them opened it."""

    until: ExitStack
    fov: Foveal | None = None
    session: Session | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """The options that stand before the command."""

    options: Mapping[str, str | None] = field(default_factory=dict)
    json: bool = False
    open: Open | None = None
    """None: each command opens the store for itself."""

    def load(self) -> Loaded:
        """The settings, and numbers that the presets accept."""
        loaded = config.load(self.options)
        resolved(loaded.layers)
        return loaded

    @property
    def settings(self) -> Settings:
        return self.load().settings

    @contextmanager
    def store(self, *, new: bool = False) -> Iterator[Foveal]:
        """The store of the settings, open; only with `new` is it made when it is not there."""
        if self.open is None:
            with self._store(new=new) as fov:
                yield fov
            return
        if self.open.fov is None:
            self.open.fov = self.open.until.enter_context(self._store(new=new))
        yield self.open.fov

    @contextmanager
    def _store(self, *, new: bool) -> Iterator[Foveal]:
        loaded = self.load()
        settings = loaded.settings
        model_writes = settings.summaries == "llm"
        with Foveal(
            settings.store,
            tenant=settings.tenant,
            catalogue=catalogue(settings),
            counter=settings.counter or None,
            durability=settings.durability,
            numbers=loaded.numbers,
            create=new,
            embedder=settings.embedder,
            embedder_key=config.embedder_key(settings),
            summary_url=settings.summary_url if model_writes else "",
            summary_model=settings.summary_model if model_writes else "",
            summary_key=settings.summary_key if model_writes else "",
        ) as fov:
            fov.subscribe(_Faults())
            yield fov

    @contextmanager
    def session(self, *, new: bool = False, patient: bool = False) -> Iterator[Session]:
        """The session of the settings, open; only with `new` is it made when it is not there.

        `patient`: where a model writes summaries, what was asked of it is waited for in the end.
        """
        with self.store(new=new) as fov:
            if self.open is None:
                yield self._session(fov, new=new)
                if patient and self.settings.summaries == "llm":
                    sys.stdout.flush()  # the window itself waits for nobody
                    fov.settle(PATIENCE)
                return
            if self.open.session is None:
                self.open.session = self._session(fov, new=new)
            yield self.open.session

    def _session(self, fov: Foveal, *, new: bool) -> Session:
        settings = self.settings
        record = fov.find(settings.session)
        if record is None and not new:
            names = ", ".join(each.name for each in fov.sessions()[:SESSIONS_NAMED])
            another = f"`--session` takes another, as in {names}; " if names else ""
            raise NotFoundError(
                f"there is no session {settings.session!r}",
                remedy=f"{another}`foveal add` and `foveal import` make one",
            )
        # What a session remembers wins: settings are for sessions that never heard of a model.
        return fov.session(
            settings.session,
            model="" if record and record.model else settings.model,
            preset="" if record and record.preset else settings.preset,
        )


class _Faults:
    """Says what went wrong in the background, once for each fault."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __call__(self, event: Event) -> None:
        match event:
            case SummaryFailed(fault=fault):
                text = f"{fault}; an extract serves instead"
            case Warned(session="", text=text):
                pass
            case _:
                return
        if text not in self._told:
            self._told.add(text)
            output.note(f"warning: {text}")


def absent(store: str) -> Path | None:
    """The file of a store that is not there."""
    path = store.removeprefix("sqlite:///")
    file = Path(path).expanduser()
    return None if path == ":memory:" or "://" in path or file.exists() else file


def catalogue(settings: Settings) -> Path | None:
    return Path(settings.catalogue).expanduser() if settings.catalogue else None


def shell_of(context: typer.Context) -> Shell:
    found = context.obj
    return found if isinstance(found, Shell) else Shell()


def _json(context: typer.Context, value: bool) -> bool:  # noqa: FBT001 — the signature typer calls
    return value or shell_of(context).json


Json = Annotated[bool, typer.Option("--json", callback=_json, help="Print JSON.")]
"""Before or after the command, it is the same."""
