"""One turn in → the same turn as the provider accepts it, and what was repaired.

Each rule is one small function; a turn that breaks none comes back as it is, byte for byte. Repairs are
made for the window only: the store keeps what really came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from foveal.model import Message, Opaque, Part, Repair, Rules, Text, Thinking, ToolCall, ToolResult
from foveal.pipeline.turns import ANY, is_reference

NO_RESULT = "[No result was recorded for this call.]"
ORPHAN = "[A tool result whose call is not in the history]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scribe:
    """How messages of our own are written in the window's format."""

    note: Callable[[str], Message]
    """A user message with a text of ours."""
    answer: Callable[[ToolCall, str], Message]
    """A tool message that answers a call."""
    dump: Callable[[Sequence[Message]], tuple[str, ...]]
    """One turn as the provider's JSON."""


@dataclass(slots=True, kw_only=True)
class _Bench:
    """A turn being mended."""

    messages: list[Message]
    rules: Rules
    scribe: Scribe
    seq: int
    repairs: list[Repair]

    def note(self, rule: str, what: str) -> None:
        self.repairs.append(Repair(rule=rule, seq=self.seq, what=what))


def repair(
    messages: Sequence[Message], rules: Rules, scribe: Scribe, *, seq: int = 0
) -> tuple[tuple[Message, ...], tuple[Repair, ...]]:
    """Repair what the provider would refuse about one turn; `seq` is its place, for the report."""
    bench = _Bench(messages=list(messages), rules=rules, scribe=scribe, seq=seq, repairs=[])
    for rule in RULES:
        rule(bench)
    return tuple(bench.messages), tuple(bench.repairs)


def _rewrite(message: Message, parts: Sequence[Part]) -> Message:
    return replace(message, parts=tuple(parts), body="", flaw="")


def mend_flaws(bench: _Bench) -> None:
    """A body no provider accepts is written anew from its parts."""
    for at, message in enumerate(bench.messages):
        if message.flaw:
            bench.note("malformed", message.flaw)
            bench.messages[at] = _rewrite(message, message.parts)


def drop_empty(bench: _Bench) -> None:
    """Blank text blocks go; so does a message of which nothing is left."""
    kept = []
    for message in bench.messages:
        blank = [part for part in message.parts if isinstance(part, Text) and not part.text.strip()]
        full = [part for part in message.parts if part not in blank]
        if full and not any(part.text or part.raw for part in blank):
            kept.append(message)  # an empty `content` string beside calls is legal
            continue
        bench.note("empty content", f"a {message.role} message {'had blank text' if full else 'was empty'}")
        if full:
            kept.append(_rewrite(message, full))
    bench.messages = kept


def drop_blank_blocks(bench: _Bench) -> None:
    """Blank text blocks inside a result go; a result of nothing else is the empty text, which is legal."""
    for at, message in enumerate(bench.messages):
        parts = [_unblanked(part) if isinstance(part, ToolResult) else part for part in message.parts]
        if parts != list(message.parts):
            bench.note("empty content", "a tool result had blank text blocks")
            bench.messages[at] = _rewrite(message, parts)


def _unblanked(result: ToolResult) -> ToolResult:
    full = tuple(p for p in result.parts if not (isinstance(p, Text) and p.raw and not p.text.strip()))
    if len(full) == len(result.parts):
        return result
    return replace(result, parts=full or (Text(text=""),), edited=True)


def drop_bare_thinking(bench: _Bench) -> None:
    """Reasoning that leads to no words and no call is refused: it goes."""
    while bench.messages and bench.messages[-1].parts and all(map(_reasoned, bench.messages[-1].parts)):
        bench.note("bare reasoning", "reasoning that nothing follows was left out")
        bench.messages.pop()


def _reasoned(part: Part) -> bool:
    return isinstance(part, Thinking) or (isinstance(part, Text) and not part.text.strip())


def name_calls(bench: _Bench) -> None:
    """Tool names keep to the characters and the length that the provider allows."""
    for at, message in enumerate(bench.messages):
        parts = [_named(part, bench.rules) for part in message.parts]
        if parts != list(message.parts):
            bench.note("tool name", f"{', '.join(c.name for c in message.calls)}: not a legal tool name")
            bench.messages[at] = _rewrite(message, parts)


def _named(part: Part, rules: Rules) -> Part:
    if not isinstance(part, ToolCall | ToolResult) or (isinstance(part, ToolResult) and not part.name):
        return part
    name = re.sub(f"[^{rules.legal_name}]", "_", part.name)[: rules.max_name] or "unnamed"
    return part if name == part.name else replace(part, name=name, edited=True)


def parse_arguments(bench: _Bench) -> None:
    """Arguments that are not JSON (or not an object, where one is asked for) are wrapped in one."""
    for at, message in enumerate(bench.messages):
        parts = [_argued(part, bench.rules) for part in message.parts]
        if parts != list(message.parts):
            bench.note("arguments", "the arguments of a call were not a JSON object; now they are")
            bench.messages[at] = _rewrite(message, parts)


def _argued(part: Part, rules: Rules) -> Part:
    if not isinstance(part, ToolCall):
        return part
    if not part.arguments.strip():  # what many models write for none
        return replace(part, arguments="{}", edited=True)
    try:
        value = json.loads(part.arguments)
    except (ValueError, RecursionError):
        return replace(part, arguments=_wrapped(part.arguments), edited=True)
    if rules.object_arguments and not isinstance(value, dict):
        return replace(part, arguments=_wrapped(value), edited=True)
    return part


