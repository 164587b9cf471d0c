"""Where everything is kept: the port (`base`), and SQLite behind it."""

from foveal.store.base import (
    BuildRecord,
    Checked,
    Content,
    Draft,
    Found,
    Head,
    Located,
    LoggedEvent,
    SessionRecord,
    Store,
)
from foveal.store.opening import Durability, open_store

__all__ = [
    "BuildRecord",
    "Checked",
    "Content",
    "Draft",
    "Durability",
    "Found",
    "Head",
    "Located",
    "LoggedEvent",
    "SessionRecord",
    "Store",
    "open_store",
]
