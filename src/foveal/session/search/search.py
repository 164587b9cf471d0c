"""Search a session's messages by words and by meaning.

Each session has an index in memory, derived from the store and updated before each use, so that only new
messages cost time. Very long sessions, and searches across sessions, use the store's own indexes instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from foveal import wire
from foveal.errors import UpstreamError
from foveal.events import Warned
from foveal.model import Entry, Message, Role, handle_of
from foveal.search.fusion import FLOOR, fused
from foveal.search.terms import asks, repeats, terms
from foveal.search.values import CLEAR, Document, Mask, Ranking
from foveal.session.state import SessionState
from foveal.session.values import Hit
from foveal.store import Content, Found, Store

if TYPE_CHECKING:
    from foveal.search.embed import Embedder, Vectors
    from foveal.search.index import Index

T = TypeVar("T")
BATCH = 100
"""Contents that are embedded in the background at a time."""
READ = 512
"""Messages that are read and indexed at a time."""
LARGE = 5_000
"""Sessions with more messages are searched in the store: indexing them in memory takes seconds."""
WEAK_MOST = 5
"""Weak hits of one search."""
ASKED = 0.25
"""The share of its score that a message keeps which only asks what is searched for."""
QUERY_MOST = 50_000
"""Characters of a query that are read: what is pasted as a query finds what its beginning does."""
NEAR = 20
"""The fewest hits to request from each of the store's indexes, so that there is something to merge."""


def search_session(
    state: SessionState, query: str, *, limit: int, everywhere: bool, now: float | None
) -> tuple[Hit, ...]:
    """The best messages for a query, best first; `everywhere` searches all sessions of the store."""
    query = query[:QUERY_MOST]
    with state.reading():
        large = len(state.log.entries) > LARGE
    if everywhere or large:
        return tuple(_search_store(state, query, limit, session=None if everywhere else state.id))

    def best(index: Index) -> list[Hit]:
        order, ranking, weak = _best(index, query, now=now)
        entries = [entry for seq in order if (entry := state.log.entries[seq]).absence != "erased"][:limit]
        messages = state.log.read_unerased(entries)
        return [_ranked_hit(state, ranking, weak, *pair) for pair in zip(entries, messages, strict=True)]

    hits = state.part(SessionIndex).with_index(query, best)
    return (*hits, *_on_other_branches(state, query, limit - len(hits)))


def embed_some(store: Store, embedder: Embedder) -> bool:
    """Embed one batch of the contents that have no vector yet; return whether more may be left."""
    found = store.unembedded(embedder.name, limit=BATCH)
    if not found:
        return False
    rows = embedder.embed(list(map(_text, found)))
    vectors = {content.digest: row.tobytes() for content, row in zip(found, rows, strict=True)}
    store.save_vectors(vectors, embedder.name)
    return True


