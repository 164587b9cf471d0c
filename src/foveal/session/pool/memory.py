"""What the agents of a pool share, kept in memory and ranked for one of them.

The memory is derived from the sessions and catches up before each use: a build reads what is new in them. It
is ranked by words and names alone: no model, no vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import TYPE_CHECKING

from foveal.pipeline.summarize.rules import supersedes
from foveal.pipeline.values import FactKey
from foveal.search.terms import terms
from foveal.session.pool.facts import WORTH, Fact, SharedFacts
from foveal.session.pool.share import Demand, share_of
from foveal.session.resources import Resources
from foveal.session.state import SessionState
from foveal.store import PoolRecord
from foveal.window import PoolShare

if TYPE_CHECKING:
    from foveal.search.postings import Postings
    from foveal.search.values import Floats

RANKED = 60
"""Facts that are offered for one window at most."""
LOOKED_AT = 400
"""Facts with the best scores, of which those of other agents that still hold are ranked."""
COMMON, COMMON_SHARE = 8, 0.1
"""A word says nothing of what matters if more facts than this have it, and more than this share of them."""
LEAST = 0.3
"""Of the best fact's score: what others must reach."""
TOUCHED = 0.5
"""What the names that an agent uses count for, beside the words of its task."""
DIGITS = 6
SATURATION, LENGTH = 1.2, 0.3
"""BM25's k1 and b."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """What an agent is doing."""

    asked: str
    """Its task, and its user's latest words."""
    touched: str
    """Its latest calls and words, of which names count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """What a pool has for one window."""

    share: PoolShare
    kept: Mapping[FactKey, Fact] = field(default_factory=dict)
    """Those facts of its earlier notes that windows may still show."""
    facts: tuple[Fact, ...] = ()
    """What the other agents share that matches what this one is doing, best first."""


class PoolMemories:
    """The memories of a tenant's pools, by number."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._pools: dict[int, _Memory] = {}
        self._lock = RLock()

    def pooled(
        self, record: PoolRecord, name: str, doing: Doing, *, now: float, keys: Iterable[FactKey]
    ) -> Pooled:
        """What a pool has for the next window of its session of that name.

        `keys`: of the facts in its notes. The caller holds no lock and no transaction.
        """
        with self._lock:
            memory = self._caught_up(record)
            share = share_of(record.name, name, record.budget, memory.demands(), now)
            kept = {key: fact for key in keys if (fact := memory.find(name, key))}
            return Pooled(share=share, facts=memory.facts_for(name, doing), kept=kept)

    def shares(self, record: PoolRecord, now: float) -> list[tuple[str, PoolShare]]:
        """What the next window of each agent would have of the budget, by name of its session."""
        with self._lock:
            demands = self._caught_up(record).demands()
        return [(name, share_of(record.name, name, record.budget, demands, now)) for name in demands]

    def _caught_up(self, record: PoolRecord) -> _Memory:
        memory = self._pools.setdefault(record.id, _Memory(self._resources))
        try:
            memory.catch_up(record.id)
        except BaseException:
            del self._pools[record.id]  # it may lack facts of messages that it has read
            raise
        return memory


class _Memory:
    """What the agents of one pool share."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._agents: dict[str, SharedFacts] = {}
        self._begin()

    def _begin(self) -> None:
        self._postings: Postings | None = None
        self._places: list[tuple[str, int]] = []
        """For each document of the index, the agent and the number of its fact."""
        self._read: dict[str, tuple[int, int]] = {}
        """By agent, which reading of its facts is in the index, and how many of them."""
        self._known: dict[FactKey, tuple[str, int]] = {}

    def catch_up(self, pool: int) -> None:
        """Read what is new in the sessions of the pool; build the index again if something is gone."""
        store = self._resources.store
        with store.transaction(write=False):
            names = store.pools.members(pool)
            if gone := self._agents.keys() - set(names):
                self._agents = {name: facts for name, facts in self._agents.items() if name not in gone}
                self._begin()
            for name in names:
                self._catch_up(name)
        for name, facts in self._agents.items():
            if name in self._read and self._read[name][0] != facts.readings:
                self._begin()
        for name in self._agents:
            self._index(name)

    def _catch_up(self, name: str) -> None:
        record = self._resources.store.find_session(name)
        if record is None:
            return
        if name not in self._agents or self._agents[name].state.id != record.id:
            self._agents[name] = SharedFacts(SessionState(self._resources, record))
            self._begin()
        self._agents[name].catch_up()

    def _index(self, name: str) -> None:
        from foveal.search.postings import Postings

        facts = self._agents[name]
        _, start = self._read.get(name, (0, 0))
        self._postings = self._postings or Postings()
        for number, fact in enumerate(facts.facts[start:], start):
            self._postings.append(fact.terms)
            self._places.append((name, number))
            self._known[fact.key] = (name, number)
        self._read[name] = (facts.readings, len(facts.facts))

    def demands(self) -> dict[str, Demand]:
        return {
            name: Demand(tokens=facts.tokens, latest=facts.latest) for name, facts in self._agents.items()
        }

    def find(self, name: str, key: FactKey) -> Fact | None:
        """A fact of another agent than `name`, if windows may show it."""
        agent, number = self._known.get(key, (name, 0))
        if agent == name or not self._agents[agent].is_shared(number):
            return None
        return self._agents[agent].facts[number]

    def facts_for(self, name: str, doing: Doing) -> tuple[Fact, ...]:
        """The facts of the other agents that match what one is doing, best first; of equal ones the first."""
        if self._postings is None or not len(self._postings):
            return ()
        asked, touched = terms(doing.asked).all, sorted(terms(doing.touched).coined)
        scores = self._scores(self._postings, asked) + TOUCHED * self._scores(self._postings, touched)
        said = self._agents[name].texts
        found: dict[str, tuple[float, Fact]] = {}
        best = (-scores).argsort(kind="stable")[:LOOKED_AT]
        for at in best[scores[best] > 0].tolist():
            agent, number = self._places[at]
            facts = self._agents[agent]
            fact, text = facts.facts[number], facts.facts[number].text.casefold()
            if agent == name or text in said or not facts.is_shared(number) or not facts.is_current(number):
                continue
            if text not in found or fact.order < found[text][1].order:
                found[text] = round(float(scores[at]) * WORTH[fact.kind], DIGITS), fact
        least = LEAST * max((value for value, _ in found.values()), default=0.0)
        ranked = sorted(found.values(), key=lambda pair: (-pair[0], *pair[1].order))
        return _standing([fact for value, fact in ranked if value >= least][:RANKED])

    def _scores(self, postings: Postings, words: Sequence[str]) -> Floats:
        """The scores for these words, without those that too many facts have."""
        most = max(COMMON, COMMON_SHARE * len(postings))
        rare = [number for number in postings.known(words) if postings.frequency(number) <= most]
        return postings.scores(rare, saturation=SATURATION, length=LENGTH)


def _standing(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """The facts without decisions that a later one among them replaces."""
    decided = [fact for fact in facts if fact.kind == "decided"]
    gone = {
        earlier.key
        for earlier in decided
        for later in decided
        if later.order > earlier.order and supersedes(later.text, earlier.text)
    }
    return tuple(fact for fact in facts if fact.key not in gone)
