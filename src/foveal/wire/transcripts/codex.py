"""Read Codex rollouts into Responses items and their times.

New files wrap each item in `{"timestamp", "type": "response_item", "payload"}`, between lines about the
session and its turns; old files contain the bare items after a first line about the session. A `compacted`
line says that Codex replaced the history before it in its own window; it is ignored, and all items are kept.
"""

from __future__ import annotations

from foveal.wire.formats.codec import JSON
from foveal.wire.formats.responses import CALLS, OUTPUTS, kind_of
from foveal.wire.times import seconds
from foveal.wire.transcripts.values import Found, Line, Recorded, model_name

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


def read(lines: list[Line]) -> Recorded:
    """The items of a rollout. The model is that of the newest turn."""
    wrapped = any(_is_wrapped(line.value) for line in lines)
    found: list[Found] = []
    model = ""
    for line in lines:
        value = _item(line, wrapped=wrapped)
        if line.value.get("type") == "turn_context" and isinstance(line.value.get("payload"), dict):
            model = model_name(line.value["payload"].get("model")) or model
        if isinstance(value, dict) and kind_of(value) in _ITEMS:
            date = seconds(line.value.get("timestamp"))
            found.append(Found(value=value, date=date, where=f"line {line.number}", line=line.number))
    return Recorded(format="responses", found=found, model=model)


def _item(line: Line, *, wrapped: bool) -> object:
    if not wrapped:
        return line.value
    return line.value.get("payload") if line.value.get("type") == "response_item" else None
