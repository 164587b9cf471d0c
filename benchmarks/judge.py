"""Judge what the windows of a system keep, cost and break, on generated runs.

It has the interface of the harness for recorded runs (`Case`, `Score`, `replay`), so that one script can
measure on either. A value of the next call's arguments is needed if the agent read it before its newest turn.
It is recalled if a line of the window has it next to two of the words it was next to (strict: four).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from foveal.pipeline.tokens.count import tokenizer

Message = dict[str, Any]

READ, WRITE, LEAST = 0.1, 1.25, 1_024
"""Prices of a cached and of a written token beside an input token; what is shorter is not cached."""
FRAME = 3
_COUNT = tokenizer("o200k_base").count
_WORD = re.compile(r"[A-Za-z]{3,}")
_LANDMARKS = {
    "error": ("tool", re.compile(r"error:")),
    "decision": ("assistant", re.compile(r"I decided")),
    "user": ("user", re.compile("")),
}


def text_of(message: Message) -> str:
    calls = message.get("tool_calls") or ()
    spoken = [c["function"]["name"] + " " + c["function"]["arguments"] for c in calls]
    return "\n".join([message.get("content") or "", *spoken])


def tokens_of(messages: Sequence[Message]) -> int:
    return FRAME + sum(_tokens(message) for message in messages)


def _tokens(message: Message) -> int:
    said = [message["role"], message.get("content") or ""]
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    said += [text for call in calls for text in (call["name"], call["arguments"])]
    return FRAME * (1 + len(calls)) + sum(map(_COUNT, said))


class Case:
    """A run at one budget."""

    def __init__(
        self,
        id: str,
        messages: list[Message],
        *,
        budget: int = 0,
        fraction: float = 0.0,
        index: object = None,
    ) -> None:
        self.id, self.messages, self.index = id, messages, index
        spoken = [n for n, m in enumerate(messages) if n and m["role"] == "assistant"]
        self.turns = [n for n in spoken if messages[n - 1]["role"] in ("user", "tool")]
        system = tokens_of(messages[:1])
        whole = tokens_of(messages[: self.turns[-1]])
        self.budget = budget or system + int(fraction * (whole - system))

    def needed(self, turn: int) -> Iterator[tuple[str, list[set[str]]]]:
        """Each value the response needs that is not in a recent message, with the words around it."""
        near = "\n".join(map(text_of, (self.messages[0], *self.messages[turn - 2 : turn])))
        for value in _values(self.messages[turn]):
            sources = [m for m in self.messages[1:turn] if value in text_of(m)]
            if value in near or not sources or sources[0]["role"] == "assistant":
                continue
            yield value, [_beside(line, value) for m in sources for line in _lines(m, value)]


class Score:
    """Sums over cases."""

    def __init__(self) -> None:
        self.turns = self.invalid = self.invalid_anthropic = self.over = self.errors = self.stopped = 0
        self.needed = self.usable = self.strict = 0
        self.cost: Counter[str] = Counter()
        self.landmarks: Counter[str] = Counter()

    def row(self) -> dict[str, Any]:
        seen = {name: self.landmarks[name] for name in _LANDMARKS}
        kept = {name: self.landmarks[name + " kept"] / n if n else None for name, n in seen.items()}
        return {"recall_usable": self.usable / self.needed if self.needed else None, "kept": kept}


class Newest:
    """The newest turns that fit; with a low mark below 1, cut down to it in one step."""

    extra_llm_tokens = 0

    def __init__(self, low: float = 1.0) -> None:
        self.low = low

    def open(self, model: str, budget: int) -> None:  # noqa: ARG002 — the harness's
        self.budget, self.first = budget, 1
        self.messages: list[dict[str, Any]] = []

    def append(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    def build(self) -> list[dict[str, Any]]:
        if tokens_of(self._window()) > self.budget:
            while tokens_of(self._window()) > self.low * self.budget:
                self.first += 1
            while self.messages[self.first]["role"] != "user" and self.first < len(self.messages) - 1:
                self.first += 1
        return self._window()

    def _window(self) -> list[dict[str, Any]]:
        return [*self.messages[:1], *self.messages[self.first :]]


def window(source: str) -> Callable[[], Any]:
    """The sliding window that bills are compared with: the harness's own for recorded runs."""
    if source == "generated":
        return Newest
    from systems.naive import SlidingWindow

    found: Callable[[], Any] = SlidingWindow
    return found


def replay(system: Any, case: Case, score: Score, seconds: float = 0.0) -> None:  # noqa: ARG001 — the harness's
    """Let the system follow a run; judge the window it builds before every answer."""
    system.open("gpt-4o", case.budget)
    before: list[Message] = []
    for at, message in enumerate(case.messages):
        if at in case.turns:
            window = system.build()
            _judge(window, case, at, score)
            _bill(window, before, score)
            before = window
        system.append(message)
    _keep(before, case, score)


def _judge(window: list[Message], case: Case, turn: int, score: Score) -> None:
    over, broken = tokens_of(window) > case.budget, not valid(window, case.messages[turn - 1])
    score.turns += 1
    score.over += over
    score.invalid += broken
    if tokens_of(case.messages[:turn]) <= case.budget:
        return
    lines = [line for message in window for line in text_of(message).split("\n")]
    for value, places in case.needed(turn):
        found = [len(a & _beside(line, value)) for line in lines if value in line for a in places]
        least = min(map(len, places))
        score.needed += 1
        score.usable += not over and not broken and max(found, default=-1) >= min(2, least)
        score.strict += not over and not broken and max(found, default=-1) >= min(4, least)


def valid(window: Sequence[Message], newest: Message) -> bool:
    """Every answer follows its call, every call is answered, a user speaks first, the newest comes last."""
    open_calls: set[str] = set()
    for message in window:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return False
            open_calls.remove(message["tool_call_id"])
        elif open_calls:
            return False
        open_calls |= {call["id"] for call in message.get("tool_calls") or ()}
    spoken = [message for message in window if message["role"] != "system"]
    return bool(spoken) and not open_calls and spoken[0]["role"] == "user" and spoken[-1] == newest


def _bill(window: Sequence[Message], before: Sequence[Message], score: Score) -> None:
    same = 0
    while same < min(len(window), len(before)) and window[same] == before[same]:
        same += 1
    whole, prefix = tokens_of(window), sum(map(_tokens, window[:same]))
    read = prefix if prefix >= LEAST else 0
    bill = READ * read + (WRITE if whole >= LEAST else 1.0) * (whole - read)
    score.cost.update(anthropic=bill, tokens=whole, prefix_tokens=prefix)  # type: ignore[call-overload]


def _keep(window: Sequence[Message], case: Case, score: Score) -> None:
    """Which landmarks of the run begin in its last window as they did."""
    text = "\n".join(map(text_of, window))
    for message in case.messages[: case.turns[-1]]:
        for name, (role, shape) in _LANDMARKS.items():
            if message["role"] == role and message.get("content") and shape.search(message["content"]):
                score.landmarks[name] += 1
                score.landmarks[name + " kept"] += message["content"].split("\n")[0][:80] in text


def _values(message: Message) -> set[str]:
    calls = message.get("tool_calls") or ()
    return {value for call in calls for value in json.loads(call["function"]["arguments"]).values()}


def _lines(message: Message, value: str) -> list[str]:
    return [line for line in text_of(message).split("\n") if value in line][:5]


def _beside(line: str, value: str) -> set[str]:
    return set(_WORD.findall(line.replace(value, " ")))
