"""Find what may be a name in one text, and the words that it writes in lower case.

Nothing is decided here: one text cannot show whether `Rust` is a language or the first word of a sentence.
Each line and each word is read once: linear time on any input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from foveal.knowledge import word_lists as listed
from foveal.pipeline.signals import STOP_WORDS

Shape = Literal["name", "coined", "acronym", "file", "site", "code"]
_MOST_DIGITS = 4
"""Digits of a name; a word with more is a number."""
_TITLE_WORDS = 3
"""The fewest words of a title."""
LONGEST = 60
"""Characters of a word; anything longer is data."""
MOST_WORDS = 5
"""Words of one name; anything longer is a title or a list."""
_BOLD = re.compile(r"\*\*[^*\n]{1,200}\*\*|__[^_\n]{1,200}__")
_BRACKETED = re.compile(r"\[[^\]\n]{0,300}\](?:\([^)\n]{0,300}\))?")
_DASH = re.compile(r"\s?[—–…]\s?|\s-\s")
_CODE = re.compile(r"`([^`\n]{1,80})`")
_SITE = re.compile(r"https?://(?:www\.)?([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,12})\b", re.IGNORECASE)
_FILE = re.compile(r"(?:[\w@.~-]+/)*[\w-]+(?:\.[\w-]+)*\.([A-Za-z]\w{0,5})")
_WORD = re.compile(r"[^\W\d_][\w+#&.'’-]*")
_CAMEL = re.compile(r"(?>[A-Za-z]+?[a-z0-9][A-Z])[A-Za-z0-9]*|[A-Z][a-z]+\d+|[A-Z][\w]*\.(?:js|io|ai|NET)")
_ACRONYM = re.compile(r"[A-Z][A-Z0-9&]{2,7}")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.-]*?(?:\(\))?")
_MARKS = "\"'“”‘()[]{}<>*_~#|,.;:!?-"
_ENDS = frozenset('.!?:;"“”|*')
"""After one of these a capital does not suggest a name."""
_PROGRAM = re.compile(r"[{}\[\]();=<>$\\|+]")
_KINDRED = dict.fromkeys(listed.KIN, "person") | dict.fromkeys(listed.PET, "pet")
_INSIDE = frozenset({"of", "de", "la", "van", "von", "der", "del", "di", "&"})
"""Lower-case words that can be part of a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A possible name at one position of a text."""

    words: tuple[str, ...]
    shape: Shape
    opens: bool = False
    """It is the first word of a sentence, where every word has a capital."""
    evident: bool = False
    """The words around it show that it is a name."""
    type: str = ""
    """What the words around it show it to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSightings:
    """The possible names and the plain words of one text."""

    sightings: tuple[Sighting, ...]
    small: tuple[str, ...]
    """Lower-case words, as often as they occur."""
    prose: tuple[tuple[str, ...], ...]
    """Runs of lower-case words with no punctuation or name between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    text: str
    opens: bool
    """It starts a sentence, as far as punctuation shows."""
    joins: bool
    """No punctuation separates it from the previous word."""
    possessive: bool
    """It ended with `'s`."""

    @property
    def small(self) -> str:
        return self.text.lower()

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper()


def find_sightings(text: str) -> TextSightings:
    """Find the possible names in a text that a person or a model typed."""
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
    return TextSightings(sightings=tuple(sightings), small=tuple(small), prose=tuple(prose))


def _is_prose(line: str) -> bool:
    """Whether the line is not a heading, a table row or a line of a program."""
    bare = line.strip()
    if not bare or bare.startswith(("#", "|", "//", "$ ", "@", "<")) or bare.count("|") > 1:
        return False
    return len(_PROGRAM.findall(_CODE.sub("", bare))) * 12 <= len(bare) and not bare.endswith(("{", ";", "}"))


def _marked(line: str) -> Iterator[Sighting]:
    """Names of sites, files and code that are recognisable by their form."""
    for site in _SITE.finditer(line):
        yield Sighting(words=(site[1].lower(),), shape="site", evident=True, type="site")
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
    return Sighting(words=(re.sub(r"^(?:\.{1,2}/)+", "", path),), shape="file", evident=True, type="file")


def _is_file(word: str) -> bool:
    found = _FILE.fullmatch(word)
    return found is not None and found[1].lower() in listed.ENDINGS and not _CAMEL.fullmatch(word)


def _words(line: str) -> Iterator[_Word]:
    """The words of a line without punctuation; anything that is not a word separates its neighbours."""
    opens, apart = True, True
    plain = line.replace("’", "'")
    for shape in (_CODE, _BOLD, _BRACKETED, _DASH):
        plain = shape.sub(" ; ", plain)
    for raw in plain.split():
        bare = raw.strip(_MARKS) if len(raw) <= LONGEST else ""
        before, _, after = raw.partition(bare) if bare else ("", "", "")
        if not bare or not (_WORD.fullmatch(bare) or _is_file(bare)):
            opens = apart = True
            continue
        word, possessive = _without_suffix(bare)
        starts = opens or not _ENDS.isdisjoint(before)
        yield _Word(text=word, opens=starts, joins=not (apart or before or starts), possessive=possessive)
        if after == "." and word.lower() in listed.TITLES:
            after = ""  # Dr. Okafor
        opens, apart = not _ENDS.isdisjoint(after), bool(after)


def _without_suffix(word: str) -> tuple[str, bool]:
    """The word without the suffix of `Maria's` or `UK-based`, and whether it was a possessive."""
    if word.endswith("'s"):
        return word.removesuffix("'s"), True
    head, _, kind = word.partition("-")
    return (head if kind.isalpha() and kind.islower() and head[:1].isupper() else word), False


def _is_title(line: str, words: Sequence[_Word]) -> bool:
    """Whether most words are capitalized and no sentence ends here, so that capitals do not suggest names."""
    content_words = [word for word in words if word.small not in STOP_WORDS]
    if (
        len(content_words) < _TITLE_WORDS
        or not content_words[0].capital
        or line.rstrip().endswith((".", "!", "?"))
    ):
        return False
    return sum(word.capital for word in content_words) * 10 > len(content_words) * 6


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
    """Where the run of capitalized words that starts here ends."""
    stop = at + 1
    while stop < len(words) and words[stop].joins:
        inside = words[stop].text in _INSIDE and stop + 1 < len(words) and words[stop + 1].joins
        if not words[stop + inside].capital:
            break
        stop += 1 + inside
    return stop


def _name(words: Sequence[_Word], start: int, stop: int) -> Iterator[Sighting]:
    """The run as a name, up to its first possessive, its ends without words that are no part of a name."""
    first, last = start, next((at + 1 for at in range(start, stop) if words[at].possessive), stop)
    skipped = _names_nothing if words[start].opens else listed.NEVER.__contains__
    while first < last and skipped(words[first].small):
        first += 1
    while first < last and words[last - 1].small in listed.NEVER:
        last -= 1
    if not 0 < last - first <= MOST_WORDS:
        return
    name = tuple(word.text.rstrip(".") for word in words[first:last])
    if _is_no_name(name[0]) if len(name) == 1 else _is_emphasis(name):
        return
    type_, evident = _context(words, first, last)
    yield Sighting(
        words=name,
        shape=_shape(name),
        opens=first == start and words[first].opens,
        evident=evident,
        type=type_ or _type_by_ending(name),
    )


def _names_nothing(word: str) -> bool:
    return word in listed.NAMELESS or word.partition("'")[0] in STOP_WORDS or len(word) < 2


def _is_emphasis(words: Sequence[str]) -> bool:
    return all(map(str.isupper, words)) and any(word.lower() in STOP_WORDS for word in words)


def _is_no_name(word: str) -> bool:
    small = word.lower()
    short = len(word) < 3 and small not in listed.SHORT
    return (
        short
        or small in listed.DEMONYMS
        or _names_nothing(small)
        or sum(map(str.isdigit, word)) > _MOST_DIGITS
    )


def _shape(words: Sequence[str]) -> Shape:
    if len(words) > 1:
        return "name"
    if _CAMEL.fullmatch(words[0]):
        return "coined"
    return "acronym" if _ACRONYM.fullmatch(words[0]) else "name"


def _context(words: Sequence[_Word], first: int, last: int) -> tuple[str, bool]:
    """The type that the words next to a name show, and whether they show that it is a name."""
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
    return next(((type_, evident) for holds, type_, evident in clues if holds), ("", False))


def _type_by_ending(words: Sequence[str]) -> str:
    last = words[-1].lower()
    if len(words) > 1 and last in listed.ORGANIZED:
        return "organization"
    return "place" if len(words) > 1 and last in listed.PLACED else ""


def _prose(words: Sequence[_Word]) -> Iterator[tuple[str, ...]]:
    """Runs of lower-case words between punctuation and names."""
    stretch: list[str] = []
    for word in words:
        plain = (
            (word.text.islower() or word.opens)
            and word.text.replace("-", "").isalpha()
            and not word.possessive
        )
        if stretch and not (plain and word.joins):
            yield tuple(stretch)
            stretch = []
        if plain:
            stretch.append(word.small)
    if stretch:
        yield tuple(stretch)
