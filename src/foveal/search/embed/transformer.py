"""Embed texts with a BERT-like encoder in a folder.

The folder has the layout in which such models are published. A text is read up to the model's own limit.
Weights are loaded with the first text, once for all threads of a process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from hashlib import blake2b, file_digest
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer

from foveal.errors import ConfigError
from foveal.search.embed.base import Vectors, batches, opening, unit
from foveal.search.embed.bert import Bert
from foveal.search.embed.folder import TOKENIZER, WEIGHTS, Card, read_card
from foveal.search.embed.weights import tensors

CHARACTERS_PER_TOKEN = 20
"""Characters of a text that are read for each token the model takes: no language needs more."""
PASS_TOKENS = 256
"""Tokens in one pass, padding included: what fits the processor's caches."""


class _Loaded(NamedTuple):
    tokenizer: Tokenizer
    bert: Bert


class Transformer:
    """A model's folder. Configuration errors are raised here, broken weights with the first text."""

    def __init__(self, folder: Path) -> None:
        self._card: Card = read_card(folder)
        self._folder = folder
        self._load_lock = Lock()
        self._loaded: _Loaded | None = None

    @property
    def dimensions(self) -> int:
        return self._card.shape.width

    @cached_property
    def name(self) -> str:
        """The folder's name and a digest of the weights: a model that is moved keeps it."""
        with (self._folder / WEIGHTS).open("rb") as weights:
            digest = file_digest(weights, lambda: blake2b(digest_size=8)).hexdigest()
        return f"{self._folder.name}-{digest}"

    def embed(self, texts: Sequence[str], /) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for batch in batches([at for at, text in enumerate(texts) if text.strip()]):
            found = self._tokens([texts[at] for at in batch])
            for group in _by_length(found):
                rows[[batch[at] for at in group]] = self._pooled([found[at] for at in group])
        return unit(rows)

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        # One by one: a batch would start the tokenizer's own threads, which do not survive a fork.
        encode, most = self._load().tokenizer.encode, self._card.longest * CHARACTERS_PER_TOKEN
        return [encode(opening(text, most)).ids for text in texts]

    def _pooled(self, found: Sequence[Sequence[int]]) -> Vectors:
        """The sum over each text's tokens, or its first token where the model was trained for that."""
        ids = np.zeros((len(found), max(map(len, found))), dtype=np.int64)
        real = np.zeros(ids.shape, dtype=np.float32)
        for at, tokens in enumerate(found):
            ids[at, : len(tokens)] = tokens
            real[at, : len(tokens)] = 1
        hidden = self._load().bert(ids, real)
        pooled: Vectors = hidden[:, 0] if self._card.first_token else np.einsum("ijk,ij->ik", hidden, real)
        return pooled

    def _load(self) -> _Loaded:
        with self._load_lock:
            if self._loaded is None:
                self._loaded = _Loaded(_tokenizer(self._folder, self._card.longest), self._read())
            return self._loaded

    def _read(self) -> Bert:
        try:
            return Bert(self._card.shape, tensors(self._folder / WEIGHTS))
        except KeyError as missing:
            raise ConfigError(
                f"{self._folder / WEIGHTS} has no tensor {missing.args[0]}: it is not a BERT-like encoder",
                remedy="set `embedder` to the folder of one, such as all-MiniLM-L6-v2",
            ) from missing


def _by_length(found: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Groups of texts of similar length, so that there is little padding, each small enough for one pass."""
    group: list[int] = []
    for at in sorted(range(len(found)), key=lambda at: len(found[at])):
        if group and (len(group) + 1) * len(found[at]) > PASS_TOKENS:
            yield group
            group = []
        group.append(at)
    if group:
        yield group


def _tokenizer(folder: Path, longest: int) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is five characters, not an end
    return tokenizer


@cache
def _shared(folder: Path) -> Transformer:
    return Transformer(folder)


def transformer(folder: Path) -> Transformer:
    """The instance shared by all callers that name this folder."""
    named = os.path.expanduser(folder)
    return _shared(Path(os.path.realpath(named) if os.path.isdir(named) else named))
