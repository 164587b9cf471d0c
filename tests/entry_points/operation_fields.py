"""Every operation with the text in each of its fields, found in its schema."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from entry_points.library import in_result, nowhere
from entry_points.stories import Step, Story
from foveal import operations

JSON = dict[str, Any]
TEXT = "\0the text\0"
"""Where the text goes."""
MESSAGES = {"messages": in_result(TEXT)}
KNOWN: dict[str, JSON] = {"tokens_count": {"text": TEXT}, "window_fit": {**MESSAGES, "budget": 1_500}}
"""Requests with fields whose types are not in the schema, or that exclude each other."""
_NUMBERS = {"integer": 5, "number": 0.5, "boolean": False, "null": None}


def requests(name: str) -> Iterator[tuple[str, JSON]]:
    """The field that has the text, and a request with it that is valid but for what the text is."""
    schema = operations.schema(name)["request"]
    known = {**_least(schema, schema), **KNOWN.get(name, {})}
    if "messages" in schema.get("required", ()):
        known["messages"] = in_result("done")
    for field, shape in schema.get("properties", {}).items():
        for place, value in _filled(shape, schema, field):
            excluded = {"text"} if (name, field) == ("tokens_count", "messages") else set()
            yield place, {key: each for key, each in known.items() if key not in excluded} | {field: value}
    for field in known.keys() - schema.get("properties", {}).keys():
        yield field, known


def _resolved(shape: JSON, schema: JSON) -> JSON:
    found: JSON = shape
    while "$ref" in found:
        found = schema["$defs"][found["$ref"].rpartition("/")[2]]
    return found


def _least(shape: JSON, schema: JSON) -> JSON:
    required = shape.get("required", ())
    return {key: _value(shape["properties"][key], schema) for key in required}


def _value(shape: JSON, schema: JSON) -> Any:
    """A valid value without the text."""
    shape = _resolved(shape, schema)
    if "anyOf" in shape:
        return _value(shape["anyOf"][0], schema)
    if "enum" in shape or "const" in shape:
        return shape.get("const", shape.get("enum", [""])[0])
    match shape.get("type"):
        case "string":
            return "word"
        case "array":
            return [_value(shape["items"], schema)] if shape.get("items") else []
        case "object":
            return _least(shape, schema) if "properties" in shape else {}
    return max(_NUMBERS.get(shape.get("type", ""), 5) or 0, shape.get("minimum", 0))


def _entry(shape: JSON, schema: JSON) -> Any:
    """A value of an object that may have any key."""
    values = shape.get("additionalProperties")
    return _value(values, schema) if isinstance(values, dict) else 1


def _filled(shape: JSON, schema: JSON, place: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The places for a text below here, each with a value that has it there."""
    shape = _resolved(shape, schema)
    for each in shape.get("anyOf", ()):
        yield from _filled(each, schema, place, depth)
    match shape.get("type"):
        case "string":
            yield place, TEXT
        case "array" if items := shape.get("items"):
            for inside, value in _filled(items, schema, place, depth + 1):
                yield inside, [value]
            if _resolved(items, schema).get("type") == "object" and "properties" not in _resolved(
                items, schema
            ):
                yield place, in_result(TEXT)
        case "object" if "properties" in shape and depth < 3:
            least = _least(shape, schema)
            for key, inner in shape["properties"].items():
                for inside, value in _filled(inner, schema, f"{place}.{key}", depth + 1):
                    yield inside, {**least, key: value}
        case "object":
            yield f"{place}.*", {TEXT: _entry(shape, schema), "note": TEXT}


def _with(value: Any, text: str) -> Any:
    match value:
        case str():
            return value.replace(TEXT, text)
        case list():
            return [_with(each, text) for each in value]
        case dict():
            return {_with(key, text): _with(each, text) for key, each in value.items()}
    return value


def _run(name: str, request: JSON) -> Step:
    def step(_: Path, text: str) -> None:
        filled = _with(request, text)
        operations.run(name, filled)
        operations.events(name, filled)

    return step


def _steps(name: str) -> Iterator[tuple[str, Step]]:
    for place, request in requests(name):
        yield f"{name}: {place}", _run(name, request)
    yield f"{name}: unknown field", lambda _, text: operations.run(name, {text: text})


OPERATIONS = (
    Story(
        name="operations",
        place=nowhere,
        steps={
            **{
                step: run
                for operation in operations.REGISTRY.operations
                for step, run in _steps(operation.name)
            },
            "operations.find: name": lambda _, text: operations.find(text),
            "operations.run: name": lambda _, text: operations.run(text, {}),
            "operations.events: name": lambda _, text: operations.events(text, {}),
            "operations.schema: name": lambda _, text: operations.schema(text),
        },
    ),
)
