"""Parse texts from stdin and write their symbols to stdout, one line of JSON each, in a process of its own.

The process ends with its input, and a minute after its last file: also when it loops and its caller is gone.
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
"""Seconds after which it ends itself, far longer than a caller waits for one file."""
POSTPONE_EVERY = 5.0
"""Seconds between two postponements of that end: each starts a thread."""


def encode_request(text: str, language: str) -> bytes:
    """Encode a request for the worker."""
    return json.dumps([language, text]).encode() + b"\n"


def parse_response(line: bytes) -> Symbols:
    """Decode the worker's reply. Names that many files share are interned."""
    definitions, used, refused = json.loads(line)
    named = (Definition(sys.intern(name), sys.intern(kind), *rest) for name, kind, *rest in definitions)
    return Symbols(tuple(named), tuple(map(sys.intern, used)), refused)


def main() -> None:
    serve(sys.stdin.buffer, sys.stdout.buffer)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    gc.disable()  # a syntax tree has no reference cycles; searching for them costs a tenth of the time
    sink.write(READY)
    sink.flush()
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        postponed_at = 0.0
        for line in source:
            if not postponed_at or time.monotonic() - postponed_at > POSTPONE_EVERY:
                faulthandler.dump_traceback_later(LAST, exit=True, file=nowhere)
                postponed_at = time.monotonic()
            sink.write(_response(line))
            sink.flush()
        faulthandler.cancel_dump_traceback_later()


def _response(line: bytes) -> bytes:
    language, text = json.loads(line)
    try:
        found = symbols(text, language)
    except ImportError:
        found = Symbols(refused=f"the grammar for {language} is not installed")
    definitions = [[d.name, d.kind, d.signature, d.line, d.parent] for d in found.definitions]
    return json.dumps([definitions, found.used, found.refused]).encode() + b"\n"
