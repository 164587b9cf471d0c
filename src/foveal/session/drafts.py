"""Messages in → what the store is asked to keep of them; a client's history in → what of it is new."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from foveal.model import Entry, Message
from foveal.pipeline.turns import links
from foveal.session.target import Target
from foveal.store import Draft


def drafted(message: Message, aim: Target, *, beside: bool = False) -> Draft:
    """A message with what the shell found out about it."""
    link = links(message)
    return Draft(
        message=message,
        tokens=aim.meter.message(message),
        calls=link.calls,
        answers=link.answers,
        created_at=message.created_at if message.created_at is not None else time.time(),
        beside=beside,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """Where a client's history and the stored one part."""

    known: int
    """Messages of the client's that are stored."""
    fork: int | None
    """The first stored position that the client's history does not have; None when it only goes on."""


def parting(stored: Sequence[Entry], given: Sequence[Message]) -> Parting:
    """Walk both histories; what the owner added beside is no part of the client's and is passed over."""
    at = known = 0
    for message in given:
        place = at
        while place < len(stored) and stored[place].beside and stored[place].digest != message.digest:
            place += 1
        if place == len(stored) or stored[place].digest != message.digest:
            break
        at, known = place + 1, known + 1
    fork = next((seq for seq in range(at, len(stored)) if not stored[seq].beside), None)
    return Parting(known=known, fork=fork)


def carried(drafts: Sequence[Draft], left: Sequence[Entry]) -> Iterator[Draft]:
    """Drafts for a fork: what was on the branch it leaves keeps its id and its marks."""
    known: dict[str, deque[Entry]] = defaultdict(deque)
    for entry in left:
        known[entry.digest].append(entry)
    for draft in drafts:
        before = known[draft.message.digest].popleft() if known.get(draft.message.digest) else None
        if before is None:
            yield draft
            continue
        message = replace(
            draft.message,
            pinned=before.pinned,
            important=before.important,
            kind=before.kind,
            level=before.level,
            priority=before.priority,
        )
        yield replace(draft, message=message, id=before.id, absence=before.absence)
