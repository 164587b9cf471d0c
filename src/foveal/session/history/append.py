"""Add messages to a session: append them, sync a client's whole history, or copy them to a new session.

Where a client's history differs from the stored one, the session continues on a new branch that shares their
common beginning; the old branch stays in the store. Notes are not copied to a branch or a forked session, so
the messages they cover are shown again.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from foveal import catalog, wire
from foveal.errors import InputError
from foveal.events import Event, HistoryForked, MessagesAdded
from foveal.model import Conversation, Entry, Format, Message, Role
from foveal.pipeline.turns import links
from foveal.session.history.private import addresses, hide_older_copies, with_private_marks
from foveal.session.state import SessionState
from foveal.session.target import Target
from foveal.store import Draft, SessionRecord

BATCH = 1_000
"""Messages that are stored between two reports of progress."""
GROWING = 2
"""Messages at the end of a transcript that may still grow: a response, and the results of its calls."""
Progress = Callable[[int, int], None]


def plain_message(  # noqa: PLR0913 — what may be said of a message, by name
    role: Role,
    text: str,
    *,
    name: str,
    timestamp: float | None,
    priority: float | None,
    private: bool,
    metadata: Mapping[str, object] | None,
) -> Message:
    """A plain text message with the details that the caller gave."""
    if role not in get_args(Role):
        raise InputError(
            f"add: `role` is {role!r}", remedy=f"use one of {', '.join(get_args(Role))}", field="role"
        )
    details = {
        "name": name or None,
        "timestamp": timestamp,
        "priority": priority,
        "private": private or None,
        "metadata": metadata,
    }
    given = {key: value for key, value in details.items() if value is not None}
    return wire.message_of({"role": role, "content": text, **given}, "plain", where="add")


def add(state: SessionState, message: Message) -> str:
    """Store a message of the session's owner, which is not part of a client's history."""
    with state.writing() as events:
        (id,) = append_messages(state, [message], events, beside=True)
    return id


def extend(state: SessionState, messages: Any, format: Format | None) -> tuple[str, ...]:
    """Store messages at the end of the session and return their ids."""
    with state.writing() as events:
        return append_messages(state, _load(state, messages, format).messages, events)


def sync(state: SessionState, history: Any, format: Format | None) -> tuple[str, ...]:
    """Store what is new in a client's whole history and return the new ids."""
    with state.writing() as events:
        messages = _load(state, history, format).messages
        shared = _compare(state, messages)
        if shared.branch_at is None:
            return append_messages(state, messages[shared.known :], events)
        return _branch(state, messages[shared.known :], shared.branch_at, events)


def resume(
    state: SessionState, messages: Any, format: Format | None, progress: Progress | None = None
) -> tuple[str, ...]:
    """Store what of a recorded history is not stored yet and return the new ids.

    Its longest beginning that is stored anywhere in the session is not stored again. Where the latest stored
    messages were recorded while they were being written, the complete ones replace them.
    """
    with state.writing() as events:
        given = _load(state, messages, format).messages
        recorded = [entry for entry in state.log.entries if not entry.beside]
        address = addresses(state, recorded, given)
        start, known = overlap(address.stored, address.given)
        after = recorded[start + known :]
        if _has_grown(state, after, given[known:]):
            return _branch(state, given[known:], after[0].seq, events)
        ids: list[str] = []
        for at in range(known, len(given), BATCH):
            ids += append_messages(state, given[at : at + BATCH], events)
            if progress:
                progress(min(at + BATCH, len(given)), len(given))
        return tuple(ids)


def overlap(stored: Sequence[str], given: Sequence[str]) -> tuple[int, int]:
    """Where the longest beginning of `given` that `stored` contains starts in it, and how long it is.

    Linear, whatever repeats: a search by Knuth, Morris and Pratt that keeps the longest partial match.

    >>> overlap(["x", "a", "b", "y"], ["a", "b", "c"]), overlap(["a", "b"], ["c"])
    ((1, 2), (0, 0))
    """
    back = [0]
    for digest in given[1:]:
        back.append(_longer(given, back, back[-1], digest))
    best, match = (0, 0), 0
    for at, digest in enumerate(stored):
        match = _longer(given, back, match, digest) if given else 0
        # The latest of equally long ones: that is where the history goes on.
        if match and match >= best[1]:
            best = (at - match + 1, match)
    return best


