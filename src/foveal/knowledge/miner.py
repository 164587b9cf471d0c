"""Find the topics and entities that a conversation mentions, text by text.

Precision before recall: a name counts if it occurs twice, or once in the user's words, or where the words
around it show that it is one; a word that the conversation also writes in lower case does not count. Later
texts change what is known about earlier ones: `found` returns every text whose things changed since the last
call. No model is used, and the same texts give the same things. `read` costs time in the length of the text,
`found` in the number of names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from foveal.knowledge.entities import Candidate, entities, known_candidate, phrases, slug_of, topics
from foveal.knowledge.sightings import Sighting, find_sightings
from foveal.knowledge.values import ThingKind
from foveal.model import Role
from foveal.pipeline.signals import STOP_WORDS
from foveal.pipeline.summarize.language import head_and_tail, split_pasted
from foveal.store import Mention

MOST_READ = 20_000
"""Characters that are read at each end of a text."""
_ENGLISH = 0.2
"""The least share of stop words in English; other languages use capitals differently."""
_Spelling = tuple[ThingKind, str]
"""A kind and a slug."""


class Miner:
    """Reads one conversation and collects what it may be about.

    Names in `known_text`, the text of prompt files, are not found. Things in `already`, from earlier texts or
    conversations, are found at their first mention, so that a new process can go on without reading
    everything again.

    >>> miner = Miner()
    >>> miner.read("m1", "My sister Maria moved to Lisbon.", "user")
    >>> [(thing.name, thing.type) for thing in miner.found()["m1"]]
    [('Maria', 'person'), ('Lisbon', 'place')]
    """

    def __init__(self, *, known_text: str = "", already: Iterable[Mention] = ()) -> None:
        self._known = f"-{slug_of(known_text)}-"
        self._names: dict[str, Candidate] = {}
        self._phrases: dict[str, Candidate] = {}
        self._lower_case: Counter[str] = Counter()
        self._nouns: Counter[str] = Counter()
        self._read: dict[str, dict[_Spelling, None]] = {}
        """What may be mentioned in each text, in order."""
        self._new: dict[str, None] = {}
        self._things: dict[_Spelling, Mention] = {}
        for each in already:
            candidates = self._names if each.kind == "entity" else self._phrases
            candidates[each.slug] = known_candidate(each)

    def read(self, key: str, text: str, role: Role) -> None:
        """Read the next text under its key. Only what users and models typed counts."""
        if key in self._read:
            return
        here = self._read.setdefault(key, {})
        self._new[key] = None
        if role not in ("user", "assistant"):
            return
        shown = find_sightings(split_pasted(head_and_tail(text, MOST_READ))[0])
        self._lower_case.update(shown.small)
        for sighting in shown.sightings:
            here["entity", self._sight(sighting, key, role)] = None
        for phrase in phrases(shown.prose):
            if len(phrase) == 1:
                self._nouns[phrase[0]] += 1
            else:
                here["topic", self._phrase(phrase, key, role)] = None

    def found(self) -> Mapping[str, tuple[Mention, ...]]:
        """The things of every text that was read, or whose things changed, since the last call."""
        before, self._things = self._things, self._decide()
        keys, self._new = self._new, {}
        for spelling in sorted(before.keys() | self._things.keys()):
            changed = self._changed(spelling, before.get(spelling), self._things.get(spelling))
            keys |= dict.fromkeys(changed)
        return {key: self._of_text(key) for key in keys}

    def _changed(self, spelling: _Spelling, before: Mention | None, now: Mention | None) -> Sequence[str]:
        """The texts to return: all if the spelling names another thing, the latest if its type is new."""
        kind, slug = spelling
        keys = list((self._names if kind == "entity" else self._phrases)[slug].texts)
        if before is None or now is None or before.slug != now.slug:
            return keys if before != now else ()
        return () if before.type or not now.type else keys[-1:]

    def _sight(self, sighting: Sighting, key: str, role: Role) -> str:
        name = " ".join(sighting.words)
        slug = slug_of(name)
        here = self._names.setdefault(slug, Candidate(words=sighting.words, shape=sighting.shape))
        here.texts.setdefault(key, role)
        here.spellings[name] += 1
        here.within += not sighting.opens
        here.evident += sighting.evident
        if sighting.type:
            here.types[sighting.type] += 1
        return slug

    def _phrase(self, phrase: tuple[str, ...], key: str, role: Role) -> str:
        slug = "-".join(phrase)
        self._phrases.setdefault(slug, Candidate(words=phrase, shape="name")).texts.setdefault(key, role)
        return slug

    def _decide(self) -> dict[_Spelling, Mention]:
        named = entities(self._names, self._lower_case) if self._is_english() else {}
        topical = topics(self._phrases, named.values(), self._nouns)
        both: dict[_Spelling, Mention] = {("entity", slug): each for slug, each in named.items()}
        both |= {("topic", slug): each for slug, each in topical.items()}
        return {spelling: each for spelling, each in both.items() if f"-{each.slug}-" not in self._known}

    def _is_english(self) -> bool:
        plain = sum(self._lower_case[word] for word in STOP_WORDS)
        return plain >= _ENGLISH * self._lower_case.total()

    def _of_text(self, key: str) -> tuple[Mention, ...]:
        named = (self._things.get(spelling) for spelling in self._read[key])
        return tuple(dict.fromkeys(each for each in named if each is not None))
