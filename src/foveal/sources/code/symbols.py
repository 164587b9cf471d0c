"""Parse a file into the names it defines, with their signatures, and the names it uses.

One walk visits what can contain definitions, one query finds the names. Function bodies are not walked: what
is local to them cannot be used elsewhere. This runs in a process that can be killed (`worker`), because a
grammar may never return.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from foveal.sources.code.languages import CONTAINERS, LANGUAGES

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

MOST = 2_000
"""Definitions of one file; a file with more is generated."""
WIDEST = 120
"""Characters of a signature; what follows is defaults and comments."""
DEEPEST = 6
"""Levels of nested definitions; code that people read has two or three."""
LONGEST = 100
"""Characters of a name; a longer one is data."""
_NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_SPACE = re.compile(r"\s+")
_LOOSE = re.compile(r"(?<=[(\[]) | (?=[)\]])|,(?= ?[)\]])")
"""What is left over when a list on several lines is joined into one."""
VALUES = frozenset({"variable", "constant", "field"})
"""Kinds whose value is not shown: it may be a secret, or a table."""
_VALUE = re.compile(r"(?<![=!<>])=(?![=>])")
_FUNCTIONS = ("arrow_function", "function_expression", "generator_function", "function")


@dataclass(frozen=True, slots=True)
class Definition:
    """A name that a file defines."""

    name: str
    kind: str
    signature: str
    """One line: the definition up to its body."""
    line: int
    """Counted from 1."""
    parent: int = -1
    """Index of the definition around it among those of its file; -1: none."""


@dataclass(frozen=True, slots=True)
class Symbols:
    """The names in one file."""

    definitions: tuple[Definition, ...] = ()
    used: tuple[str, ...] = ()
    """Names that it uses and does not define, sorted."""
    refused: str = ""
    """Why it could not be parsed; empty where it could."""
    hung: bool = False
    """Refused because the parser did not return in time."""


def symbols(text: str, language: str) -> Symbols:
    """What a text defines and uses.

    >>> found = symbols("class Door:\\n  def open(self, key: Key) -> None:\\n    turn(key)\\n", "python")
    >>> [(each.kind, each.signature, each.parent) for each in found.definitions]
    [('class', 'class Door', -1), ('method', 'def open(self, key: Key) -> None', 0)]
    >>> found.used
    ('Key', 'key', 'self', 'turn')
    """
    parser, names = _tools(language)
    source = text.encode("utf-8", errors="replace")
    root = parser.parse(source).root_node
    definitions = tuple(_definitions(root, source, language))
    own = {each.name for each in definitions}
    return Symbols(definitions, tuple(sorted(_used(root, source, names) - own)))


def clean(text: str, widest: int = WIDEST) -> str:
    """The text on one line, without control characters, cut where it is too long.

    >>> clean("def f(\\n    a,\\n    b\\x07,\\n) -> None", 17)
    'def f(a, b\\\\u0007…'
    """
    line = _LOOSE.sub("", _SPACE.sub(" ", text[: 4 * widest]).strip())
    if not line.isprintable():  # no file may break, hide or reverse a line of the map
        line = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in line)
    return line if len(line) <= widest else f"{line[: widest - 1]}…"


@cache
def _tools(language: str) -> tuple[Parser, Query]:
    import tree_sitter

    known = LANGUAGES[language]
    grammar = tree_sitter.Language(getattr(import_module(known.module), known.grammar)())
    used = tree_sitter.Query(grammar, " ".join(f"({node}) @used" for node in known.names))
    return tree_sitter.Parser(grammar), used


def _used(root: Node, source: bytes, names: Query) -> set[str]:
    import tree_sitter

    nodes = tree_sitter.QueryCursor(names).captures(root).get("used", ())
    found = {source[node.start_byte : node.end_byte] for node in nodes}
    return {name.decode("utf-8", errors="replace") for name in found if 1 < len(name) <= LONGEST}


def _definitions(root: Node, source: bytes, language: str) -> Iterator[Definition]:
    known, count = LANGUAGES[language], 0
    left = [(root, _Parent())]
    while left and count < MOST:
        node, parent = left.pop()
        kind = known.definitions.get(node.type)
        found = _definition(node, source, kind, parent) if kind else None
        if found is not None:
            yield found
            count += 1
            if found.kind not in CONTAINERS or parent.depth == DEEPEST:
                continue
            parent = _Parent(count - 1, found.kind, parent.depth + 1)
            node = node.child_by_field_name("body") or node
        elif node is not root and node.type not in known.through:
            continue
        left += [(child, parent) for child in reversed(node.named_children)]


@dataclass(frozen=True, slots=True)
class _Parent:
    """What is around a node: a definition, or the file."""

    index: int = -1
    kind: str = ""
    depth: int = 0


def _definition(node: Node, source: bytes, kind: str, parent: _Parent) -> Definition | None:
    named = _named(node)
    value = _value(node)
    is_function = value is not None and value.type in _FUNCTIONS
    if named is None or (node.type == "assignment_expression" and not is_function):
        return None
    body = (value if is_function and value else node).child_by_field_name("body")
    if node.type.endswith("_specifier") and body is None:
        return None  # `struct door;` only declares what is defined elsewhere
    name = _last_name(_text(named, source))
    if not name:
        return None
    has_value = kind in VALUES and not is_function
    head = _head(node, value if has_value else body, source)
    head = _VALUE.split(head, maxsplit=1)[0] if has_value else head
    signature = _signature(head, whole=body is not None or kind in VALUES or kind == "type")
    kind = _kind(node, kind, parent.kind, is_function=is_function)
    return Definition(name, kind, signature, node.start_point[0] + 1, parent.index)


def _value(node: Node) -> Node | None:
    """What a name is bound to; in C it is nested in a declarator."""
    declarator = node.child_by_field_name("declarator")
    for each in (node, declarator):
        for field in ("value", "right"):
            if each is not None and (found := each.child_by_field_name(field)) is not None:
                return found
    return None


def _named(node: Node) -> Node | None:
    """The node of the name: in C it is nested in declarators, an `impl` has the name of its type."""
    for field in ("name", "declarator", "left", "type"):
        found = node.child_by_field_name(field)
        if found is not None:
            break
    else:
        return node.named_child(0)
    while (inner := found.child_by_field_name("declarator") or found.child_by_field_name("name")) is not None:
        found = inner
    return found


def _last_name(text: str) -> str:
    """The last name: `b` of `a::b` and `exports.b`, `B` of `B<T>`."""
    names = _NAME.findall(text.partition("<")[0].partition("(")[0].partition("[")[0])
    name = names[-1].lstrip("$") or names[-1] if names else ""
    return name if len(name) <= LONGEST else ""


def _head(node: Node, body: Node | None, source: bytes) -> str:
    """The text of a definition up to its body, without comments."""
    start, end = node.start_byte, body.start_byte if body is not None else node.end_byte
    end = min(end, start + 8 * WIDEST)
    head, pieces = source[start:end], []
    for child in _nearest(node, end) if b"#" in head or b"/" in head else ():
        if "comment" in child.type:
            pieces.append(source[start : child.start_byte])
            start = child.end_byte
    return b" ".join([*pieces, source[start:end]]).decode("utf-8", errors="replace")


def _nearest(node: Node, end: int) -> Iterator[Node]:
    """Children and grandchildren that begin before `end`."""
    for child in node.named_children[:WIDEST]:
        if child.start_byte < end:
            yield child
            yield from (inner for inner in child.named_children[:WIDEST] if inner.start_byte < end)


def _signature(text: str, *, whole: bool) -> str:
    text = text if whole else text.partition("{")[0]
    return clean(text.rstrip().removesuffix("=>").rstrip(" \t\r\n{:=;"))


def _kind(node: Node, kind: str, parent: str, *, is_function: bool) -> str:
    if is_function or _declares_function(node):
        kind = "function"
    if parent in CONTAINERS - {"module", "namespace"}:
        return {"function": "method", "variable": "field"}.get(kind, kind)
    return kind


def _declares_function(node: Node) -> bool:
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    return declarator is not None


def _text(node: Node, source: bytes) -> str:
    start = node.start_byte
    return source[start : min(node.end_byte, start + 4 * LONGEST)].decode("utf-8", errors="replace")
