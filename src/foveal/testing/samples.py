"""Small values and assertions that the checks share."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable

from foveal.errors import FovealError
from foveal.model import Message, Role, Text
from foveal.store.port import Draft, Store
from foveal.wire import address

OpenStore = Callable[[str], Store]
"""Opens the store under test for a tenant; opening it again for the same tenant shows what was stored."""

COUNTER = "words"
NOW = 1_700_000_000.0


def draft(text: str, *, id: str = "", role: Role = "user", body: str = "", pinned: bool = False) -> Draft:
    """A message of one text, ready to be stored."""
    body = body or json.dumps({"role": role, "content": text})
    message = Message(
        role=role,
        parts=(Text(text=text),),
        format="openai",
        body=body,
        digest=address(body),
        id=id,
        pinned=pinned,
    )
    return Draft(message=message, tokens=len(text.split()), created_at=NOW)


def digest(text: str) -> str:
    return draft(text).message.digest


def vector(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def opened(open_store: OpenStore, tenant: str, *texts: str) -> tuple[Store, int]:
    """Open a store with one session, `work`, that contains these texts."""
    store = open_store(tenant)
    session = store.session("work", now=NOW).id
    store.append(session, [draft(text) for text in texts], counter=COUNTER)
    return store, session


def originals(store: Store, session: int, *, start: int = 0, stop: int | None = None) -> list[str]:
    """The bodies of a session's messages; empty where one was erased."""
    return [content.body if content else "" for content in store.messages(session, start=start, stop=stop)]


def texts(store: Store, session: int, *, start: int = 0, stop: int | None = None) -> list[str]:
    bodies = originals(store, session, start=start, stop=stop)
    return [json.loads(body)["content"] if body else "" for body in bodies]


def same(found: object, expected: object) -> None:
    if found != expected:
        raise AssertionError(f"found {found!r}\nexpected {expected!r}")


def refuses(error: type[FovealError], use: Callable[[], object]) -> None:
    try:
        use()
    except error:
        return
    raise AssertionError(f"expected {error.__name__}, but nothing was raised")
