"""Generate `docs/reference/python.md` from the public names and their docstrings.

The page is never edited: `make docs` writes it, and a house test compares it with `page()`.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import foveal
from foveal import events, model
from foveal.errors import FovealError
from foveal.knowledge.values import (
    Depth,
    Memory,
    MemoryKind,
    Origin,
    Predicted,
    Prediction,
    PredictionLedger,
    Presence,
    Profile,
    Thing,
)
from foveal.model import Entry, Repair
from foveal.pipeline.material.categories import Usage
from foveal.session.build.prompt import Prompt
from foveal.session.inspect.compare import Compared
from foveal.session.values import Hit, Recorded, Removal, Stats
from foveal.sources.assemble import SmartContext
from foveal.sources.contributor import ContextRequest
from foveal.sources.workspace.workspace import FileInfo, Limits, Refusal, Workspace
from foveal.store import Checked, CompressionRecord, Durability, SessionRecord, TaskRecord
from foveal.window import Conflict, Contributed, Decision, Retrieved, Score, Slot, Verdict

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "python.md"
INTRODUCTION = """\
# Python

Made from the docstrings by `make docs`; do not edit it here. What stands under the first three headings comes
with `import foveal`. Arguments after `*` are given by name. An async form takes what its plain form takes.
"""
VALUES = (
    Decision,
    Score,
    Slot,
    Conflict,
    Retrieved,
    Contributed,
    Repair,
    Compared,
    Hit,
    Stats,
    Removal,
    Recorded,
    Entry,
    SessionRecord,
    TaskRecord,
    CompressionRecord,
    Checked,
    Prompt,
    Profile,
    Memory,
    Thing,
    Presence,
    Prediction,
    PredictionLedger,
    Predicted,
)
WORKSPACES = (SmartContext, Usage, ContextRequest, Workspace, FileInfo, Refusal, Limits)
WORDS = {
    "Role": model.Role,
    "Format": model.Format,
    "Kind": model.Kind,
    "Level": model.Level,
    "Detail": model.Detail,
    "Absence": model.Absence,
    "Verdict": Verdict,
    "Durability": Durability,
    "MemoryKind": MemoryKind,
    "Origin": Origin,
    "Depth": Depth,
}
MADE_BY_US = (foveal.Session,)


def page() -> str:
    """The whole page, as it should be in the repository now."""
    return "\n".join([INTRODUCTION, *_lines()])


def _lines() -> Iterator[str]:
    public = [getattr(foveal, name) for name in foveal.__all__]
    yield from ("## Functions", "")
    for function in filter(inspect.isfunction, public):
        yield from (f"### {_public_name(function)}", "", *_function(function))
    classes = [value for value in public if inspect.isclass(value)]
    yield from ("## Classes", "")
    for value in classes:
        if not issubclass(value, FovealError):
            yield from (f"### {value.__name__}", "", *_class(value))
    yield from ("## Errors", "", "Each is explained in [errors](errors.md).", "")
    yield from (f"- {_line(value.__name__, value)}" for value in classes if issubclass(value, FovealError))
    yield from ("", "## Workspaces", "")
    yield from _workspaces()
    yield from ("## Values that calls return", "")
    for value in VALUES:
        yield from (f"### {value.__name__}", "", *_class(value))
    yield from ("## Words that arguments take", "")
    for name, literal in WORDS.items():
        yield f"- `{name}`: {', '.join(f'`{json.dumps(word)}`' for word in get_args(literal))}"
    yield from (
        "",
        "## Events",
        "",
        "What `Foveal.subscribe` hands over: the name, the class, the payload.",
        "",
    )
    yield from map(_event, get_args(events.Event))
    yield ""


def _workspaces() -> Iterator[str]:
    """What looks through a workspace; each says where it is imported from."""
    for value in WORKSPACES:
        yield from (f"### {value.__name__}", "", f"From `{value.__module__}`.", "", *_class(value))


def _public_name(function: Callable[..., Any]) -> str:
    return next(name for name in foveal.__all__ if getattr(foveal, name) is function)


def _function(function: Callable[..., Any]) -> Iterator[str]:
    yield from ("```text", *_call(_public_name(function), function, 100), "```", "")
    base = inspect.unwrap(function)
    if base is not function:
        yield from (f"`{base.__name__}` for async code.", "")
        return
    for paragraph in _paragraphs(function):
        yield from (paragraph, "")


def _class(value: type) -> Iterator[str]:
    for paragraph in _paragraphs(value):
        yield from (paragraph, "")
    if not is_dataclass(value) and value not in MADE_BY_US:
        yield from ("```text", *_call(value.__name__, value, 100), "```", "")
    yield from (f"- {line}" for line in _members(value))
    yield ""


def _members(value: type) -> Iterator[str]:
    docstrings = _field_docstrings(value)
    if is_dataclass(value):
        for field in fields(value):
            yield _entry(f"{field.name}: {field.type}", docstrings.get(field.name, ""))
    own = {name: found for name, found in vars(value).items() if not name.startswith("_")}
    for name, found in own.items():
        if isinstance(found, property) and found.fget:
            yield _entry(f"{name}: {inspect.signature(found.fget).return_annotation}", _first(found))
        elif inspect.isfunction(found) and inspect.unwrap(found) is found:
            yield _entry(_call(name, found)[0], _first(found))
        elif isinstance(found, classmethod):
            yield _entry(_call(name, getattr(value, name))[0], _first(found.__func__))
    forms = [
        f"`{name}`"
        for name, found in own.items()
        if inspect.isfunction(found) and inspect.unwrap(found) is not found
    ]
    if forms:
        yield f"for async code: {', '.join(forms)}"


def _field_docstrings(value: type) -> dict[str, str]:
    """The string below each field of a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0].body  # type: ignore[attr-defined]
    found = {}
    for pair in pairwise(body):
        match pair:
            case (ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words)))):
                found[name] = " ".join(words.split())
    return found


