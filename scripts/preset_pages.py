"""Write the generated parts of the pages in `docs/presets/`, and the pictures on them.

Between two markers of a page are the preset's settings, from its numbers and their docstrings, and its
operations, from their schemas, each with an example and its result. The rest is written by hand.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from foveal import operations
from foveal.operations import fifth, fit, omar, openscroll, penguin, prediction, reploid
from foveal.operations.registry import Operation
from foveal.presets.numbers import DEFAULTS
from preset_pictures import picture

DOCS = Path(__file__).parents[1] / "docs"
SETTINGS, OPERATIONS = (
    "<!-- settings, made by `make docs` -->\n",
    "<!-- operations, made by `make docs` -->\n",
)
END = "<!-- to here -->\n"
OF_PRESET: Mapping[str, Sequence[Operation]] = {
    "recent": (),
    "foveal": (),
    "reploid": [each for each in reploid.OPERATIONS if each.name != "tokens_count"],
    "fifth": fifth.OPERATIONS,
    "penguin": penguin.OPERATIONS,
    "omar": omar.OPERATIONS,
    "openscroll": [*openscroll.OPERATIONS, *prediction.OPERATIONS],
}
OF_ALL = [*fit.OPERATIONS, *(each for each in reploid.OPERATIONS if each.name == "tokens_count")]
"""Operations that belong to no preset; the page about all presets has them."""
MOST = 100
"""Characters of a line of code."""
LONGEST = 95
"""Lines of a result that is shown."""


def pages() -> dict[Path, str]:
    """Every page and picture, as it should be in the repository now."""
    found = {DOCS / "images" / f"preset-{name}.svg": picture(name) for name in OF_PRESET}
    for name, own in OF_PRESET.items():
        page = DOCS / "presets" / f"{name}.md"
        found[page] = _with(
            page.read_text(encoding="utf-8"), {SETTINGS: _settings(name), OPERATIONS: _operations(own)}
        )
    overview = DOCS / "presets.md"
    found[overview] = _with(overview.read_text(encoding="utf-8"), {OPERATIONS: _operations(OF_ALL)})
    return found


def _with(page: str, parts: Mapping[str, str]) -> str:
    """The page with these parts after their markers, where it has the markers."""
    for start, part in parts.items():
        before, marker, rest = page.partition(start)
        if marker:
            page = f"{before}{start}{part}{END}{rest.partition(END)[2]}"
    return page


def _settings(preset: str) -> str:
    """A row for every number of the preset."""
    rows = [
        f"| `{name}` | {default} | {meaning} |" for name, default, meaning in settings_rows(DEFAULTS[preset])
    ]
    return "\n".join(["| setting | default | what it is |", "|---|---|---|", *rows, ""])


def settings_rows(numbers: object, under: str = "") -> Iterator[tuple[str, str, str]]:
    meanings = docstrings(type(numbers))
    for each in fields(numbers):  # type: ignore[arg-type]  # a dataclass by contract
        value = getattr(numbers, each.name)
        if is_dataclass(value):
            yield from settings_rows(value, f"{under}{each.name}.")
        else:
            yield f"{under}{each.name}", _default(value), _cell(meanings.get(each.name, ""))


def docstrings(numbers: type) -> dict[str, str]:
    """What is written below the fields of a dataclass, by field."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(numbers))).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for above, below in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(above, ast.AnnAssign)
            and isinstance(above.target, ast.Name)
            and isinstance(below, ast.Expr)
        ):
            found[above.target.id] = inspect.cleandoc(str(ast.literal_eval(below.value)))
    return found


def _default(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"`{name}` {_default(each)}" for name, each in value.items()) or "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"`{_cell(value)}`"
    return f"{value:,g}" if isinstance(value, float) and value < 1e6 else f"{value:,}"


def _cell(words: str) -> str:
    return " ".join(words.split()).replace("|", "\\|")


def _operations(own: Sequence[Operation]) -> str:
    """A section for every operation, and one for the values that several of them take or return."""
    if not own:
        return ""
    page, shared = Listed(), _shared(own)
    sections = [_values(shared), *(_section(each, page, shared) for each in own), page.shapes()]
    return "\n".join(section for section in sections if section) + "\n"


def _shared(own: Sequence[Operation]) -> dict[str, object]:
    """Values that the examples of several operations have in common, by the names of their fields."""
    found: dict[str, list[object]] = {}
    for operation in own:
        for name, value in operations.example(operation.name).items():
            if isinstance(value, list | dict):
                found.setdefault(name, []).append(value)
    return {name: values[0] for name, values in found.items() if values.count(values[0]) > 1}


def _values(shared: Mapping[str, object]) -> str:
    """The code that the examples start from."""
    lines = ["from foveal import operations", ""]
    lines += [f"{name} = {written(value, at=len(name) + 3)}" for name, value in shared.items()]
    return "\n".join(["```python", *lines, "```", ""]).replace("\n\n```", "\n```")


def _section(operation: Operation, page: Listed, shared: Mapping[str, object]) -> str:
    schema = operations.schema(operation.name)
    example = schema["example"]
    names = {name: Name(name) if shared.get(name) == value else value for name, value in example.items()}
    code = _call(operation.name, names)
    about = operation.about[0].upper() + operation.about[1:].removesuffix(".")
    title = f"`{operation.name}`" + (f", {operation.code}" if operation.code else "")
    return "\n".join(
        [
            f"### {title}", "", f"{about}.", "",
            *page.fields("Request", operation.name, schema["request"]),
            *page.fields("Result", operation.name, schema["result"]),
            "```python", code, "```", "",
            *page.result(operation.name, operations.run(operation.name, example)),
        ]
    )  # fmt: skip


