"""Offer the files being worked on: what changed in each, the mentioned lines, then the rest.

Each file is one offer, shortened to its share: an even part of what is left of the type's room. A file that
the user opened or named may also use the room that no other contributor needs, and is shortened rather than
left out. A file that is left out is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from foveal.pipeline.shorten.short_form import fill_outline, outline_of, short_form
from foveal.sources.code.languages import language_of
from foveal.sources.contributor import (
    MAX_CHARS_PER_TOKEN,
    WORKING_FILES,
    ContextRequest,
    Offer,
    fits,
    lines_within,
    room_for,
    too_small,
)
from foveal.sources.working_set import WorkingFile, WorkingSet, find_working_set
from foveal.sources.workspace.repository import hunks
from foveal.window import Contributed

LEAST = 60
"""Tokens below which a file is not worth showing."""
FIRST_SHARE = 3
"""A file may take a third of what is left, or its even share where that is more."""
AROUND = 6
"""Lines shown before and after a mentioned one."""
NAMES = 50
"""Mentioned names that are searched for in a very long file, the longest."""
DIFF_SHARE = 0.6
"""Share of a file's tokens for what changed in it."""


def files(
    request: ContextRequest, *, working_set: WorkingSet | None = None, spare: int = 0
) -> Iterator[Offer | Contributed]:
    """One offer for each file, the most important first.

    `spare`: tokens that no other contributor needs, where those are more than the room of this type.
    """
    working_set = working_set or find_working_set(request)
    own = room_for(request, WORKING_FILES)
    every = max(own, spare)
    for position, each in enumerate(working_set.working):
        path, text = each.file.path, request.workspace.text(each.file.path)
        if text is None or not text.strip():
            continue
        left = every if each.requested else min(own, every)
        room = _share(left, _after(working_set.working, position), request.room if each.explicit else left)
        if offered := show(text, each, request, working_set=working_set, room=room) if room >= LEAST else "":
            used = request.count(offered)
            every, own = every - used, own if each.requested else own - used
            yield Offer(text=offered, type=WORKING_FILES, source_path=path, touched_at=each.file.touched_at)
        else:
            yield too_small(WORKING_FILES, path, characters=len(text), room=room)


def _after(working: Sequence[WorkingFile], position: int) -> int:
    """How many later files should have as much room as this one: those that are requested no less."""
    each, rest = working[position], working[position + 1 :]
    return sum(other.explicit >= each.explicit and other.requested >= each.requested for other in rest)


def _share(left: int, after: int, most: int) -> int:
    """Tokens of one file where `after` more follow: enough should be left for each of them.

    >>> _share(1_000, 0, 1_000), _share(1_000, 1, 1_000), _share(50, 1, 50), _share(50, 1, 200)
    (1000, 500, 50, 60)
    """
    even = left // (after + 1)
    return max(even, min(left // FIRST_SHARE, left - LEAST * after), min(LEAST, most))


def show(text: str, each: WorkingFile, request: ContextRequest, *, working_set: WorkingSet, room: int) -> str:
    """One file within its room: what changed, the mentioned lines, the rest; empty if nothing fits."""
    names = working_set.mentioned.names
    parts: list[str] = []
    if each.change and working_set.repository:
        diff = hunks(each.change, working_set.repository, request.workspace)
        if diff and (diff := _short(diff, int(room * DIFF_SHARE), request.count, names)):
            parts.append(f"Changed since the last commit:\n{diff}")
    whole = "\n".join((*parts, *(["Now:"] if parts else []), text))
    if fits(whole, room, request.count):
        return whole
    lines = text.splitlines()
    near = _near(each, len(lines))
    if near:
        numbered = [f"{n}| {lines[n - 1]}" for n in near]
        parts.append(lines_within(numbered, room - _spent(parts, request), request.count))
    rest = "\n".join(line for n, line in enumerate(lines, 1) if n not in near) if near else text
    room_left = room - _spent(parts, request) - 2 * len(parts)
    form = _outlined if language_of(each.file.path) else _short
    parts.append(form(rest, room_left, request.count, names))
    return _joined(parts, room, request.count)


def _short(text: str, room: int, count: Callable[[str], int], mentioned: frozenset[str]) -> str:
    """A text shortened to its room; what is mentioned is kept first."""
    if room <= 0:
        return ""
    found = short_form(excerpt(text, room * MAX_CHARS_PER_TOKEN, mentioned), room, count, mentioned=mentioned)
    return found.text if found else ""


def _outlined(text: str, room: int, count: Callable[[str], int], mentioned: frozenset[str]) -> str:
    """The same for what is certainly code, however much prose is in it."""
    if room <= 0:
        return ""
    head = excerpt(text, room * MAX_CHARS_PER_TOKEN, mentioned)
    found = fill_outline(outline_of(head, "code", mentioned=mentioned), room, count, mentioned=mentioned)
    return found.text if found else ""


def excerpt(text: str, most: int, mentioned: frozenset[str]) -> str:
    """The beginning of a very long text, and what surrounds the first mentioned name.

    >>> excerpt("a" * 30 + " load_it " + "b" * 30, 20, frozenset({"load_it"}))
    'aaaaaaaaaa\\n…\\naa load_it'
    """
    if len(text) <= most:
        return text
    half = most // 2
    longest = sorted(mentioned, key=lambda name: (-len(name), name))[:NAMES]
    positions = [at for name in longest if (at := text.find(name, half)) >= 0]
    if not positions:
        return text[:most]
    start = max(half, min(positions) - half // 3)
    return f"{text[:half]}\n…\n{text[start : start + half]}"


def _near(each: WorkingFile, lines: int) -> dict[int, None]:
    """The lines that define what the task names, then the mentioned ones with those around them."""
    around = sorted({n for line in each.lines for n in range(line - AROUND, line + AROUND + 1)})
    return {n: None for n in (*each.defining, *around) if 1 <= n <= lines}


def _spent(parts: Sequence[str], request: ContextRequest) -> int:
    return request.count("\n".join(parts)) if parts else 0


def _joined(parts: Sequence[str], room: int, count: Callable[[str], int]) -> str:
    """The parts joined, without the last ones where they do not fit: counts do not add up exactly."""
    kept = [text for text in parts if text]
    while kept and count("\n".join(kept)) > room:
        kept.pop()
    return "\n".join(kept)
