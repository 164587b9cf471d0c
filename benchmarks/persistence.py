"""Measure how many of the rules and facts that users state are still in a window much later, verbatim.

    python benchmarks/persistence.py [--json FILE] [--runs N] [--seed N] [--share X]

One short statement is planted at the end of a random user message in the first third of a recording or chat;
the recordings are drawn with repetition. The window of the default preset at a quarter of the tokens must
contain it
verbatim. A planted correction must be in the window, and what it corrects must not be after the heading of
the rules that hold. Besides, the share of the users' own messages in which a rule is found is counted, and
how the time of finding rules grows with hostile text.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import foveal
from foveal.pipeline.requests import command_in
from foveal.pipeline.summarize.rules import rules_in, standing
from foveal.pipeline.summarize.statements import statement
from harness import BENCH
from planted_rules import CORRECTED, PASSING, STATED

ABSENT = f"no recorded chats at {BENCH}: name their folder with FOVEAL_BENCH"
CHATS = ("locomo", "beam")
RUNS = 200
SEED = 4_417
SHARE = 0.25
LEAST = 2_000
"""Tokens of a recording below which everything fits anyway."""
MODEL = "gpt-5"
HEADING = "Rules"
"""How the heading of the rules that hold begins in a note."""
HOSTILE = (
    "a", " ", "I'm a ", "my name is ", "no, ", "remember that ", "don't touch a.\n", "use a, not b; ", '"x '
)  # fmt: skip
SIZES = 100_000, 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    id: str
    domain: str
    messages: list[dict[str, Any]]

    @property
    def asked(self) -> list[int]:
        """Positions of user messages in the first third; the output of a command is none."""
        third = max(1, len(self.messages) // 3)
        said = [at for at, each in enumerate(self.messages[:third]) if each["role"] == "user"]
        return [at for at in said if not at or not command_in(text_of(self.messages[at - 1]))]


def recordings() -> Iterator[Recording]:
    for name in CHATS:
        seen: set[str] = set()
        for row in _rows(BENCH / "recall" / "data" / "dev" / f"{name}.jsonl.gz"):
            if row["conv_id"] not in seen:
                seen.add(row["conv_id"])
                messages = [{"role": each["role"], "content": each["content"]} for each in row["history"]]
                yield Recording(id=row["conv_id"], domain=name, messages=messages)
    for row in _rows(BENCH / "trajectories" / "data" / "dev.jsonl.gz"):
        yield Recording(id=row["id"], domain=row["domain"], messages=row["messages"])


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def text_of(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def with_statement(messages: list[dict[str, Any]], at: int, statement: str) -> list[dict[str, Any]]:
    """The messages with a statement at the end of one of them."""
    said = {**messages[at], "content": f"{text_of(messages[at])}\n{statement}"}
    return [*messages[:at], said, *messages[at + 1 :]]


def window_text(messages: list[dict[str, Any]], budget: int) -> str:
    with foveal.Foveal(":memory:", embedder="none") as fov:
        session = fov.session("planted", model=MODEL)
        session.extend(messages)
        return "\n".join(map(text_of, session.build(budget=budget).messages))


def window_budget(messages: list[dict[str, Any]], share: float) -> int:
    """The system prompt, and a share of the other tokens."""
    system = [each for each in messages[:1] if each["role"] == "system"]
    fixed = foveal.count_tokens(system, model=MODEL) if system else 0
    return fixed + int(share * (foveal.count_tokens(messages, model=MODEL) - fixed))


def rules_part(window: str) -> str:
    """What a window lists as rules that hold; empty if it has no such list."""
    _, found, rest = window.partition(f"\n{HEADING}")
    return "\n".join(takewhile(lambda line: line.startswith("- ["), rest.split("\n")[1:])) if found else ""


def persistence(cases: list[Recording], *, runs: int, seed: int, share: float) -> dict[str, Any]:
    """The share of statements and corrections that the windows contain, by domain."""
    chance = random.Random(seed)
    statements = [(kind, text) for kind, texts in STATED.items() for text in texts]
    tried, kept, missed = Counter[str](), Counter[str](), Counter[str]()
    for number in range(runs):
        case = chance.choice(cases)
        budget = window_budget(case.messages, share)
        corrected = number % 5 == 4
        if corrected:
            earlier, statement = chance.choice(CORRECTED)
            first, at = sorted(chance.choices(case.asked, k=2))
            messages = with_statement(with_statement(case.messages, first, earlier), at, statement)
        else:
            kind, statement = chance.choice(statements)
            messages, earlier = with_statement(case.messages, chance.choice(case.asked), statement), ""
        window = window_text(messages, budget)
        holds = statement in window and not (earlier and earlier in rules_part(window))
        for name in ("all", "corrections" if corrected else case.domain):
            tried[name] += 1
            kept[name] += holds
        if not holds and not corrected:
            missed[kind] += 1
    return {
        "kept": {name: f"{kept[name]} of {tried[name]}" for name in sorted(tried)},
        "share": round(kept["all"] / max(1, tried["all"]), 3),
        "missed kinds": dict(missed.most_common()),
    }


def found_by_grammar() -> dict[str, str]:
    """How many planted statements the grammar finds, and how many remarks it takes for one."""
    texts = [text for listed in STATED.values() for text in listed]
    found = sum(bool(standing(rules_in(text, 0))) for text in texts)
    won = sum(
        [rule.text for rule in standing((*rules_in(earlier, 0), *rules_in(later, 1)))] == [later]
        for earlier, later in CORRECTED
    )
    taken = sum(bool(rules_in(text, 0)) for text in PASSING)
    return {
        "statements found": f"{found} of {len(texts)}",
        "corrections that win": f"{won} of {len(CORRECTED)}",
        "remarks taken for one": f"{taken} of {len(PASSING)}",
    }


def flagged(cases: list[Recording]) -> dict[str, str]:
    """The share of user messages with a rule, by domain."""
    messages, found = Counter[str](), Counter[str]()
    for case in cases:
        for at, each in enumerate(case.messages):
            if each["role"] == "user":
                messages[case.domain] += 1
                found[case.domain] += bool(rules_in(text_of(each), at))
    return {name: f"{found[name]} of {messages[name]}" for name in sorted(messages)}


def growth() -> float:
    """How many times as long the larger hostile text takes, at worst."""
    return max(
        _seconds(unit * (SIZES[1] // len(unit))) / max(1e-3, _seconds(unit * (SIZES[0] // len(unit))))
        for unit in HOSTILE
    )


def _seconds(text: str) -> float:
    """The best of three: the machine may be busy."""
    times = []
    for _ in range(3):
        statement.cache_clear()
        began = time.process_time()
        standing(rules_in(text, 0))
        times.append(time.process_time() - began)
    return min(times)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", type=Path)
    options.add_argument("--runs", type=int, default=RUNS)
    options.add_argument("--seed", type=int, default=SEED)
    options.add_argument("--share", type=float, default=SHARE)
    chosen = options.parse_args()
    if not (BENCH / "recall").is_dir() or not (BENCH / "trajectories").is_dir():
        print(ABSENT)
        return 0
    cases = list(recordings())
    long = [
        case
        for case in cases
        if case.asked and foveal.count_tokens(case.messages, model=MODEL) >= LEAST / chosen.share
    ]
    result = {
        "grammar": found_by_grammar(),
        "flagged": flagged(cases),
        "growth from 100 KB to 1 MB": round(growth(), 1),
        "windows": persistence(long, runs=chosen.runs, seed=chosen.seed, share=chosen.share),
    }
    print(json.dumps(result, indent=2, ensure_ascii=False))
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
