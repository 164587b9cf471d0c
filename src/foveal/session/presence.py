"""What a client tells of where its user is in → a `Presence`, or an `InputError` that names the field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields

from foveal.errors import InputError
from foveal.knowledge.values import Presence
from foveal.wire.times import seconds

MOST = 1_000
"""Conversations or paths that are looked at."""
SHOWN = 1_000_000
"""Numbers below it are shown in errors."""
_HOURS = range(24)


def presence_of(told: Presence | Mapping[str, object]) -> Presence:
    """Times are seconds since 1970 or ISO 8601; what is not told is not known.

    >>> presence_of({"active_conversation": "fix-auth", "local_hour": 9}).local_hour
    9
    """
    given = asdict(told) if isinstance(told, Presence) else told
    if not isinstance(given, Mapping):
        raise InputError(
            f"`presence` is a {type(told).__name__}", remedy="give a `Presence` or a mapping of its fields"
        )
    known = {field.name for field in fields(Presence)}
    for name in given:
        if name not in known:
            raise InputError(
                f"`presence` has an unknown field {name!r}", remedy=f"use some of: {', '.join(sorted(known))}"
            )
    return Presence(
        active_conversation=_text(given, "active_conversation"),
        visible_conversations=_texts(given, "visible_conversations"),
        active_notebook=_text(given, "active_notebook"),
        active_persona=_text(given, "active_persona"),
        last_path=_text(given, "last_path"),
        navigation_history=_texts(given, "navigation_history"),
        local_hour=_hour(given.get("local_hour")),
        session_start=_time(given, "session_start"),
        idle_since=_time(given, "idle_since"),
    )


def _text(given: Mapping[str, object], name: str) -> str:
    value = given.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise _refused(name, value, "text")


def _texts(given: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = given.get(name, ())
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return tuple(value[-MOST:])
    raise _refused(name, value, "a list of texts")


def _hour(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value in _HOURS):
        return value
    raise _refused("local_hour", value, "an hour from 0 to 23")


def _time(given: Mapping[str, object], name: str) -> float | None:
    value = given.get(name)
    found = None if value is None else seconds(value)
    if value is not None and found is None:
        raise _refused(name, value, "seconds since 1970 or an ISO 8601 text")
    return found


def _refused(name: str, value: object, wanted: str) -> InputError:
    told = str(value) if type(value) is int and abs(value) < SHOWN else f"a {type(value).__name__}"
    return InputError(f"`presence.{name}` is {told}, not {wanted}", remedy=f"give `{name}` as {wanted}")
