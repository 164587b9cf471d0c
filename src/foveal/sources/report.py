"""An assembled context in → its allocation report in words, for a terminal of 80 columns.

What each category may hold, holds, has borrowed and has lent; every piece, in or not, and why.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from foveal.pipeline.plan.categories import Usage
from foveal.sources.assemble import SmartContext
from foveal.sources.spelling import shown
from foveal.window import Contributed

WIDE = 80
_COLUMNS = f"{'':14}{'min':>10}{'max':>10}{'current':>10}{'borrowed':>10}{'lent':>10}{'use':>8}"


def report_text(context: SmartContext) -> str:
    """The report on one context."""
    kept = sum(each.verdict == "kept" for each in context.contributed)
    lines = [
        f"{context.tokens:,} tokens for a budget of {context.budget:,}: "
        f"{kept:,} of {len(context.contributed):,} pieces are in",
        "",
        _COLUMNS,
        *map(_category, context.categories),
        "",
    ]
    return "\n".join([*lines, *(line for each in context.contributed for line in _piece(each))]).rstrip()


def _category(each: Usage) -> str:
    numbers = (each.minimum, each.maximum, each.current, each.borrowed, each.lent)
    return f"{each.name:14}{''.join(f'{number:>10,}' for number in numbers)}{each.use:>8.0%}"


def _piece(each: Contributed) -> Iterator[str]:
    """A line for the piece, and the reason under it."""
    mark = "in " if each.verdict == "kept" else "out"
    yield f"{mark} {shown(each.type)} {shown(each.source)}".rstrip()[:WIDE]
    yield from map(shown, wrap(each.because, WIDE, initial_indent="    ", subsequent_indent="    "))
