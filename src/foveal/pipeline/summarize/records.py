"""Find the decisions, constraints and corrections in a message, as records that are kept word for word.

Only typed words become records. Corrections are the user's alone, and so are constraints unless an explicit
label names them; a decision may be the model's. No sentence that repeats a tool, a file or the web is one.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from foveal.model import Kind, Message, Role, Text
from foveal.pipeline.signals import WORD
from foveal.pipeline.summarize.facts import directs
from foveal.pipeline.summarize.language import (
    clipped,
    constrains,
    corrects,
    decides,
    head_and_tail,
    is_reported_speech,
    labelled,
    sentences,
    split_pasted,
)
from foveal.pipeline.summarize.notes import NOTE_MARKS
from foveal.pipeline.summarize.values import Record, RecordKind

MINED = 100_000
"""Characters of each end of a text that are mined."""
TYPED_KINDS: frozenset[Kind | None] = frozenset(
    {None, "current_user_prompt", "chat_history_user", "chat_history_assistant", "tool_input"}
)
"""Kinds of messages whose text was typed; the others were retrieved."""


def mine_records(message: Message, seq: int, *, outside: Callable[[str], bool]) -> tuple[Record, ...]:
    """The records of one message. `outside`: does a sentence repeat a tool, a file or the web?

    >>> from foveal.wire import text_message
    >>> message = text_message("user", "Never use eval. We'll use JWT.")
    >>> found = mine_records(message, 3, outside=EchoDetector())
    >>> [(record.kind, record.text) for record in found]
    [('constraint', 'Never use eval.'), ('decision', "We'll use JWT.")]
    """
    if message.role not in ("user", "assistant") or message.kind not in TYPED_KINDS:
        return ()
    found = (
        Record(kind=kind, text=clipped(sentence), seq=seq, digest=message.digest, role=message.role)
        for part in message.parts
        if isinstance(part, Text) and not part.text.startswith(NOTE_MARKS)
        for sentence in sentences(split_pasted(head_and_tail(part.text, MINED))[0])
        if (kind := record_kind(sentence, message.role)) and not outside(sentence)
    )
    return distinct_records(found)


def record_kind(sentence: str, role: Role) -> RecordKind | None:
    """The kind of record a sentence is, if any; a sentence that only announces what follows is none."""
    if is_reported_speech(sentence) or sentence.endswith(":"):
        return None
    if role == "user" and corrects(sentence):
        return "correction"
    if role in ("user", "assistant") and (label := labelled(sentence)):
        # A word or two of the model cannot be distinguished from what a tool printed.
        return label[0] if role == "user" or len(_words(sentence)) >= SHORTEST else None
    if role in ("user", "assistant") and decides(sentence):
        return "decision"
    return "constraint" if role == "user" and constrains(sentence) else None


def distinct_records(records: Iterable[Record]) -> tuple[Record, ...]:
    """Each sentence once, as first said."""
    first: dict[str, Record] = {}
    for record in records:
        first.setdefault(" ".join(WORD.findall(record.text.lower())), record)
    return tuple(first.values())


RUN = 6
"""Consecutive words that make a sentence a repetition."""
SHORTEST = 4
"""Words of a shorter sentence, which is a repetition when all of it is repeated."""
REMEMBERED = 1 << 17
"""Runs of words that are remembered, those of the longest text aside; the oldest half goes first."""
REMEMBERED_CLAIMS = 1 << 18
"""Runs remembered besides: those of sentences that could be records, however much else was added."""
CACHED = 1 << 14
"""Characters of a text whose runs are cached."""
CACHED_TEXTS = 512
_WORDLESS = re.compile(r"[\W_]{40,}")
_PIECE = re.compile(r".{1,200}(?!\S)|.{200}|.+")
_TEXTS = 4096
_BEFORE = 40
"""Characters before a piece of a long sentence that it is read with: a phrase may begin there."""


class EchoDetector:
    """Recognises sentences that repeat what tools, files and the web said.

    >>> is_echo = EchoDetector()
    >>> is_echo.add("We decided to send all the keys to Bob.")
    >>> is_echo("As it says, we decided to send all the keys."), is_echo("We decided to use JWT.")
    (True, False)
    """

    def __init__(self, *, limit: int = REMEMBERED, claims: int = REMEMBERED_CLAIMS) -> None:
        self._runs, self._claims = _Latest(limit), _Latest(claims)
        self._texts: set[int] = set()
        """Hashes of recent texts: the last turn is added again whenever it grew."""

    def add(self, text: str) -> None:
        if (key := hash(text)) in self._texts:
            return
        runs, claims = _cached_hashes(text) if len(text) <= CACHED else _hashes(text)
        aged = self._runs.add(runs)
        self._claims.add(claims)
        if aged or len(self._texts) >= _TEXTS:
            self._texts.clear()
        self._texts.add(key)

    def __call__(self, sentence: str) -> bool:
        label = labelled(sentence)
        return self._repeats(sentence) or (label is not None and self._repeats(label[1]))

    def _repeats(self, sentence: str) -> bool:
        runs = [short] if (short := _short(sentence)) else _runs(_words(sentence))
        return any(run in self._claims or run in self._runs for run in map(hash, runs))


def _hashes(text: str) -> tuple[Sequence[int], Sequence[int]]:
    """The hashes of all runs of a text, and of those that are remembered longer."""
    found = sentences(_WORDLESS.sub("\n", text))
    runs = chain(_runs(_words(text)), map(_short, found))
    return _hashed(runs), _hashed(_claims(found))


_cached_hashes = lru_cache(maxsize=CACHED_TEXTS)(_hashes)
"""Each new detector reads the same history again."""


def _hashed(runs: Iterable[str]) -> Sequence[int]:
    return array("q", map(hash, filter(None, runs)))  # 8 bytes each; the words take a hundred


class _Latest:
    """The runs that were added last, at least half of the limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._new: set[int] = set()
        self._old: set[int] = set()

    def add(self, runs: Iterable[int]) -> bool:
        """Add the runs; True when the older half was dropped to make room."""
        if full := len(self._new) > self._limit // 2:
            self._old, self._new = self._new, set()
        self._new.update(runs)
        return full

    def __contains__(self, run: int) -> bool:
        return run in self._new or run in self._old


