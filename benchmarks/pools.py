"""Measure what agents on one repository know of each other's work: in a pool, and in separate sessions.

    python benchmarks/pools.py [--json FILE] [--show]

Three agents build one service, in turns. Each has its own part of it; the runs are generated, the same every
time. Most steps of an agent use its own files, but a third of them need what another agent settled before: a
path it made, a name it chose, an id it was given. The agent that settles something writes it into a file or
says so in its answer; nobody tells the others. In between there is ordinary work, which windows have to drop.

Before each step that needs something, a window is built, at the same total budget for the team: a third of
it for each separate session, the pool's division of it in a pool. *Argument recall* is the share of the
arguments of the next calls (paths, names, ids) that stand in the window as whole words. It is measured over
all calls, and over the arguments that come from another agent. About half of all arguments are names that the
agent makes up or files that it opens for the first time: no window can have them. The tokens of the windows
are reported as well. *Decisions* and *files* are the shares of what the others decided, and of the paths that
they changed, that the window has where the next call needs them.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from foveal import Foveal, Session

Message = dict[str, Any]
AGENTS = ("api", "db", "web")
ROUNDS = 24
BUDGETS = (6_000, 12_000, 24_000)
"""Tokens of the whole team."""
SEEDS = (1, 2, 3)
NOW = 1_794_813_000.0
_WORDS = """
account address audit balance basket billing booking cache cart catalog charge checkout claim contact coupon
credit currency customer delivery deposit digest discount dispute export feed filter gift import index invoice
ledger limit locale login mailbox market member notice offer order parcel partner payment plan price product
profile quota rating receipt refund region report request retry return review role search season session shelf
shipment signup stock store supplier survey tax team ticket token transfer trial upload vendor voucher wallet
warranty webhook
"""
WORDS = tuple(_WORDS.split())
ENDINGS = ("key", "state", "code", "kind", "scope")
FILES = ("store", "view", "rules", "sync")
PARTS = {"api": "src/api", "db": "src/db/models", "web": "web/pages"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a call needs that another agent settled."""

    agent: str
    values: tuple[str, ...]
    decided: str = ""
    changed: str = ""


@dataclass(slots=True, kw_only=True)
class Step:
    agent: str
    messages: list[Message]
    request: Message | None = None
    """What the user asks first, if anything."""
    need: Need | None = None


@dataclass(slots=True, kw_only=True)
class Tally:
    hits: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, name: str, *, hit: bool) -> None:
        self.hits[name].append(float(hit))

    def percent(self) -> dict[str, float]:
        return {name: round(100 * statistics.fmean(found), 1) for name, found in sorted(self.hits.items())}


class Script:
    """The steps of one team."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._calls = 0
        self._words = self._random.sample(WORDS, len(WORDS))
        self._settled: dict[str, list[tuple[str, Need]]] = {agent: [] for agent in AGENTS}

    def steps(self) -> Iterator[Step]:
        for number in range(ROUNDS):
            for agent in self._random.sample(AGENTS, len(AGENTS)):
                topic = self._words[(AGENTS.index(agent) * ROUNDS + number) % len(self._words)]
                yield self._settling(agent, topic)
                yield from (self._ordinary(agent) for _ in range(2))
                if (need := self._open_need(agent)) is not None:
                    yield self._needing(agent, *need)

    def _settling(self, agent: str, topic: str) -> Step:
        """An agent makes a file, chooses a name, is given an id, and says what it decided."""
        id = f"{topic[:3].upper()}-{self._random.randint(1_000, 9_999)}"
        name = f"{topic}_{self._random.choice(ENDINGS)}_{self._random.randint(10, 99)}"
        path = f"{PARTS[agent]}/{topic}_{self._random.choice(FILES)}.py"
        decided = f"We decided that {topic} records use the field {name}; the ticket is {id}."
        need = Need(agent=agent, values=(path, name, id), decided=decided, changed=path)
        self._settled[agent].append((topic, need))
        text = f"class {topic.title()}:\n    {name}: str\n"
        return Step(
            agent=agent,
            request={"role": "user", "content": f"Build the {topic} part in {PARTS[agent]}."},
            messages=[
                *self._call(
                    "write_file", {"path": path, "content": text}, f"The file {path} has been created."
                ),
                *self._call(
                    "run", {"command": "pytest -q"}, f"{self._random.randint(20, 90)} passed in 1.2s"
                ),
                {"role": "assistant", "content": f"Done. {decided}"},
            ],
        )

    def _ordinary(self, agent: str) -> Step:
        """Work that needs nothing of others: reads of the agent's own folder."""
        word, number = self._random.choice(WORDS), self._random.randint(100, 999)
        path = f"{PARTS[agent]}/helpers_{number}.py"
        lines = [
            f"def {word}_{self._random.randint(100, 999)}(n): return n + {self._random.randint(1, 99)}"
            for _ in range(14)
        ]
        return Step(agent=agent, messages=self._call("read_file", {"path": path}, "\n".join(lines)))

    def _open_need(self, agent: str) -> tuple[str, Need] | None:
        others = [each for other in AGENTS if other != agent for each in self._settled[other][-8:]]
        return self._random.choice(others) if others else None

    def _needing(self, agent: str, topic: str, need: Need) -> Step:
        path, name, id = need.values
        request = f"Connect the {topic} part that the team built to {PARTS[agent]}."
        own = f"{PARTS[agent]}/{topic}_link.py"
        change = {"path": own, "content": f"from {path} import {name}  # {id}", "source": path, "ticket": id}
        return Step(
            agent=agent,
            request={"role": "user", "content": request},
            need=need,
            messages=[
                *self._call("read_file", {"path": path}, f"class {topic.title()}:\n    {name}: str"),
                *self._call("write_file", change, f"The file {own} has been created."),
            ],
        )

    def _call(self, tool: str, arguments: dict[str, str], result: str) -> list[Message]:
        self._calls += 1
        id = f"call_{self._calls}"
        function = {"name": tool, "arguments": json.dumps(arguments)}
        call = {"id": id, "type": "function", "function": function}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": result},
        ]


