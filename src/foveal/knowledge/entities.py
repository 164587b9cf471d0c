"""Decide which spellings name entities, which of them name the same one, and which phrases are topics.

A topic is a noun phrase after an article or a possessive: `my adoption agency is` names one; `adopt a child`
and `a great day` do not. The rules look at the words alone and know English only.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from foveal.knowledge import word_lists as listed
from foveal.knowledge.sightings import Shape
from foveal.model import Role
from foveal.pipeline.signals import STOP_WORDS
from foveal.store import Mention

LONGEST_PHRASE = 3
_VERBAL = ("ing", "ed", "ly")
"""Endings of first words that are verbs or adverbs."""
_TEXTS: Mapping[Shape, int] = {"file": 1, "site": 1, "coined": 2, "code": 2, "name": 2, "acronym": 3}
"""In how many texts a spelling must occur to be a name."""
_TOPIC_TEXTS = 3
"""In how many texts a topic must occur, one of them the user's."""
_ADJECTIVE_TOPIC_TEXTS = 5
"""The same where its first word may be an adjective."""
_NOUN = 2
"""How often a word must occur alone after an article to count as a noun."""
_CAPITALIZED = 5
"""How many times more often a name must be capitalized than written in lower case."""
_ACRONYM_CAPITALIZED = 100
"""The same for words in capitals only, which people also use for emphasis."""
_ENOUGH_PROSE = 300
"""Lower-case words of a conversation from which on it means something that a word is never among them."""
_TYPED_MENTIONS = {"person": 10, "pet": 10, "code": 100}
"""One in how many mentions must show the type; one in three for the other types."""
_ENDINGS = ("s", "es", "d", "ed", "ing", "ly", "r", "er")
_MISSPELLABLE = range(8, 31)
"""Length in characters of names that count as one name misspelled if they differ in one letter."""
_PART = re.compile(r"[^\W_]+")
_KNOWN_WITHIN = 20
"""How often a known thing counts as seen within a sentence."""
_SHAPES: Mapping[str, Shape] = {"file": "file", "site": "site", "code": "code"}
_PLACEHOLDERS = ("example.com", "example.org", "localhost")


