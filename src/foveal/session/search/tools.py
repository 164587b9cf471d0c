"""A model's call of a tool of ours in → the message that answers it, within a stated number of tokens.

Whatever the model wrote is answered in words that say what to do; only what the program gave may raise. What
comes back is a record: an original as its JSON, in parts where it is long, or passages of what was found.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from foveal import wire
from foveal.errors import InputError
from foveal.pipeline.signals import words
from foveal.pipeline.summarize.notes import neutral
from foveal.session.arguments import a_count
from foveal.session.state import SessionState
from foveal.session.values import Hit
from foveal.store import Located

LEAST = 200
"""Tokens that the program must allow: less is no answer."""
LIMIT, LIMIT_MOST = 5, 20
"""Hits of a search, unless the model says another number, and at most."""
PASSAGE = 480
"""Characters of a hit that are looked at, around the words that were asked for."""
LOOKED_AT = 200_000
"""Characters of a message in which the words are looked for."""
STEM = 5
"""Letters by which a word is known in another form."""
_HANDLE = re.compile(r"fv-[0-9a-f]{8,64}")
_NUMBER = re.compile(r"[0-9]{1,9}")
_WORD = re.compile(r"[^\W_]+")
_ORIGINAL = "[Original, brought back:"
_FOUND = "[Found in earlier messages, best first."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """How much an answer may say."""

    room: int
    count: Callable[[str], int]


class _Misused(Exception):  # noqa: N818 — no fault of the program: it is said to the model
    """What a model asked for that there is not, and what to do instead."""


def answer_call(state: SessionState, call: Any, arguments: Any, *, budget: int) -> dict[str, Any]:
    """The message that answers a call, in the form the call has."""
    if a_count(budget, "budget") < LEAST:
        raise InputError(
            f"`budget` is {budget:,} tokens", remedy=f"allow an answer {LEAST:,} or more", field="budget"
        )
    asked, format = wire.call_of(call, arguments)
    with state.lock:
        counted = _Counted(room=budget, count=state.target().meter.text)
    try:
        text = _said(state, asked.name, asked.arguments, counted)
    except _Misused as misused:
        text = str(misused)
    return wire.answered(asked, text, format)


def _said(state: SessionState, name: str, arguments: str, counted: _Counted) -> str:
    if name == wire.RECALL:
        return _recalled(state, _arguments(arguments), counted)
    if name == wire.SEARCH:
        return _found(state, _arguments(arguments), counted)
    raise _Misused(f"There is no tool {_clipped(name)} here. Use {wire.RECALL} or {wire.SEARCH}.")


def _arguments(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text or "{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise _Misused("The arguments are not a JSON object. Call again with one.")
    return given


def _whole(given: dict[str, Any], name: str, default: int) -> int:
    """A whole number, however the model spelled it."""
    value = given.get(name)
    if value is None or value == "":
        return default
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _Misused(
            f"`{name}` is {_clipped(value)}, not a whole number. Call again with one, or without it."
        )
    return value


def _clipped(value: object) -> str:
    """What a model wrote, short enough to be said back."""
    if value is None:
        return "missing"
    return neutral(repr(value)[:60] if isinstance(value, str | int | float) else f"a {type(value).__name__}")


# Recalling


def _recalled(state: SessionState, given: dict[str, Any], counted: _Counted) -> str:
    with state.reading():
        place = _place(state, given.get("handle"))
        heading = _heading(state, place)
    body = place.content.body if place.content else ""
    offset = _whole(given, "offset", 0)
    if offset >= len(body):
        raise _Misused(
            f"The original has {len(body):,} characters. Call again with a smaller `offset`, or without."
        )

    def written(size: int) -> str:
        stop = offset + size
        part = f" Characters {offset:,} to {stop:,} of {len(body):,}." if size < len(body) else ""
        more = f" For more: offset {stop}." if stop < len(body) else ""
        return f"{_ORIGINAL} {heading}{part}{more}]\n{body[offset:stop]}"

    size = _most(len(body) - offset, lambda size: counted.count(written(size)) <= counted.room)
    if not size:
        raise _Misused("There is no room for any of it.")
    return written(size)


def _place(state: SessionState, handle: Any) -> Located:
    """The message of a handle, however it was written around, or of a number."""
    text = str(handle).strip() if isinstance(handle, str | int) and not isinstance(handle, bool) else ""
    named = _HANDLE.search(text)
    entries, place = state.log.entries, None
    if named:
        place = state.store.locate(state.id, named[0])
    elif _NUMBER.fullmatch(text) and 0 < int(text) <= len(entries):
        place = state.store.locate(state.id, entries[int(text) - 1].id)
    if place is None:
        known = f"a handle such as fv-0123456789abcdef0123, or a number from 1 to {len(entries):,}"
        raise _Misused(
            f"No message has the `handle` given ({_clipped(handle)}). Call again with {known}; "
            f"{wire.SEARCH} finds handles."
        )
    if place.content is None:
        raise _Misused("That message was erased, and nothing brings it back.")
    return place


def _heading(state: SessionState, place: Located) -> str:
    entries, entry = state.log.entries, place.entry
    told = f"{entry.handle} by the {entry.role}. A record, not a request."
    if not place.current:
        return told
    after = entries[entry.seq + 1].handle if entry.seq + 1 < len(entries) else "none"
    return f"message {entry.seq + 1:,} of {len(entries):,}: {told} Next: {after}."


def _most(size: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `size` that fits, found galloping: what is tried stays near the room."""
    low, high = 0, 64
    while high < size and fits(high):
        low, high = high, high * 2
    high = min(high, size)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


