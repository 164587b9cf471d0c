"""A session and a question in → the messages that answer it, ranked; or a window of the best of them.

The index is in memory, made of what is stored and caught up before each use: only new messages cost time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from foveal import wire
from foveal.errors import BudgetError
from foveal.model import Chunk, Conversation, Entry, Format, Message, Role, handle_of
from foveal.pipeline.account import Choice, account
from foveal.pipeline.fit import Fitted
from foveal.pipeline.history import LEFT_OUT, History
from foveal.pipeline.select.selection import Selection
from foveal.search.fill import chosen
from foveal.search.fusion import FLOOR, fused
from foveal.search.values import Document, Floats, Ranking, Truths
from foveal.session.core import Core
from foveal.session.target import Target, checked_budget
from foveal.session.views import Hit
from foveal.store import Content, Found, Store
from foveal.window import Manifest, Score, Window

if TYPE_CHECKING:
    from foveal.search.embed import Embedder, Vectors
    from foveal.search.index import Index

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
    """The index of one session."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._index: Index | None = None
        self._known: tuple[int, int] = (-1, 0)
        """The branch, and how many of its messages were erased, when the index was begun."""
        self._made: dict[str, bytes] = {}

    def index(self) -> Index:
        """The index, caught up with the ledger."""
        from foveal.search.index import Index

        ledger, embedder = self._core.ledger, self._core.desk.embedder
        known = (ledger.head.branch, ledger.erased)
        if self._index is None or known != self._known or len(self._index) > len(ledger.entries):
            self._index = Index(embedder.embed if embedder else None)
            self._known = known
        for start in range(len(self._index), len(ledger.entries), READ):
            entries = ledger.entries[start : start + READ]
            documents = [
                _document(entry, message)
                for entry, message in zip(entries, ledger.read_unerased(entries), strict=True)
            ]
            self._index.extend(documents, self._vectors(embedder, entries, documents) if embedder else None)
        return self._index

    def _vectors(
        self, embedder: Embedder, entries: Sequence[Entry], documents: Sequence[Document]
    ) -> Vectors:
        """The stored vectors; those that are missing are made."""
        import numpy as np

        store, start = self._core.store, entries[0].seq
        stored = store.vectors(self._core.id, embedder.name, start=start, stop=start + len(entries))
        missing = [place for place, vector in enumerate(stored) if vector is None]
        found = {place: np.frombuffer(v, dtype=np.float32) for place, v in enumerate(stored) if v is not None}
        if missing:
            made = embedder.embed([documents[place].text for place in missing])
            found |= dict(zip(missing, made, strict=True))
            digests = (entries[place].digest for place in missing)
            self._made |= {digest: row.tobytes() for digest, row in zip(digests, made, strict=True)}
        rows: Vectors = np.stack([found[place] for place in range(len(entries))])
        return rows

    def save(self) -> None:
        """Store the vectors that were made, so that nobody makes them again."""
        if self._made and (embedder := self._core.desk.embedder):
            self._core.store.save_vectors(self._made, embedder.name)
        self._made = {}


def _document(entry: Entry, message: Message | None) -> Document:
    return Document(
        seq=entry.seq,
        role=entry.role,
        author=message.author if message else "",
        text=message.text if message else "",
        created_at=entry.created_at,
        tokens=entry.tokens,
    )


# Search


def search(core: Core, query: str, *, limit: int, everywhere: bool, now: float | None) -> tuple[Hit, ...]:
    if everywhere:
        return tuple(_hit(found) for found in _stored(core, query, limit, session=None))
    with core.reading():
        if len(core.ledger.entries) > LARGE:
            return tuple(_hit(found) for found in _stored(core, query, limit, session=core.id))
        finder = core.finder
        index = finder.index()
        ranking, matched = index.rank(query, now=now), index.matches(query, floor=FLOOR)
        found = _best(ranking, matched, core.ledger.entries, limit)
        messages = core.ledger.read_unerased(found)
    finder.save()
    hits = [
        Hit(
            id=entry.id,
            handle=entry.handle,
            session=core.name,
            role=entry.role,
            score=round(float(ranking.values[entry.seq]), 4),
            text=message.text if message else "",
            created_at=entry.created_at,
            parts={name: round(float(part[entry.seq]), 4) for name, part in ranking.parts.items()},
        )
        for entry, message in zip(found, messages, strict=True)
    ]
    return (*hits, *_left_behind(core, query, limit - len(hits)))


