"""Every operation on a store, by name, and what each raised that is not one of this package's errors."""

from __future__ import annotations

import re
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType

from commands import CommandLine
from foveal import Foveal, FovealError, Session
from foveal.events import Event, Warned

PRESETS = ("foveal", "recent", "openscroll", "penguin", "omar", "reploid", "fifth")
SECONDS = 10
_BACKGROUND = re.compile(r"failed: (\w+(?:Error|Exception|Iteration))$")
Operation = tuple[str, Callable[[Foveal, Session, Path], object]]


def _building(preset: str) -> Operation:
    return f"build {preset}", lambda _, session, __: session.build(preset=preset, budget=900)


READS: tuple[Operation, ...] = (
    ("verify", lambda fov, _, __: fov.verify()),
    ("sessions", lambda fov, _, __: fov.sessions()),
    ("entries", lambda _, session, __: session.entries()),
    ("export", lambda _, session, __: session.export()),
    *map(_building, PRESETS),
    ("prompt", lambda _, session, __: session.prompt(budget=900)),
    ("search", lambda _, session, __: session.search("redis module_3.py")),
    ("search everywhere", lambda _, session, __: session.search("auth", everywhere=True)),
    ("focus", lambda _, session, __: session.focus("why did Redis fail?", budget=500)),
    ("recall", lambda _, session, __: session.recall("m3")),
    ("answer", lambda _, session, __: session.answer("foveal_search", {"query": "redis"})),
    ("records", lambda _, session, __: session.records()),
    ("stats", lambda _, session, __: session.stats()),
    ("tasks", lambda _, session, __: session.tasks()),
    ("archive", lambda _, session, __: session.archive()),
    ("manifest", lambda _, session, __: session.manifest()),
    ("manifests", lambda _, session, __: [session.manifest(number) for number in range(1, 10)]),
    ("why", lambda _, session, __: session.why("m3")),
    ("why earlier", lambda _, session, __: session.why("m3", build=2)),
    ("diff", lambda _, session, __: session.diff(1, 8)),
    ("diff near", lambda _, session, __: session.diff(8, 9)),
    ("compare", lambda _, session, __: session.compare(budget=900, presets=["foveal", "omar"])),
    ("replay", lambda fov, session, _: fov.replay(session, preset="recent", budget=900)),
    ("profile", lambda fov, _, __: fov.profile(now=1.7e9)),
    ("predictions", lambda fov, _, __: fov.predictions("work")),
    ("presence", lambda fov, _, __: fov.presence({"active_conversation": "work"}, session="work", now=1.7e9)),
    ("other", lambda fov, _, __: fov.open("other").build(budget=900)),
    ("other entries", lambda fov, _, __: fov.open("other").entries()),
    ("backup", lambda fov, _, path: fov.backup(path.with_name("copy.db"))),
)
WRITES: tuple[Operation, ...] = (
    ("add", lambda _, session, __: session.add("user", "one more about Redis")),
    ("sync", lambda _, session, __: session.sync([{"role": "user", "content": "another history"}])),
    ("pin", lambda _, session, __: session.pin("m3")),
    ("unpin", lambda _, session, __: session.unpin("m3")),
    ("billed", lambda _, session, __: session.billed(700)),
    ("start_task", lambda _, session, __: session.start_task("next")),
    ("add more", lambda _, session, __: session.add("assistant", "done with it " * 60)),
    ("complete_task", lambda _, session, __: session.complete_task()),
    ("leave out", lambda _, session, __: session.forget("m4", erase=False)),
    ("prune", lambda _, session, __: session.prune(500)),
    ("summarize", lambda _, session, __: session.summarize(3)),
    ("compress", lambda _, session, __: session.compress(400)),
    ("build after", lambda _, session, __: session.build(budget=700)),
    ("restore", lambda _, session, __: session.restore()),
    ("forget", lambda _, session, __: session.forget("m5")),
    ("remember", lambda fov, _, __: fov.remember("I prefer dark mode.")),
    ("fork", lambda fov, _, __: fov.fork("work", "fork", messages=3)),
    ("settle", lambda fov, _, __: fov.settle(0.3)),
    ("delete", lambda fov, _, __: fov.delete("copy")),
    ("verify after", lambda fov, _, __: fov.verify()),
)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("verify",), ("sessions",), ("sessions", "--json"), ("export",), ("export", "--ids"),
    ("build", "--budget", "900"), ("build", "--budget", "900", "--json"), ("search", "redis"),
    ("recall", "m3"), ("explain",), ("why", "m3"), ("diff", "7", "8"), ("stats",), ("stats", "--json"),
    ("profile",), ("compare", "--budget", "900"), ("add", "user", "more"), ("forget", "m3"), ("doctor",),
    ("focus", "redis", "--budget", "500"), ("summarize",), ("prune",), ("replay", "--preset", "recent"),
)  # fmt: skip


class TooSlowError(Exception):
    """An operation did not end in time."""


@contextmanager
def _in_time(seconds: int) -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def untyped_errors(path: Path, commands: Sequence[Sequence[str]] = ()) -> list[str]:
    """Run everything on the store at `path`, and describe each error that is not a `FovealError`."""
    found: list[str] = []
    warned: list[Event] = []
    shell = CommandLine(folder=path.parent)
    with suppress(TooSlowError):
        _run(found, "open", partial(_use, path, found, warned))
        for command in commands:
            run = partial(shell.foveal, "--session", "work", *command)
            _run(found, f"foveal {' '.join(command)}", run)
    texts = [event.text for event in warned if isinstance(event, Warned)]
    found += [f"background: {text}" for text in dict.fromkeys(texts) if _BACKGROUND.search(text)]
    return found


def _use(path: Path, found: list[str], warned: list[Event]) -> None:
    path.with_name("copy.db").unlink(missing_ok=True)
    with Foveal(path) as fov:
        fov.subscribe(warned.append)
        session = fov.session("work")
        for name, operation in (*READS, *WRITES):
            _run(found, name, partial(operation, fov, session, path))


def _run(found: list[str], name: str, operation: Callable[[], object]) -> None:
    try:
        with _in_time(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a damaged name of a model is an unknown one
            operation()
    except FovealError:
        pass
    except TooSlowError:
        found.append(f"{name}: did not end within {SECONDS} s")
        raise
    except Exception as error:  # noqa: BLE001 — that is what is looked for
        at = traceback.extract_tb(error.__traceback__)
        places = [f"{Path(f.filename).name}:{f.lineno}" for f in at if "/foveal/" in f.filename]
        found.append(f"{name}: {type(error).__name__}: {str(error)[:90]!r} at {' '.join(places[-3:])}")
