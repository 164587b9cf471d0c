"""A text in → what in it may be a name, as it stands there, and the words it writes in small letters.

Nothing is decided here: one text cannot know whether `Rust` is a language or the first word of a sentence.
Each line and each word is looked at once: linear time on any input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from foveal.knowledge import word_lists as listed
from foveal.pipeline.signals import STOP_WORDS

Shape = Literal["name", "coined", "acronym", "file", "site", "code"]
_DIGITS = 4
"""More of them make a number of a word."""
_FEWEST = 3
"""Words of a title."""
LONGEST = 60
"""Characters of a word; what is longer is data."""
MOST_WORDS = 5
"""Of one name; what has more is a title or a list."""
_BOLD = re.compile(r"\*\*[^*\n]{1,200}\*\*|__[^_\n]{1,200}__")
_BRACKETED = re.compile(r"\[[^\]\n]{0,300}\](?:\([^)\n]{0,300}\))?")
_DASH = re.compile(r"\s?[—–…]\s?|\s-\s")
_CODE = re.compile(r"`([^`\n]{1,80})`")
_SITE = re.compile(r"https?://(?:www\.)?([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,12})\b", re.IGNORECASE)
_FILE = re.compile(r"(?:[\w@.~-]+/)*[\w-]+(?:\.[\w-]+)*\.([A-Za-z]\w{0,5})")
_WORD = re.compile(r"[^\W\d_][\w+#&.'’-]*")
_CAMEL = re.compile(r"[A-Za-z]+[a-z0-9][A-Z][A-Za-z0-9]*|[A-Z][a-z]+\d+|[A-Z][\w]*\.(?:js|io|ai|NET)")
_ACRONYM = re.compile(r"[A-Z][A-Z0-9&]{2,7}")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.-]*?(?:\(\))?")
_MARKS = "\"'“”‘()[]{}<>*_~#|,.;:!?-"
_ENDS = frozenset('.!?:;"“”|*')
"""After one of these a capital says nothing."""
_PROGRAM = re.compile(r"[{}\[\]();=<>$\\|+]")
_KINDRED = dict.fromkeys(listed.KIN, "person") | dict.fromkeys(listed.PET, "pet")
_INSIDE = frozenset({"of", "de", "la", "van", "von", "der", "del", "di", "&"})
"""Words in small letters that stand inside a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A name, maybe, at one place of a text."""

    words: tuple[str, ...]
    shape: Shape
    fresh: bool = False
    """It opens a sentence, where every word has a capital."""
    telling: bool = False
    """What stands around it says that it is a name."""
    type: str = ""
    """What stands around it says what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one text shows."""

    sightings: tuple[Sighting, ...]
    small: tuple[str, ...]
    """Words in small letters, as often as they occur."""
    prose: tuple[tuple[str, ...], ...]
    """Runs of words in small letters with no mark or name between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    text: str
    opens: bool
    """A sentence starts with it, as far as marks tell."""
    joins: bool
    """No mark stands between it and the word before."""
    whose: bool
    """It said whose the next thing is."""

    @property
    def small(self) -> str:
        return self.text.lower()

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper()


def seen(text: str) -> Seen:
    """Read a text that somebody typed."""
    sightings: list[Sighting] = []
    small: list[str] = []
    prose: list[tuple[str, ...]] = []
    for line in filter(_is_prose, text.splitlines()):
        sightings += _marked(line)
        words = list(_words(line))
        if _is_title(line, words):
            continue
        small += [word.text for word in words if word.text.islower()]
        sightings += _names(words)
        prose += _prose(words)
    return Seen(sightings=tuple(sightings), small=tuple(small), prose=tuple(prose))


def _is_prose(line: str) -> bool:
    """Neither a heading, nor a row of a table, nor a line of a program."""
    bare = line.strip()
    if not bare or bare.startswith(("#", "|", "//", "$ ", "@", "<")) or bare.count("|") > 1:
        return False
    return len(_PROGRAM.findall(_CODE.sub("", bare))) * 12 <= len(bare) and not bare.endswith(("{", ";", "}"))


def _marked(line: str) -> Iterator[Sighting]:
    """What is written as names of files, sites and code are."""
    for site in _SITE.finditer(line):
        yield Sighting(words=(site[1].lower(),), shape="site", telling=True, type="site")
    for code in _CODE.finditer(line):
        yield from _coded(code[1])


def _coded(code: str) -> Iterator[Sighting]:
    if _is_file(code):
        yield _file(code)
    elif _IDENTIFIER.fullmatch(code) and _is_coined(code.removesuffix("()")):
        yield Sighting(words=(code.removesuffix("()"),), shape="code", type="code")


def _is_coined(name: str) -> bool:
    return ("_" in name.strip("_") or bool(_CAMEL.fullmatch(name))) and not name.isupper()


def _file(path: str) -> Sighting:
    return Sighting(words=(re.sub(r"^(?:\.{1,2}/)+", "", path),), shape="file", telling=True, type="file")


def _is_file(word: str) -> bool:
    found = _FILE.fullmatch(word)
    return found is not None and found[1].lower() in listed.ENDINGS and not _CAMEL.fullmatch(word)


