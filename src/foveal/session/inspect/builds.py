"""List a session's past builds, its messages and its events, page by page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foveal import wire
from foveal.errors import InputError, NotFoundError
from foveal.model import Detail, Entry, Kind, Role
from foveal.pipeline.values import LogNote, RetrievedNote
from foveal.session.build.build import DURATION, HANDLES, stored_build, stored_manifest
from foveal.session.build.layout import layout_of
from foveal.session.build.manifest_json import read_manifest
from foveal.session.costs import is_request, priced
from foveal.session.foveal import Foveal
from foveal.session.session import Session
from foveal.session.state import SessionState
from foveal.store import BuildRecord, Content, LoggedEvent
from foveal.window import Code, Cost, Costs, Decision, Manifest, NoteKind, Score, Slot, Verdict, WindowNote

TEXT_MOST = 240
"""Characters of a message that a page shows."""
CHUNKS_MOST = 500
"""Messages that are listed or read at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """One build in numbers."""

    number: int
    created_at: float
    preset: str
    model: str
    budget: int
    tokens: int
    percent: float
    messages: int
    """Messages of the history at that time."""
    kept: int
    left_out: int
    """Messages left out of the window."""
    parts: Mapping[str, int]
    slots: tuple[Slot, ...]
    milliseconds: float | None
    """None if the preset does not measure its time."""
    refocused: bool
    """Whether the preset selected the whole window again instead of continuing the one before."""
    requested: bool
    """Whether it counts as a request: an answer followed it, or its usage was reported."""
    managed: Cost | None
    unmanaged: Cost | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Builds:
    """One page of a session's builds."""

    builds: tuple[Built, ...]
    """Latest first."""
    next: int | None
    """The `before` of the next page; None on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A decision, and what its messages are."""

    first: int
    last: int
    verdict: Verdict
    detail: Detail
    tokens: int
    slot: str
    code: Code
    because: str
    score: Score | None
    role: Role | None = None
    kind: Kind | None = None
    id: str = ""
    handle: str = ""
    mark: str = ""
    """Role, kind, id, handle and mark of the first message; empty if the history was edited since."""
    roles: Mapping[str, int] = field(default_factory=dict)
    """Messages by role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One build with all its decisions, for a client that draws it."""

    number: int
    created_at: float
    preset: str
    model: str
    counter: str
    budget: int
    tokens: int
    current: bool
    """False if the history was edited since: positions then refer to the abandoned branch."""
    parts: Mapping[str, int]
    slots: tuple[Slot, ...]
    metrics: Mapping[str, float]
    warnings: tuple[str, ...]
    costs: Costs | None
    segments: tuple[Segment, ...]
    """In the order of the history, without gaps."""
    notes: tuple[WindowNote, ...] = ()
    """The log and the retrieved passages, with the messages that each line comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A message without its body."""

    place: int
    id: str
    handle: str
    role: Role
    kind: Kind | None
    priority: float | None
    private: bool
    tokens: int
    mark: str
    created_at: float | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a session's messages."""

    messages: tuple[Row, ...]
    total: int
    next: int | None
    """The `after` of the next page; None on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A message without its body, and what a build decided about it."""

    place: int
    id: str
    handle: str
    role: Role
    kind: Kind | None
    tokens: int
    mark: str
    created_at: float | None
    text: str
    verdict: Verdict
    detail: Detail
    slot: str
    code: Code
    because: str
    score: Score | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteText:
    """A note of a build with its text, written again from the messages."""

    kind: NoteKind
    first: int
    last: int
    """Positions of the first and the last message that it covers."""
    tokens: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteTexts:
    """The notes of one build."""

    number: int
    notes: tuple[NoteText, ...]
    """Empty if there are none, or if the history was edited since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunks:
    """Some messages of one build."""

    number: int
    total: int
    """Messages of the history when it was built."""
    chunks: tuple[Chunk, ...]


def list_builds(session: Session, *, limit: int = 50, before: int | None = None) -> Builds:
    """The builds of a session in numbers, latest first."""
    state = session._state
    found = state.store.builds(state.id, limit=limit + 1, before=before)
    more = len(found) > limit
    shown = found[:limit]
    later = (state.store.build(state.id, shown[0].number + 1), *shown) if shown else ()
    with state.reading():
        entries = state.log.entries
        requested = [is_request(record, after, entries) for record, after in zip(shown, later, strict=False)]
    return Builds(
        builds=tuple(
            _built(state, each, requested=sent) for each, sent in zip(shown, requested, strict=True)
        ),
        next=found[limit - 1].number if more else None,
    )


def load_build(session: Session, number: int | None = None) -> Drawn:
    """One build with all its decisions, by default the latest."""
    state = session._state
    record = stored_build(state, number)
    manifest = stored_manifest(state, record.number)
    with state.reading():
        current = _on_current_branch(state, manifest)
        entries = state.log.entries if current else ()
        segments = tuple(_segment(each, entries[each.first : each.last + 1]) for each in manifest.decisions)
    return Drawn(
        number=record.number,
        created_at=record.created_at,
        preset=record.preset,
        model=record.model,
        counter=manifest.counter,
        budget=record.budget,
        tokens=record.tokens,
        current=current,
        parts=manifest.parts,
        slots=manifest.slots,
        metrics=manifest.metrics,
        warnings=manifest.warnings,
        costs=manifest.costs,
        segments=segments,
        notes=manifest.notes,
    )


def list_chunks(session: Session, number: int | None = None, *, first: int, last: int) -> Chunks:
    """The messages from `first` to `last`, both included, with what a build decided about each."""
    if last - first >= CHUNKS_MOST:
        raise InputError(
            f"`last`: {last - first + 1:,} messages were requested, at most {CHUNKS_MOST} are listed at once",
            remedy=f"request {CHUNKS_MOST} messages at a time",
            field="last",
        )
    state = session._state
    record = stored_build(state, number)
    manifest = read_manifest(state, record)
    total = _length(manifest)
    rows: tuple[Row, ...] = ()
    if _on_current_branch(state, manifest):
        rows = list_messages(session, after=first, limit=last - first + 1).messages
    pairs = _decided(manifest, [row for row in rows if row.place < total])
    return Chunks(number=record.number, total=total, chunks=tuple(_chunk(*pair) for pair in pairs))


def list_notes(session: Session, number: int | None = None) -> NoteTexts:
    """The log and the retrieved passages of a build, as the model read them."""
    from foveal.session.inspect.why import history_until

    state = session._state
    record = stored_build(state, number)
    manifest = read_manifest(state, record)
    if not manifest.notes or not _on_current_branch(state, manifest):
        return NoteTexts(number=record.number, notes=())
    with state.reading():
        target = replace(state.target(record.model), handles=HANDLES in manifest.record)
        history = history_until(state, target, _length(manifest))
        layout = layout_of(state, record, history, target)
    written: Sequence[LogNote | RetrievedNote] = (*layout.notes, *layout.retrieved) if layout else ()
    texts = {(isinstance(each, LogNote), each.position): each.note for each in written}
    found = []
    for note in manifest.notes:
        chunk = texts.get((note.kind == "log", note.position))
        text = "\n".join(message.text for message in chunk.messages) if chunk else ""
        found.append(
            NoteText(kind=note.kind, first=note.first, last=note.last, tokens=note.tokens, text=text)
        )
    return NoteTexts(number=record.number, notes=tuple(found))


def list_messages(session: Session, *, after: int = 0, limit: int = 100) -> Page:
    """Messages from a position on, oldest first, with the beginnings of their texts."""
    state = session._state
    with state.reading():
        entries, total = state.log.entries[after : after + limit], len(state.log.entries)
        found = state.store.messages(state.id, start=after, stop=after + limit) if entries else ()
    rows = tuple(_row(*pair) for pair in zip(entries, found, strict=True))
    end = after + len(rows)
    return Page(messages=rows, total=total, next=end if rows and end < total else None)


def export_messages(session: Session) -> Iterator[Any]:
    """The original messages, oldest first, read page by page; erased ones are omitted."""
    state, start = session._state, 0
    while found := state.store.messages(state.id, start=start, stop=start + CHUNKS_MOST):
        start += len(found)
        yield from (wire.original(content.body, content.digest) for content in found if content)


def still_exists(session: Session) -> bool:
    """False once a session was deleted, also by another process."""
    try:
        session._state.store.head(session._state.id)
    except NotFoundError:
        return False
    return True


def events_after(fov: Foveal, *, after: int, limit: int, size: int | None = None) -> Sequence[LoggedEvent]:
    """The events after a number, logged by all processes that use the store; see `Store.events`."""
    return fov._store.events(after=after, limit=limit, size=size)


def latest_event(fov: Foveal) -> int:
    """The number of the latest event; 0 if there is none."""
    return fov._store.newest_event()


def _built(state: SessionState, record: BuildRecord, *, requested: bool) -> Built:
    manifest = read_manifest(state, record)
    costs = priced(manifest.costs, record.model, state.resources.catalogue) if manifest.costs else None
    return Built(
        number=record.number,
        created_at=record.created_at,
        preset=record.preset,
        model=record.model,
        budget=record.budget,
        tokens=record.tokens,
        percent=round(100 * record.tokens / record.budget, 1) if record.budget else 0.0,
        messages=_length(manifest),
        kept=sum(_messages(each) for each in manifest.kept),
        left_out=sum(_messages(each) for each in manifest.left_out),
        parts=manifest.parts,
        slots=manifest.slots,
        milliseconds=manifest.metrics.get(DURATION),
        refocused=bool(manifest.metrics.get("refocused")),
        requested=requested,
        managed=costs.managed if costs else None,
        unmanaged=costs.unmanaged if costs else None,
    )


def _segment(decision: Decision, entries: Sequence[Entry]) -> Segment:
    head = entries[0] if entries else None
    return Segment(
        first=decision.first,
        last=decision.last,
        verdict=decision.verdict,
        detail=decision.detail,
        tokens=decision.tokens,
        slot=decision.slot,
        code=decision.code,
        because=decision.because,
        score=decision.score,
        role=head.role if head else None,
        kind=head.kind if head else None,
        id=head.id if head else "",
        handle=head.handle if head else "",
        mark=_mark(head) if head else "",
        roles=dict(Counter(entry.role for entry in entries)),
    )


def _decided(manifest: Manifest, rows: Sequence[Row]) -> Iterator[tuple[Row, Decision]]:
    decisions = iter(manifest.decisions)
    decision = next(decisions, None)
    for row in rows:
        while decision and decision.last < row.place:
            decision = next(decisions, None)
        if decision:
            yield row, decision


def _chunk(row: Row, decision: Decision) -> Chunk:
    return Chunk(
        place=row.place,
        id=row.id,
        handle=row.handle,
        role=row.role,
        kind=row.kind,
        tokens=row.tokens,
        mark=row.mark,
        created_at=row.created_at,
        text=row.text,
        verdict=decision.verdict,
        detail=decision.detail,
        slot=decision.slot,
        code=decision.code,
        because=decision.because,
        score=decision.score,
    )


def _row(entry: Entry, content: Content | None) -> Row:
    return Row(
        place=entry.seq,
        id=entry.id,
        handle=entry.handle,
        role=entry.role,
        kind=entry.kind,
        priority=entry.priority,
        private=entry.private,
        tokens=entry.tokens,
        mark=_mark(entry),
        created_at=entry.created_at,
        text=_beginning(entry, content) if content else "",
    )


def _beginning(entry: Entry, content: Content) -> str:
    """The beginning of a message's text, on one line."""
    text = wire.reread(content.body, content.format, entry.role, digest=content.digest).text
    flat = " ".join(text[: 8 * TEXT_MOST].split())  # a long text is not split as a whole
    return flat if len(flat) <= TEXT_MOST else flat[: TEXT_MOST - 1] + "…"


def _mark(entry: Entry) -> str:
    return entry.absence or ("pinned" if entry.pinned else "")


def _on_current_branch(state: SessionState, manifest: Manifest) -> bool:
    """False if the history was edited since the build."""
    branch = str(state.store.head(state.id).branch)
    return manifest.record.get("branch", branch) == branch


def _length(manifest: Manifest) -> int:
    """Messages of the history when the window was built."""
    return manifest.decisions[-1].last + 1 if manifest.decisions else 0


def _messages(decision: Decision) -> int:
    return decision.last - decision.first + 1
