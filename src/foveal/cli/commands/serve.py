"""Run the HTTP service in the foreground, and open the dashboard on request."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from foveal import wire
from foveal.cli import output
from foveal.cli.demo import script
from foveal.cli.demo.rehearsal import BUDGET, play
from foveal.cli.state import shell_of
from foveal.config import Loaded
from foveal.errors import ConfigError
from foveal.session.foveal import Foveal
from foveal.session.inspect.replay import calls


def serve(
    context: typer.Context,
    *,
    host: Annotated[str | None, typer.Option(metavar="NAME", help="127.0.0.1 unless set.")] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=65_535, help="8790 unless set; 0 takes a free one."),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Serve a long bundled session.")] = False,
    open: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the dashboard in the browser.")
    ] = False,
) -> None:
    """Serve the HTTP API and the dashboard on this machine.

    Any host other than 127.0.0.1 needs a token in FOVEAL_TOKEN. With --demo none of your data is used.
    """
    with ExitStack() as until:
        shell = shell_of(context)
        loaded = shell.load()
        if demo:
            folder = until.enter_context(tempfile.TemporaryDirectory(prefix="foveal-demo-"))
            loaded = _demo(loaded, Path(folder) / "demo.db")
        _serve(loaded, {"host": host, "port": port}, browser=open)


def _serve(loaded: Loaded, options: dict[str, str | int | None], *, browser: bool) -> None:
    try:
        from foveal.server.run import run
        from foveal.server.settings import serving
        from foveal.server.tenants import setup_of
    except ModuleNotFoundError as error:
        if error.name not in ("fastapi", "starlette", "uvicorn"):
            raise
        raise ConfigError(
            f"the service needs {error.name}, which is not installed",
            remedy="`pip install 'foveal[serve]'`",
        ) from error

    def listening(address: str) -> None:
        output.note(f"listening on {address} (stop with Ctrl-C)")
        if browser:
            typer.launch(address)

    run(setup_of(loaded, serving(loaded, options)), listening)


def _demo(loaded: Loaded, store: Path) -> Loaded:
    """Store the session of `foveal demo` on its own, with a window built for every request."""
    output.note("building the demo session …")
    history = list(script.messages())
    asked = calls(wire.load(history, format="openai").messages)
    with Foveal(store) as fov:
        session = fov.session("demo", model=script.MODEL, preset="foveal")
        play(session, history, asked, BUDGET)
    return replace(loaded, settings=replace(loaded.settings, store=str(store), tenant="default"))