def _words(line: str) -> Iterator[_Word]:
    """The words of a line, marks off; what is no word is a mark between its neighbours."""
    opens, apart = True, True
    plain = line.replace("’", "'")
    for shape in (_CODE, _BOLD, _BRACKETED, _DASH):
        plain = shape.sub(" ; ", plain)
    for raw in plain.split():
        core = raw.strip(_MARKS) if len(raw) <= LONGEST else ""
        before, _, after = raw.partition(core) if core else ("", "", "")
        if not core or not (_WORD.fullmatch(core) or _is_file(core)):
            opens = apart = True
            continue
        word, whose = _bare(core)
        starts = opens or not _ENDS.isdisjoint(before)
        yield _Word(text=word, opens=starts, joins=not (apart or before or starts), whose=whose)
        if after == "." and word.lower() in listed.TITLES:
            after = ""  # Dr. Okafor
        opens, apart = not _ENDS.isdisjoint(after), bool(after)


def _bare(word: str) -> tuple[str, bool]:
    """Without the ending of `Maria's` and of `UK-based`; and whether it said whose the next thing is."""
    if word.endswith("'s"):
        return word.removesuffix("'s"), True
    head, _, kind = word.partition("-")
    return (head if kind.isalpha() and kind.islower() and head[:1].isupper() else word), False


def _is_title(line: str, words: Sequence[_Word]) -> bool:
    """Most of its words have a capital, and it ends as no sentence does: here capitals say nothing."""
    telling = [word for word in words if word.small not in STOP_WORDS]
    if len(telling) < _FEWEST or not telling[0].capital or line.rstrip().endswith((".", "!", "?")):
        return False
    return sum(word.capital for word in telling) * 10 > len(telling) * 6


def _names(words: Sequence[_Word]) -> Iterator[Sighting]:
    at = 0
    while at < len(words):
        if _is_file(words[at].text):
            yield _file(words[at].text)
        elif words[at].capital or _CAMEL.fullmatch(words[at].text):
            stop = _end(words, at)
            yield from _name(words, at, stop)
            at = stop
            continue
        at += 1


def _end(words: Sequence[_Word], at: int) -> int:
    """Where the run of words with capitals that starts here ends."""
    stop = at + 1
    while stop < len(words) and words[stop].joins:
        inside = words[stop].text in _INSIDE and stop + 1 < len(words) and words[stop + 1].joins
        if not words[stop + inside].capital:
            break
        stop += 1 + inside
    return stop


def _name(words: Sequence[_Word], start: int, stop: int) -> Iterator[Sighting]:
    """The run as a name, up to the first word that says whose, its ends without words that name nothing."""
    first, last = start, next((at + 1 for at in range(start, stop) if words[at].whose), stop)
    nothing = _names_nothing if words[start].opens else listed.NEVER.__contains__
    while first < last and nothing(words[first].small):
        first += 1
    while first < last and words[last - 1].small in listed.NEVER:
        last -= 1
    if not 0 < last - first <= MOST_WORDS:
        return
    spelt = tuple(word.text.rstrip(".") for word in words[first:last])
    if _is_no_name(spelt[0]) if len(spelt) == 1 else _shouts(spelt):
        return
    type_, telling = _around(words, first, last)
    yield Sighting(
        words=spelt,
        shape=_shape(spelt),
        fresh=first == start and words[first].opens,
        telling=telling,
        type=type_ or _by_ending(spelt),
    )


def _names_nothing(word: str) -> bool:
    return word in listed.NAMELESS or word.partition("'")[0] in STOP_WORDS or len(word) < 2


def _shouts(words: Sequence[str]) -> bool:
    return all(map(str.isupper, words)) and any(word.lower() in STOP_WORDS for word in words)


def _is_no_name(word: str) -> bool:
    small = word.lower()
    short = len(word) < 3 and small not in listed.SHORT
    return short or small in listed.DEMONYMS or _names_nothing(small) or sum(map(str.isdigit, word)) > _DIGITS


def _shape(words: Sequence[str]) -> Shape:
    if len(words) > 1:
        return "name"
    if _CAMEL.fullmatch(words[0]):
        return "coined"
    return "acronym" if _ACRONYM.fullmatch(words[0]) else "name"


def _around(words: Sequence[_Word], first: int, last: int) -> tuple[str, bool]:
    """What the words beside a name say it is, and whether they say that it is one."""
    before = words[first - 1].small if first and words[first].joins else ""
    earlier = words[first - 2].small if before and first > 1 else ""
    after = words[last].small if last < len(words) and words[last].joins else ""
    greeted = first > 0 and words[first - 1].small in listed.GREETINGS
    named = _KINDRED.get(earlier) or listed.KINDS.get(earlier, "")
    kind = listed.KINDS.get(before) or listed.KINDS.get(after, "")
    where = before in listed.WHERE
    clues = (
        (before in listed.TITLES or before in listed.KIN, "person", True),
        (before in listed.NAMING, named, True),
        (before in listed.PET, "pet", True),
        (greeted or after in listed.SPEAKING, "person", False),
        (bool(kind), kind, False),
        (before in listed.USING, "tool", False),
        (before == "at", "organization", False),
        ((where or before in listed.TO) and earlier in listed.LIVES, "place", True),
        (where, "place", False),
    )
    return next(((type_, telling) for holds, type_, telling in clues if holds), ("", False))


def _by_ending(words: Sequence[str]) -> str:
    last = words[-1].lower()
    if len(words) > 1 and last in listed.ORGANIZED:
        return "organization"
    return "place" if len(words) > 1 and last in listed.PLACED else ""


def _prose(words: Sequence[_Word]) -> Iterator[tuple[str, ...]]:
    """Stretches of small words between marks and names."""
    stretch: list[str] = []
    for word in words:
        plain = (
            (word.text.islower() or word.opens) and word.text.replace("-", "").isalpha() and not word.whose
        )
        if stretch and not (plain and word.joins):
            yield tuple(stretch)
            stretch = []
        if plain:
            stretch.append(word.small)
    if stretch:
        yield tuple(stretch)
