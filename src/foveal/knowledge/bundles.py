"""What is known in → bundles: texts that a window can show as they are. Pure.

Memories are quoted as the user's. Of the messages that tell of a thing the sentences that name it are
quoted, each with who said it; what a tool or a file brought appears as facts alone. Nothing is rewritten,
nothing is over its tokens, and no line can pass for a mark of ours or for another speaker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from foveal.knowledge.values import Depth, Memory, MemoryKind, Thing
from foveal.pipeline.signals import words
from foveal.pipeline.summarize.extract import Line, choose_lines, lines_of_messages
from foveal.pipeline.summarize.language import clipped, head_and_tail
from foveal.pipeline.summarize.notes import neutral
from foveal.pipeline.summarize.values import Passage

Count = Callable[[str], int]
FORMAT = 1
"""Grows when bundles are written otherwise: those of before are stale then."""
MOST: Mapping[str, Mapping[Depth, int]] = MappingProxyType(
    {
        "identity": {"minimal": 150, "standard": 400, "deep": 500},
        "facts": {"minimal": 150, "standard": 400, "deep": 500},
        "preferences": {"minimal": 200, "standard": 600, "deep": 800},
        "topic": {"minimal": 100, "standard": 240, "deep": 480},
        "entity": {"minimal": 50, "standard": 100, "deep": 200},
    }
)
"""Tokens of a bundle, by kind and depth."""
TITLES: Mapping[str, tuple[MemoryKind, str]] = MappingProxyType(
    {
        "identity": ("identity", "The user, as they said:"),
        "facts": ("fact", "Facts, as the user told them:"),
        "preferences": ("preference", "How the user wants things, as they said:"),
    }
)
"""Which memories a bundle has, and what stands over them."""
TELLINGS: Mapping[Depth, int] = MappingProxyType({"minimal": 8, "standard": 16, "deep": 40})
"""Messages that tell of a thing and are looked at, the newest."""
LOOKED_AT = 4_000
"""Characters of each end of such a message."""
CONFIRMED = " (a model's words, which the user confirmed)"
OWN = 1.0
"""What a line weighs more when it has the user's words."""
SUBSTANCE = 0.25
"""What it weighs more for each word that says something, twelve of them at most: thanks tell nothing."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much of it, and how it is counted."""

    depth: Depth
    count: Count

    def of(self, kind: str) -> int:
        return MOST[kind][self.depth]


def memories_text(memories: Iterable[Memory], kind: str, room: Room) -> str:
    """Who the user is, what they told or how they want things: the newest that fit, oldest first."""
    only, title = TITLES[kind]
    told = [each for each in memories if each.confirmed and each.kind == only]
    lines = [
        Line(position=place, weight=place, text=line, sentence=line)
        for place, each in enumerate(sorted(told, key=lambda each: each.updated_at))
        for line in [f"- {_one_line(each.text)}{'' if each.origin == 'user' else CONFIRMED}"]
    ]
    return choose_lines(lines, room.of(kind), room.count, overview=title) if lines else ""


def thing_text(thing: Thing, passages: Sequence[Passage], room: Room) -> str:
    """An overview of a thing, then what was said of it, the weightiest that fits."""
    short = [replace(each, text=head_and_tail(each.text, LOOKED_AT)) for each in passages]
    named = [line for line in lines_of_messages(short) if _names(line.sentence, thing)]
    weighed = [replace(line, weight=line.weight + _telling(line), text=neutral(line.text)) for line in named]
    return choose_lines(weighed, room.of(thing.kind), room.count, overview=_overview(thing))


def _overview(thing: Thing) -> str:
    what = f" ({_one_line(thing.type)})" if thing.type else ""
    many = f"{thing.mentions:,} message{'' if thing.mentions == 1 else 's'}"
    where = f" of {thing.sessions:,} conversations" if thing.sessions > 1 else ""
    return f"{_one_line(clipped(thing.name, 80))}{what}: mentioned in {many}{where}."


def _telling(line: Line) -> float:
    speaker = line.text.partition(":")[0]
    own = speaker.endswith(("user said", "user asked", "(user) said", "(user) asked"))
    return OWN * own + SUBSTANCE * min(12, len(set(words(line.sentence))))


def _names(said: str, thing: Thing) -> bool:
    """Does a sentence name the thing, whole or by one of its longer words?"""
    here = set(_WORD.findall(said.casefold()))
    own = set(_WORD.findall(f"{thing.name} {thing.slug}".casefold()))
    telling = {word for word in own if len(word) > 3} or own
    return not telling.isdisjoint(here)


def _one_line(text: str) -> str:
    return neutral(" ".join(text.split()))