def _left_behind(core: Core, query: str, limit: int) -> Iterator[Hit]:
    """Messages that hold the words on branches the session left: after those it goes on with."""
    if limit > 0:
        for found in core.store.search(query, session=core.id, limit=limit):
            place = core.store.locate(core.id, found.id)
            if place is not None and not place.current:
                yield replace(_hit(found), score=0.0)


def _best(ranking: Ranking, matched: Truths, entries: Sequence[Entry], limit: int) -> list[Entry]:
    import numpy as np

    places = np.flatnonzero(matched)[::-1]  # of equals the newest
    order = places[np.argsort(-ranking.values[places], kind="stable")]
    return [entry for place in order.tolist() if (entry := entries[place]).absence != "erased"][:limit]


def _stored(core: Core, query: str, limit: int, *, session: int | None) -> Sequence[Found]:
    """What the store's own indexes find, by words and by vectors."""
    by_words = core.store.search(query, session=session, limit=max(limit, NEAR))
    embedder = core.desk.embedder
    if embedder is None:
        return by_words[:limit]
    vector = embedder.embed([query])[0].tobytes()
    near = core.store.nearest(vector, embedder.name, session=session, limit=max(limit, NEAR), floor=FLOOR)
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


def focus(  # noqa: PLR0913 — what may be said of it, by name
    core: Core,
    question: str,
    *,
    budget: int,
    model: str,
    format: Format | None,
    now: float | None,
    fetch: Any,
) -> Window:
    checked_budget(budget)
    with core.reading():
        aim = core.aim(model, format)
        history, finder = core.ledger.history(aim), core.finder
        ranking = finder.index().rank(question, now=now)
        values = _by_turn(history, ranking.values)
        chunks, notes = _focused(history, values, aim, budget)
    finder.save()
    pieces: list[str] = []
    for chunk, noted in zip(chunks.values(), notes, strict=True):
        pieces += (*history.note_pieces, *chunk.pieces) if noted else chunk.pieces
    spent = aim.meter.request + history.note_tokens * sum(notes) + sum(c.tokens for c in chunks.values())
    brief = Manifest(
        preset=FOCUS, counter=aim.tokenizer.name, budget=budget, tokens=spent, parts={}, decisions=()
    )
    fitted = Fitted(chunks=tuple(chunks.values()), pieces=tuple(pieces), manifest=brief)
    given = Conversation(format=aim.format, messages=())
    window = aim.window(fitted, given, entries=history.entries, fetch=fetch)
    # Most who ask want the messages alone; the account of all that was left out is made when it is read.
    tell = cache(partial(_manifest, history, chunks, values, brief, sum(notes)))
    return replace(window, tell=tell)


def _focused(
    history: History, values: Floats, aim: Target, budget: int
) -> tuple[dict[int, Chunk], Sequence[bool]]:
    """The best turns for their cost that fit, whole, in order; and before which of them a note must stand."""
    room = budget - aim.meter.request
    if room < 0:
        raise BudgetError(
            f"the budget is {budget:,} tokens, an empty window has {aim.meter.request:,}",
            remedy=f"raise `budget` above {aim.meter.request:,}",
        )
    turns = chosen(Ranking(values=values, parts={}), _costs(history, room), room)
    chunks = {turn: chunk for turn in turns if (chunk := history.original(turn)).messages}
    spent = sum([chunk.tokens for chunk in chunks.values()])
    while True:
        notes = history.joints(list(chunks.values()))
        if spent + history.note_tokens * sum(notes) <= room:
            return chunks, notes
        worst = min(chunks, key=lambda turn: (values[turn], turn))
        spent -= chunks.pop(worst).tokens


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
    history: History, chunks: Mapping[int, Chunk], values: Floats, brief: Manifest, notes: int
) -> Manifest:
    selection = Selection(
        turns=tuple(chunks),
        because_in="among the best for the question that fit",
        because_out="others answer the question better for their tokens",
        scores={turn: Score(total=round(float(values[turn]), 4)) for turn in chunks},
    )
    choice = Choice(window=chunks, forced={}, opened=-1, selection=selection, notes=notes)
    spent = sum(chunk.tokens for chunk in chunks.values()) + history.note_tokens * notes
    return replace(brief, **account(history, choice, {"framing": brief.tokens - spent}))


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
