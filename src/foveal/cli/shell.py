"""What every command starts from: the options before its name, the settings, the open store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from foveal import config
from foveal.config import Loaded, Settings
from foveal.errors import NotFoundError
from foveal.presets.numbers import settled
from foveal.session import Foveal, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """The options that stand before the command."""

    options: Mapping[str, str | None] = field(default_factory=dict)
    json: bool = False

    def load(self) -> Loaded:
        """The settings, and numbers that the presets accept."""
        loaded = config.load(self.options)
        settled(loaded.layers)
        return loaded

    @property
    def settings(self) -> Settings:
        return self.load().settings

    @contextmanager
    def store(self, *, new: bool = False) -> Iterator[Foveal]:
        """The store of the settings, open; only with `new` is it made when it is not there."""
        loaded = self.load()
        settings = loaded.settings
        with Foveal(
            settings.store,
            tenant=settings.tenant,
            catalogue=catalogue(settings),
            counter=settings.counter or None,
            durability=settings.durability,
            numbers=loaded.numbers,
            create=new,
        ) as fov:
            yield fov

    @contextmanager
    def session(self, *, new: bool = False) -> Iterator[Session]:
        """The session of the settings, open; only with `new` is it made when it is not there."""
        settings = self.settings
        with self.store(new=new) as fov:
            record = next((r for r in fov.sessions() if r.name == settings.session), None)
            if record is None and not new:
                raise NotFoundError(
                    f"there is no session {settings.session!r}",
                    remedy="`foveal sessions` lists them; `foveal add` and `foveal import` make one",
                )
            # What a session remembers wins: settings are for sessions that never heard of a model.
            yield fov.session(
                settings.session,
                model="" if record and record.model else settings.model,
                preset="" if record and record.preset else settings.preset,
            )


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
