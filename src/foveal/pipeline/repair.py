"""Repair a turn so that the provider accepts it, and report what was repaired.

Each rule is one small function; a turn that breaks none is returned byte for byte. Repairs are made for the
window only: the store keeps the original.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from foveal.model import Message, Opaque, Part, Repair, Rules, Text, Thinking, ToolCall, ToolResult
from foveal.pipeline.summarize.notes import result_note
from foveal.pipeline.turns import ANY, is_reference, key_of

NO_RESULT = "[No result was recorded right after this call.]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scribe:
    """Writes messages of our own in the window's format."""

    note: Callable[[str], Message]
    """A user message with the text of a note."""
    answer: Callable[[ToolCall, str], Message]
    """A tool message with the result of a call."""
    dump: Callable[[Sequence[Message]], tuple[str, ...]]
    """One turn as the provider's JSON."""


@dataclass(slots=True, kw_only=True)
class _Turn:
    """A turn under repair."""

    messages: list[Message]
    rules: Rules
    scribe: Scribe
    seq: int
    repairs: list[Repair]

    def report(self, rule: str, what: str, *, at: int = 0) -> None:
        self.repairs.append(Repair(rule=rule, seq=self.seq + at, what=what))


def repair(
    messages: Sequence[Message], rules: Rules, scribe: Scribe, *, seq: int = 0
) -> tuple[tuple[Message, ...], tuple[Repair, ...]]:
    """Repair what the provider would reject in one turn; `seq` is its position, for the report."""
    turn = _Turn(messages=list(messages), rules=rules, scribe=scribe, seq=seq, repairs=[])
    for rule in RULES:
        rule(turn)
    return tuple(turn.messages), tuple(turn.repairs)


def _rewrite(message: Message, parts: Sequence[Part]) -> Message:
    return replace(message, parts=tuple(parts), body="", flaw="")


def rewrite_malformed(turn: _Turn) -> None:
    """Write a body that no provider accepts again from its parts."""
    for at, message in enumerate(turn.messages):
        if message.flaw:
            turn.report("malformed", message.flaw, at=at)
            turn.messages[at] = _rewrite(message, message.parts)


def drop_empty(turn: _Turn) -> None:
    """Drop blank text blocks, and messages with nothing else."""
    kept = []
    for message in turn.messages:
        blank = [part for part in message.parts if isinstance(part, Text) and not part.text.strip()]
        full = [part for part in message.parts if part not in blank]
        if full and not any(part.text or part.raw for part in blank):
            kept.append(message)  # an empty `content` string next to calls is legal
            continue
        turn.report("empty content", f"a {message.role} message {'had blank text' if full else 'was empty'}")
        if full:
            kept.append(_rewrite(message, full))
    turn.messages = kept


def drop_blank_blocks(turn: _Turn) -> None:
    """Drop blank text blocks in results; one with nothing else becomes empty text, which is legal."""
    for at, message in enumerate(turn.messages):
        parts = [_without_blanks(part) if isinstance(part, ToolResult) else part for part in message.parts]
        if parts != list(message.parts):
            turn.report("empty content", "a tool result had blank text blocks")
            turn.messages[at] = _rewrite(message, parts)


def _without_blanks(result: ToolResult) -> ToolResult:
    full = tuple(p for p in result.parts if not (isinstance(p, Text) and p.raw and not p.text.strip()))
    if len(full) == len(result.parts):
        return result
    return replace(result, parts=full or (Text(text=""),), edited=True)


def drop_bare_thinking(turn: _Turn) -> None:
    """Drop reasoning that no text or call of the model follows, which providers reject."""
    kept: list[Message] = []
    for message in reversed(turn.messages):
        follows = bool(kept) and kept[-1].role == "assistant"
        if message.parts and all(map(_is_reasoning, message.parts)) and not follows:
            turn.report("bare reasoning", "reasoning that nothing follows was left out")
        else:
            kept.append(message)
    turn.messages = kept[::-1]


def _is_reasoning(part: Part) -> bool:
    return isinstance(part, Thinking) or (isinstance(part, Text) and not part.text.strip())


def name_calls(turn: _Turn) -> None:
    """Restrict tool names to the characters and the length that the provider allows."""
    for at, message in enumerate(turn.messages):
        parts = [_with_legal_name(part, turn.rules) for part in message.parts]
        if parts != list(message.parts):
            turn.report("tool name", "the name of a tool was not legal", at=at)
            turn.messages[at] = _rewrite(message, parts)


