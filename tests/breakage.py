"""Ways in which recorded histories are broken, each a small change to a list of wire messages."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

JSON = dict[str, Any]
Break = Callable[[list[JSON], int], None]
_IDS = ("id", "call_id", "tool_call_id", "tool_use_id")


@st.composite
def breakages(draw: st.DrawFn, history: list[JSON]) -> list[JSON]:
    """The history after one to four accidents; never empty."""
    broken = copy.deepcopy(history)
    for accident in draw(_SOME):
        accident(broken, draw(st.integers(0, len(broken) - 1)))
    return broken


def _lost(history: list[JSON], at: int) -> None:
    """Orphan results, missing answers, a leading assistant."""
    if len(history) > 1:
        del history[at]


def _cut_off(history: list[JSON], at: int) -> None:
    del history[:at]


def _said_twice(history: list[JSON], at: int) -> None:
    history.insert(at, copy.deepcopy(history[at]))


def _out_of_order(history: list[JSON], at: int) -> None:
    history.append(history.pop(at))


def _emptied(history: list[JSON], at: int) -> None:
    _change(
        history[at],
        lambda key, value: "" if key in ("text", "content", "output") and _is_text(value) else value,
    )


def _blanked(history: list[JSON], at: int) -> None:
    _change(
        history[at], lambda key, value: " \n" if key in ("text", "content") and _is_text(value) else value
    )


def _without_blocks(history: list[JSON], at: int) -> None:
    _change(
        history[at],
        lambda key, value: [] if key in ("content", "parts") and isinstance(value, list) else value,
    )


def _one_id(history: list[JSON], at: int) -> None:
    """Ids reused, within one message and over the whole history."""
    for message in history[at:]:
        _change(message, lambda key, value: "same" if key in _IDS and _is_text(value) else value)


def _other_id(history: list[JSON], at: int) -> None:
    _change(history[at], lambda key, value: "other" if key in _IDS and _is_text(value) else value)


def _bad_name(history: list[JSON], at: int) -> None:
    _change(history[at], lambda key, value: "bad name! " * 20 if key == "name" else value)


def _bad_arguments(history: list[JSON], at: int) -> None:
    _change(history[at], lambda key, value: '{"a": ' if key == "arguments" else value)


def _not_an_object(history: list[JSON], at: int) -> None:
    _change(
        history[at], lambda key, value: [1] if key in ("input", "args") and isinstance(value, dict) else value
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _change(value: Any, change: Callable[[str, Any], Any]) -> None:
    """Apply a change to every field, at any depth."""
    if isinstance(value, dict):
        for key in value:
            value[key] = change(key, value[key])
            _change(value[key], change)
    elif isinstance(value, list):
        for item in value:
            _change(item, change)


_ACCIDENTS: tuple[Break, ...] = (
    _lost,
    _cut_off,
    _said_twice,
    _out_of_order,
    _emptied,
    _blanked,
    _without_blocks,
    _one_id,
    _other_id,
    _bad_name,
    _bad_arguments,
    _not_an_object,
)
_SOME = st.lists(st.sampled_from(_ACCIDENTS), min_size=1, max_size=4)
