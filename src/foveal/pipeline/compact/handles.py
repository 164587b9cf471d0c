"""Messages that a window does not show whole in → the mark by which an agent brings them back.

Only for agents that have the tool for it: no window carries a mark that its reader cannot use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foveal.model import Entry, Message, handle_of


def way_back(first: Entry, last: Entry) -> str:
    """The mark of a stretch of messages.

    >>> one, other = (Entry(seq=n, id="", digest=f"{n:064x}", role="user") for n in (1, 2))
    >>> way_back(one, one)
    '[recall fv-00000000000000000000]'
    """
    handles = dict.fromkeys((first.handle, last.handle))
    return f"[recall {' to '.join(handles)}]"


def ways_back(entries: Sequence[Entry]) -> Callable[[Message], str]:
    """The mark of each message of a turn; what is none of them, such as a repair, leads to the first."""
    known = {entry.digest for entry in entries}

    def mark(message: Message) -> str:
        digest = message.digest if message.digest in known else entries[0].digest
        return f"\n[recall {handle_of(digest)}]"

    return mark
