"""Static embeddings: the vector of a text is the mean of its tokens' rows in a table of 32 000.

No model runs; a text takes microseconds. The table and its tokenizer are data files of the `wordllama`
package; none of its code is imported. Texts are lower-cased, which suits the table best, and read up to their
first `LONGEST` characters, so that the time for each text is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from foveal.errors import ConfigError
from foveal.search.embed.base import Vectors, batches, opening, unit
from foveal.search.embed.weights import tensors

LONGEST = 8_192
"""Characters of a text that are read: the mean hardly changes after that."""
_PACKAGE = "wordllama"
_TABLE = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_load_lock = Lock()


class Static:
    """The table and its tokenizer, loaded."""

    dimensions = 256
    name = "wordllama-256-lower"

    def __init__(self, tokenizer: Tokenizer, table: np.ndarray[Any, np.dtype[np.floating[Any]]]) -> None:
        self._tokenizer = tokenizer
        self._table = table

    def embed(self, texts: Sequence[str], /) -> Vectors:
        parts = [self._means(batch) for batch in batches(texts)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimensions), dtype=np.float32)

    def _means(self, texts: Sequence[str]) -> Vectors:
        """One row per text. The sum has the direction of the mean, so dividing is not needed."""
        # One by one: a batch would start the tokenizer's own threads, which do not survive a fork.
        lowered = (opening(text, LONGEST).lower() for text in texts)
        found = [self._tokenizer.encode(text, add_special_tokens=False).ids for text in lowered]
        sums = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, ids in zip(sums, found, strict=True):
            np.sum(self._table[ids], axis=0, dtype=np.float32, out=row)
        return unit(sums)


def static() -> Static:
    """The instance that all threads of the process share."""
    with _load_lock:
        return _load()


@cache
def _load() -> Static:
    spec = find_spec(_PACKAGE)
    folders = [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
    for folder in folders:
        if (folder / _TABLE).is_file() and (folder / _TOKENIZER).is_file():
            tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
            tokenizer.encode_special_tokens = True  # "</s>" in a text is four characters, not an end
            return Static(tokenizer, tensors(folder / _TABLE)["embedding.weight"])
    raise ConfigError(
        f"the package `{_PACKAGE}` does not have the files {_TABLE} and {_TOKENIZER}",
        remedy=f"`pip install --force-reinstall '{_PACKAGE}>=0.4.0.post1'`, or set `embedder` to `none`",
    )
