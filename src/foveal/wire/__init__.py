"""Read and write messages in the formats of the providers, and check requests against their rules.

To add a format:

1. `model.py`: its name in `Format`, and where a request has its messages and its system prompt, in
   `MESSAGES_KEY` and `SYSTEM_KEY`.
2. `wire/formats/<name>.py`: a `CODEC` that reads and writes its messages, with its `Rules` and `Framing`;
   list it in `wire/formats/registry.py`.
3. `wire/detect.py`: how to recognize its messages.
4. `wire/judge/<name>.py`: its rules, one function each; list them in `wire/judge/judge.py`.
5. `wire/tools.py`: the form of tool definitions and calls.
6. `tests/strategies.py`: histories in the format; the tests of `tests/wire` then cover it.
"""

from foveal.wire.detect import ShapeOfMessage, decide, shape_of, usual_format
from foveal.wire.dump import dump
from foveal.wire.formats.registry import framing, rules
from foveal.wire.jsontext import address, json_kind, plain, sendable, to_json
from foveal.wire.judge.judge import check
from foveal.wire.load import load, message_of, original, rendered, reread, unaddressed
from foveal.wire.make import answer, note, text_message
from foveal.wire.prompt_cache import cap_markers, mark_cache, markers_in, move_markers, without_markers
from foveal.wire.tools import RECALL, SEARCH, answer_json, call_of, offers_recall, tool_definitions

__all__ = [
    "RECALL",
    "SEARCH",
    "ShapeOfMessage",
    "address",
    "answer",
    "answer_json",
    "call_of",
    "cap_markers",
    "check",
    "decide",
    "dump",
    "framing",
    "json_kind",
    "load",
    "mark_cache",
    "markers_in",
    "message_of",
    "move_markers",
    "note",
    "offers_recall",
    "original",
    "plain",
    "rendered",
    "reread",
    "rules",
    "sendable",
    "shape_of",
    "text_message",
    "to_json",
    "tool_definitions",
    "unaddressed",
    "usual_format",
    "without_markers",
]
