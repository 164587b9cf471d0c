"""What belongs to one owner is read by no other: two tenants of one store at random, word by word."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from foveal import Foveal, Session
from foveal.errors import FovealError, NotFoundError
from foveal.session.knowledge.profile import known
from foveal.store import BundleRecord

OPERATIONS = 10_000 if os.environ.get("FOVEAL_SOAK") == "1" else 300
NOW = 1_800_000_000.0
SECRETS = {"amber": "Amberlin", "cobalt": "Cobaltine"}
"""Of each tenant, a word that all its texts have and no other tenant's."""


def count(text: str) -> int:
    return len(text.split())


class Owner:
    """One tenant, and what it does at random."""

    def __init__(self, path: Path, name: str, source: random.Random) -> None:
        self.fov = Foveal(path, tenant=name, embedder="none")
        self.word = SECRETS[name]
        self._source = source
        self._sessions: dict[str, Session] = {}
        self.ids = [f"{kind}-{number}" for kind in ("memory", "thing") for number in range(1, 9)]
        """Its own ids, and at first some that can be guessed."""

    def operations(self) -> list[Callable[[], object]]:
        return [
            *[self.say] * 3,
            *[self.remember] * 3,
            self.profile,
            self.known,
            self.predictions,
            self.bundles,
            self.unread,
            *[self.change] * 2,
            self.erase,
            self.delete,
        ]

    def _session(self) -> Session:
        name = f"{self.word} {self._source.randrange(3)}"
        return self._sessions.setdefault(name, self.fov.session(name))

    def _id(self) -> str:
        return self._source.choice(self.ids)

    def say(self) -> object:
        number = self._source.randrange(40)
        text = f"I live in {self.word}ville. My sister {self.word} moved to Lisbon in {1900 + number}."
        return self._session().add("user", text)

    def remember(self) -> object:
        kept = self.fov.remember(
            f"{self.word} has {self._source.randrange(50)} cats.", by=self._source.choice(("user", "model"))
        )
        self.ids.append(kept.id)
        return kept

    def profile(self) -> object:
        found = self.fov.profile(now=NOW)
        self.ids += [each.id for each in (*found.topics, *found.entities, *found.memories)][:9]
        return found

    def known(self) -> object:
        state = self._session()._state
        return known(state, task=" ".join(SECRETS.values()), count=count, now=NOW)

    def predictions(self) -> object:
        here = {"active_conversation": self._session().name}
        return self.fov.presence(here), self.fov.predictions()

    def bundles(self) -> object:
        kept = self.fov._store.knowledge
        made = BundleRecord(
            kind="topic", subject="1", depth="deep", text=self.word, tokens=1, version="1", compiled_at=NOW
        )
        kept.save_bundles([made], as_of=kept.forget_count())
        return kept.bundles([("topic", str(number)) for number in range(9)], "deep")

    def unread(self) -> object:
        kept = self.fov._store.knowledge
        return kept.unread(limit=9), kept.messages_mentioning(self._source.randrange(99), limit=9)

    def change(self) -> object:
        id = self._id()
        ways: list[Callable[[], object]] = [
            lambda: self.fov.edit_memory(id, f"{self.word} is {self._source.randrange(50)} years old."),
            lambda: self.fov.confirm(id),
            lambda: self.fov.forget_memory(id),
            lambda: self.fov.rename_thing(id, f"{self.word} renamed"),
            lambda: self.fov.forget_thing(id),
        ]
        return self._source.choice(ways)()

    def erase(self) -> object:
        return self._session().forget(f"m{self._source.randrange(1, 40)}")

    def delete(self) -> object:
        name = self._session().name
        del self._sessions[name]
        return self.fov.delete(name)


@pytest.fixture
def owners(tmp_path: Path) -> Iterator[list[Owner]]:
    source = random.Random(11)
    both = [Owner(tmp_path / "shared.db", name, source) for name in SECRETS]
    yield both
    for each in both:
        each.fov.close()


def others_word(owner: Owner) -> str:
    (other,) = (word for word in SECRETS.values() if word != owner.word)
    return other


@pytest.mark.soak
def test_random_operations_by_two_owners_never_cross(owners: list[Owner]) -> None:
    source = random.Random(7)
    read = refused = 0
    for _ in range(OPERATIONS):
        owner = source.choice(owners)
        try:
            found = source.choice(owner.operations())()
        except FovealError as refusal:
            found, refused = refusal, refused + 1
        shown = str(found).replace(" ".join(SECRETS.values()), "")
        assert others_word(owner) not in shown
        read += owner.word in shown
    assert (read > OPERATIONS // 4, refused > 0) == (True, True)
    assert [each.fov.verify().faults for each in owners] == [(), ()]


def test_the_ids_of_another_owner_are_unknown(owners: list[Owner]) -> None:
    mine, theirs = owners
    theirs.say()
    theirs.say()
    theirs.remember()
    theirs.profile()
    before = theirs.fov.profile(now=NOW)
    memories, things = before.memories, (*before.topics, *before.entities)
    assert memories
    assert things
    for use in (
        mine.fov.forget_memory,
        mine.fov.confirm,
        lambda name: mine.fov.edit_memory(name, "I see you."),
    ):
        with pytest.raises(NotFoundError):
            use(memories[0].id)
    for change in (mine.fov.forget_thing, lambda name: mine.fov.rename_thing(name, "mine")):
        with pytest.raises(NotFoundError):
            change(things[0].id)
    assert theirs.fov.profile(now=NOW) == before
