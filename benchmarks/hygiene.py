"""Measure how many of the topics and entities mined from recorded chats are real, duplicated or copied.

    python benchmarks/hygiene.py [--json FILE] [--seed N] [--contexts]

Every chat of the recall data, and every recorded run of an agent, is mined on its own. Two samples are drawn
with a fixed seed, of the chats and of the runs, as many from each as possible; whether each is a real name of
a thing in its chat was judged by reading it in its context (`--contexts` shows the context; nothing of it is
kept). Duplicates and names from prompt files are computed: no chat may have two things of the same letters,
two names of eight and more letters that differ in one, or a thing that its system prompt names.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from foveal.knowledge.miner import Miner
from foveal.knowledge.values import Found
from harness import BENCH

ABSENT = f"no recorded chats at {BENCH}: name their folder with FOVEAL_BENCH"
CHATS = ("locomo", "beam")
CODED = ("file", "code", "site")
"""Types whose names may differ in one letter: `session-A.json`, `session-B.json`."""
SAMPLE = 100
SEED = 7_031
WRONG = {
    "beam/100K-6: Senior Executive Producer": "the title of a job, not a name",
    "coding/claude-code-8ab54260: E2E": "a kind of test, not a name",
}
"""What was found wrong in the samples of this seed, and why: `chat: name` → a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    id: str
    messages: tuple[tuple[str, str, str], ...]
    """Key, role and text of each."""

    @property
    def prompt(self) -> str:
        return "\n".join(text for _, role, text in self.messages if role == "system")

    def mined(self) -> Counter[Found]:
        miner = Miner(known_text=self.prompt)
        for key, role, text in self.messages:
            miner.read(key, text, role)  # type: ignore[arg-type]
        return Counter(thing for things in miner.found().values() for thing in things)


def chats() -> Iterator[Chat]:
    for name in CHATS:
        for row in _rows(BENCH / "recall" / "data" / "dev" / f"{name}.jsonl.gz"):
            messages = tuple((each["id"], each["role"], each["content"]) for each in row["history"])
            yield Chat(id=row["conv_id"], messages=messages)
    for row in _rows(BENCH / "trajectories" / "data" / "dev.jsonl.gz"):
        messages = tuple((str(at), each["role"], _text(each)) for at, each in enumerate(row["messages"]))
        yield Chat(id=f"{row['domain']}/{row['id']}", messages=messages)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def sample(found: Sequence[tuple[Chat, Counter[Found]]], seed: int) -> list[tuple[Chat, Found]]:
    """As many from each chat as possible, drawn in an order that only the seed decides."""
    chance = random.Random(seed)
    piles = [[(chat, thing) for thing in sorted(things, key=repr)] for chat, things in found if things]
    for pile in piles:
        chance.shuffle(pile)
    chance.shuffle(piles)
    drawn: list[tuple[Chat, Found]] = []
    while piles and len(drawn) < SAMPLE:
        drawn += [pile.pop() for pile in piles]
        piles = [pile for pile in piles if pile]
    return drawn[:SAMPLE]


def duplicates(things: Sequence[Found]) -> list[tuple[str, str]]:
    """Pairs of one chat whose letters are the same, or but one of eight and more."""
    letters = [(thing, "".join(filter(str.isalnum, thing.slug.lower()))) for thing in things]
    return [
        (one.name, other.name)
        for at, (one, mine) in enumerate(letters)
        for other, theirs in letters[:at]
        if mine == theirs or ({one.type, other.type}.isdisjoint(CODED) and _nearly(mine, theirs))
    ]


def _nearly(one: str, other: str) -> bool:
    if min(len(one), len(other)) < 8 or abs(len(one) - len(other)) > 1 or not (one + other).isalpha():
        return False
    start = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    return start > 1 and one[start + (len(one) >= len(other)) :] == other[start + (len(other) >= len(one)) :]


def copied(chat: Chat, things: Sequence[Found]) -> list[str]:
    said = " ".join("".join(char if char.isalnum() else " " for char in chat.prompt.lower()).split())
    return [thing.name for thing in things if f" {thing.slug.replace('-', ' ')} " in f" {said} "]


def context(chat: Chat, thing: Found) -> str:
    for _, role, text in chat.messages:
        at = text.lower().find(thing.name.lower()) if role in ("user", "assistant") else -1
        if at >= 0:
            return " ".join(text[max(0, at - 35) : at + 45].split())
    return ""


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", type=Path)
    options.add_argument("--seed", type=int, default=SEED)
    options.add_argument("--contexts", action="store_true")
    chosen = options.parse_args()
    if not (BENCH / "recall").is_dir() or not (BENCH / "trajectories").is_dir():
        print(ABSENT)
        return 0
    began = time.process_time()
    found = [(chat, chat.mined()) for chat in chats()]
    seconds = time.process_time() - began
    chatted = [each for each in found if each[0].id.startswith(CHATS)]
    drawn = {
        "chats": sample(chatted, chosen.seed),
        "runs": sample([each for each in found if each not in chatted], chosen.seed),
    }
    if chosen.contexts:
        for number, (chat, thing) in enumerate(chain(*drawn.values()), 1):
            print(f"{number:3} {chat.id:24.24} {thing.kind:6} {thing.name} | {context(chat, thing)}")
    result = {**report(found, seconds), **{f"sample of {name}": judged(each) for name, each in drawn.items()}}
    print(json.dumps(result, indent=2, ensure_ascii=False))
    if chosen.json and chosen.seed == SEED:
        chosen.json.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0 if not result["duplicates"] and not result["copied from prompts"] else 1


def report(found: Sequence[tuple[Chat, Counter[Found]]], seconds: float) -> dict[str, Any]:
    kinds = Counter(thing.kind for _, things in found for thing in things)
    return {
        "conversations": len(found),
        "messages": sum(len(chat.messages) for chat, _ in found),
        "topics": kinds["topic"],
        "entities": kinds["entity"],
        "seconds of computing": round(seconds, 2),
        "duplicates": [pair for _, things in found for pair in duplicates(list(things))],
        "copied from prompts": [name for chat, things in found for name in copied(chat, list(things))],
    }


def judged(drawn: Sequence[tuple[Chat, Found]]) -> dict[str, Any]:
    names = [f"{chat.id}: {thing.name}" for chat, thing in drawn]
    wrong = {name: WRONG[name] for name in names if name in WRONG}
    return {"drawn": len(names), "real": len(names) - len(wrong), "wrong": wrong, "names": names}


if __name__ == "__main__":
    sys.exit(main())