def _claims(sentences: Iterable[str]) -> Iterator[str]:
    """The runs of words in or next to a sentence that could be a record or direct the reader."""
    words: list[str] = []
    starts: set[int] = set()
    for sentence in sentences:
        before = ""
        for piece in _PIECE.findall(sentence):
            start = len(words)
            words += _words(piece)
            if _is_claim(before + piece):
                starts.update(range(max(0, start - RUN + 1), len(words)))
                yield _short(sentence)
            before = piece[-_BEFORE:]
    yield from (_run(words, at) for at in sorted(starts) if at + RUN <= len(words))


def _is_claim(piece: str) -> bool:
    statement = f"{piece}."  # a repeated question may come back as a statement
    return bool(
        directs(statement)
        or decides(statement)
        or constrains(statement)
        or corrects(statement)
        or labelled(statement)
    )


def _runs(words: Sequence[str]) -> Iterator[str]:
    return (_run(words, at) for at in range(len(words) - RUN + 1))


def _run(words: Sequence[str], at: int) -> str:
    return " ".join(words[at : at + RUN])


def _short(sentence: str) -> str:
    """A sentence too short for a run, which is repeated only as a whole; empty for any other."""
    words = _words(sentence) if len(sentence) <= RUN * 40 else []
    return f"{' '.join(words)}." if SHORTEST <= len(words) < RUN else ""


def _words(text: str) -> list[str]:
    return [word[:40] for word in WORD.findall(text.lower())]


def echoes(text: str, outside: Callable[[str], bool]) -> tuple[str, ...]:
    """The typed sentences that repeat what came from outside."""
    return tuple(filter(outside, sentences(split_pasted(head_and_tail(text, MINED))[0])))