def _longer(given: Sequence[str], back: Sequence[int], match: int, digest: str) -> int:
    """The longest beginning of `given` that ends with this digest, after one of `match`."""
    if match == len(given):
        match = back[match - 1]
    while match and given[match] != digest:
        match = back[match - 1]
    return match + (given[match] == digest)


def _has_grown(state: SessionState, left: Sequence[Entry], given: Sequence[Message]) -> bool:
    """Whether the messages at the end of the history are parts of the given ones."""
    if not 0 < len(left) <= min(GROWING, len(given)) or any(each.absence == "erased" for each in left):
        return False
    stored = [message for each in left for message in state.log.read(each.seq, each.seq + 1)]
    pairs = zip(stored, given, strict=False)
    return all(_is_part(json.loads(old.body), json.loads(new.body)) for old, new in pairs)


def _is_part(old: Any, new: Any) -> bool:
    """Whether a message has all blocks of another, and maybe more."""
    if not (isinstance(old, dict) and isinstance(new, dict)) or old.get("role") != new.get("role"):
        return False
    before, now = old.get("content"), new.get("content")
    return isinstance(before, list) and isinstance(now, list) and now[: len(before)] == before


def fork(source: SessionState, name: str, messages: int | None) -> SessionRecord:
    """Create a session that begins as another one, with its first `messages` or all of them.

    Erased and private ones are left out.
    """
    store = source.store
    with store.transaction():
        if store.find_session(name) is not None:
            raise InputError(
                f"`name`: there is a session {name!r} already", remedy="choose another name", field="name"
            )
        with source.reading():
            head = source.log.head
            entries = [entry for entry in source.log.entries[:messages] if not entry.private]
            originals = source.log.read_unerased(entries)
        record = store.session(name, now=time.time(), model=head.model, preset=head.preset)
        state = SessionState(source.resources, record)
        with state.writing() as events:
            target = state.target(format=head.format)
            pairs = zip(entries, originals, strict=True)
            drafts = [_copy(entry, message, target) for entry, message in pairs if message]
            stored = store.append(state.id, drafts, counter=target.history_key) if drafts else ()
            if stored:
                ids = tuple(entry.id for entry in stored)
                tokens = sum(draft.tokens for draft in drafts)
                events.append(MessagesAdded(session=name, ids=ids, tokens=tokens))
            state.log.reset()
    return record


def append_messages(
    state: SessionState, messages: Sequence[Message], events: list[Event], *, beside: bool = False
) -> tuple[str, ...]:
    """Store messages in the caller's transaction; `beside` if they are the session owner's."""
    if not messages:
        return ()
    target = state.target(format=_format(state, messages))
    messages = with_private_marks(state, messages, state.log.entries)
    drafts = [_draft(message, target, beside=beside) for message in messages]
    entries = state.store.append(state.id, drafts, counter=target.history_key)
    state.log.appended(entries, messages)
    hide_older_copies(state, messages)
    ids = tuple(entry.id for entry in entries)
    tokens = sum(draft.tokens for draft in drafts)
    events.append(MessagesAdded(session=state.name, ids=ids, tokens=tokens))
    state.resources.worker.wake()
    return ids


def _load(state: SessionState, messages: Any, format: Format | None) -> Conversation:
    read = isinstance(messages, Conversation)
    given: Conversation = messages if read else wire.load(messages, format=format, model=state.model)
    if catalog.checked(given.model) and not state.model:
        state.store.session(state.name, now=time.time(), model=given.model)
        state.log.catch_up()
    if not given.guessed or read:
        return given
    # Messages of several providers look alike: read them in the session's format, or as plain until there is
    # one that has a format.
    stored = state.log.head.format
    format = "plain" if stored in (None, "gemini") else stored
    return replace(given, messages=tuple(_as_format(m, format) for m in given.messages))


def _as_format(message: Message, format: Format) -> Message:
    """The same message, read in another format."""
    read = wire.reread(message.body, format, message.role, digest=message.digest)
    return replace(read, created_at=message.created_at, id=message.id, private=message.private)


def _format(state: SessionState, messages: Sequence[Message]) -> Format:
    given = next((m.format for m in messages if m.format != "plain"), state.format)
    return state.log.head.format or given


