"""What was seen of every spelling in → which of them name things, and which spellings name the same one.

Stretches of plain words in → the phrases that may be what they are about: what stands after an article.

`my adoption agency is` names a thing; `adopt a child` and `a great day` do not. By the words alone: English.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from foveal.knowledge import word_lists as listed
from foveal.knowledge.sightings import Shape
from foveal.knowledge.values import Found
from foveal.model import Role
from foveal.pipeline.signals import STOP_WORDS

LONGEST_PHRASE = 3
_VERBAL = ("ing", "ed", "ly")
"""How first words end that tell what is done, or how."""


def phrases(prose: Iterable[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """The phrases of one to three words that may be nouns, the last word in the singular.

    >>> list(phrases([("i", "called", "my", "adoption", "agencies", "on", "a", "great", "day")]))
    [('adoption', 'agency')]
    """
    for stretch in prose:
        start = 0
        for at, word in enumerate((*stretch, "")):
            if word and word not in STOP_WORDS and word not in listed.OPENERS:
                continue
            found = stretch[start:at]
            if (
                start
                and stretch[start - 1] in listed.OPENERS
                and (not word or word in listed.CLOSERS)
                and _is_noun(found)
            ):
                yield (*found[:-1], singular(found[-1]))
            start = at + 1


def _is_noun(words: Sequence[str]) -> bool:
    if not 0 < len(words) <= LONGEST_PHRASE or min(map(len, words)) < 3:
        return False
    if not listed.GENERAL.isdisjoint(words):
        return False
    return not words[0].endswith(_VERBAL) and not words[-1].endswith(("ed", "ly"))


def singular(word: str) -> str:
    """The word without the ending of a plural.

    >>> [singular(word) for word in ("agencies", "classes", "topics", "analysis", "bus")]
    ['agency', 'class', 'topic', 'analysis', 'bus']
    """
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    return (
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
    )


_ENOUGH: Mapping[Shape, int] = {"file": 1, "site": 1, "coined": 2, "code": 2, "name": 2, "acronym": 3}
"""Texts in which a spelling must be seen to be a name."""
_TOPIC = 3
"""Texts in which a topic must be seen, one of them its user's."""
_DESCRIBED = 5
"""The same where its first word may be an adjective."""
_NOUN = 2
"""Times a word stands alone after an article, as nouns do."""
_SMALL = 5
"""So many times as often as in small letters a word must be seen with a capital."""
_PROSE = 300
"""Small words of a conversation from which on it tells something that a word is never among them."""
_SHOUTED = 100
"""The same for what is all capitals, as people write when they shout."""
_SURE = {"person": 10, "pet": 10, "code": 100}
"""In so many mentions one must say what it is; for the other types, in three."""
_ENDINGS = ("s", "es", "d", "ed", "ing", "ly", "r", "er")
_NEAR = range(8, 31)
"""Characters of names that are one name misspelt when they differ in a letter."""
_PART = re.compile(r"[^\W_]+")
_PROVEN = 20
"""As often as a thing of before counts as seen within sentences."""
_SHAPES: Mapping[str, Shape] = {"file": "file", "site": "site", "code": "code"}
_NOBODYS = ("example.com", "example.org", "localhost")


def slug_of(name: str) -> str:
    """What the spellings of one name have in common.

    >>> slug_of("Maria González"), slug_of("src/Auth.js")
    ('maria-gonzález', 'src-auth-js')
    """
    return "-".join(_PART.findall(name.lower()))


@dataclass(slots=True)
class Candidate:
    """What is known so far of one spelling."""

    words: tuple[str, ...]
    shape: Shape
    keys: dict[str, Role] = field(default_factory=dict)
    """The texts it stands in, in order, and who wrote them."""
    spelt: Counter[str] = field(default_factory=Counter)
    inside: int = 0
    """Times it stood within a sentence."""
    telling: int = 0
    types: Counter[str] = field(default_factory=Counter)

    @property
    def by_user(self) -> bool:
        return "user" in self.keys.values()

    def join(self, other: Candidate, *, spelt: Counter[str]) -> None:
        """Take over what is known of another spelling; `spelt` are those that may be shown."""
        self.keys |= other.keys
        self.spelt += spelt
        self.inside += other.inside
        self.telling += other.telling
        self.types += other.types


