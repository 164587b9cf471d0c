"""Find the errors in a conversation, and the messages that resolved them.

An error is resolved by the first later message in which the user or the model says that it is fixed, or by
the same call repeated without an error. The wording of tool output resolves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from foveal.model import Message, Text, ToolCall, ToolResult
from foveal.pipeline.shorten.content_type import ContentType, content_type
from foveal.pipeline.signals import word_counts
from foveal.pipeline.summarize.facts import LOOKED_AT
from foveal.pipeline.summarize.language import asks, clipped, head_and_tail, sentences, split_pasted
from foveal.pipeline.summarize.voices import OWN_TEXT_KINDS
from foveal.pipeline.turns import key_of

QUOTED = 160
"""Characters of an error line that identify it."""
MAX_LINES = 4
"""Errors that are taken from one text."""
MAX_OPEN = 32
"""Unresolved errors that are remembered; the oldest are dropped first."""
_ERROR = re.compile(
    r"(?:^|[\s\[(:])(?:[\w.]{0,60}(?:Error|Exception)|(?i:error|err|fatal|panic|failed|fail))(?:[:\]!]|\s-)"
    r"|^FAIL(?:ED)?\b|\bFAIL(?:ED)?\s*$"
    r"|(?i:\b(?:timed out|(?:permission|access) denied|not found|no such file|connection (?:refused|reset)"
    r"|segmentation fault|cannot find|exit(?:ed with)? (?:code|status):? [1-9])\b)"
)
_VARIES = re.compile(r"0x[0-9a-f]+|\b(?=[a-f]*\d)[0-9a-f]{7,}\b|\d+")
_FIXED = re.compile(
    r"\b(?:fixed|resolved|solved|works (?:now|again|fine)|(?:now|it|that) works|working (?:now|again)"
    r"|(?:now |tests? |all )pass(?:es|ed)?|no longer (?:fails?|crash(?:es)?|happens?|occurs?|throws?)"
    r"|that did it|the fix (?:was|is)|went away|is gone)\b",
    re.IGNORECASE,
)
_NOT_FIXED = re.compile(
    r"\b(?:not|never|still|unless|until|if|when|once|whether|should|could|would|might|may|will|must|cannot"
    r"|can|to be|let's|try)\b|n't\b|n’t\b",
    re.IGNORECASE,
)
_NOT_OUTPUT: frozenset[ContentType] = frozenset({"code", "diff", "search results"})
"""Content that mentions errors as text, not because one occurred."""
_GENERIC = """
0 bug code err error errors exception exit exited fail failed failure fatal fixed issue panic status
test tests
"""
_GENERIC_WORDS = frozenset(_GENERIC.split())
"""Words of every error, which identify none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedError:
    """An error and the message that resolved it, as positions in the history."""

    error_seq: int
    resolution_seq: int
    line: str
    """The normalized error: equal for the same error at another time or address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    seq: int
    call: str
    """The failed call with its arguments; empty when unknown."""


def error_lines(text: str) -> tuple[str, ...]:
    """The distinct errors that a text reports, normalized.

    >>> error_lines("retry 3\\nTypeError: x is null at 0x7f3a\\nTypeError: x is null at 0x9b21")
    ('typeerror: x is null at 0',)
    """
    seen = head_and_tail(text, LOOKED_AT)
    if content_type(seen) in _NOT_OUTPUT:
        return ()
    found = (normalized(line) for line in seen.splitlines() if _ERROR.search(line[: 2 * QUOTED]))
    return tuple(dict.fromkeys(filter(_is_specific, found)))[:MAX_LINES]


def _is_specific(line: str) -> bool:
    """Does the line say which error it is? A bare "exit code 1" does not."""
    return not word_counts(line).keys() <= _GENERIC_WORDS


def normalized(line: str) -> str:
    """A line without what varies between occurrences: numbers, addresses, case, spaces."""
    return clipped(_VARIES.sub("0", " ".join(line[: 2 * QUOTED].lower().split())), QUOTED)


class FailureTracker:
    """Reads messages in order and remembers their calls and unresolved errors."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        self._open: dict[str, _Failure] = {}

    def read(self, message: Message, seq: int) -> Iterator[ResolvedError]:
        """The errors that this message resolves."""
        fixed = _fixed(message)
        for sentence in fixed:
            yield from self._close(self._meant(sentence), seq)
        for part in message.parts:
            if isinstance(part, ToolCall):
                self._calls[key_of(part.id, part.name)] = _call_text(part)
            elif isinstance(part, ToolResult):
                yield from self._outcome(part, seq)
            elif isinstance(part, Text) and message.role in ("user", "tool") and not fixed:
                self._fail(error_lines(part.text), seq)

    def _outcome(self, result: ToolResult, seq: int) -> Iterator[ResolvedError]:
        text = "\n".join(part.text for part in result.parts if isinstance(part, Text))
        lines = error_lines(text)
        if result.error and not lines:
            candidates = map(normalized, head_and_tail(text, LOOKED_AT).splitlines())
            lines = tuple(islice(filter(_is_specific, candidates), 1))
        call = self._calls.get(key_of(result.call_id, result.name), "")
        if lines:
            self._fail(lines, seq, call)
        elif call and not result.error:
            repeated = [line for line, failure in self._open.items() if failure.call == call]
            yield from self._close(repeated, seq)

    def _fail(self, lines: Sequence[str], seq: int, call: str = "") -> None:
        for line in lines:
            self._open.setdefault(line, _Failure(seq=seq, call=call))
        while len(self._open) > MAX_OPEN:
            del self._open[next(iter(self._open))]

    def _close(self, lines: Sequence[str], seq: int) -> Iterator[ResolvedError]:
        for line in lines:
            yield ResolvedError(error_seq=self._open.pop(line).seq, resolution_seq=seq, line=line)

    def _meant(self, sentence: str) -> list[str]:
        """The errors a sentence refers to: those that share a word with it, else the newest."""
        words = word_counts(sentence).keys() - _GENERIC_WORDS
        meant = [line for line in self._open if not words.isdisjoint(word_counts(line).keys())]
        return meant or list(self._open)[-1:]


def _fixed(message: Message) -> list[str]:
    """The typed sentences that say that something is fixed."""
    if message.role not in ("user", "assistant") or message.kind not in OWN_TEXT_KINDS:
        return []
    texts = (
        split_pasted(head_and_tail(part.text, LOOKED_AT))[0]
        for part in message.parts
        if isinstance(part, Text)
    )
    found = (clipped(sentence) for text in texts for sentence in sentences(text))
    return [each for each in found if _FIXED.search(each) and not _NOT_FIXED.search(each) and not asks(each)]


def _call_text(call: ToolCall) -> str:
    return f"{call.name}({' '.join(call.arguments.split())})"