def _call(operation: str, request: object) -> str:
    """The call that runs an operation, as the formatter would write it."""
    line = f'operations.run("{operation}", {_line(request, PYTHON)})'
    if len(line) <= MOST:
        return line
    return f'operations.run(\n    "{operation}",\n    {written(request, at=5, indent=4)},\n)'


@dataclass
class Listed:
    """What a page has listed so far, so that it says nothing twice."""

    listed: dict[str, str] = field(default_factory=dict)
    """By the title of a request or result, the operation that has its fields."""
    nested: dict[str, Any] = field(default_factory=dict)
    """The shapes that fields consist of, still to be listed."""
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By operation, the result of its example."""

    def fields(self, what: str, operation: str, schema: Mapping[str, Any]) -> Iterator[str]:
        """The fields of a request or a result, or where they are."""
        self.nested.update(schema.get("$defs", {}))
        title = schema["title"]
        if title in self.listed:
            yield from (f"{what}: as for `{self.listed[title]}`.", "")
            return
        self.listed[title] = operation
        about = _cell(schema.get("description", ""))
        yield from (f"{what}{': ' if about else ':'}{about}", "", *_bullets(schema), "")

    def result(self, operation: str, result: dict[str, Any]) -> Iterator[str]:
        """The result of the example, without what the example of another operation returns too."""
        like = [
            name for name, other in self.results.items() if len(other) > 1 and other.items() <= result.items()
        ]
        self.results[operation] = result
        rest = result
        if like:
            rest = {name: value for name, value in result.items() if name not in self.results[like[-1]]}
            yield from (f"Returns what `{like[-1]}` returns{', and:' if rest else '.'}", "")
        text = written(_rounded(rest), constants=JSON)
        lines = text.count("\n") + 1
        if lines > LONGEST:
            yield from (f"Its result has {lines} lines; run it to see them.", "")
        elif rest:
            yield from ("```json", text, "```", "")

    def shapes(self) -> str:
        """The shapes that fields consist of."""
        if not self.nested:
            return ""
        lines = ["### Shapes", ""]
        for name, schema in sorted(self.nested.items()):
            about = _cell(schema.get("description", ""))
            lines += [f"**{name}**{': ' if about else ''}{about}", "", *_bullets(schema), ""]
        return "\n".join(lines)


def _bullets(schema: Mapping[str, Any]) -> Iterator[str]:
    required = schema.get("required", ())
    for name, each in schema.get("properties", {}).items():
        optional = "" if name in required else ", optional"
        about = _cell(each.get("description", ""))
        yield f"- `{name}`: {_type(each)}{optional}{'. ' if about else ''}{about}"


def _type(schema: Mapping[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        return f"**{schema['$ref'].rpartition('/')[2]}**"
    if "enum" in schema:
        return (
            " or ".join(f"`{each}`" for each in schema["enum"])
            if len(schema["enum"]) < 6
            else "a kind of message"
        )
    if "anyOf" in schema:
        known = dict.fromkeys(_type(each) for each in schema["anyOf"] if each.get("type") != "null")
        return " or ".join(known)
    if schema.get("type") == "array":
        items = schema.get("items") or {}
        return f"list of {_plural(_type(items))}" if items else "list"
    if schema.get("type") == "object":
        more = schema.get("additionalProperties")
        return f"object of {_plural(_type(more))} by name" if isinstance(more, dict) else "object"
    return WORDS.get(schema.get("type", ""), "any value")


WORDS = {"string": "text", "integer": "integer", "number": "number", "boolean": "true or false"}


def _plural(word: str) -> str:
    return {"text": "texts", "integer": "integers", "number": "numbers", "object": "objects"}.get(word, word)


class Name(str):
    """The name of a value in code, instead of the value."""


JSON = {True: "true", False: "false", None: "null"}
PYTHON = {True: "True", False: "False", None: "None"}


def written(value: object, *, at: int = 0, indent: int = 0, constants: Mapping[Any, str] = PYTHON) -> str:
    """A value as Python or JSON, on one line if it fits between column `at` and the end of the line."""
    line = _line(value, constants)
    if len(line) + at <= MOST or not isinstance(value, Mapping | list | tuple) or not value:
        return line
    inner, comma = " " * (indent + 4), "," if constants is PYTHON else ""
    if isinstance(value, Mapping):
        parts = [
            f"{inner}{json.dumps(name)}: "
            + written(each, at=indent + 8 + len(name), indent=indent + 4, constants=constants)
            for name, each in value.items()
        ]
    else:
        parts = [
            inner + written(each, at=indent + 5, indent=indent + 4, constants=constants) for each in value
        ]
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    return f"{opening}\n" + ",\n".join(parts) + f"{comma}\n{' ' * indent}{closing}"


def _line(value: object, constants: Mapping[Any, str]) -> str:
    if isinstance(value, Name):
        return value
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{json.dumps(name)}: {_line(each, constants)}" for name, each in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_line(each, constants) for each in value) + "]"
    if value is None or isinstance(value, bool):
        return constants[value]
    return json.dumps(value, ensure_ascii=False)


def _rounded(value: object) -> object:
    """Numbers with four decimals: the last digits differ between machines."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, Mapping):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    for path, words in pages().items():
        path.write_text(words, encoding="utf-8")
