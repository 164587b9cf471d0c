"""Assemble the context of a task from a workspace into one text, and report what is in it and why.

The text never exceeds the room of the CONTEXT category, its share of the budget and what DIALOG can lend,
counted as it is sent, titles and marks included. The report is for a terminal of 80 columns: what each
category may hold, holds, has borrowed and has lent; every piece, in or out, and why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap

from foveal import catalog
from foveal.errors import InputError
from foveal.pipeline.material.admit import admit_by_salience
from foveal.pipeline.material.categories import (
    CONTEXT,
    DIALOG,
    TOTAL,
    PenguinNumbers,
    Usage,
    category_slots,
    report,
    spare,
)
from foveal.pipeline.material.placement import material_note
from foveal.pipeline.material.values import Admission
from foveal.pipeline.summarize.notes import MATERIAL_END, MATERIAL_MARK
from foveal.pipeline.tokens.count import CachedCounter, tokenizer
from foveal.sources.contributor import ContextRequest, Contributor, Progress, check_installed
from foveal.sources.gather import Gathered, gather, resolve_active_files
from foveal.sources.workspace.safe_open import printable
from foveal.sources.workspace.values import Refusal
from foveal.sources.workspace.workspace import Workspace
from foveal.window import Contributed, Slot

DEFAULTS = PenguinNumbers()
WIDTH = 80
_COLUMNS = f"{'':14}{'min':>10}{'max':>10}{'current':>10}{'borrowed':>10}{'lent':>10}{'use':>8}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartContext:
    """The context of a task, and why each piece is in or out."""

    text: str
    """Empty where nothing was found, or nothing fits."""
    tokens: int
    budget: int
    contributed: tuple[Contributed, ...]
    """Every piece that was offered, in or not, best first."""
    categories: tuple[Usage, ...]
    refused: tuple[Refusal, ...] = ()
    """Files of the workspace that were refused so far, and open files that do not exist."""


def assemble_smart_context(  # noqa: PLR0913 — the public call, every option by name
    workspace: Workspace | str | Path,
    *,
    task: str = "",
    budget: int = TOTAL,
    said: Sequence[str] = (),
    active_files: Sequence[str] = (),
    contributors: Sequence[Contributor | str] = (),
    model: str = "",
    count: Callable[[str], int] | None = None,
    now: float | None = None,
    numbers: PenguinNumbers = DEFAULTS,
    progress: Progress | None = None,
) -> SmartContext:
    """Ask every contributor, rank what they offer, and take what fits.

    `budget`: tokens of the whole window; CONTEXT has its share of them, and what DIALOG does not need.
    `said`: the texts of the conversation, oldest first; DIALOG uses their tokens.
    `active_files`: the files open in the editor.
    `contributors`: functions that take a `ContextRequest`, or names of installed ones.
    `model`: the model whose tokens are counted, unless `count` is given.
    """
    _check("task", task, "text", fits=isinstance(task, str))
    _check("budget", budget, "an integer of 0 or more", fits=type(budget) is int and budget >= 0)
    _check("said", said, "a list of texts", fits=_are_texts(said))
    _check("active_files", active_files, "a list of texts", fits=_are_texts(active_files))
    _check("contributors", contributors, "a list", fits=isinstance(contributors, list | tuple))
    _check("count", count, "a function", fits=count is None or callable(count))
    _check("now", now, "seconds since 1970", fits=now is None or (isinstance(now, int | float) and now >= 0))
    _check("numbers", numbers, "a `PenguinNumbers`", fits=isinstance(numbers, PenguinNumbers))
    _check("progress", progress, "a function", fits=progress is None or callable(progress))
    check_installed(contributors)
    model = catalog.checked(model)
    tokens = CachedCounter(count or tokenizer(catalog.find(model).tokenizer).count)
    slots = _slots(budget, numbers, used=sum(map(tokens, said)))
    opened = workspace if isinstance(workspace, Workspace) else Workspace(workspace)
    request = ContextRequest(
        workspace=opened,
        task=task,
        room=room_within(slots),
        count=tokens,
        now=time.time() if now is None else now,
        said=tuple(said),
        active_files=tuple(active_files),
    )
    found = gather(resolve_active_files(request), contributors, numbers=numbers, progress=progress)
    admitted, text = _fit(found, slots, tokens)
    return SmartContext(
        text=text,
        tokens=_slot(admitted.slots, CONTEXT).used,
        budget=budget,
        contributed=(*admitted.contributed, *found.left_out),
        categories=report(admitted.slots),
        refused=opened.refusals,
    )


def _slots(budget: int, numbers: PenguinNumbers, *, used: int) -> list[Slot]:
    """The categories of the budget, of which the conversation uses so many tokens."""
    return [
        replace(slot, used=used if slot.name == DIALOG else 0) for slot in category_slots(budget, numbers)
    ]


def _check(name: str, value: object, kind: str, *, fits: bool) -> None:
    if not fits:
        raise InputError(
            f"`{name}` is {value!r:.80}, not {kind}", remedy=f"pass `{name}` as {kind}", field=name
        )


def _are_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def room_within(slots: Sequence[Slot]) -> int:
    """Tokens that CONTEXT can have at most: its own, and all that DIALOG can lend it."""
    return _slot(slots, CONTEXT).allotted + spare(_slot(slots, DIALOG))


def _fit(found: Gathered, slots: Sequence[Slot], count: Callable[[str], int]) -> tuple[Admission, str]:
    """Admit what fits together with the marks around it; CONTEXT's use is that of the whole text."""
    overhead = count(f"{MATERIAL_MARK}\n{MATERIAL_END}")
    while True:
        reserved = [_with_context_used(slot, slot.used + overhead) for slot in slots]
        admitted = admit_by_salience(found.material, reserved)
        text = material_note(admitted.shown)
        used = count(text) if text else 0
        over = used - _slot(admitted.slots, CONTEXT).allotted
        if over <= 0 or not text:
            return replace(admitted, slots=tuple(_with_context_used(s, used) for s in admitted.slots)), text
        overhead += over  # texts may cost a token more together than apart


def _with_context_used(slot: Slot, used: int) -> Slot:
    return replace(slot, used=used) if slot.name == CONTEXT else slot


def _slot(slots: Sequence[Slot], name: str) -> Slot:
    return next(slot for slot in slots if slot.name == name)


def report_text(context: SmartContext) -> str:
    """The allocation report of one context."""
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
    """A line for the piece, and the reason below it."""
    mark = "in " if each.verdict == "kept" else "out"
    yield f"{mark} {printable(each.type)} {printable(each.source)}".rstrip()[:WIDTH]
    yield from map(printable, wrap(each.because, WIDTH, initial_indent="    ", subsequent_indent="    "))
