"""A workspace and a task in → one text of what belongs in the window beside the chat, and the report on it.

The text is never over the room of the CONTEXT category, its share of the budget and what DIALOG could lend:
counted as it stands, titles and marks included.

An assembled context in → its allocation report in words, for a terminal of 80 columns.

What each category may hold, holds, has borrowed and has lent; every piece, in or not, and why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap

from foveal import catalog
from foveal.errors import InputError
from foveal.pipeline.material.admit import by_salience
from foveal.pipeline.material.categories import (
    CONTEXT,
    DIALOG,
    PenguinNumbers,
    Usage,
    report,
    shared,
    spare,
)
from foveal.pipeline.material.notes import BEGINNING, ENDING, beside_note
from foveal.pipeline.material.values import Admission
from foveal.pipeline.tokens.count import Remembered, tokenizer
from foveal.sources.contributor import Contributor, Look, Progress
from foveal.sources.gather import Gathered, gather, spelt
from foveal.sources.workspace.safe_open import shown
from foveal.sources.workspace.values import Refusal
from foveal.sources.workspace.workspace import Workspace
from foveal.window import Contributed, Slot

DEFAULTS = PenguinNumbers()


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartContext:
    """What belongs in the window beside the chat, and why."""

    text: str
    """Empty where there is nothing, or nothing fits."""
    tokens: int
    budget: int
    contributed: tuple[Contributed, ...]
    """Every piece that was offered, in or not, best first."""
    categories: tuple[Usage, ...]
    refused: tuple[Refusal, ...] = ()
    """Files of the workspace that were not read so far, open ones that are not there among them."""


def assemble_smart_context(  # noqa: PLR0913 — the one call: everything that may be said of it, by name
    workspace: Workspace | str | Path,
    *,
    task: str = "",
    budget: int = DEFAULTS.total,
    said: Sequence[str] = (),
    active_files: Sequence[str] = (),
    contributors: Sequence[Contributor | str] = (),
    model: str = "",
    count: Callable[[str], int] | None = None,
    now: float | None = None,
    numbers: PenguinNumbers = DEFAULTS,
    progress: Progress | None = None,
) -> SmartContext:
    """Ask every contributor, rank what they offer, take what fits.

    `budget`: tokens of the whole window; CONTEXT has its share of them, and what DIALOG does not need.
    `said`: the texts of the conversation, oldest first; they are DIALOG's use.
    `active_files`: what is open in the editor. `contributors`: functions from a `Look`, or installed names.
    `model`: whose tokens are counted, unless `count` does it.
    """
    if budget < 0:
        raise InputError(f"`budget` is {budget:,} tokens", remedy="give 0 or more", field="budget")
    tokens = Remembered(count or tokenizer(catalog.find(model).tokenizer).count)
    slots = [
        replace(slot, used=sum(map(tokens, said)) if slot.name == DIALOG else 0)
        for slot in shared(budget, numbers)
    ]
    place = workspace if isinstance(workspace, Workspace) else Workspace(workspace)
    look = Look(
        workspace=place,
        task=task,
        room=room_within(slots),
        count=tokens,
        now=time.time() if now is None else now,
        said=tuple(said),
        active_files=tuple(active_files),
    )
    found = gather(spelt(look), contributors, weights=numbers.weights, progress=progress)
    return replace(_context(found, slots, budget, tokens), refused=place.refusals)


def room_within(slots: Sequence[Slot]) -> int:
    """Tokens that CONTEXT can have at most: its own, and all that DIALOG can lend it."""
    return _of(slots, CONTEXT).allotted + spare(_of(slots, DIALOG))


def _context(
    found: Gathered, slots: Sequence[Slot], budget: int, count: Callable[[str], int]
) -> SmartContext:
    admitted, text = fitted(found, slots, count)
    return SmartContext(
        text=text,
        tokens=_of(admitted.slots, CONTEXT).used,
        budget=budget,
        contributed=(*admitted.told, *found.left_out),
        categories=report(admitted.slots),
    )


def fitted(found: Gathered, slots: Sequence[Slot], count: Callable[[str], int]) -> tuple[Admission, str]:
    """What fits together with the marks around it, and the text; CONTEXT's use is that of the text."""
    around = count(f"{BEGINNING}\n{ENDING}")
    while True:
        taken = [_with(slot, slot.used + around) for slot in slots]
        admitted = by_salience(found.material, taken)
        text = beside_note(admitted.shown)
        used = count(text) if text else 0
        over = used - _of(admitted.slots, CONTEXT).allotted
        if over <= 0 or not text:
            return replace(admitted, slots=tuple(_with(slot, used) for slot in admitted.slots)), text
        around += over  # texts may cost a token more together than apart


def _with(slot: Slot, used: int) -> Slot:
    return replace(slot, used=used) if slot.name == CONTEXT else slot


def _of(slots: Sequence[Slot], name: str) -> Slot:
    return next(slot for slot in slots if slot.name == name)


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