def confirmed(thing: Found) -> Candidate:
    """A thing of before, as a candidate that needs no further proof."""
    words = (thing.name,) if thing.type in ("file", "site", "code") else tuple(thing.name.split())
    shape = _SHAPES.get(thing.type, "name")
    types = Counter({thing.type: 1} if thing.type else {})
    return Candidate(
        words=words, shape=shape, spelt=Counter({thing.name: 1}), inside=_PROVEN, telling=1, types=types
    )


def entities(candidates: Mapping[str, Candidate], small: Counter[str]) -> dict[str, Found]:
    """By spelling, the thing it names; spellings that name nothing are left out."""
    opened = {slug: _without_opening(slug, each, candidates, small) for slug, each in candidates.items()}
    shorter = {slug: _last(slug, opened) for slug in opened}
    real = {slug: each for slug, each in _joined(candidates, shorter).items() if _is_real(each, small)}
    same = _same(real)
    things = {slug: _entity(slug, each) for slug, each in _joined(real, same).items()}
    return {slug: things[same[short]] for slug, short in shorter.items() if short in same}


def topics(
    candidates: Mapping[str, Candidate], taken: Iterable[Found], nouns: Counter[str]
) -> dict[str, Found]:
    """By phrase, the topic it is; what is spoken of once or twice, or by the model alone, is left out."""
    names = {_squashed(thing.slug) for thing in taken}
    real = {
        slug: each
        for slug, each in candidates.items()
        if _is_topic(each, nouns) and _squashed(slug) not in names
    }
    short = {slug: _shortest(each.words, real) for slug, each in candidates.items()}
    return {
        slug: Found(kind="topic", slug=lead, name=" ".join(real[lead].words), type="")
        for slug, lead in short.items()
        if lead
    }


def _is_topic(candidate: Candidate, nouns: Counter[str]) -> bool:
    """Two nouns, or a noun that is often called so: `dance studio`, `mental health`, no `huge difference`."""
    often = _TOPIC if nouns[candidate.words[0]] >= _NOUN else _DESCRIBED
    return candidate.telling > 0 or (candidate.by_user and len(candidate.keys) >= often)


def _shortest(words: tuple[str, ...], real: Mapping[str, Candidate]) -> str:
    """The topic that a phrase is, or the one that it ends or begins with; empty: it is none."""
    for part in (words[-2:], words[:2], words):
        if (slug := "-".join(part)) in real:
            return slug
    return ""


def _without_opening(
    slug: str, candidate: Candidate, candidates: Mapping[str, Candidate], small: Counter[str]
) -> str:
    """`Absolutely Melanie` opens a sentence: the name is what follows a word known in small letters."""
    words = candidate.words
    if len(words) < 2 or candidate.inside or not small[words[0].lower()]:
        return slug
    rest = slug.removeprefix(f"{words[0].lower()}-")
    return rest if rest in candidates else slug


def _joined(candidates: Mapping[str, Candidate], leaders: Mapping[str, str]) -> dict[str, Candidate]:
    """The candidates by leader, each with all that is known of those it leads."""
    groups: dict[str, Candidate] = {}
    for slug, each in candidates.items():
        head = candidates[leaders[slug]]
        group = groups.setdefault(leaders[slug], Candidate(words=head.words, shape=head.shape))
        group.join(each, spelt=head.spelt if each is head else Counter())
    return groups


def _is_real(candidate: Candidate, small: Counter[str]) -> bool:
    often = len(candidate.keys) >= _ENOUGH[candidate.shape] or candidate.telling > 0
    if candidate.shape in ("file", "site", "code", "coined"):
        return often and not candidate.words[0].endswith(_NOBODYS)
    rarest = min(sum(small[form] for form in _forms(word.lower())) for word in candidate.words)
    if candidate.shape == "name" and candidate.by_user and not rarest and small.total() >= _PROSE:
        return candidate.inside > 0
    return often and candidate.inside > rarest * (_SHOUTED if candidate.shape == "acronym" else _SMALL)