def _with_legal_name(part: Part, rules: Rules) -> Part:
    if not isinstance(part, ToolCall | ToolResult) or (isinstance(part, ToolResult) and not part.name):
        return part
    name = re.sub(f"[^{rules.legal_name}]", "_", part.name)[: rules.max_name] or "unnamed"
    return part if name == part.name else replace(part, name=name, edited=True)


def parse_arguments(turn: _Turn) -> None:
    """Wrap arguments that are not JSON (or not an object, where one is required) in an object."""
    for at, message in enumerate(turn.messages):
        parts = [_with_valid_arguments(part, turn.rules) for part in message.parts]
        if parts != list(message.parts):
            turn.report("arguments", "the arguments of a call were not a JSON object; now they are")
            turn.messages[at] = _rewrite(message, parts)


def _with_valid_arguments(part: Part, rules: Rules) -> Part:
    if not isinstance(part, ToolCall):
        return part
    if not part.arguments.strip():  # many models write nothing for no arguments
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


def drop_misplaced_calls(turn: _Turn) -> None:
    """Drop the calls of messages that are not the model's: only a model can call tools."""
    for at, message in enumerate(turn.messages):
        if message.calls and message.role != "assistant":
            turn.report("misplaced call", f"a {message.role} message called a tool", at=at)
            turn.messages[at] = _rewrite(message, [p for p in message.parts if not isinstance(p, ToolCall)])


def separate_results(turn: _Turn) -> None:
    """Take results out of messages of the model, into a message of their own."""
    found: list[Message] = []
    for message in turn.messages:
        if message.results and message.role == "assistant":
            turn.report("misplaced result", "results were in a message of the model")
            rest = _without_results(message)
            own = replace(_rewrite(message, message.results), role="tool", extra="", rest="")
            words = [_rewrite(message, rest)] if rest else []
            found += [*words, own] if message.calls else [own, *words]
        else:
            found.append(message)
    turn.messages = found


def pair_results(turn: _Turn) -> None:
    """Give every call exactly one result; a result without a call becomes a quoted note.

    Such notes precede what the user wrote in the turn, so that they never are the newest words. Results move
    right after their calls, unless the provider pairs them by id over the whole input.
    """
    if not any(m.calls or m.results for m in turn.messages):
        return
    pairing = _Pairing(turn)
    if turn.rules.item_per_part and not any(m.results and _without_results(m) for m in turn.messages):
        found = [pairing.pair(pairing.take_calls(m)) for m in turn.messages]
        found = [m for m in (*found, *pairing.missing()) if m.parts]
        words = next((at for at, m in enumerate(found) if m.role == "user"), len(found))
        turn.messages = [*found[:words], *pairing.orphans, *found[words:]]
        return
    calling, others = _divided([pairing.take_calls(m) for m in turn.messages])
    answering = [pairing.pair(m) for m in turn.messages if m.results]
    answering += pairing.missing()
    if pairing.orphans or (len(answering) > 1 and not turn.rules.results_together):
        others = [*(_rewrite(m, rest) for m in answering if (rest := _without_results(m))), *others]
        answering = [_rewrite(replace(m, role="tool"), m.results) for m in answering if m.results]
    turn.messages = [*calling, *answering, *pairing.orphans, *others]