def _wrapped(value: object) -> str:
    return json.dumps({"arguments": value}, ensure_ascii=False, separators=(",", ":"))


def pair_results(bench: _Bench) -> None:
    """Every call gets exactly one answer, right after it; a result without a call becomes a user note."""
    callers = [m for m in bench.messages if m.calls]
    if not callers and not any(m.results for m in bench.messages):
        return
    waiting = _Waiting(bench)
    asking = [waiting.ask(m) for m in bench.messages if not m.results]
    answering = [waiting.answer(m) for m in bench.messages if m.results]
    orphans = waiting.orphans
    answering += waiting.missing()
    bench.messages = [*asking, *(m for m in answering if m.parts), *orphans]


class _Waiting:
    """The calls of a turn that still wait for an answer."""

    def __init__(self, bench: _Bench) -> None:
        self.bench = bench
        self.calls: list[tuple[str, ToolCall]] = []
        self.seen: set[str] = set()
        self.orphans: list[Message] = []
        self.referred = any(map(is_reference, bench.messages))

    def ask(self, message: Message) -> Message:
        """Take the calls of a message; ids that are missing or doubled are replaced."""
        parts = [self._asked(part) if isinstance(part, ToolCall) else part for part in message.parts]
        return message if parts == list(message.parts) else _rewrite(message, parts)

    def _asked(self, call: ToolCall) -> ToolCall:
        key = call.id or ANY + call.name
        by_name = not call.id and self.bench.rules.pairs_by_name
        if not by_name and (not call.id or call.id in self.seen):
            fresh = f"{call.id or 'call'}_{self.bench.seq}_{len(self.seen)}"
            if call.id:
                self.bench.note(
                    "call id", f"`{call.id}` names two calls of one message; one is now `{fresh}`"
                )
            call = replace(call, id=fresh, edited=True)
        self.seen.add(call.id or f"{key}#{len(self.seen)}")
        self.calls.append((key, call))
        return call

    def answer(self, message: Message) -> Message:
        """Tie each result to the call it answers; what answers none moves into a note."""
        parts: list[Part] = []
        for part in message.parts:
            if not isinstance(part, ToolResult):
                parts.append(part)
                continue
            tied = self._tied(part)
            if tied is None:
                self._orphan(part)
            else:
                parts.append(tied)
        return message if parts == list(message.parts) else _rewrite(message, parts)

    def _tied(self, result: ToolResult) -> ToolResult | None:
        key = result.call_id or ANY + result.name
        for at, (wanted, call) in enumerate(self.calls):
            if key in (wanted, ANY) or key == ANY + call.name:
                del self.calls[at]
                name = call.name if result.name or self.bench.rules.pairs_by_name else ""
                same = (result.call_id, result.name) == (call.id, name)
                return result if same else replace(result, call_id=call.id, name=name, edited=True)
        return result if self._may_lack_call(result) else None

    def _may_lack_call(self, result: ToolResult) -> bool:
        """Its call is kept by the provider; or, where results may go by name, it names no call at all."""
        rules = self.bench.rules
        return self.referred or (not rules.needs_call and not (rules.pairs_by_name and result.call_id))

    def _orphan(self, result: ToolResult) -> None:
        self.bench.note("orphan result", f"a result for `{result.call_id or result.name}` had no call")
        text = "\n".join(filter(str.strip, map(_worded, result.parts)))
        self.orphans.append(self.bench.scribe.note(f"{ORPHAN}\n{text}".strip()))

    def missing(self) -> list[Message]:
        """A stated placeholder for each call nobody answered."""
        for _, call in self.calls:
            self.bench.note("missing answer", f"the call of `{call.name}` had no result")
        return [self.bench.scribe.answer(call, NO_RESULT) for _, call in self.calls]


def _worded(part: Part) -> str:
    match part:
        case Text(text=words) | Opaque(raw=words):
            return words
        case _:
            return ""


def gather_results(bench: _Bench) -> None:
    """All answers in one message, before anything else in it, where the provider wants that."""
    rules = bench.rules
    answering = [m for m in bench.messages if m.results]
    if rules.results_together and len(answering) > 1:
        bench.note("scattered results", f"{len(answering)} messages of results became one")
        whole = _rewrite(answering[0], [part for m in answering for part in m.parts])
        rest = [m for m in bench.messages if not m.results]
        place = next(i for i, m in enumerate(bench.messages) if m.results)
        bench.messages = [*rest[:place], whole, *rest[place:]]
    if not rules.results_first:
        return
    for at, message in enumerate(bench.messages):
        ordered = sorted(message.parts, key=lambda part: not isinstance(part, ToolResult))
        if message.results and ordered != list(message.parts):
            bench.note("result order", "results were moved before the other blocks of their message")
            bench.messages[at] = _rewrite(message, ordered)


RULES: tuple[Callable[[_Bench], None], ...] = (
    mend_flaws,
    drop_empty,
    drop_blank_blocks,
    drop_bare_thinking,
    name_calls,
    parse_arguments,
    pair_results,
    gather_results,
)
