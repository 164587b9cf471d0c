"""The forward pass of a BERT-like encoder, in numpy.

A pass over a few hundred tokens is almost only matrix products, where numpy is about as fast as any library.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float32]]
Ids = np.ndarray[tuple[int, int], np.dtype[np.int64]]

# Abramowitz and Stegun 7.1.26: the complementary error function within 1.5e-7.
_ERFC = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
_ERFC_SCALE = 0.3275911 * math.sqrt(0.5)
_MASKED = -1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The numbers of a model's `config.json` that the forward pass needs."""

    width: int
    layers: int
    heads: int
    epsilon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dense:
    weight: Array
    bias: Array

    def __call__(self, x: Array) -> Array:
        y: Array = x @ self.weight.T
        y += self.bias
        return y


@dataclass(frozen=True, slots=True, kw_only=True)
class _Norm:
    weight: Array
    bias: Array
    epsilon: float

    def __call__(self, x: Array) -> Array:
        y: Array = x - x.mean(-1, keepdims=True)
        y /= np.sqrt(np.einsum("ij,ij->i", y, y)[:, None] / y.shape[-1] + self.epsilon)
        y *= self.weight
        y += self.bias
        return y


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    attention: _Dense
    """Queries, keys and values, in one product."""
    attended: _Dense
    attended_norm: _Norm
    wide: _Dense
    narrow: _Dense
    narrow_norm: _Norm


class Bert:
    """The weights of one model, ready to run; a `KeyError` names a missing tensor."""

    def __init__(self, shape: Shape, weights: Mapping[str, Array]) -> None:
        named = {name.removeprefix("bert."): weight for name, weight in weights.items()}
        self._shape = shape
        self._words = named["embeddings.word_embeddings.weight"]
        # Every text is the first of its pair, so its token type is as constant as its positions.
        self._positions = named["embeddings.position_embeddings.weight"].astype(np.float32)
        self._positions += named["embeddings.token_type_embeddings.weight"][0]
        self._norm = _norm(named, "embeddings.LayerNorm", shape)
        self._layers = tuple(_layer(named, f"encoder.layer.{at}", shape) for at in range(shape.layers))

    def __call__(self, ids: Ids, real: Array) -> Array:
        """One row of `width` numbers per id; `real` is 0 for padding, else 1."""
        texts, tokens = ids.shape
        x = self._norm((self._words[ids] + self._positions[:tokens]).reshape(texts * tokens, -1))
        hidden = np.where(real, 0.0, _MASKED).astype(np.float32)[:, None, None, :]
        for layer in self._layers:
            x = layer.attended_norm(x + layer.attended(self._attend(layer.attention(x), hidden)))
            x = layer.narrow_norm(x + layer.narrow(_gelu(layer.wide(x))))
        return x.reshape(texts, tokens, -1)

    def _attend(self, x: Array, hidden: Array) -> Array:
        """Multi-head self-attention over the tokens of each text."""
        texts, tokens = len(hidden), hidden.shape[-1]
        split = x.reshape(texts, tokens, 3, self._shape.heads, -1).transpose(2, 0, 3, 1, 4)
        queries, keys, values = split
        share: Array = queries @ keys.swapaxes(-1, -2)
        share *= 1 / math.sqrt(queries.shape[-1])
        share += hidden
        share -= share.max(-1, keepdims=True)
        np.exp(share, out=share)
        share /= share.sum(-1, keepdims=True)
        mixed: Array = (share @ values).swapaxes(1, 2).reshape(texts * tokens, -1)
        return mixed


def _gelu(x: Array) -> Array:
    """x · Φ(x), in place: max(x, 0) − |x| · Φ(−|x|)."""
    size = np.abs(x)
    t = size * _ERFC_SCALE
    t += 1
    np.reciprocal(t, out=t)
    tail = t * _ERFC[0]
    for factor in _ERFC[1:]:
        tail += factor
        tail *= t
    np.multiply(size, size, out=t)
    t *= -0.5
    np.exp(t, out=t)
    tail *= t
    tail *= size
    tail *= 0.5
    np.maximum(x, 0, out=x)
    x -= tail
    return x


def _layer(weights: Mapping[str, Array], at: str, shape: Shape) -> _Layer:
    return _Layer(
        attention=_dense(weights, *(f"{at}.attention.self.{part}" for part in ("query", "key", "value"))),
        attended=_dense(weights, f"{at}.attention.output.dense"),
        attended_norm=_norm(weights, f"{at}.attention.output.LayerNorm", shape),
        wide=_dense(weights, f"{at}.intermediate.dense"),
        narrow=_dense(weights, f"{at}.output.dense"),
        narrow_norm=_norm(weights, f"{at}.output.LayerNorm", shape),
    )


def _dense(weights: Mapping[str, Array], *names: str) -> _Dense:
    """Layers with the same input, concatenated into one product."""
    return _Dense(
        weight=np.concatenate([weights[f"{name}.weight"] for name in names]).astype(np.float32),
        bias=np.concatenate([weights[f"{name}.bias"] for name in names]).astype(np.float32),
    )


def _norm(weights: Mapping[str, Array], name: str, shape: Shape) -> _Norm:
    return _Norm(
        weight=weights[f"{name}.weight"].astype(np.float32),
        bias=weights[f"{name}.bias"].astype(np.float32),
        epsilon=shape.epsilon,
    )
