"""Texts on stdin in → what they define and use on stdout, a line of JSON each: a process that may be killed.

It ends with its input, and a minute after its last file: whether it waits, or loops and nobody is left to end
it.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import sys
import time
from typing import BinaryIO

from foveal.sources.code.symbols import Definition, Symbols, symbols

READY = b"ready\n"
LAST = 60.0
"""Seconds after which it ends itself, far beyond what a caller waits for one file."""
PUT_OFF = 5.0
"""Seconds between two times that this is put off: it takes a thread each time."""


def request(text: str, language: str) -> bytes:
    """A question for the worker."""
    return json.dumps([language, text]).encode() + b"\n"


def answer(line: bytes) -> Symbols:
    """What the worker said, as values. Names that many files share are held once."""
    definitions, used, refused = json.loads(line)
    named = (Definition(sys.intern(name), sys.intern(kind), *rest) for name, kind, *rest in definitions)
    return Symbols(tuple(named), tuple(map(sys.intern, used)), refused)


def main() -> None:
    serve(sys.stdin.buffer, sys.stdout.buffer)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    gc.disable()  # nodes of a tree hold each other in no circle; looking for some costs a tenth of the time
    sink.write(READY)
    sink.flush()
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        put_off = 0.0
        for line in source:
            if not put_off or time.monotonic() - put_off > PUT_OFF:
                faulthandler.dump_traceback_later(LAST, exit=True, file=nowhere)
                put_off = time.monotonic()
            sink.write(_reply(line))
            sink.flush()
        faulthandler.cancel_dump_traceback_later()


def _reply(line: bytes) -> bytes:
    language, text = json.loads(line)
    try:
        found = symbols(text, language)
    except ImportError:
        found = Symbols(refused=f"the grammar for {language} is not installed")
    definitions = [[d.name, d.kind, d.signature, d.line, d.within] for d in found.definitions]
    return json.dumps([definitions, found.used, found.refused]).encode() + b"\n"
