"""Whatever agents of a pool do, nothing private of one is ever seen by another: no window, no search."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from foveal import Foveal, Session
from foveal.errors import FovealError
from foveal.model import Role

OPERATIONS = 10_000 if os.environ.get("FOVEAL_SOAK") == "1" else 300
AGENTS = ("api", "db", "web", "loner")
"""The last one is in no pool."""
LONGEST = 120
"""Messages of a session, after which it is deleted and begins again."""
PRESETS = ("foveal", "foveal", "foveal", "recent", "openscroll", "fifth", "penguin", "reploid", "omar")
FILES = tuple(f"src/{part}/module_{number}.py" for part in ("auth", "db", "web") for number in range(3))
SAID = (
    "We decided to keep {file} free of caches, because {word} must be exact.",
    "Never edit {file} without a test. My name is {word}.",
    "I prefer {word} for everything in {file}.",
    "The bug in {file} is that `{word}` is called twice; see ticket {word}-7.",
    "What did we decide about {file}?",
)
Do = Callable[["Team"], object]


class Team:
    """Agents on one repository, and the random choices of one run."""

    def __init__(self, fov: Foveal, seed: int) -> None:
        self.fov, self.random = fov, Random(seed)
        self.words = 0
        self.shared = 0
        fov.pool("repo", budget=9_000)
        for name in AGENTS:
            self.begin(name)
        self.name = AGENTS[0]

    def begin(self, name: str) -> Session:
        return self.fov.session(name, model="gpt-5", pool="" if name == "loner" else "repo")

    @property
    def session(self) -> Session:
        return self.fov.session(self.name)

    @property
    def others(self) -> list[str]:
        return [name for name in AGENTS if name != self.name]

    def text(self, *, private: bool) -> str:
        self.words += 1
        word = f"{'canary' if private else 'plain'}_of_{self.name}_{self.words}"
        file = f"src/{word}/vault.py" if private and self.random.random() < 0.3 else self.random.choice(FILES)
        return self.random.choice(SAID).format(file=file, word=word)

    def turn(self, *, private: bool) -> list[dict[str, Any]]:
        self.words += 1
        arguments = {"path": self.random.choice(FILES), "new_string": self.text(private=private)}
        function = {"name": "edit_file", "arguments": json.dumps(arguments)}
        call = {"id": f"c{self.words}", "type": "function", "function": function}
        return [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [call],
                **({"private": True} if private else {}),
            },
            {
                "role": "tool",
                "tool_call_id": f"c{self.words}",
                "content": f"ok: {self.text(private=private)}",
            },
        ]

    def message(self) -> str:
        entries = self.session.entries()
        return self.random.choice(entries).id if entries else "m1"

    def check(self, what: str, text: str, names: list[str] | None = None) -> None:
        for name in self.others if names is None else names:
            found = f"canary_of_{name}" in text
            assert not found, f"{what} of {self.name} has something private of {name}"


def say(team: Team, *, private: bool) -> None:
    role: Role = team.random.choice(("user", "assistant"))
    team.session.add(role, team.text(private=private), private=private)


def build(team: Team) -> None:
    task = team.random.choice(("", "", "Write the tests of {}", "canary_of_api vault {}"))
    window = team.session.build(
        budget=team.random.choice((None, 300, 1_000, 4_000)),
        preset=team.random.choice(PRESETS),
        task=task.format(team.random.choice(FILES)),
    )
    text = json.dumps(window.messages, ensure_ascii=False)
    team.shared += "[POOL]" in text
    team.check("a window", text + window.explain())


def search(team: Team) -> None:
    query = team.random.choice((f"canary_of_{team.others[0]}", "vault", "ticket", team.random.choice(FILES)))
    team.check("a search", "".join(hit.text for hit in team.session.search(query, everywhere=True)))
    call = {"name": "foveal_search", "arguments": json.dumps({"query": query})}
    team.check("the search tool", json.dumps(team.session.answer(call["name"], {"query": query})))


def recall(team: Team) -> None:
    other = team.fov.session(team.random.choice(team.others))
    for entry in other.entries()[-5:]:
        try:
            team.check("a recall", str(team.session.recall(entry.handle, everywhere=True)))
        except FovealError:
            continue


def fork(team: Team) -> None:
    if team.fov.find("copy"):
        team.fov.delete("copy")
    copy = team.fov.fork(team.name, "copy")
    team.fov.pool("repo").join(copy)
    team.check("a fork", json.dumps(copy.build(budget=3_000).messages), list(AGENTS))


def move(team: Team) -> None:
    pool = team.fov.pool(team.random.choice(("repo", "repo", "repo", "elsewhere")))
    pool.join(team.session) if team.name != "loner" else None


def edit(team: Team) -> None:
    history = [message for message in team.session.export() if message.get("role") != "tool"][:8]
    plain = [each for each in history if not each.get("tool_calls")]
    team.session.sync([*plain[: team.random.randint(0, len(plain))], {"role": "user", "content": "Go on."}])


def profile(team: Team) -> None:
    team.check("the profile", str(team.fov.profile()), list(AGENTS))


OPERATIONS_OF: tuple[tuple[int, Do], ...] = (
    (12, lambda team: say(team, private=False)),
    (8, lambda team: say(team, private=True)),
    (8, lambda team: team.session.extend(team.turn(private=False))),
    (4, lambda team: team.session.extend(team.turn(private=True))),
    (20, build),
    (4, search),
    (2, recall),
    (1, fork),
    (1, move),
    (1, edit),
    (1, profile),
    (2, lambda team: team.session.forget(team.message())),
    (1, lambda team: team.session.forget(team.message(), erase=False)),
    (1, lambda team: team.session.restore()),
    (1, lambda team: team.session.compress(1_000)),
    (1, lambda team: team.session.summarize(6)),
    (1, lambda team: team.session.pin(team.message())),
    (1, lambda team: team.session.start_task(team.text(private=False)[:40])),
    (1, lambda team: team.session.complete_task()),
)


@pytest.mark.parametrize("seed", range(2))
def test_nothing_private_is_ever_in_another_agents_window(seed: int) -> None:
    weights, operations = zip(*OPERATIONS_OF, strict=True)
    with Foveal(":memory:", embedder="none") as fov:
        team = Team(fov, seed)
        for _ in range(OPERATIONS // 2):
            team.name = team.random.choice(AGENTS)
            if len(team.session.entries()) > LONGEST:
                fov.delete(team.name)
                team.begin(team.name)
            (operation,) = team.random.choices(operations, weights)
            try:
                operation(team)
            except FovealError:  # a budget too small, a message that is gone
                continue
        assert team.shared > OPERATIONS // 50, "the pool was used"
