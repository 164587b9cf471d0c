"""Keep summaries, so that none is written twice: in memory for half an hour, in the store for good.

A build never waits for a model: it gets the stored summary, or else an extract. If a model writes summaries,
it is asked in the background, and later builds use its summary.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from threading import Lock

from foveal.jobs import Memo
from foveal.model import handle_of
from foveal.pipeline.summarize.values import Answer, Ask, Summary
from foveal.store import Store, SummaryRecord

REMEMBERED = 30 * 60.0
"""Seconds that a summary stays in memory."""
MOST = 4_096
"""Summaries in memory."""
NO_ARC = Summary(text="", tokens=0)
"""In place of an arc that no model has written: a preset extracts its own."""
QUEUED = 1_024
"""Summaries that wait for a model at most; the oldest requests are dropped, as windows need the latest."""


@dataclass(slots=True)
class Library:
    """The summaries of one tenant's store, and the queue of those that a model should write."""

    store: Store
    when_queued: Callable[[], None] = lambda: None
    """Called when a summary was added to the queue: callers need not know who writes it."""
    memo: Memo[Summary] = field(default_factory=lambda: Memo(REMEMBERED, MOST))
    _queue: dict[str, Ask] = field(default_factory=dict)
    _tried: Memo[str] = field(default_factory=lambda: Memo(REMEMBERED, MOST))
    _lock: Lock = field(default_factory=Lock)

    def find(self, ask: Ask) -> Summary | None:
        """The summary in memory or in the store, if there is one."""
        found = self.memo.get(ask.key)
        if found is None and (record := self.store.summary(ask.key)):
            found = _summary(record)
            self.memo.put(ask.key, found)
        return found

    def written(self, keys: Collection[str]) -> frozenset[str]:
        """The keys among these whose summaries a model has written, in this process or another."""
        found = self.store.summaries(sorted(keys)) if keys else {}
        by_model = {key: record for key, record in found.items() if record.by == "llm"}
        for key, record in by_model.items():
            self.memo.put(key, _summary(record))  # which may have the extract that it replaced
        return frozenset(by_model)

    def save(self, ask: Ask, summary: Summary) -> None:
        """Store a summary with its sources; the store keeps a model's summary over an extract."""
        record = SummaryRecord(
            key=ask.key,
            text=summary.text,
            tokens=summary.tokens,
            by=summary.by,
            level=ask.level,
            created_at=time.time(),
        )
        kept = self.store.save_summary(record, [passage.digest for passage in ask.passages])
        if kept and summary.by == "llm":  # for an extract, the store may have a better one
            self.memo.put(ask.key, summary)

    def forget(self) -> None:
        """Forget all summaries in memory and in the queue: they may quote a message that was just erased."""
        self.memo.clear()
        with self._lock:
            self._queue.clear()

    def queue(self, ask: Ask) -> None:
        """Queue a summary for the model, unless the model failed at it within the last half hour."""
        with self._lock:
            if self._tried.get(ask.key):
                return
            known = self._queue.pop(ask.key, None)
            self._queue[ask.key] = ask
            while len(self._queue) > QUEUED:
                del self._queue[next(iter(self._queue))]
        if not known:
            self.when_queued()

    @property
    def crowded(self) -> bool:
        """Whether so many wait that requests for others should come later: the oldest may be dropped."""
        return len(self._queue) >= QUEUED // 2

    def write_one(self, write: Answer) -> bool:
        """Have the latest queued summary written; return whether more should be written now."""
        with self._lock:
            if not self._queue:
                return False
            ask = self._queue.pop(next(reversed(self._queue)))
        if not self._has_sources(ask):
            return bool(self._queue)
        summary = write(ask)
        if summary.by != "llm":
            self._tried.put(ask.key, ask.key)
            # A model that just failed is not asked for the next one right away, unless it failed at an arc:
            # some models can write a summary, but no JSON.
            return ask.form == "arc" and bool(self._queue)
        self.save(ask, summary)
        return bool(self._queue)

    def _has_sources(self, ask: Ask) -> bool:
        """Whether everything to be summarized is still stored: another process may have erased some of it."""
        if ask.level > 1:
            return all(self.store.summary(passage.digest) for passage in ask.passages)
        return all(self.store.by_handle(handle_of(passage.digest)) for passage in ask.passages)


def _summary(record: SummaryRecord) -> Summary:
    return Summary(text=record.text, tokens=record.tokens, by=record.by)


class Answers:
    """The source of summaries for one build. New extracts are stored only by `save`: a build only reads."""

    def __init__(self, library: Library, count: Callable[[str], int], *, better: bool) -> None:
        """`better`: a model writes summaries, so extracts are queued to be replaced by its summaries."""
        self._library = library
        self._count = count
        self._better = better
        self._new: dict[str, tuple[Ask, Summary]] = {}

    def __call__(self, ask: Ask) -> Summary:
        if ask.key in self._new:
            return self._new[ask.key][1]
        found = self._library.find(ask) or (NO_ARC if ask.form == "arc" else None)
        if found is None:
            from foveal.pipeline.summarize.extract import extractive_summary

            found = extractive_summary(ask, self._count)
            self._new[ask.key] = (ask, found)
        if self._better and ask.whole and found.by == "extractive":
            self._library.queue(ask)
        return found

    def save(self) -> None:
        """Store the new extracts in the caller's transaction, lower levels first: higher ones cite them."""
        for ask, summary in sorted(self._new.values(), key=lambda pair: pair[0].level):
            if ask.whole:
                self._library.save(ask, summary)
            else:
                self._library.memo.put(ask.key, summary)
        self._new = {}
