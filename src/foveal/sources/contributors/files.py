"""What contributors are asked in → the files being worked on: what changed, what is spoken of, the rest.

Each file is one offer, cut to its part: an even share of what is left of the type's own. One that somebody
opened or named may have what nobody else needs, and is never absent for want of a larger part; one that is
absent is told of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from foveal.pipeline.shorten.short_form import fill_outline, outline_of, short_form
from foveal.sources.code.languages import language_of
from foveal.sources.contributor import (
    DENSEST,
    WORKING_FILES,
    Look,
    Offer,
    fits,
    lines_within,
    part,
    too_small,
)
from foveal.sources.working_set import Surroundings, Working, surroundings
from foveal.sources.workspace.repository import hunks
from foveal.window import Contributed

LEAST = 60
"""Tokens under which no file is worth showing."""
FIRST_SHARE = 3
"""A file may take a third of what is left, or its even share where that is more."""
AROUND = 6
"""Lines before and after one that is spoken of."""
NAMES = 50
"""Mentioned names that are looked for in a very long file, the longest."""
DIFF_SHARE = 0.6
"""Of a file's tokens, for what changed in it."""


def files(look: Look, *, around: Surroundings | None = None, spare: int = 0) -> Iterator[Offer | Contributed]:
    """One offer for each file, the most telling first.

    `spare`: tokens that nobody else wants, where those are more than the part of this type.
    """
    around = around or surroundings(look)
    own = part(look, WORKING_FILES)
    every = max(own, spare)
    for place, each in enumerate(around.working):
        text = look.workspace.text(each.seen.path)
        if text is None or not text.strip():
            continue
        left = every if each.wanted else min(own, every)
        room = _share(left, _after(around.working, place), look.room if each.explicit else left)
        if offered := shown(text, each, look, around=around, room=room) if room >= LEAST else "":
            used = look.count(offered)
            every, own = every - used, own if each.wanted else own - used
            path, touched_at = each.seen.path, each.seen.touched_at
            yield Offer(text=offered, type=WORKING_FILES, source_path=path, touched_at=touched_at)
        else:
            yield too_small(WORKING_FILES, each.seen.path, characters=len(text), room=room)


def _after(working: Sequence[Working], place: int) -> int:
    """How many come after one that should have as much as it: none that is wanted less."""
    each, rest = working[place], working[place + 1 :]
    return sum(other.explicit >= each.explicit and other.wanted >= each.wanted for other in rest)


def _share(left: int, after: int, most: int) -> int:
    """Tokens of one file where so many come after it: for each of them enough should be left.

    >>> _share(1_000, 0, 1_000), _share(1_000, 1, 1_000), _share(50, 1, 50), _share(50, 1, 200)
    (1000, 500, 50, 60)
    """
    even = left // (after + 1)
    return max(even, min(left // FIRST_SHARE, left - LEAST * after), min(LEAST, most))


def shown(text: str, each: Working, look: Look, *, around: Surroundings, room: int) -> str:
    """One file within its room: what changed, lines that are spoken of, the rest; empty if none fits."""
    names = around.mentioned.names
    parts: list[str] = []
    if each.change and around.repository:
        diff = hunks(each.change, around.repository, look.workspace)
        if diff and (diff := _short(diff, int(room * DIFF_SHARE), look.count, names)):
            parts.append(f"Changed since the last commit:\n{diff}")
    whole = "\n".join((*parts, *(["Now:"] if parts else []), text))
    if fits(whole, room, look.count):
        return whole
    lines = text.splitlines()
    near = _near(each, len(lines))
    if near:
        numbered = [f"{n}| {lines[n - 1]}" for n in near]
        parts.append(lines_within(numbered, room - _spent(parts, look), look.count))
    rest = "\n".join(line for n, line in enumerate(lines, 1) if n not in near) if near else text
    room_left = room - _spent(parts, look) - 2 * len(parts)
    form = _outlined if language_of(each.seen.path) else _short
    parts.append(form(rest, room_left, look.count, names))
    return _joined(parts, room, look.count)


def _short(text: str, room: int, count: Callable[[str], int], mentioned: frozenset[str]) -> str:
    """A text within its room, what is mentioned first."""
    if room <= 0:
        return ""
    found = short_form(looked_at(text, room * DENSEST, mentioned), room, count, mentioned=mentioned)
    return found.text if found else ""


def _outlined(text: str, room: int, count: Callable[[str], int], mentioned: frozenset[str]) -> str:
    """The same of what is surely code, however many words of prose stand in it."""
    if room <= 0:
        return ""
    seen = looked_at(text, room * DENSEST, mentioned)
    found = fill_outline(outline_of(seen, "code", mentioned=mentioned), room, count, mentioned=mentioned)
    return found.text if found else ""


def looked_at(text: str, most: int, mentioned: frozenset[str]) -> str:
    """Of a text that is too long to look at, its beginning and what is around the first mentioned name.

    >>> looked_at("a" * 30 + " load_it " + "b" * 30, 20, frozenset({"load_it"}))
    'aaaaaaaaaa\\n…\\naa load_it'
    """
    if len(text) <= most:
        return text
    half = most // 2
    longest = sorted(mentioned, key=lambda name: (-len(name), name))[:NAMES]
    places = [place for name in longest if (place := text.find(name, half)) >= 0]
    if not places:
        return text[:most]
    start = max(half, min(places) - half // 3)
    return f"{text[:half]}\n…\n{text[start : start + half]}"


def _near(each: Working, lines: int) -> dict[int, None]:
    """The lines that define what is spoken of, then those that are spoken of and the ones around them."""
    around = sorted({n for line in each.lines for n in range(line - AROUND, line + AROUND + 1)})
    return {n: None for n in (*each.defining, *around) if 1 <= n <= lines}


def _spent(parts: Sequence[str], look: Look) -> int:
    return look.count("\n".join(parts)) if parts else 0


def _joined(parts: Sequence[str], room: int, count: Callable[[str], int]) -> str:
    """The parts together, without the last of them where they are too many: counts do not add up exactly."""
    kept = [text for text in parts if text]
    while kept and count("\n".join(kept)) > room:
        kept.pop()
    return "\n".join(kept)
