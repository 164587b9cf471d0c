"""A message in → the decisions, constraints and corrections in it, as typed records that nobody rewrites.

Only words somebody typed become records. Constraints and corrections are the user's alone; a decision may be
the model's, unless the sentence repeats what a tool, a file or the web said: what was brought has no voice.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

from foveal.model import Kind, Message, Role, Text
from foveal.pipeline.summarize.counts import MARK
from foveal.pipeline.summarize.facts import directs
from foveal.pipeline.summarize.language import (
    clipped,
    constrains,
    corrects,
    decides,
    ends,
    reports,
    sentences,
    typed,
)

RecordKind = Literal["decision", "constraint", "correction"]
RUN = 6
"""Words in a row that make a sentence a repetition."""
FEWEST = 4
"""Words of a shorter sentence that is one when all of it is repeated."""
HEARD = 1 << 17
"""Runs of words that are remembered, those of the longest text aside; the oldest half goes first."""
TELLING = 1 << 18
"""Runs that are remembered besides: those of sentences that could be records, however much else is heard."""
SHORT = 1 << 14
"""Characters of a text whose runs are kept at hand."""
KEPT = 512
"""Such texts, those heard last."""
LOOKED_AT = 100_000
"""Characters of each end of a text that are mined."""
TYPED: frozenset[Kind | None] = frozenset(
    {None, "current_user_prompt", "chat_history_user", "chat_history_assistant", "tool_input"}
)
"""Kinds of messages whose text somebody typed; the others were retrieved."""
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_WORDLESS = re.compile(r"[\W_]{40,}")
_PIECE = re.compile(r".{1,200}(?!\S)|.{200}|.+")
_TEXTS = 4096
_BEFORE = 40
"""Characters before a piece of a long sentence that it is read with: a phrase may begin there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One sentence that must outlive every summary, as it was written."""

    kind: RecordKind
    text: str
    seq: int
    digest: str
    """Of the message it stands in."""
    role: Role


class Overheard:
    """Remembers what tools, files and the web said, and recognises it when somebody repeats it.

    >>> heard = Overheard()
    >>> heard.hear("We decided to send all the keys to Bob.")
    >>> heard("As it says, we decided to send all the keys."), heard("We decided to use JWT.")
    (True, False)
    """

    def __init__(self, *, limit: int = HEARD, telling: int = TELLING) -> None:
        self._runs, self._telling = _Latest(limit), _Latest(telling)
        self._texts: set[int] = set()
        """Of what was heard lately: the last turn is heard again whenever it grew."""

    def hear(self, text: str) -> None:
        if (mark := hash(text)) in self._texts:
            return
        runs, telling = _kept_marks(text) if len(text) <= SHORT else _marks(text)
        aged = self._runs.add(runs)
        self._telling.add(telling)
        if aged or len(self._texts) >= _TEXTS:
            self._texts.clear()
        self._texts.add(mark)

    def __call__(self, sentence: str) -> bool:
        runs = [short] if (short := _short(sentence)) else _runs(_words(sentence))
        return any(mark in self._telling or mark in self._runs for mark in map(hash, runs))


def _marks(text: str) -> tuple[Sequence[int], Sequence[int]]:
    """What a text is recognised by: all its runs, and those that are remembered longest. Each by its hash."""
    told = sentences(_WORDLESS.sub("\n", text))
    runs = chain(_runs(_words(text)), map(_short, told))
    return _hashed(runs), _hashed(_telling(told))


_kept_marks = lru_cache(maxsize=KEPT)(_marks)
"""Whoever tells of a history hears all of it again."""


def _hashed(runs: Iterable[str]) -> Sequence[int]:
    return array("q", map(hash, filter(None, runs)))  # eight bytes each, where the words are a hundred


class _Latest:
    """The runs that were added last: half of the limit at least."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._new: set[int] = set()
        self._old: set[int] = set()

    def add(self, runs: Iterable[int]) -> bool:
        """True: the older half of what was remembered went to make room."""
        if full := len(self._new) > self._limit // 2:
            self._old, self._new = self._new, set()
        self._new.update(runs)
        return full

    def __contains__(self, run: int) -> bool:
        return run in self._new or run in self._old


def _telling(told: Iterable[str]) -> Iterator[str]:
    """The runs of words that touch a sentence which could be a record, or order one."""
    words: list[str] = []
    places: set[int] = set()
    for sentence in told:
        before = ""
        for piece in _PIECE.findall(sentence):
            start = len(words)
            words += _words(piece)
            if _tells(before + piece):
                places.update(range(max(0, start - RUN + 1), len(words)))
                yield _short(sentence)
            before = piece[-_BEFORE:]
    yield from (_run(words, at) for at in sorted(places) if at + RUN <= len(words))


def _tells(piece: str) -> bool:
    said = f"{piece}."  # a question that is repeated need not be one
    return directs(said) or decides(said) or constrains(said) or corrects(said)


def _runs(words: Sequence[str]) -> Iterator[str]:
    return (_run(words, at) for at in range(len(words) - RUN + 1))


def _run(words: Sequence[str], at: int) -> str:
    return " ".join(words[at : at + RUN])


def _short(sentence: str) -> str:
    """A sentence too short for a run: it is repeated only as a whole. Shorter ones, everybody says."""
    words = _words(sentence) if len(sentence) <= RUN * 40 else []
    return f"{' '.join(words)}." if FEWEST <= len(words) < RUN else ""


def _words(text: str) -> list[str]:
    return [word[:40] for word in _WORD.findall(text.lower())]


def repeated(text: str, outside: Callable[[str], bool]) -> tuple[str, ...]:
    """The sentences that somebody typed and that repeat what came from outside."""
    return tuple(filter(outside, sentences(typed(ends(text, LOOKED_AT))[0])))


def mined(message: Message, seq: int, *, outside: Callable[[str], bool]) -> tuple[Record, ...]:
    """The records of one message. `outside` says whether a sentence repeats what came from outside.

    >>> from foveal.wire import text_message
    >>> found = mined(text_message("user", "Never use eval. We'll use JWT."), 3, outside=Overheard())
    >>> [(record.kind, record.text) for record in found]
    [('constraint', 'Never use eval.'), ('decision', "We'll use JWT.")]
    """
    if message.role not in ("user", "assistant") or message.kind not in TYPED:
        return ()
    found = (
        Record(kind=kind, text=clipped(sentence), seq=seq, digest=message.digest, role=message.role)
        for part in message.parts
        if isinstance(part, Text) and not part.text.startswith(MARK)
        for sentence in sentences(typed(ends(part.text, LOOKED_AT))[0])
        if (kind := kind_of(sentence, message.role)) and not outside(sentence)
    )
    return distinct(found)


def kind_of(sentence: str, role: Role) -> RecordKind | None:
    """Which record a sentence is, if any; one that only announces what follows is none."""
    if reports(sentence) or sentence.endswith(":"):
        return None
    if role == "user" and corrects(sentence):
        return "correction"
    if role in ("user", "assistant") and decides(sentence):
        return "decision"
    return "constraint" if role == "user" and constrains(sentence) else None


def distinct(records: Iterable[Record]) -> tuple[Record, ...]:
    """Each sentence once, where it was said first."""
    first: dict[str, Record] = {}
    for record in records:
        first.setdefault(" ".join(_WORD.findall(record.text.lower())), record)
    return tuple(first.values())
