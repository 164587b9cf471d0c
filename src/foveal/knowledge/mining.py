"""A conversation in, text by text → the names of the things it speaks of: topics and entities, each once.

Precision before recall: a name counts when it is seen twice, once in the user's words, or where those around
it say that it is one; a word that the conversation also writes in small letters is none. What later texts
teach is applied to earlier ones: `found` tells every text whose things changed since it was last asked. No
model; the same texts give the same things; reading costs a text's length, asking the names there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from foveal.knowledge.entities import Candidate, confirmed, entities, phrases, slug_of, topics
from foveal.knowledge.sightings import Sighting, seen
from foveal.knowledge.values import Found, ThingKind
from foveal.model import Role
from foveal.pipeline.signals import STOP_WORDS
from foveal.pipeline.summarize.language import head_and_tail, split_pasted

LOOKED_AT = 20_000
"""Characters of each end of a text that are read."""
_ENGLISH = 0.2
"""Share of small words that say nothing; below it this is another language, with other uses of capitals."""
_Spelling = tuple[ThingKind, str]
"""A kind and a slug."""


def things_in(text: str, role: Role) -> tuple[Found, ...]:
    """The things that one text names beyond doubt, with nothing known of the texts around it."""
    miner = Miner()
    miner.read("", text, role)
    return miner.found().get("", ())


class Miner:
    """Walks through one conversation and keeps what it may speak of.

    `known_text`: what prompt files say already; its names are not found again.
    `already`: things of earlier texts or conversations; seen once, they are found. So a walk can go on where
    another process ended, without reading everything again.

    >>> miner = Miner()
    >>> miner.read("m1", "My sister Maria moved to Lisbon.", "user")
    >>> [(thing.name, thing.type) for thing in miner.found()["m1"]]
    [('Maria', 'person'), ('Lisbon', 'place')]
    """

    def __init__(self, *, known_text: str = "", already: Iterable[Found] = ()) -> None:
        self._known = f"-{slug_of(known_text)}-"
        self._names: dict[str, Candidate] = {}
        self._phrases: dict[str, Candidate] = {}
        self._small: Counter[str] = Counter()
        self._nouns: Counter[str] = Counter()
        self._read: dict[str, dict[_Spelling, None]] = {}
        """What stands in each text, in its order."""
        self._new: dict[str, None] = {}
        self._settled: dict[_Spelling, Found] = {}
        for each in already:
            kept = self._names if each.kind == "entity" else self._phrases
            kept[each.slug] = confirmed(each)

    def read(self, key: str, text: str, role: Role) -> None:
        """Take in the next text, under its key. Only what users and models typed is read."""
        if key in self._read:
            return
        here = self._read.setdefault(key, {})
        self._new[key] = None
        if role not in ("user", "assistant"):
            return
        shown = seen(split_pasted(head_and_tail(text, LOOKED_AT))[0])
        self._small.update(shown.small)
        for sighting in shown.sightings:
            here["entity", self._sight(sighting, key, role)] = None
        for phrase in phrases(shown.prose):
            if len(phrase) == 1:
                self._nouns[phrase[0]] += 1
            else:
                here["topic", self._phrase(phrase, key, role)] = None

    def found(self) -> Mapping[str, tuple[Found, ...]]:
        """The things of every text that was read, or whose things changed, since this was last asked."""
        before, self._settled = self._settled, self._verdicts()
        keys, self._new = self._new, {}
        for place in sorted(before.keys() | self._settled.keys()):
            keys |= dict.fromkeys(self._changed(place, before.get(place), self._settled.get(place)))
        return {key: self._things(key) for key in keys}

    def _changed(self, place: _Spelling, before: Found | None, now: Found | None) -> Sequence[str]:
        """The texts to tell of: all where it is another thing now, the newest where its type is known now."""
        kind, slug = place
        keys = list((self._names if kind == "entity" else self._phrases)[slug].keys)
        if before is None or now is None or before.slug != now.slug:
            return keys if before != now else ()
        return () if before.type or not now.type else keys[-1:]

    def _sight(self, sighting: Sighting, key: str, role: Role) -> str:
        name = " ".join(sighting.words)
        slug = slug_of(name)
        here = self._names.setdefault(slug, Candidate(words=sighting.words, shape=sighting.shape))
        here.keys.setdefault(key, role)
        here.spelt[name] += 1
        here.inside += not sighting.fresh
        here.telling += sighting.telling
        if sighting.type:
            here.types[sighting.type] += 1
        return slug

    def _phrase(self, phrase: tuple[str, ...], key: str, role: Role) -> str:
        slug = "-".join(phrase)
        self._phrases.setdefault(slug, Candidate(words=phrase, shape="name")).keys.setdefault(key, role)
        return slug

    def _verdicts(self) -> dict[_Spelling, Found]:
        named = entities(self._names, self._small) if self._is_english() else {}
        spoken = topics(self._phrases, named.values(), self._nouns)
        both: dict[_Spelling, Found] = {("entity", slug): each for slug, each in named.items()}
        both |= {("topic", slug): each for slug, each in spoken.items()}
        return {place: each for place, each in both.items() if f"-{each.slug}-" not in self._known}

    def _is_english(self) -> bool:
        plain = sum(self._small[word] for word in STOP_WORDS)
        return plain >= _ENGLISH * self._small.total()

    def _things(self, key: str) -> tuple[Found, ...]:
        named = (self._settled.get(place) for place in self._read[key])
        return tuple(dict.fromkeys(each for each in named if each is not None))