def _event(event: type) -> str:
    payload = ", ".join(f"`{field.name}: {field.type}`" for field in fields(event))  # type: ignore[arg-type]
    words = _first(event)
    name = event.name if isinstance(event.name, str) else "…"  # type: ignore[attr-defined]
    return f"- `{name}` (`{event.__name__}`): {payload}" + (f". {words}" if words else "")  # type: ignore[attr-defined]


def _call(name: str, found: Callable[..., Any], width: int = 0) -> list[str]:
    """A call as one writes it; over several lines where it is longer than the width."""
    signature = inspect.signature(found)
    result = "" if inspect.isclass(found) else f" -> {signature.return_annotation}"
    # An argument is not broken in the middle.
    whole = ", ".join(argument.replace(" ", "\N{NO-BREAK SPACE}") for argument in _arguments(signature))
    line = f"{name}({whole}){result}"
    lines = textwrap.wrap(line, width, subsequent_indent="    ") if width else [line]
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _arguments(signature: inspect.Signature) -> Iterator[str]:
    named = False
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not named:
            named = True
            yield "*"
        default = "" if parameter.default is parameter.empty else f" = {_written(parameter.default)}"
        yield f"{parameter.name}: {parameter.annotation}{default}"


def _written(default: object) -> str:
    if is_dataclass(default) and default == type(default)():
        return f"{type(default).__name__}()"
    return json.dumps(default) if isinstance(default, str) else repr(default)


def _line(name: str, found: object) -> str:
    return _entry(name, _first(found))


def _entry(code: str, words: str) -> str:
    return f"`{code}`" + (f": {words}" if words else "")


def _first(found: object) -> str:
    return next(_paragraphs(found), "")


def _paragraphs(found: object) -> Iterator[str]:
    """The docstring without its examples; none where it is only the signature that a dataclass gets."""
    text = inspect.getdoc(found) or ""
    if isinstance(found, type) and text.startswith(f"{found.__name__}("):
        return
    for paragraph in text.split("\n\n"):
        if paragraph and not paragraph.lstrip().startswith(">>>"):
            yield "\n".join(_listed(paragraph))


def _listed(paragraph: str) -> Iterator[str]:
    """One line of prose, or a list where each line explains an argument."""
    lines = paragraph.splitlines()
    if lines[0].startswith("`") and ": " in lines[0]:
        for line in lines:
            yield f"- {line}" if line.startswith("`") else f"  {line.strip()}"
    else:
        yield " ".join(paragraph.split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