def values_of(messages: list[Message]) -> set[str]:
    """The paths, names and ids in the arguments of calls; a new file's own path is nobody's to know."""
    found: set[str] = set()
    for message in messages:
        for call in message.get("tool_calls") or ():
            arguments = json.loads(call["function"]["arguments"])
            if call["function"]["name"] == "write_file":
                arguments.pop("path")
            for value in arguments.values():
                found.update(re.findall(r"[\w/]+/[\w.]+\.py|[A-Z]{3}-\d{4}|\b[a-z]+_[a-z]+_\d\d\b", value))
    return found


def has(window: str, value: str) -> bool:
    return re.search(rf"(?<![\w/]){re.escape(value)}(?!\w)", window) is not None


def measured(seed: int, budget: int, *, pooled: bool, show: bool = False) -> dict[str, Any]:
    tally, tokens = Tally(), []
    with Foveal(":memory:", embedder="none") as fov:
        if pooled:
            fov.pool("repo", budget=budget)
        sessions: dict[str, Session] = {
            agent: fov.session(agent, model="gpt-5", pool="repo" if pooled else "") for agent in AGENTS
        }
        moment, shown = NOW, ""
        for step in Script(seed).steps():
            moment += 30.0
            session = sessions[step.agent]
            if step.request:
                session.extend([step.request], format="openai")
            window = session.build(budget=None if pooled else budget // len(AGENTS), now=moment)
            tokens.append(window.tokens)
            text = "\n".join(json.dumps(each, ensure_ascii=False) for each in window.messages)
            judge(step, text, tally)
            if step.need:
                shown = text
            session.extend(step.messages, format="openai")
    if show:
        print(shown.replace("\\n", "\n"))
    return {**tally.percent(), "window_tokens": round(statistics.fmean(tokens))}


def judge(step: Step, text: str, tally: Tally) -> None:
    """What of the step's arguments, and of what it needs of others, the window has."""
    for value in values_of(step.messages):
        tally.add("arguments", hit=has(text, value))
        if step.need and value in step.need.values:
            tally.add("arguments_of_others", hit=has(text, value))
    if step.need:
        tally.add("decisions_of_others", hit=step.need.decided in text)
        tally.add("files_of_others", hit=has(text, step.need.changed))


def compared(budget: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, pooled in (("separate", False), ("pool", True)):
        runs = [measured(seed, budget, pooled=pooled) for seed in SEEDS]
        found[name] = {key: round(statistics.fmean(run[key] for run in runs), 1) for key in runs[0]}
    keys = found["pool"].keys() - {"window_tokens"}
    found["gain"] = {key: round(found["pool"][key] - found["separate"][key], 1) for key in sorted(keys)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--show", action="store_true", help="print the last window that needed something")
    options = parser.parse_args()
    if options.show:
        measured(SEEDS[0], BUDGETS[0], pooled=True, show=True)
        return
    results = {str(budget): compared(budget) for budget in BUDGETS}
    heads = ("arguments", "arguments_of_others", "decisions_of_others", "files_of_others", "window_tokens")
    print(f"{'team budget':>12}  {'':9}" + "".join(f"{head.replace('_', ' '):>21}" for head in heads))
    for budget, found in results.items():
        for name in ("separate", "pool"):
            cells = "".join(f"{found[name][head]:>21,.1f}" for head in heads)
            print(f"{int(budget):>12,}  {name:9}{cells}")
    if options.json:
        method = " ".join((__doc__ or "").split())
        options.json.write_text(
            json.dumps({"method": method, "seeds": SEEDS, "teams": results}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
