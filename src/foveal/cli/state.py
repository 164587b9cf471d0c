"""What every command starts from: the options before its name, the settings, the open store.

The library is imported when a store is opened: `foveal --version` and `--help` do without it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foveal import config
from foveal.cli import output
from foveal.errors import NotFoundError

if TYPE_CHECKING:
    from foveal.config import Loaded, Settings
    from foveal.events import Event
    from foveal.session.foveal import Foveal
    from foveal.session.session import Session

SESSIONS_NAMED = 3
"""Session names that an error suggests."""
PATIENCE = 120.0
"""Seconds that a command waits at its end for a model to write the summaries that were requested."""


@dataclass(slots=True)
class Open:
    """What stays open from one command to the next, once a command has opened it."""

    until: ExitStack
    fov: Foveal | None = None
    session: Session | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """The options before the command, and what they open."""

    options: Mapping[str, str | None] = field(default_factory=dict)
    json: bool = False
    open: Open | None = None
    """None: each command opens the store for itself."""

    def load(self) -> Loaded:
        """The settings, with numbers that the presets accept."""
        loaded = config.load(self.options)
        if loaded.layers:
            from foveal.presets.numbers import resolved

            resolved(loaded.layers)
        return loaded

    @property
    def settings(self) -> Settings:
        return self.load().settings

    @contextmanager
    def store(self, *, new: bool = False) -> Iterator[Foveal]:
        """The open store of the settings; with `new` it is created if it does not exist."""
        if self.open is None:
            with self._store(new=new) as fov:
                yield fov
            return
        if self.open.fov is None:
            self.open.fov = self.open.until.enter_context(self._store(new=new))
        yield self.open.fov

    @contextmanager
    def _store(self, *, new: bool) -> Iterator[Foveal]:
        from foveal.session.foveal import Foveal

        loaded = self.load()
        with Foveal.from_settings(loaded.settings, numbers=loaded.numbers, create=new) as fov:
            fov.subscribe(_Warnings())
            yield fov

    @contextmanager
    def session(self, *, new: bool = False, patient: bool = False) -> Iterator[Session]:
        """The open session of the settings; with `new` it is created if it does not exist.

        `patient`: at the end, wait for the summaries that were requested from a model.
        """
        with self.store(new=new) as fov:
            if self.open is None:
                yield self.session_in(fov, new=new)
                if patient and self.settings.summaries == "llm":
                    sys.stdout.flush()  # the window itself does not wait
                    fov.settle(PATIENCE)
                return
            if self.open.session is None:
                self.open.session = self.session_in(fov, new=new)
            yield self.open.session

    def session_in(self, fov: Foveal, name: str = "", *, new: bool) -> Session:
        """A session of an open store, by default that of the settings."""
        settings = self.settings
        name = name or settings.session
        record = fov.find(name)
        if record is None and not new:
            names = ", ".join(each.name for each in fov.sessions()[:SESSIONS_NAMED])
            another = f"`--session` takes another, as in {names}; " if names else ""
            raise NotFoundError(
                f"there is no session {name!r}",
                remedy=f"{another}`foveal add` and `foveal import` create one",
            )
        # The session's own model and preset win; the settings only fill in what it does not have.
        return fov.session(
            name,
            model="" if record and record.model else settings.model,
            preset="" if record and record.preset else settings.preset,
            pool=settings.pool,
        )


class _Warnings:
    """Prints what failed in the background, each text once."""

    def __init__(self) -> None:
        self._printed: set[str] = set()

    def __call__(self, event: Event) -> None:
        from foveal.events import SummaryFailed, Warned

        match event:
            case SummaryFailed():
                text = f"{event.fault}; an extract serves instead"
            case Warned(session="", text=text):
                pass
            case _:
                return
        if text not in self._printed:
            self._printed.add(text)
            output.note(f"warning: {text}")


def absent(store: str) -> Path | None:
    """The file of a store that does not exist; None where it does, or where there is no file."""
    path = store.removeprefix("sqlite:///")
    file = Path(path).expanduser()
    return None if path == ":memory:" or "://" in path or file.exists() else file


def shell_of(context: typer.Context) -> Shell:
    found = context.obj
    return found if isinstance(found, Shell) else Shell()


def _json(context: typer.Context, value: bool) -> bool:  # noqa: FBT001 — the signature that typer calls
    return value or shell_of(context).json


Json = Annotated[bool, typer.Option("--json", callback=_json, help="Print JSON.")]
"""May stand before or after the command."""
