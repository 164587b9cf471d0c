"""An `Ask` in → a `Summary`, never made twice: remembered for half an hour, kept in the store for good.

A build is answered at once, by what is stored or by an extract; where a model writes summaries, it is asked
in the background and its answer serves from the next build on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from foveal.jobs import Memo
from foveal.model import handle_of
from foveal.pipeline.summarize.extract import extractive_summary
from foveal.pipeline.summarize.values import Answer, Ask, Summary
from foveal.store import Store, SummaryRecord

REMEMBERED = 30 * 60.0
"""Seconds."""
MOST = 4_096
"""Summaries at hand."""
QUEUED = 1_024
"""Asks that wait for a model; the newest ones, for the windows are about them."""


@dataclass(slots=True)
class Library:
    """The summaries of one tenant's store, and those that a model is still to write."""

    store: Store
    memo: Memo[Summary] = field(default_factory=lambda: Memo(REMEMBERED, MOST))
    _queue: dict[str, Ask] = field(default_factory=dict)
    _tried: Memo[str] = field(default_factory=lambda: Memo(REMEMBERED, MOST))
    _lock: Lock = field(default_factory=Lock)

    def find(self, ask: Ask) -> Summary | None:
        found = self.memo.get(ask.key)
        if found is None and (record := self.store.summary(ask.key)):
            found = Summary(text=record.text, tokens=record.tokens, by=record.by)
            self.memo.put(ask.key, found)
        return found

    def save(self, ask: Ask, made: Summary) -> None:
        record = SummaryRecord(
            key=ask.key,
            text=made.text,
            tokens=made.tokens,
            by=made.by,
            level=ask.level,
            created_at=time.time(),
        )
        kept = self.store.save_summary(record, [passage.digest for passage in ask.passages])
        if kept and made.by == "llm":  # an extract may have come too late: `find` asks the store
            self.memo.put(ask.key, made)

    def forget(self) -> None:
        """Something was erased: what is at hand may tell of it."""
        self.memo.clear()
        with self._lock:
            self._queue.clear()

    def queue(self, ask: Ask) -> None:
        """Have a model write it when there is time; one that it failed at is not asked again for a while."""
        with self._lock:
            if not self._tried.get(ask.key):
                self._queue.pop(ask.key, None)
                self._queue[ask.key] = ask
            while len(self._queue) > QUEUED:
                del self._queue[next(iter(self._queue))]

    def write_one(self, write: Answer) -> bool:
        """Have the newest waiting summary written; says whether more wait."""
        with self._lock:
            if not self._queue:
                return False
            ask = self._queue.pop(next(reversed(self._queue)))
        if not self._there(ask):
            return bool(self._queue)
        made = write(ask)
        if made.by != "llm":
            self._tried.put(ask.key, ask.key)
            return False  # whoever failed at one is not asked for the others right away
        self.save(ask, made)
        return bool(self._queue)

    def _there(self, ask: Ask) -> bool:
        """What it tells of may have been erased by somebody else since it was asked."""
        if ask.level > 1:
            return all(self.store.summary(passage.digest) for passage in ask.passages)
        return all(self.store.by_handle(handle_of(passage.digest)) for passage in ask.passages)


class Answers:
    """Who answers one build: nothing it makes is stored before `save`, so a build reads one moment."""

    def __init__(self, library: Library, count: Callable[[str], int], *, better: bool) -> None:
        """`better`: a model writes summaries, so an extract is to be replaced by its words."""
        self._library = library
        self._count = count
        self._better = better
        self._made: dict[str, tuple[Ask, Summary]] = {}

    def __call__(self, ask: Ask) -> Summary:
        if ask.key in self._made:
            return self._made[ask.key][1]
        found = self._library.find(ask)
        if found is None:
            found = extractive_summary(ask, self._count)
            self._made[ask.key] = (ask, found)
        if self._better and ask.whole and found.by == "extractive":
            self._library.queue(ask)
        return found

    def save(self) -> None:
        """Keep what was made, in the caller's transaction: lower levels first, for they are sources."""
        for ask, made in sorted(self._made.values(), key=lambda pair: pair[0].level):
            if ask.whole:
                self._library.save(ask, made)
            else:
                self._library.memo.put(ask.key, made)
        self._made = {}
