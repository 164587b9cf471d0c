"""Messages in → the errors in them, each linked to what resolved it.

An error is resolved by the first later message in which the user or the model says that it is fixed, or by
the same call made again without an error. What a tool prints resolves nothing by its words.
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
from foveal.pipeline.summarize.language import asks, clipped, sentences, typed
from foveal.pipeline.summarize.voices import SPOKEN
from foveal.pipeline.turns import ANY

QUOTED = 160
"""Characters of an error line that tell it from others."""
LINES = 4
"""Errors that one text is taken to report."""
OPEN = 32
"""Unresolved errors that are remembered; the oldest are given up first."""
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
_WRITTEN: frozenset[ContentType] = frozenset({"code", "diff", "search results"})
"""Texts that speak of errors because somebody wrote them so, not because one occurred."""
_COMMON = """
0 bug code err error errors exception exit exited fail failed failure fatal fixed issue panic status
test tests
"""
_ANY_ERROR = frozenset(_COMMON.split())
"""Words of every error: they tell none from another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """An error, and the message that shows what became of it. Both are positions in the history."""

    error_seq: int
    resolution_seq: int
    line: str
    """The error in its normal form: equal for the same error at another time or address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    seq: int
    line: str
    call: str
    """What was called, with its arguments; empty when nobody knows."""


def error_lines(text: str) -> tuple[str, ...]:
    """The errors a text reports, each in its normal form, once.

    >>> error_lines("retry 3\\nTypeError: x is null at 0x7f3a\\nTypeError: x is null at 0x9b21")
    ('typeerror: x is null at 0',)
    """
    seen = _ends(text)
    if content_type(seen) in _WRITTEN:
        return ()
    found = (normal(line) for line in seen.splitlines() if _ERROR.search(line[: 2 * QUOTED]))
    return tuple(dict.fromkeys(filter(_telling, found)))[:LINES]


def _telling(line: str) -> bool:
    """Does it say which error it is? A bare "exit code 1" does not."""
    return not word_counts(line).keys() <= _ANY_ERROR


def normal(line: str) -> str:
    """A line without what differs from one time to the next: numbers, addresses, case, spaces."""
    return clipped(_VARIES.sub("0", " ".join(line[: 2 * QUOTED].lower().split())), QUOTED)


def links(messages: Sequence[Message], *, first: int = 0) -> tuple[Resolved, ...]:
    """The resolved errors of a stretch of history that starts at `first`, in the order of their errors."""
    walk = Walk()
    found = [each for seq, message in enumerate(messages, first) for each in walk.over(message, seq)]
    return tuple(sorted(found, key=lambda each: (each.error_seq, each.resolution_seq)))


class Walk:
    """What is known after the messages so far: the calls that were made, the errors nobody resolved."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        self._open: dict[str, _Failure] = {}

    def over(self, message: Message, seq: int) -> Iterator[Resolved]:
        fixed = _fixed(message)
        for sentence in fixed:
            yield from self._close(self._meant(sentence), seq)
        for part in message.parts:
            if isinstance(part, ToolCall):
                self._calls[part.id or ANY + part.name] = _spelled(part)
            elif isinstance(part, ToolResult):
                yield from self._outcome(part, seq)
            elif isinstance(part, Text) and message.role in ("user", "tool") and not fixed:
                self._fail(error_lines(part.text), seq)

    def _outcome(self, result: ToolResult, seq: int) -> Iterator[Resolved]:
        text = "\n".join(part.text for part in result.parts if isinstance(part, Text))
        lines = error_lines(text)
        if result.error and not lines:
            lines = tuple(islice(filter(_telling, map(normal, _ends(text).splitlines())), 1))
        call = self._calls.get(result.call_id or ANY + result.name, "")
        if lines:
            self._fail(lines, seq, call)
        elif call and not result.error:
            yield from self._close([line for line, open in self._open.items() if open.call == call], seq)

    def _fail(self, lines: Sequence[str], seq: int, call: str = "") -> None:
        for line in lines:
            self._open.setdefault(line, _Failure(seq=seq, line=line, call=call))
        while len(self._open) > OPEN:
            del self._open[next(iter(self._open))]

    def _close(self, lines: Sequence[str], seq: int) -> Iterator[Resolved]:
        for line in lines:
            yield Resolved(error_seq=self._open.pop(line).seq, resolution_seq=seq, line=line)

    def _meant(self, sentence: str) -> list[str]:
        """The errors a sentence speaks of: those that share a word with it, else the newest."""
        said = word_counts(sentence).keys() - _ANY_ERROR
        meant = [line for line in self._open if not said.isdisjoint(word_counts(line).keys())]
        return meant or list(self._open)[-1:]


def _fixed(message: Message) -> list[str]:
    """The sentences in which somebody says, in words of their own, that something is fixed."""
    if message.role not in ("user", "assistant") or message.kind not in SPOKEN:
        return []
    texts = (typed(_ends(part.text))[0] for part in message.parts if isinstance(part, Text))
    said = (clipped(sentence) for text in texts for sentence in sentences(text))
    return [each for each in said if _FIXED.search(each) and not _NOT_FIXED.search(each) and not asks(each)]


def _ends(text: str) -> str:
    return text if len(text) <= 2 * LOOKED_AT else f"{text[:LOOKED_AT]}\n{text[-LOOKED_AT:]}"


def _spelled(call: ToolCall) -> str:
    return f"{call.name}({' '.join(call.arguments.split())})"
