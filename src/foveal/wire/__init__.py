"""Provider JSON ⇄ `Message`, both ways, one file per format; the rules of each provider as data."""

from foveal.wire.check import check
from foveal.wire.detect import detect
from foveal.wire.dump import Dumped, dump, dump_system, dump_turn
from foveal.wire.formats import framing, rules
from foveal.wire.jsontext import address, to_json
from foveal.wire.load import load, message_of
from foveal.wire.make import answer, note, text_message
from foveal.wire.markers import cap_markers
from foveal.wire.stored import reread

__all__ = [
    "Dumped",
    "address",
    "answer",
    "cap_markers",
    "check",
    "detect",
    "dump",
    "dump_system",
    "dump_turn",
    "framing",
    "load",
    "message_of",
    "note",
    "reread",
    "rules",
    "text_message",
    "to_json",
]
