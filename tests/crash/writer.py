"""Writes to a store until it is killed, and says each message once it is stored: PATH NAME COUNT."""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path

from foveal.events import MessagesAdded
from foveal.store import BuildRecord, Store, open_store
from foveal.testing import draft


def main(path: str, name: str, count: int) -> None:
    store = open_store(Path(path))
    session = store.session("kept", now=0.0).id
    for number in itertools.islice(itertools.count(), count or None):
        texts = [
            f"{name}/{number}/{part} " + "x" * random.randrange(3000) for part in range(random.randint(1, 3))
        ]
        store.append(session, [draft(text) for text in texts], counter="words")
        sys.stdout.write("".join(f"{text.split()[0]}\n" for text in texts))
        sys.stdout.flush()
        churn(store, f"churn {name}", number)


def churn(store: Store, name: str, number: int) -> None:
    """Everything else that writes, in a session where nothing has to survive."""
    session = store.session(name, now=0.0).id
    length = store.head(session).length
    at = random.randint(max(0, length - 3), length)
    store.append(session, [draft(f"edited {number}"), draft("again")], counter="words", at=at)
    store.log("churn", [MessagesAdded(session="churn", ids=("m1",), tokens=1)], now=0.0)
    build = BuildRecord(
        number=0, created_at=0.0, preset="recent", model="", budget=1, tokens=1, manifest='{"a": 1}'
    )
    store.save_build(session, build)
    if number % 10 == 5:
        store.erase(session, store.entries(session, start=at)[0].id)
    if number % 20 == 19:
        store.delete_session(session)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