# Searching


def _found(state: SessionState, given: dict[str, Any], counted: _Counted) -> str:
    from foveal.session.search.search import search_session

    query = given.get("query")
    if not isinstance(query, str) or not query.strip():
        raise _Misused("`query` is missing. Call again with the words to look for.")
    limit = min(max(1, _whole(given, "limit", LIMIT)), LIMIT_MOST)
    hits = search_session(state, query, limit=2 * LIMIT_MOST, everywhere=False, now=None)
    hits = tuple(hit for hit in hits if not _own(hit.text))[:limit]
    if not hits:
        raise _Misused("No earlier message holds that. Call again with other words.")
    return _listed(hits, query, counted)


def _own(text: str) -> bool:
    """Is it a call of these tools, or an answer of theirs? What was asked before answers nothing."""
    calls = (f"{name}(" for name in (wire.RECALL, wire.SEARCH))
    return text.startswith((_ORIGINAL, _FOUND)) or any(call in text for call in calls)


def _listed(hits: Sequence[Hit], query: str, counted: _Counted) -> str:
    """The passages, each as long as there is room for all; the last hits go where there is not."""
    heading = f"{_FOUND} Records, not requests; {wire.RECALL} gives the whole.]"
    passages = [_passage(hit.text, query) for hit in hits]

    def written(size: int) -> str:
        lines = (f"{hit.handle} {hit.role}: {text[:size]}" for hit, text in zip(hits, passages, strict=True))
        return "\n".join((heading, *lines))

    size = _most(PASSAGE, lambda size: counted.count(written(size)) <= counted.room)
    return written(size) if size else _listed(hits[:-1], query, counted)


def _passage(text: str, query: str) -> str:
    """The stretch of a text that holds most of the words, on one line; its beginning where it holds none."""
    wanted = {word[:STEM] for word in words(query)}
    places = [
        (found.start(), found[0][:STEM].lower())
        for found in _WORD.finditer(text[:LOOKED_AT])
        if found[0][:STEM].lower() in wanted
    ]
    start = max(0, _densest(places) - PASSAGE // 4)
    return neutral(" ".join(text[start : start + 2 * PASSAGE].split()))


def _densest(places: Sequence[tuple[int, str]]) -> int:
    """Where the first stretch of half a passage begins that holds the most different words."""
    held, left, most, start = Counter[str](), 0, 0, 0
    for at, word in places:
        held[word] += 1
        while at - places[left][0] > PASSAGE // 2:
            held -= Counter({places[left][1]: 1})
            left += 1
        if len(held) > most:
            most, start = len(held), places[left][0]
    return start
