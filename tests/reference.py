"""tiktoken without a network: its vocabulary files, rebuilt from the packages that carry them.

tiktoken compares each file with the hash it knows and refuses any other, so what it then counts with is
the published vocabulary, byte for byte.
"""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import splintr
import tiktoken

_HOME = "https://openaipublic.blob.core.windows.net/encodings"
_SIZES = {"cl100k_base": 100_256, "o200k_base": 199_998}


@cache
def encoding(name: str) -> tiktoken.Encoding:
    """The reference tokenizer of that name."""
    os.environ["TIKTOKEN_CACHE_DIR"] = _folder()
    return tiktoken.get_encoding(name)


@cache
def _folder() -> str:
    folder = Path(mkdtemp(prefix="tiktoken-"))
    for name, size in _SIZES.items():
        vocabulary = splintr.Tokenizer.from_pretrained(name)
        lines = (b"%s %d\n" % (base64.b64encode(vocabulary.decode_token_bytes(i)), i) for i in range(size))
        file = hashlib.sha1(f"{_HOME}/{name}.tiktoken".encode()).hexdigest()
        (folder / file).write_bytes(b"".join(lines))
    return str(folder)