def _draft(message: Message, target: Target, *, beside: bool = False) -> Draft:
    """A message ready to be stored: counted, and linked to the calls it makes and answers."""
    link = links(message)
    return Draft(
        message=message,
        tokens=target.meter.message(message),
        calls=link.calls,
        answers=link.answers,
        created_at=message.created_at if message.created_at is not None else time.time(),
        beside=beside,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """How much of a client's history is stored."""

    known: int
    """Messages at its beginning that are stored."""
    branch_at: int | None
    """The first stored position that the client's history does not have; None if it has all of them."""


def _compare(state: SessionState, given: Sequence[Message]) -> _Shared:
    """Compare both histories by content, skipping messages that only the session's owner added."""
    stored = state.log.entries
    address = addresses(state, stored, given)
    at = known = 0
    for digest in address.given:
        seq = at
        while seq < len(stored) and stored[seq].beside and address.stored[seq] != digest:
            seq += 1
        if seq == len(stored) or address.stored[seq] != digest:
            break
        at, known = seq + 1, known + 1
    branch_at = next((seq for seq in range(at, len(stored)) if not stored[seq].beside), None)
    return _Shared(known=known, branch_at=branch_at)


def _branch(
    state: SessionState, messages: Sequence[Message], at: int, events: list[Event]
) -> tuple[str, ...]:
    """Continue from `at` with other messages, after those that the session's owner added since."""
    messages = with_private_marks(state, messages, state.log.entries)
    left = _uncover(state, at)
    kept = [entry for entry in left if entry.beside and entry.absence != "erased"]
    own = [message for entry in kept for message in state.log.read(entry.seq, entry.seq + 1)]
    target = state.target(format=_format(state, messages))
    drafts = [
        *(_draft(message, target, beside=True) for message in own),
        *(_draft(message, target) for message in messages),
    ]
    drafts = list(_keep_marks(drafts, left))
    entries = state.store.append(state.id, drafts, counter=target.history_key, at=at)
    state.log.reset()
    hide_older_copies(state, [draft.message for draft in drafts])
    known = {entry.id for entry in left}
    added = [entry for entry in entries if entry.id not in known]
    new = tuple(entry.id for entry in added)
    replaced = len(left) - len(entries) + len(new)
    events.append(HistoryForked(session=state.name, shared=at, replaced=replaced))
    if new:
        tokens = sum(entry.tokens for entry in added)
        events.append(MessagesAdded(session=state.name, ids=new, tokens=tokens))
    return new


def _uncover(state: SessionState, at: int) -> list[Entry]:
    """The entries that a new branch abandons. Everything that their notes cover is shown again."""
    entries = state.log.entries
    shown = {entry.seq for entry in entries if entry.noted_by is not None and entry.noted_by >= at}
    for seq in sorted(seq for seq in shown if seq < at):
        state.store.mark(state.id, seq, absence="")
    return [replace(entry, absence="") if entry.seq in shown else entry for entry in entries[at:]]


def _keep_marks(drafts: Sequence[Draft], left: Sequence[Entry]) -> Iterator[Draft]:
    """The drafts, with the ids and marks of those that are on the branch being left."""
    known: dict[str, deque[Entry]] = defaultdict(deque)
    for entry in left:
        known[entry.digest].append(entry)
    for draft in drafts:
        before = known[draft.message.digest].popleft() if known.get(draft.message.digest) else None
        if before is None:
            yield draft
            continue
        yield replace(
            draft,
            message=_mark(draft.message, before),
            id=before.id,
            absence=before.absence,
            restored_at=before.restored_at,
        )


def _copy(entry: Entry, message: Message, target: Target) -> Draft:
    """A stored message as a draft for another session, with its marks."""
    copied = replace(
        _mark(message, entry),
        id="",
        created_at=entry.created_at,
        metadata=json.loads(entry.metadata) if entry.metadata else {},
    )
    absence = "" if entry.noted_by is not None or entry.stand_in else entry.absence
    draft = _draft(copied, target, beside=entry.beside)
    return replace(draft, absence=absence, restored_at=entry.restored_at)


def _mark(message: Message, entry: Entry) -> Message:
    return replace(
        message,
        pinned=entry.pinned,
        important=entry.important,
        kind=entry.kind,
        level=entry.level,
        priority=entry.priority,
        private=message.private or entry.private,
    )