class SessionIndex:
    """The index of one session. Texts are embedded outside of locks, because a model may be slow."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._index: Index | None = None
        self._indexed: tuple[int, int] = (-1, 0)
        """The branch that the index covers, and how many of its messages were erased at that time."""
        self._width = 0
        """Numbers in a vector; 0 until the first one was seen."""

    def with_index(self, query: str, work: Callable[[Index], T]) -> T:
        """Run `work` on the updated index, inside one read transaction."""
        if self._index is not None:
            self._index.vector(query)  # embeds the query before anything is locked
        with self._state.reading():
            if not self._behind():
                return work(self._updated())
        self._embed_missing()
        with self._state.reading():
            index = self._updated()
        index.vector(query)
        with self._state.reading():
            return work(self._updated())

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts; a failure of the embedder is also reported as a warning."""
        embedder = self._state.resources.embedder
        assert embedder is not None
        try:
            rows = embedder.embed(texts)
        except UpstreamError as error:
            warning = f"ranking by words alone: {error.what}"
            self._state.resources.bus.emit([Warned(session=self._state.name, text=warning)])
            raise
        self._width = rows.shape[1] or self._width
        return rows

    def _behind(self) -> bool:
        log = self._state.log
        current = self._index is not None and self._indexed == (log.head.branch, log.erased)
        return not current or len(self._index or ()) != len(log.entries)

    def _embed_missing(self) -> None:
        """Embed the messages that have no vector. If the embedder fails, they are left for later."""
        embedder = self._state.resources.embedder
        start = 0 if self._index is None else len(self._index)
        while embedder is not None:
            with self._state.reading():
                entries = self._state.log.entries[start : start + READ]
                texts = self._unembedded(embedder, entries) if entries else {}
            if not entries:
                return
            try:
                rows = self.embed(list(texts.values())) if texts else ()
            except UpstreamError:
                return
            vectors = {digest: row.tobytes() for digest, row in zip(texts, rows, strict=True)}
            self._state.store.save_vectors(vectors, embedder.name)
            start += len(entries)

    def _unembedded(self, embedder: Embedder, entries: Sequence[Entry]) -> dict[str, str]:
        """Texts without a vector, by digest. Erased and blank messages need none."""
        stored = self._stored_vectors(embedder, entries)
        missing = [
            entry
            for entry, vector in zip(entries, stored, strict=True)
            if vector is None and entry.absence != "erased"
        ]
        messages = self._state.log.read_unerased(missing)
        texts = {e.digest: m.text for e, m in zip(missing, messages, strict=True) if m is not None}
        return {digest: text for digest, text in texts.items() if text.strip()}

    def _stored_vectors(self, embedder: Embedder, entries: Sequence[Entry]) -> Sequence[bytes | None]:
        first, last = entries[0].seq, entries[-1].seq
        return self._state.store.vectors(self._state.id, embedder.name, start=first, stop=last + 1)

    def _updated(self) -> Index:
        """The index with all messages of the session in it."""
        from foveal.search.index import Index

        log, embedder = self._state.log, self._state.resources.embedder
        if self._index is None or self._indexed != (log.head.branch, log.erased):
            self._index = Index(self.embed if embedder else None)
            self._indexed = (log.head.branch, log.erased)
        index = self._index
        for start in range(len(index), len(log.entries), READ):
            entries = log.entries[start : start + READ]
            messages = log.read_unerased(entries)
            documents = [_document(*pair) for pair in zip(entries, messages, strict=True)]
            rows = self._rows(embedder, entries) if embedder else None
            if embedder and rows is None:  # no vector was ever computed: rank by words alone, this once
                self._index, index = None, _by_words(index, documents)
                continue
            index.extend(documents, rows)
        return index

    def _rows(self, embedder: Embedder, entries: Sequence[Entry]) -> Vectors | None:
        """The stored vectors, zeros for those that are missing; None while their width is unknown."""
        import numpy as np

        stored = self._stored_vectors(embedder, entries)
        self._width = self._width or next((len(v) // 4 for v in stored if v is not None), 0)
        if not self._width:
            return None
        blank = bytes(4 * self._width)
        whole = b"".join(blank if vector is None else vector for vector in stored)
        rows: Vectors = np.frombuffer(whole, dtype=np.float32).reshape(len(entries), self._width)
        return rows


def _by_words(index: Index, documents: Sequence[Document]) -> Index:
    """An index without vectors that has these documents too: the given one if it has no vectors already."""
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


def _best(index: Index, query: str, *, now: float | None) -> tuple[list[int], Ranking, Mask]:
    """The positions of all hits, best first, their ranking, and which of them are weak.

    Where no message has a word of the query, meaning alone decides the order.
    """
    import numpy as np

    ranking, matched = index.rank(query, now=now, answers=True), index.matches(query)
    if not matched.words.any() and "vector" in ranking.parts:
        vector = ranking.parts["vector"]
        ranking = Ranking(values=vector, parts={"vector": vector})
    found, weak = np.flatnonzero(matched.words | matched.near), matched.weak
    order = found[::-1][np.argsort(-ranking.values[found[::-1]], kind="stable")]  # the newest of equals first
    few = set(order[weak[order]][:WEAK_MOST].tolist())
    return [seq for seq in order.tolist() if seq in few or not weak[seq]], ranking, weak


def _ranked_hit(
    state: SessionState, ranking: Ranking, weak: Mask, entry: Entry, message: Message | None
) -> Hit:
    return Hit(
        id=entry.id,
        handle=entry.handle,
        session=state.name,
        role=entry.role,
        score=round(float(ranking.values[entry.seq]), 4),
        text=message.text if message else "",
        created_at=entry.created_at,
        parts={name: round(float(part[entry.seq]), 4) for name, part in ranking.parts.items()},
        weak=bool(weak[entry.seq]),
    )


def _on_other_branches(state: SessionState, query: str, limit: int) -> Iterator[Hit]:
    """Hits on branches that the session has left, with a score of 0: they follow those of its own branch."""
    if limit > 0:
        for found in state.store.search(query, session=state.id, limit=limit):
            located = state.store.locate(state.id, found.id)
            if located is not None and not located.current:
                yield replace(_stored_hit(found), score=0.0)


def _search_store(state: SessionState, query: str, limit: int, *, session: int | None) -> Iterator[Hit]:
    """What the store's own indexes find, by words and by vectors."""
    by_words, near = stored_hits(state, query, session=session, most=max(limit, NEAR))
    strong = {(found.session, found.digest) for found in by_words}
    strong |= {(found.session, found.digest) for found in near if found.score >= CLEAR}
    hits = [
        replace(_stored_hit(found), weak=(found.session, found.digest) not in strong)
        for found in fused(by_words, near, max(limit, NEAR))
    ]
    asked = frozenset(terms(query).all)
    worth = [replace(hit, score=round(ASKED * hit.score, 4)) if _asks(hit, asked) else hit for hit in hits]
    yield from sorted(worth, key=lambda hit: -hit.score)[:limit]


def _asks(hit: Hit, asked: frozenset[str]) -> bool:
    """Whether a message only asks what is searched for."""
    return asks(hit.text) and repeats(frozenset(terms(hit.text).all), asked)


def stored_hits(
    state: SessionState, query: str, *, session: int | None, most: int
) -> tuple[Sequence[Found], Sequence[Found]]:
    """The hits of the store's indexes: by words, and by vectors if the query can be embedded."""
    embedder = state.resources.embedder
    by_words = state.store.search(query, session=session, limit=most)
    if embedder is None:
        return by_words, ()
    try:
        (vector,) = state.part(SessionIndex).embed([query])
    except UpstreamError:
        return by_words, ()
    near = state.store.nearest(vector.tobytes(), embedder.name, session=session, limit=most, floor=FLOOR)
    return by_words, near


def _stored_hit(found: Found) -> Hit:
    return Hit(
        id=found.id,
        handle=handle_of(found.digest),
        session=found.session,
        role=found.role,
        score=round(found.score, 4),
        text=wire.reread(found.body, found.format, found.role, digest=found.digest).text,
        created_at=found.created_at,
    )


def _text(content: Content) -> str:
    """The readable text of a content. A system prompt outside the messages is recognised by its shape."""
    value = wire.original(content.body, content.digest)
    outside = not isinstance(value, dict) or (content.format == "gemini" and "role" not in value)
    role: Role = "system" if outside else "user"
    return wire.reread(content.body, content.format, role, digest=content.digest).text