def phrases(prose: Iterable[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Phrases of one to three words that may be nouns, the last word in the singular.

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
    """The word without its plural ending.

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


def slug_of(name: str) -> str:
    """What all spellings of one name have in common: lower case, words joined by `-`.

    >>> slug_of("Maria González"), slug_of("src/Auth.js")
    ('maria-gonzález', 'src-auth-js')
    """
    return "-".join(_PART.findall(name.lower()))


@dataclass(slots=True)
class Candidate:
    """What is known so far about one spelling."""

    words: tuple[str, ...]
    shape: Shape
    texts: dict[str, Role] = field(default_factory=dict)
    """The texts it occurs in, in order, and the role that wrote each."""
    spellings: Counter[str] = field(default_factory=Counter)
    within: int = 0
    """How often it occurred within a sentence, not as its first word."""
    evident: int = 0
    """How often the words around it showed that it is a name."""
    types: Counter[str] = field(default_factory=Counter)

    @property
    def by_user(self) -> bool:
        return "user" in self.texts.values()

    def add(self, other: Candidate, *, spellings: Counter[str]) -> None:
        """Add what is known about another spelling; only `spellings` can become the displayed name."""
        self.texts |= other.texts
        self.spellings += spellings
        self.within += other.within
        self.evident += other.evident
        self.types += other.types


def known_candidate(thing: Mention) -> Candidate:
    """A thing that is already known, as a candidate that needs no further evidence."""
    words = (thing.name,) if thing.type in ("file", "site", "code") else tuple(thing.name.split())
    shape = _SHAPES.get(thing.type, "name")
    types = Counter({thing.type: 1} if thing.type else {})
    return Candidate(
        words=words,
        shape=shape,
        spellings=Counter({thing.name: 1}),
        within=_KNOWN_WITHIN,
        evident=1,
        types=types,
    )


def entities(candidates: Mapping[str, Candidate], small: Counter[str]) -> dict[str, Mention]:
    """The entity that each spelling names; spellings that name none are left out."""
    stripped = {slug: _without_opening(slug, each, candidates, small) for slug, each in candidates.items()}
    shorter = {slug: _end_of_chain(slug, stripped) for slug in stripped}
    names = {slug: each for slug, each in _merged(candidates, shorter).items() if _is_name(each, small)}
    leaders = _leaders(names)
    things = {slug: _entity(slug, each) for slug, each in _merged(names, leaders).items()}
    return {slug: things[leaders[short]] for slug, short in shorter.items() if short in leaders}


def topics(
    candidates: Mapping[str, Candidate], taken: Iterable[Mention], nouns: Counter[str]
) -> dict[str, Mention]:
    """The topic of each phrase; rare phrases and those that only the model uses are left out."""
    names = {_letters_of(thing.slug) for thing in taken}
    chosen = {
        slug: each
        for slug, each in candidates.items()
        if _is_topic(each, nouns) and _letters_of(slug) not in names
    }
    leaders = {slug: _shortest(each.words, chosen) for slug, each in candidates.items()}
    return {
        slug: Mention(kind="topic", slug=leader, name=" ".join(chosen[leader].words), type="")
        for slug, leader in leaders.items()
        if leader
    }


def _is_topic(candidate: Candidate, nouns: Counter[str]) -> bool:
    """Two nouns, or a frequent phrase: `dance studio` and `mental health`, not `huge difference`."""
    often = _TOPIC_TEXTS if nouns[candidate.words[0]] >= _NOUN else _ADJECTIVE_TOPIC_TEXTS
    return candidate.evident > 0 or (candidate.by_user and len(candidate.texts) >= often)


def _shortest(words: tuple[str, ...], topics: Mapping[str, Candidate]) -> str:
    """The topic that a phrase is, ends with or begins with; empty if there is none."""
    for part in (words[-2:], words[:2], words):
        if (slug := "-".join(part)) in topics:
            return slug
    return ""


def _without_opening(
    slug: str, candidate: Candidate, candidates: Mapping[str, Candidate], small: Counter[str]
) -> str:
    """The name without an opening word that also occurs in lower case, as in `Absolutely Melanie`."""
    words = candidate.words
    if len(words) < 2 or candidate.within or not small[words[0].lower()]:
        return slug
    rest = slug.removeprefix(f"{words[0].lower()}-")
    return rest if rest in candidates else slug


def _merged(candidates: Mapping[str, Candidate], leaders: Mapping[str, str]) -> dict[str, Candidate]:
    """The candidates by leading spelling, each with all that is known about the spellings it leads."""
    groups: dict[str, Candidate] = {}
    for slug, each in candidates.items():
        head = candidates[leaders[slug]]
        group = groups.setdefault(leaders[slug], Candidate(words=head.words, shape=head.shape))
        group.add(each, spellings=head.spellings if each is head else Counter())
    return groups


def _is_name(candidate: Candidate, small: Counter[str]) -> bool:
    often = len(candidate.texts) >= _TEXTS[candidate.shape] or candidate.evident > 0
    if candidate.shape in ("file", "site", "code", "coined"):
        return often and not candidate.words[0].endswith(_PLACEHOLDERS)
    rarest = min(sum(small[form] for form in _forms(word.lower())) for word in candidate.words)
    if candidate.shape == "name" and candidate.by_user and not rarest and small.total() >= _ENOUGH_PROSE:
        return candidate.within > 0
    return often and candidate.within > rarest * (
        _ACRONYM_CAPITALIZED if candidate.shape == "acronym" else _CAPITALIZED
    )


def _forms(word: str) -> set[str]:
    """The word and its inflections, in which it may occur as a plain noun or verb."""
    return {word, singular(word), *(f"{word}{ending}" for ending in _ENDINGS), f"{word[:-1]}ing"}


def _leaders(candidates: Mapping[str, Candidate]) -> dict[str, str]:
    """For each spelling the leading spelling of its thing, usually the most frequent one."""
    owners: dict[str, str] = {}
    leaders: dict[str, str] = {}
    for slug in sorted(candidates, key=lambda slug: (-len(candidates[slug].texts), slug)):
        keys = list(_equal_keys(slug, candidates[slug]))
        leaders[slug] = next((owners[key] for key in keys if key in owners), slug)
        for key in keys:
            owners.setdefault(key, leaders[slug])
    full_names = _full_names({slug: candidates[slug] for slug in leaders.values()})
    return {slug: _end_of_chain(leader, full_names) for slug, leader in leaders.items()}


def _end_of_chain(slug: str, leads: Mapping[str, str]) -> str:
    """Follow a chain of leaders to its end; a cycle ends before it repeats."""
    seen = {slug}
    while (after := leads.get(slug, slug)) not in seen:
        seen.add(after)
        slug = after
    return slug


def _equal_keys(slug: str, candidate: Candidate) -> Iterator[str]:
    """Keys of which two spellings of one name share at least one, also if they differ in a letter."""
    whole = _letters_of(slug.removesuffix("-js") if candidate.shape == "coined" else slug)
    yield whole
    if candidate.shape == "site":
        yield candidate.words[0].split(".")[-2:][0]
    if len(whole) in _MISSPELLABLE and whole.isalpha() and candidate.shape == "name":
        yield from dict.fromkeys(whole[:at] + whole[at + 1 :] for at in range(2, len(whole)))


def _letters_of(slug: str) -> str:
    """The slug without its hyphens, the last word in the singular."""
    *before, last = slug.split("-")
    return "".join((*before, singular(last)))


def _full_names(candidates: Mapping[str, Candidate]) -> dict[str, str]:
    """Which name leads where one is part of one other only: people and paths lead with their full names."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for slug, each in candidates.items():
        for part in _parts(each):
            if part in candidates and candidates[part].shape in ("name", "file"):
                found[part].append(slug)
    leads: dict[str, str] = {}
    for part, wholes in found.items():
        whole = max(wholes, key=lambda slug: (len(slug), slug))
        if all(map(whole.endswith, wholes)):
            leads |= _lead(part, whole, candidates)
    return leads


def _lead(part: str, whole: str, candidates: Mapping[str, Candidate]) -> dict[str, str]:
    short, full = candidates[part], candidates[whole]
    full_leads = full.shape == "file" or full.types["person"] > 0 or len(full.texts) >= len(short.texts)
    return {part: whole} if full_leads else {whole: part}


def _parts(candidate: Candidate) -> set[str]:
    words = candidate.words[0].split("/") if candidate.shape == "file" else candidate.words
    parts = {slug_of(" ".join(words[at:])) for at in range(1, len(words))}
    if candidate.types["person"] and words[0].isalpha():
        first = words[0].lower()
        parts |= {first[:end] for end in range(3, len(first) - 1)} | ({first} if len(words) > 1 else set())
    return parts


def _entity(slug: str, candidate: Candidate) -> Mention:
    name = max(candidate.spellings, key=lambda spelling: (candidate.spellings[spelling], spelling))
    return Mention(kind="entity", slug=slug, name=name, type=_type(candidate))


def _type(candidate: Candidate) -> str:
    """The type that most mentions show, if enough do: one or two prepositions do not make a place."""
    best = max(candidate.types, key=lambda each: (candidate.types[each], each), default="")
    share = _TYPED_MENTIONS.get(best, 3)
    coined = candidate.shape == "coined" and best in ("place", "organization")
    if best and not coined and (candidate.evident or candidate.types[best] * share >= len(candidate.texts)):
        return best
    return "tool" if candidate.shape == "coined" else ""
