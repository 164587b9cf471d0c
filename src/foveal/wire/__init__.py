"""Provider JSON ⇄ `Message`, both ways, one file per format; the rules of each provider as data."""

from foveal.wire.cap import cap_markers
from foveal.wire.check import check
from foveal.wire.detect import detect
from foveal.wire.dump import dump
from foveal.wire.formats import framing, rules
from foveal.wire.jsontext import address, to_json
from foveal.wire.load import load, message_of
from foveal.wire.make import answer, note, text_message
from foveal.wire.stored import rendered, reread

__all__ = [
    "address",
    "answer",
    "cap_markers",
    "check",
    "detect",
    "dump",
    "framing",
    "load",
    "message_of",
    "note",
    "rendered",
    "reread",
    "rules",
    "text_message",
    "to_json",
]
