"""Generate `docs/reference/cli.md` from the help of the commands.

The page is never edited: `make docs` writes it, and a house test compares it with `page()`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from foveal.cli import app

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"
INTRODUCTION = """\
# Command line

Made from `foveal --help` and its commands by `make docs`; do not edit it here.

Results go to stdout; notes, warnings, progress and errors to stderr. The exit code is 0 for done, 1 for
failed, 2 for wrong usage and 130 for interrupted. With `--json`, before or after the command, a result is
JSON, and an error is one JSON object, the last line on stderr: `error` is its class, as in
[errors](errors.md), or `UsageError`; `what` and `remedy` are its sentences; `field` is the option, argument
or setting that it is about, or empty.

```text
$ foveal --json stat
{"error": "UsageError", "what": "there is no command `stat`; did you mean `stats`?", …, "field": ""}
```

Options that take tokens accept `8000`, `8_000`, `8,000`, `8k` and `1.5m`, and so do `FOVEAL_BUDGET` and
`budget` in settings files.
"""


def page() -> str:
    """The whole page, as it should be in the repository now."""
    root = get_command(app)
    return "\n".join([INTRODUCTION, *_sections(root, root.context_class(root, info_name="foveal"))])


def _sections(command: Any, context: Any) -> Iterator[str]:
    yield _section(command, context)
    for name in sorted(getattr(command, "commands", {})):
        child = command.commands[name]
        if not child.hidden:
            yield from _sections(child, child.context_class(child, info_name=name, parent=context))


def _section(command: Any, context: Any) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    rows = [record for param in command.get_params(context) if (record := param.get_help_record(context))]
    lines = [f"## {context.command_path}", "", "```text", usage, "```", "", *_paragraphs(command.help or "")]
    lines += [
        "| | |",
        "|---|---|",
        *(f"| `{_cell(term)}` | {_cell(meaning)} |" for term, meaning in rows),
        "",
    ]
    return "\n".join(lines)


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.replace("\b", "").strip().split("\n\n"):
        yield from (" ".join(paragraph.split()), "")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
