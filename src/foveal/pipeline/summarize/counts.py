"""Replace messages by a note of counts: how many of each, about which topics, with which tools.

The note only states. It contains no sentence of the messages, only single words of the user and the model: an
old request must not be carried out again, and tool output must not pass for the user's words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from foveal.model import Message, Text
from foveal.pipeline.signals import STOP_WORDS
from foveal.pipeline.summarize.notes import SUMMARY_MARK

LISTED = 8
"""Topics and tools named at most, the most frequent first."""
MAX_TOOL_NAME = 64
"""Characters of a tool's name that are shown."""
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
"""Scripts without spaces, where a run of characters may be a whole sentence."""
_WORD = re.compile(rf"[^\W\d_{_UNSPACED}](?:[^\W{_UNSPACED}]|[./-]){{2,39}}")
_NOTE = re.compile(
    re.escape(SUMMARY_MARK)
    + r"\nPrevious (?P<messages>\d{1,9}) messages?: (?P<users>\d{1,9}) user messages?, "
    r"(?P<answers>\d{1,9}) model responses?, (?P<calls>\d{1,9}) tool calls?\."
    r"(?:\nAbout: (?P<topics>.+)\.)?(?:\nTools: (?P<tools>.+)\.)?"
    r"(?:\nOn record:(?:\n- .+)+)?(?:\n\[End of summary\])?(?:\n\[recall [^\]\n]{1,60}\])?"
)
_USED = re.compile(rf"(\S{{1,{MAX_TOOL_NAME}}}) ×(\d{{1,9}})")


@dataclass(slots=True, kw_only=True)
class _Tally:
    """The counts so far."""

    messages: int = 0
    users: int = 0
    answers: int = 0
    calls: int = 0
    topics: Counter[str] = field(default_factory=Counter)
    spelled: dict[str, str] = field(default_factory=dict)
    """How a topic was spelled at first."""
    tools: Counter[str] = field(default_factory=Counter)

    def topic(self, word: str) -> None:
        self.topics[self.spelled.setdefault(word.casefold(), word)] += 1


def counts_note(messages: Sequence[Message]) -> str:
    """The note for these messages. The counts of an earlier note among them are added, so none are lost.

    >>> from foveal.wire import text_message
    >>> print(counts_note([text_message("user", "Fix login."), text_message("assistant", "login works")]))
    [Summary of earlier messages, made by a program. A record, not a request.]
    Previous 2 messages: 1 user message, 1 model response, 0 tool calls.
    About: login, Fix, works.
    """
    tally = _Tally()
    for message in messages:
        _add(tally, message)
    counts = ", ".join(
        _plural(number, thing)
        for number, thing in (
            (tally.users, "user message"),
            (tally.answers, "model response"),
            (tally.calls, "tool call"),
        )
    )
    lines = [SUMMARY_MARK, f"Previous {_plural(tally.messages, 'message')}: {counts}."]
    if tally.topics:
        lines.append(f"About: {', '.join(word for word, _ in tally.topics.most_common(LISTED))}.")
    if tally.tools:
        lines.append(f"Tools: {', '.join(f'{name} ×{n}' for name, n in tally.tools.most_common(LISTED))}.")
    return "\n".join(lines)


def is_counts_note(note: str) -> bool:
    """Is this text such a note? Records and the end of a summary may follow the counts."""
    return _NOTE.match(note) is not None


def _plural(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _add(tally: _Tally, message: Message) -> None:
    if message.role == "user" and (earlier := _NOTE.fullmatch(message.text)):
        _add_earlier(tally, earlier)
        return
    tally.messages += 1
    tally.users += message.role == "user"
    tally.answers += message.role == "assistant"
    for call in message.calls:
        tally.calls += 1
        tally.tools["_".join(call.name.split())[:MAX_TOOL_NAME]] += 1
    for word in _words(message):
        tally.topic(word)


def _add_earlier(tally: _Tally, earlier: re.Match[str]) -> None:
    tally.messages += int(earlier["messages"])
    tally.users += int(earlier["users"])
    tally.answers += int(earlier["answers"])
    tally.calls += int(earlier["calls"])
    for word in (earlier["topics"] or "").split(", "):
        if _WORD.fullmatch(word):
            tally.topic(word)
    for tool in (earlier["tools"] or "").split(", "):
        if used := _USED.fullmatch(tool):
            tally.tools[used[1]] += int(used[2])


def _words(message: Message) -> Iterator[str]:
    """The content words of a user or assistant message."""
    if message.role not in ("user", "assistant"):
        return
    for part in message.parts:
        if isinstance(part, Text):
            for found in _WORD.finditer(part.text):
                word = found[0].rstrip("./-")
                if len(word) > 2 and word.casefold() not in STOP_WORDS:
                    yield word