def _forms(word: str) -> set[str]:
    """The word and what else it may be as a plain word: what is done, or more than one of it."""
    return {word, singular(word), *(f"{word}{ending}" for ending in _ENDINGS), f"{word[:-1]}ing"}


def _same(candidates: Mapping[str, Candidate]) -> dict[str, str]:
    """For each spelling the one that leads all of its thing: mostly the one seen most."""
    owners: dict[str, str] = {}
    leaders: dict[str, str] = {}
    for slug in sorted(candidates, key=lambda slug: (-len(candidates[slug].keys), slug)):
        letters = list(_letters(slug, candidates[slug]))
        leaders[slug] = next((owners[each] for each in letters if each in owners), slug)
        for each in letters:
            owners.setdefault(each, leaders[slug])
    wholes = _wholes({slug: candidates[slug] for slug in leaders.values()})
    return {slug: _last(leader, wholes) for slug, leader in leaders.items()}


def _last(slug: str, leads: Mapping[str, str]) -> str:
    """The end of a chain of leaders; a chain that would go round ends where it began."""
    seen = {slug}
    while (after := leads.get(slug, slug)) not in seen:
        seen.add(after)
        slug = after
    return slug


def _letters(slug: str, candidate: Candidate) -> Iterator[str]:
    """What two spellings of one name have in common, one letter more, less or other among it."""
    whole = _squashed(slug.removesuffix("-js") if candidate.shape == "coined" else slug)
    yield whole
    if candidate.shape == "site":
        yield candidate.words[0].split(".")[-2:][0]
    if len(whole) in _NEAR and whole.isalpha() and candidate.shape == "name":
        yield from dict.fromkeys(whole[:at] + whole[at + 1 :] for at in range(2, len(whole)))


def _squashed(slug: str) -> str:
    *before, last = slug.split("-")
    return "".join((*before, singular(last)))


def _wholes(candidates: Mapping[str, Candidate]) -> dict[str, str]:
    """Who leads where one name is part of another, and of nothing else: people and paths in full."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for slug, each in candidates.items():
        for part in _parts(each):
            if part in candidates and candidates[part].shape in ("name", "file"):
                found[part].append(slug)
    leads: dict[str, str] = {}
    for part, wholes in found.items():
        whole = max(wholes, key=lambda slug: (len(slug), slug))
        if all(map(whole.endswith, wholes)):
            leads |= _led(part, whole, candidates)
    return leads


def _led(part: str, whole: str, candidates: Mapping[str, Candidate]) -> dict[str, str]:
    one, other = candidates[part], candidates[whole]
    in_full = other.shape == "file" or other.types["person"] > 0
    return {part: whole} if in_full or len(other.keys) >= len(one.keys) else {whole: part}


def _parts(candidate: Candidate) -> set[str]:
    words = candidate.words[0].split("/") if candidate.shape == "file" else candidate.words
    parts = {slug_of(" ".join(words[at:])) for at in range(1, len(words))}
    if candidate.types["person"] and words[0].isalpha():
        first = words[0].lower()
        parts |= {first[:end] for end in range(3, len(first) - 1)} | ({first} if len(words) > 1 else set())
    return parts


def _entity(slug: str, candidate: Candidate) -> Found:
    name = max(candidate.spelt, key=lambda spelt: (candidate.spelt[spelt], spelt))
    return Found(kind="entity", slug=slug, name=name, type=_type(candidate))


def _type(candidate: Candidate) -> str:
    """What its mentions make of it; a preposition once or twice makes a place of nobody."""
    best = max(candidate.types, key=lambda each: (candidate.types[each], each), default="")
    share = _SURE.get(best, 3)
    coined = candidate.shape == "coined" and best in ("place", "organization")
    if best and not coined and (candidate.telling or candidate.types[best] * share >= len(candidate.keys)):
        return best
    return "tool" if candidate.shape == "coined" else ""