def _divided(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """The messages without results: the model's up to its last call or the first result, and the others."""
    last = max((at for at, m in enumerate(messages) if m.calls), default=-1)
    first = next((at for at, m in enumerate(messages) if m.results), len(messages))
    calling: list[Message] = []
    others: list[Message] = []
    for at, message in enumerate(messages):
        if not message.results:
            said = message.role == "assistant" and at < max(first, last + 1)
            (calling if said else others).append(message)
    return calling, others


def _without_results(message: Message) -> list[Part]:
    return [part for part in message.parts if not isinstance(part, ToolResult)]


class _Pairing:
    """Pairs the results of a turn with the calls that have none yet."""

    def __init__(self, turn: _Turn) -> None:
        self.turn = turn
        self.seen: set[str] = set()
        self.orphans: list[Message] = []
        self.stored = any(map(is_reference, turn.messages))
        self._waiting: dict[int, ToolCall] = {}
        """The calls without a result, by their number in the turn."""
        self._numbers: dict[str, deque[int]] = {}
        """The numbers of calls by each key that a result may have for them."""
        self._taken = 0

    def take_calls(self, message: Message) -> Message:
        """Take the calls of a message, and replace missing, duplicate and illegal ids."""
        parts = [self._taking(part) if isinstance(part, ToolCall) else part for part in message.parts]
        return message if parts == list(message.parts) else _rewrite(message, parts)

    def _taking(self, given: ToolCall) -> ToolCall:
        call = self._with_id(given)
        for key in {key_of(given.id, given.name), ANY + given.name, ANY}:
            self._numbers.setdefault(key, deque()).append(self._taken)
        self._waiting[self._taken] = call
        self._taken += 1
        return call

    def _with_id(self, call: ToolCall) -> ToolCall:
        rules = self.turn.rules
        if not call.id and (rules.pairs_by_name or (call.by_name and rules.function_calls)):
            return call
        legal = re.sub(f"[^{rules.legal_id}]", "_", call.id) if rules.legal_id else call.id
        unique = legal
        while not unique or unique in self.seen:
            unique = f"{unique or 'call'}_{self.turn.seq}_{len(self.seen)}"
        self.seen.add(unique)
        if unique == call.id:
            return call
        if call.id:
            why = "named two calls of one message" if unique != legal else "was not legal"
            self.turn.report("call id", f"an id {why}; a call has a new one")
        return replace(call, id=unique, edited=True)

    def pair(self, message: Message) -> Message:
        """Tie each result to its call; a result without a call moves into a note."""
        parts: list[Part] = []
        for part in message.parts:
            if not isinstance(part, ToolResult):
                parts.append(part)
                continue
            paired = self._paired(part)
            if paired is None:
                self._orphan(part)
            else:
                parts.append(paired)
        return message if parts == list(message.parts) else _rewrite(message, parts)

    def _paired(self, result: ToolResult) -> ToolResult | None:
        call = self._called(key_of(result.call_id, result.name))
        if call is None:
            return result if self._may_lack_call(result) else None
        named = result.name or self.turn.rules.pairs_by_name or (call.by_name and not call.id)
        name = call.name if named else ""
        same = (result.call_id, result.name) == (call.id, name)
        return result if same else replace(result, call_id=call.id, name=name, edited=True)

    def _called(self, key: str) -> ToolCall | None:
        numbers = self._numbers.get(key, deque())
        while numbers:
            if call := self._waiting.pop(numbers.popleft(), None):
                return call
        return None

    def _may_lack_call(self, result: ToolResult) -> bool:
        """Is its call stored by the provider, or may results go without one?"""
        rules = self.turn.rules
        return self.stored or (not rules.needs_call and not (rules.pairs_by_name and result.call_id))

    def _orphan(self, result: ToolResult) -> None:
        self.turn.report("orphan result", "a tool result was not paired with a call")
        text = "\n".join(filter(str.strip, map(_text, result.parts)))
        note = result_note(text, tool=result.name, call_id=result.call_id)
        self.orphans.append(self.turn.scribe.note(note))

    def missing(self) -> list[Message]:
        """A placeholder for each call without a result."""
        calls = self._waiting.values()
        for _ in calls:
            self.turn.report("missing answer", "a call had no result")
        return [self.turn.scribe.answer(call, NO_RESULT) for call in calls]


def _text(part: Part) -> str:
    match part:
        case Text(text=words) | Opaque(raw=words):
            return words
        case _:
            return ""


def gather_results(turn: _Turn) -> None:
    """Put all results into one message, before its other blocks, where the provider requires that."""
    rules = turn.rules
    answering = [m for m in turn.messages if m.results]
    if rules.results_together and len(answering) > 1:
        turn.report("scattered results", f"{len(answering)} messages of results became one")
        merged = _rewrite(answering[0], [part for m in answering for part in m.parts])
        rest = [m for m in turn.messages if not m.results]
        first = next(at for at, m in enumerate(turn.messages) if m.results)
        turn.messages = [*rest[:first], merged, *rest[first:]]
    if not rules.results_first:
        return
    for at, message in enumerate(turn.messages):
        ordered = sorted(message.parts, key=lambda part: not isinstance(part, ToolResult))
        if message.results and ordered != list(message.parts):
            turn.report("result order", "results were moved before the other blocks of their message")
            turn.messages[at] = _rewrite(message, ordered)


RULES: tuple[Callable[[_Turn], None], ...] = (
    rewrite_malformed,
    drop_misplaced_calls,
    separate_results,
    drop_empty,
    drop_blank_blocks,
    drop_bare_thinking,
    name_calls,
    parse_arguments,
    pair_results,
    gather_results,
)
