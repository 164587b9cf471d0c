"""Find the words that this project avoids: in identifiers, docstrings, comments, errors, help and pages.

    python tests/house/vocabulary.py [PATH ...]

lists every place below the paths, all of `src/`, `docs/` and the README unless some are named. Texts that
appear in windows and the reasons of decisions are not checked: their bytes are part of what a cache keeps.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

NAMES = re.compile(
    r"(?:^|_)(told|tells|telling|tellings|wish|wishes|wanted|aim|aims|held|steady|brought|mend|mended|mends|fault"
    r"|faults|desk|books|anew|somebody|nobody|whoever|core)(?:_|$)",
    re.IGNORECASE,
)
"""Words that are no part of an identifier."""
CAMEL = re.compile(
    r"(Told|Telling|Wish|Wanted|Held|Steady|Brought|Mended|Fault|Desk|Books|Core|Ledger)(?![a-z])"
)
ALLOWED_NAMES = frozenset({"pydantic_core", "langchain_core", "PredictionLedger", "faulthandler"})
ALLOWED_FIELDS = frozenset({"fault", "faults"})
"""Fields of `SummaryFailed` and of what `verify` returns: clients read them as JSON, so they stay. Allowed as
a field, an attribute or a keyword argument only, never as a name of ours."""
PROSE = re.compile(
    r"\b(told|tells|telling|speaks? of|spoken of|ha(?:s|ve) to do with|wish|wishes|wanted|aim|aims"
    r"|hold(?:s|ing)? still|steady|held|br(?:ought|ings?) back|beside the conversation|what leaves|what left"
    r"|st(?:and|ands|ood) for|mend(?:s|ed)?|faults?|desk|books|anew|of before|newest unless named"
    r"|somebody|nobody|whoever|who asks"
    r"|makes? no sense|is no JSON|whole numbers?|pictures?|left away|table of words)\b",
    re.IGNORECASE,
)
"""Words and phrases that no sentence has."""
USERS = re.compile(r"\b(high-water marks?)\b", re.IGNORECASE)
"""Likewise, in what users see: errors, help and pages."""


@dataclass(frozen=True, slots=True)
class Place:
    path: Path
    line: int
    what: str
    word: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.what}: {self.word}"


def found(paths: list[Path]) -> list[Place]:
    """Every place below the paths, in order."""
    files = [file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    places: list[Place] = []
    for file in files:
        if file.suffix == ".py":
            places += in_code(file, file.read_text(encoding="utf-8"))
        elif file.suffix == ".md":
            places += _in_page(file)
    return places


def _in_page(path: Path) -> Iterator[Place]:
    """Prose only: what a fenced block quotes is the program's own output."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.startswith("```")
        if fenced:
            continue
        prose = re.sub(r"`[^`]+`", "", line)  # names in code are checked there
        for pattern in (PROSE, USERS):
            for word in pattern.findall(prose):
                yield Place(path, number, "page", word)


def in_code(path: Path, text: str) -> Iterator[Place]:
    """Every place in the text of a module."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for at, token in enumerate(tokens):
        if token.type == tokenize.COMMENT:
            for word in PROSE.findall(token.string):
                yield Place(path, token.start[0], "comment", word)
        elif token.type == tokenize.NAME and not _allowed(tokens, at):
            for word in (*NAMES.findall(token.string), *CAMEL.findall(token.string)):
                yield Place(path, token.start[0], f"identifier {token.string}", word)
    tree = ast.parse(text)
    for number, words in (*_docstrings(tree), *_messages(tree)):
        for pattern in (PROSE, USERS):
            for word in pattern.findall(words):
                yield Place(path, number, "text", word)


def _allowed(tokens: list[tokenize.TokenInfo], at: int) -> bool:
    if re.match(r"(?:from|import) (?!foveal)", tokens[at].line):  # a module of another package
        return True
    if tokens[at].string not in ALLOWED_FIELDS:
        return tokens[at].string in ALLOWED_NAMES
    before, after = tokens[at - 1], tokens[at + 1].string
    if before.type == tokenize.NL:  # a line of a call, or one after an empty line
        before = tokens[at - 2]
    field = after == ":" and before.string not in ("(", ",", "*", ".")
    return before.string == "." or field or (after == "=" and before.string in ("(", ","))


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Of modules, classes and functions, and the strings below fields and constants; examples aside."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines = node.value.value.splitlines()
            yield node.lineno, "\n".join("" if _example(lines, at) else line for at, line in enumerate(lines))


def _example(lines: list[str], at: int) -> bool:
    """A line of a doctest, or of what it prints."""
    while at >= 0 and lines[at].strip():
        if lines[at].lstrip().startswith(">>>"):
            return True
        at -= 1
    return False


def _messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """What errors say, and what options say of themselves."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_error(node):
            said = [*node.args, *(word.value for word in node.keywords)]
        elif isinstance(node, ast.Call):
            said = [
                word.value for word in node.keywords if word.arg in ("help", "remedy", "description", "about")
            ]
        else:
            continue
        for part in said:
            for text in ast.walk(part):
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield text.lineno, text.value


def _is_error(call: ast.Call) -> bool:
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    return name.endswith(("Error", "Problem"))


if __name__ == "__main__":
    named = [Path(path).resolve() for path in sys.argv[1:]]
    for place in found(named or [ROOT / "src", ROOT / "docs", ROOT / "README.md"]):
        sys.stdout.write(f"{place}\n")
