"""Where everything is kept: the port (`base`), and SQLite behind it."""

from foveal.store.base import (
    BuildRecord,
    Checked,
    CompressionRecord,
    Content,
    Draft,
    Found,
    Head,
    Located,
    LoggedEvent,
    SessionRecord,
    Store,
    SummaryRecord,
    TaskRecord,
    TypedRecord,
)
from foveal.store.opening import Durability, open_store

__all__ = [
    "BuildRecord",
    "Checked",
    "CompressionRecord",
    "Content",
    "Draft",
    "Durability",
    "Found",
    "Head",
    "Located",
    "LoggedEvent",
    "SessionRecord",
    "Store",
    "SummaryRecord",
    "TaskRecord",
    "TypedRecord",
    "open_store",
]
