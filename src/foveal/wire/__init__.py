"""Provider JSON ⇄ `Message`, both ways, one file per format; the rules of each provider as data."""

from foveal.wire.detect import detect
from foveal.wire.dump import dump
from foveal.wire.formats.registry import framing, rules
from foveal.wire.jsontext import address, to_json
from foveal.wire.judge import check
from foveal.wire.load import load, message_of, rendered, reread
from foveal.wire.make import answer, note, text_message
from foveal.wire.prompt_cache import cap_markers, mark_cache, markers_in, move_markers, without_markers
from foveal.wire.tools import RECALL, SEARCH, answer_json, call_of, offers_recall, tool_definitions

__all__ = [
    "RECALL",
    "SEARCH",
    "address",
    "answer",
    "answer_json",
    "call_of",
    "cap_markers",
    "check",
    "detect",
    "dump",
    "framing",
    "load",
    "mark_cache",
    "markers_in",
    "message_of",
    "move_markers",
    "note",
    "offers_recall",
    "rendered",
    "reread",
    "rules",
    "text_message",
    "to_json",
    "tool_definitions",
    "without_markers",
]
