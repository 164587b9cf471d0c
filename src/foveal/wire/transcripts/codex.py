"""Read Codex rollouts into Responses items and their times.

New files wrap each item in `{"timestamp", "type": "response_item", "payload"}`, between lines about the
session and its turns; old files contain the bare items after a first line about the session. A `compacted`
line says that Codex replaced the history before it in its own window; it is ignored, and all items are kept.
"""

from __future__ import annotations

from foveal.errors import InputError
from foveal.wire.formats.codec import JSON
from foveal.wire.formats.responses import CALLS, OUTPUTS, kind_of
from foveal.wire.times import seconds
from foveal.wire.transcripts.lines import Line

_WRAPPERS = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_ITEMS = frozenset({"message", "reasoning", "web_search_call", *CALLS, *OUTPUTS})


def is_ours(lines: list[Line]) -> bool:
    """Whether any line is wrapped, or the first is the session line of the old form: id and time, no role."""
    if any(_is_wrapped(line.value) for line in lines):
        return True
    first = lines[0].value
    return {"id", "timestamp"} <= first.keys() and not {"role", "type", "content"} & first.keys()


def _is_wrapped(value: JSON) -> bool:
    return value.get("type") in _WRAPPERS and isinstance(value.get("payload"), dict)


def items(lines: list[Line], name: str) -> list[tuple[JSON, float | None]]:
    wrapped = any(_is_wrapped(line.value) for line in lines)
    found = [
        (line.value["payload"] if wrapped else line.value, seconds(line.value.get("timestamp")))
        for line in lines
        if (line.value.get("type") == "response_item" if wrapped else kind_of(line.value) in _ITEMS)
    ]
    if not found:
        raise InputError(
            f"{name} is a Codex rollout of {len(lines):,} lines without a single message",
            remedy="choose the file of a session that has messages",
        )
    return [(item, date) for item, date in found if kind_of(item) in _ITEMS]
