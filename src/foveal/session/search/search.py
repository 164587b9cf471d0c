"""A session and a question in → the messages that answer it, ranked; or a window of the best of them.

The index is in memory, made of what is stored and caught up before each use: only new messages cost time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from foveal import wire
from foveal.errors import BudgetError, UpstreamError
from foveal.events import Warned
from foveal.model import Chunk, Conversation, Entry, Format, Message, Role, handle_of
from foveal.pipeline.account import Choice, account
from foveal.pipeline.fit import Fitted
from foveal.pipeline.history import LEFT_OUT, History
from foveal.pipeline.values import Selection
from foveal.search.fusion import FLOOR, fused
from foveal.search.values import Document, Floats, Mask, Ranking
from foveal.session.state import SessionState
from foveal.session.target import Target, checked_budget
from foveal.session.values import Hit
from foveal.store import Content, Found, Store
from foveal.window import Decision, Manifest, Score, Window

if TYPE_CHECKING:
    from foveal.search.embed import Embedder, Vectors
    from foveal.search.index import Index

T = TypeVar("T")
BATCH = 100
"""Contents that are embedded in the background at a time."""
READ = 512
"""Messages that are read and indexed at a time."""
LARGE = 5_000
"""Messages from which on a session is searched as a whole store is: to index it in memory takes seconds."""
NEAR = 20
"""Hits by vector that are looked at in the store."""
FOCUS = "focus"
"""What the manifest of a window for one question names as its preset."""


class Finder:
    """The index of one session. Vectors are made while nothing is locked: a model may take its time."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._index: Index | None = None
        self._known: tuple[int, int] = (-1, 0)
        """The branch, and how many of its messages were erased, when the index was begun."""
        self._width = 0
        """Numbers in a vector, once one was seen."""

    def asked(self, query: str, work: Callable[[Index], T]) -> T:
        """What `work` makes of the index, caught up, in one moment of the store."""
        if self._index is not None:
            self._index.vector(query)
        with self._state.reading():
            if not self._behind():
                return work(self._caught_up())
        self._embed_missing()
        with self._state.reading():
            index = self._caught_up()
        index.vector(query)
        with self._state.reading():
            return work(self._caught_up())

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """The embedder's, told as a warning when it fails."""
        embedder = self._state.resources.embedder
        assert embedder is not None
        try:
            rows = embedder.embed(texts)
        except UpstreamError as error:
            told = f"ranking by words alone: {error.what}"
            self._state.resources.bus.emit([Warned(session=self._state.name, text=told)])
            raise
        self._width = rows.shape[1] or self._width
        return rows

    def _behind(self) -> bool:
        log = self._state.log
        current = self._index is not None and self._known == (log.head.branch, log.erased)
        return not current or len(self._index or ()) != len(log.entries)

    def _embed_missing(self) -> None:
        """Give every message that has none its vector; one that cannot be had now is left for later."""
        embedder = self._state.resources.embedder
        start = 0 if self._index is None else len(self._index)
        while embedder is not None:
            with self._state.reading():
                entries = self._state.log.entries[start : start + READ]
                texts = self._unembedded(embedder, entries) if entries else {}
            if not entries:
                return
            try:
                rows = self.vectors(list(texts.values())) if texts else ()
            except UpstreamError:
                return
            made = {digest: row.tobytes() for digest, row in zip(texts, rows, strict=True)}
            self._state.store.save_vectors(made, embedder.name)
            start += len(entries)

    def _unembedded(self, embedder: Embedder, entries: Sequence[Entry]) -> dict[str, str]:
        """Texts by digest. What was erased or says nothing needs no vector."""
        stored = self._stored(embedder, entries)
        missing = [
            entry
            for entry, vector in zip(entries, stored, strict=True)
            if vector is None and entry.absence != "erased"
        ]
        messages = self._state.log.read_unerased(missing)
        texts = {e.digest: m.text for e, m in zip(missing, messages, strict=True) if m is not None}
        return {digest: text for digest, text in texts.items() if text.strip()}

    def _stored(self, embedder: Embedder, entries: Sequence[Entry]) -> Sequence[bytes | None]:
        first, last = entries[0].seq, entries[-1].seq
        return self._state.store.vectors(self._state.id, embedder.name, start=first, stop=last + 1)

    def _caught_up(self) -> Index:
        from foveal.search.index import Index

        log, embedder = self._state.log, self._state.resources.embedder
        if self._index is None or self._known != (log.head.branch, log.erased):
            self._index = Index(self.vectors if embedder else None)
            self._known = (log.head.branch, log.erased)
        index = self._index
        for start in range(len(index), len(log.entries), READ):
            entries = log.entries[start : start + READ]
            messages = log.read_unerased(entries)
            documents = [_document(*pair) for pair in zip(entries, messages, strict=True)]
            rows = self._rows(embedder, entries) if embedder else None
            if embedder and rows is None:  # nobody ever gave a vector: by words alone, this once
                self._index, index = None, _by_words(index, documents)
                continue
            index.extend(documents, rows)
        return index

    def _rows(self, embedder: Embedder, entries: Sequence[Entry]) -> Vectors | None:
        """The stored vectors, zeros where there is none yet; None where nobody knows how long they are."""
        import numpy as np

        stored = self._stored(embedder, entries)
        self._width = self._width or next((len(v) // 4 for v in stored if v is not None), 0)
        if not self._width:
            return None
        blank = bytes(4 * self._width)
        whole = b"".join(blank if vector is None else vector for vector in stored)
        rows: Vectors = np.frombuffer(whole, dtype=np.float32).reshape(len(entries), self._width)
        return rows


def _by_words(index: Index, documents: Sequence[Document]) -> Index:
    """The index, or a new one without vectors, with these documents."""
    from foveal.search.index import Index

    words = index if index.by_words else Index(None)
    words.extend(documents)
    return words


def _document(entry: Entry, message: Message | None) -> Document:
    return Document(
        role=entry.role,
        author=message.author if message else "",
        text=message.text if message else "",
        created_at=entry.created_at,
    )


# Search


def search_session(
    state: SessionState, query: str, *, limit: int, everywhere: bool, now: float | None
) -> tuple[Hit, ...]:
    with state.reading():
        large = len(state.log.entries) > LARGE
    if everywhere or large:
        scope = None if everywhere else state.id
        return tuple(_hit(found) for found in _stored(state, query, limit, session=scope))

    def best(index: Index) -> list[Hit]:
        ranking, matched = index.rank(query, now=now), index.matches(query, floor=FLOOR)
        entries = _best(ranking, matched, state.log.entries, limit)
        messages = state.log.read_unerased(entries)
        return [_ranked(state, ranking, *pair) for pair in zip(entries, messages, strict=True)]

    hits = state.finder.asked(query, best)
    return (*hits, *_left_behind(state, query, limit - len(hits)))


def _ranked(state: SessionState, ranking: Ranking, entry: Entry, message: Message | None) -> Hit:
    return Hit(
        id=entry.id,
        handle=entry.handle,
        session=state.name,
        role=entry.role,
        score=round(float(ranking.values[entry.seq]), 4),
        text=message.text if message else "",
        created_at=entry.created_at,
        parts={name: round(float(part[entry.seq]), 4) for name, part in ranking.parts.items()},
    )


def _left_behind(state: SessionState, query: str, limit: int) -> Iterator[Hit]:
    """Messages that hold the words on branches the session left: after those it goes on with."""
    if limit > 0:
        for found in state.store.search(query, session=state.id, limit=limit):
            place = state.store.locate(state.id, found.id)
            if place is not None and not place.current:
                yield replace(_hit(found), score=0.0)


def _best(ranking: Ranking, matched: Mask, entries: Sequence[Entry], limit: int) -> list[Entry]:
    import numpy as np

    places = np.flatnonzero(matched)[::-1]  # of equals the newest
    order = places[np.argsort(-ranking.values[places], kind="stable")]
    return [entry for place in order.tolist() if (entry := entries[place]).absence != "erased"][:limit]


def _stored(state: SessionState, query: str, limit: int, *, session: int | None) -> Sequence[Found]:
    """What the store's own indexes find, by words and by vectors."""
    most, embedder = max(limit, NEAR), state.resources.embedder
    by_words = state.store.search(query, session=session, limit=most)
    if embedder is None:
        return by_words[:limit]
    try:
        (vector,) = state.finder.vectors([query])
    except UpstreamError:
        return by_words[:limit]
    near = state.store.nearest(vector.tobytes(), embedder.name, session=session, limit=most, floor=FLOOR)
    return fused(by_words, near, limit)


def _hit(found: Found) -> Hit:
    return Hit(
        id=found.id,
        handle=handle_of(found.digest),
        session=found.session,
        role=found.role,
        score=round(found.score, 4),
        text=wire.reread(found.body, found.format, found.role, digest=found.digest).text,
        created_at=found.created_at,
    )


# Focus


def focus_window(  # noqa: PLR0913 — what may be said of it, by name
    state: SessionState,
    question: str,
    *,
    budget: int,
    model: str,
    format: Format | None,
    now: float | None,
    fetch: Any,
) -> Window:
    checked_budget(budget)

    def best(index: Index) -> tuple[Target, History, Floats, dict[int, Chunk], Sequence[bool]]:
        target = state.target(model, format)
        history = state.log.history(target)
        values = _by_turn(history, index.rank(question, now=now).values)
        return target, history, values, *_focused(history, values, target, budget)

    target, history, values, chunks, notes = state.finder.asked(question, best)
    pieces: list[str] = []
    for chunk, noted in zip(chunks.values(), notes, strict=True):
        pieces += (*history.note_pieces, *chunk.pieces) if noted else chunk.pieces
    spent = target.meter.request + history.note_tokens * sum(notes) + sum(c.tokens for c in chunks.values())
    brief = Manifest(
        preset=FOCUS, counter=target.tokenizer.name, budget=budget, tokens=spent, parts={}, decisions=()
    )
    fitted = Fitted(chunks=tuple(chunks.values()), pieces=tuple(pieces), manifest=brief)
    given = Conversation(format=target.format, messages=())
    window = target.window(fitted, given, entries=history.entries, fetch=fetch)
    # Most who ask want the messages alone; the account of all that was left out is made when it is read.
    account_of = partial(_manifest, history, chunks, values, brief, sum(notes))
    return replace(window, account=cache(partial(account_of, end=len(history.entries) - 1)))


def _focused(
    history: History, values: Floats, target: Target, budget: int
) -> tuple[dict[int, Chunk], Sequence[bool]]:
    """The best turns for their cost that fit, whole, in order; and before which of them a note must stand."""
    room = budget - target.meter.request
    if room < 0:
        raise BudgetError(
            f"the budget is {budget:,} tokens, an empty window has {target.meter.request:,}",
            remedy=f"raise `budget` above {target.meter.request:,}",
        )
    from foveal.search.rank import chosen  # numpy, which `import foveal` does not load

    turns = chosen(Ranking(values=values, parts={}), _costs(history, room), room)
    chunks = {turn: chunk for turn in turns if (chunk := history.original(turn)).messages}
    spent = sum([chunk.tokens for chunk in chunks.values()])
    while True:
        notes = history.joints(list(chunks.values()))
        if spent + history.note_tokens * sum(notes) <= room:
            return chunks, notes
        worst = min(chunks, key=lambda turn: (values[turn], turn))
        spent -= chunks.pop(worst).tokens


def turns_for(
    state: SessionState, question: str, history: History, *, most: int, now: float | None
) -> list[int]:
    """The turns of a history that cost no more than `most` tokens, the best for the question first."""
    import numpy as np

    from foveal.search.rank import best_first

    def best(index: Index) -> list[int]:
        values = _by_turn(history, index.rank(question, now=now).values[: len(history.entries)])
        costs = np.asarray(_costs(history, most), dtype=np.int64)
        return [int(turn) for turn in best_first(Ranking(values=values, parts={}), costs, most)]

    return state.finder.asked(question, best)


def _by_turn(history: History, values: Floats) -> Floats:
    """What each turn is worth: as much as its best message."""
    import numpy as np

    if len(history) == len(values):
        return values
    best: Floats = np.maximum.reduceat(values, history.starts)
    return best


def _costs(history: History, room: int) -> list[int]:
    """Tokens of each turn; what is gone for good costs more than there is."""
    sums, starts = history.sums, [*history.starts, len(history.entries)]
    costs = [sums[after] - sums[at] for at, after in pairwise(starts)]
    for first, stop, why in history.absences(0, len(history)):
        if why != LEFT_OUT:
            costs[first:stop] = [room + 1] * (stop - first)
    return costs


def _manifest(
    history: History,
    chunks: Mapping[int, Chunk],
    values: Floats,
    brief: Manifest,
    notes: int,
    *,
    end: int,
) -> Manifest:
    """The account of the history as it was, up to the message `end`."""
    selection = Selection(
        turns=tuple(chunks),
        because_in="among the best for the question that fit",
        because_out="others answer the question better for their tokens",
        scores={turn: Score(total=round(float(values[turn]), 4)) for turn in chunks},
    )
    choice = Choice(window=chunks, forced={}, opened=-1, selection=selection, notes=notes)
    spent = sum(chunk.tokens for chunk in chunks.values()) + history.note_tokens * notes
    told = account(history, choice, {"framing": brief.tokens - spent})
    decisions = tuple(_until(end, history, each) for each in told["decisions"] if each.first <= end)
    return replace(brief, **told | {"decisions": decisions})


def _until(end: int, history: History, decision: Decision) -> Decision:
    if decision.last <= end:
        return decision
    return replace(decision, last=end, tokens=history.between(decision.first, end))


def embed_some(store: Store, embedder: Embedder) -> bool:
    """Give some contents that have none their vectors; says whether more are left."""
    found = store.unembedded(embedder.name, limit=BATCH)
    if not found:
        return False
    rows = embedder.embed(list(map(_text, found)))
    made = {content.digest: row.tobytes() for content, row in zip(found, rows, strict=True)}
    store.save_vectors(made, embedder.name)
    return True


def _text(content: Content) -> str:
    """What a person would read; what stood outside the messages is told by its shape."""
    value = json.loads(content.body)
    outside = not isinstance(value, dict) or (content.format == "gemini" and "role" not in value)
    role: Role = "system" if outside else "user"
    return wire.reread(content.body, content.format, role, digest=content.digest).text
