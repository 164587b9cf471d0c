"""Compile what is known into bundles: texts that a window can show as they are. Pure.

Memories are quoted as the user's. About a thing, the sentences that name it are quoted, each with its
speaker; from tools and files only facts are taken. Nothing is rewritten, no bundle exceeds its tokens, and no
line can be mistaken for one of our marks or for another speaker.
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
FORMAT = 2
"""Increase it when bundles are written differently: stored ones are stale then."""
MAX_TOKENS: Mapping[str, Mapping[Depth, int]] = MappingProxyType(
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
"""Which memories a bundle contains, and its title."""
REMEMBERED = "What the user asked to remember, or said in other conversations:"
MESSAGES_READ: Mapping[Depth, int] = MappingProxyType({"minimal": 8, "standard": 16, "deep": 40})
"""How many of the latest messages that mention a thing are read."""
MOST_READ = 4_000
"""Characters that are read at each end of such a message."""
CONFIRMED = " (a model's words, which the user confirmed)"
USERS_OWN = 1.0
"""Weight added to a line with the user's words."""
SUBSTANCE = 0.25
"""Weight added for each of at most twelve content words: a line of thanks has none."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many tokens a bundle may have, and how they are counted."""

    depth: Depth
    count: Count

    def tokens(self, kind: str) -> int:
        return MAX_TOKENS[kind][self.depth]


def memories_text(memories: Iterable[Memory], kind: str, room: Room) -> str:
    """The user's identity, facts or preferences: the newest memories that fit, oldest first."""
    only, title = TITLES[kind]
    shown = [each for each in memories if each.confirmed and each.kind == only]
    return _newest_lines(shown, room.tokens(kind), room.count, title)


def remembered_text(memories: Iterable[Memory], most: int, count: Count) -> str:
    """All that the user wants remembered, whatever its kind: the newest that fit `most`, oldest first.

    Empty if not one of them fits.
    """
    return _newest_lines([each for each in memories if each.confirmed], most, count, REMEMBERED)


def _newest_lines(memories: Iterable[Memory], most: int, count: Count, title: str) -> str:
    lines = [
        Line(position=place, weight=place, text=line, sentence=line)
        for place, each in enumerate(sorted(memories, key=lambda each: each.updated_at))
        for line in [f"- {_one_line(each.text)}{'' if each.origin == 'user' else CONFIRMED}"]
    ]
    text = choose_lines(lines, most, count, overview=title) if lines else ""
    # A title alone says nothing; without it there may be room for a line.
    return choose_lines(lines, most, count) if text in ("", title) else text


def thing_text(thing: Thing, passages: Sequence[Passage], room: Room) -> str:
    """An overview of a thing, then the most relevant sentences about it that fit."""
    short = [replace(each, text=head_and_tail(each.text, MOST_READ)) for each in passages]
    named = [line for line in lines_of_messages(short) if _names(line.sentence, thing)]
    weighed = [
        replace(line, weight=line.weight + _extra_weight(line), text=neutral(line.text)) for line in named
    ]
    return choose_lines(weighed, room.tokens(thing.kind), room.count, overview=_overview(thing))


def _overview(thing: Thing) -> str:
    what = f" ({_one_line(thing.type)})" if thing.type else ""
    many = f"{thing.mentions:,} message{'' if thing.mentions == 1 else 's'}"
    where = f" of {thing.sessions:,} conversations" if thing.sessions > 1 else ""
    return f"{_one_line(clipped(thing.name, 80))}{what}: mentioned in {many}{where}."


def _extra_weight(line: Line) -> float:
    speaker = line.text.partition(":")[0]
    own = speaker.endswith(("user said", "user asked", "(user) said", "(user) asked"))
    return USERS_OWN * own + SUBSTANCE * min(12, len(set(words(line.sentence))))


def _names(said: str, thing: Thing) -> bool:
    """Whether a sentence contains the thing's name or one of its longer words."""
    here = set(_WORD.findall(said.casefold()))
    own = set(_WORD.findall(f"{thing.name} {thing.slug}".casefold()))
    longer = {word for word in own if len(word) > 3} or own
    return not longer.isdisjoint(here)


def _one_line(text: str) -> str:
    return neutral(" ".join(text.split()))
