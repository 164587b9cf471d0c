"""Read and check the configuration of a transformer's folder; errors name the file and the field."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from foveal.errors import ConfigError
from foveal.search.embed.bert import Shape

CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"
_POOLING, _SENTENCES = "1_Pooling/config.json", "sentence_bert_config.json"
_REMEDY = "set `embedder` to a folder with `config.json`, `tokenizer.json` and `model.safetensors`"
_SUPPORTED = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
"""The values that the forward pass supports, by field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the embedder must know of a model before it loads the weights."""

    shape: Shape
    longest: int
    """The most tokens of a text that the model reads."""
    first_token: bool
    """Whether the vector is that of the first token, not the mean of all tokens."""


def read_card(folder: Path) -> Card:
    """Check that all files exist, and read the small ones."""
    if not os.path.isdir(folder):  # `is_dir` raises for names that are too long
        raise ConfigError(f"`embedder` names {folder}, and there is no such folder", remedy=_REMEDY)
    missing = [name for name in (CONFIG, TOKENIZER, WEIGHTS) if not (folder / name).is_file()]
    if missing:
        raise ConfigError(f"{folder} has no {' and no '.join(missing)}", remedy=_REMEDY)
    if "model" not in _json(folder / TOKENIZER):
        raise ConfigError(f"{folder / TOKENIZER} has no field `model`: it is not a tokenizer", remedy=_REMEDY)
    config = _json(folder / CONFIG)
    for field, supported in _SUPPORTED.items():
        if (value := config.get(field, supported)) != supported:
            raise ConfigError(
                f"`{field}` in {folder / CONFIG} is {value!r}; only {supported!r} is supported",
                remedy="set `embedder` to the folder of another model, or to an endpoint that runs this one",
            )
    positions = _number(folder / CONFIG, config, "max_position_embeddings")
    return Card(
        shape=Shape(
            width=_number(folder / CONFIG, config, "hidden_size"),
            layers=_number(folder / CONFIG, config, "num_hidden_layers"),
            heads=_number(folder / CONFIG, config, "num_attention_heads"),
            epsilon=_epsilon(folder / CONFIG, config),
        ),
        longest=min(positions, _longest(folder / _SENTENCES, positions)),
        first_token=_json(folder / _POOLING).get("pooling_mode_cls_token") is True,
    )


def _longest(file: Path, positions: int) -> int:
    sentences = _json(file)
    return _number(file, sentences, "max_seq_length") if sentences.get("max_seq_length") else positions


def _number(file: Path, config: dict[str, object], field: str) -> int:
    found = config.get(field)
    if not isinstance(found, int) or found < 1:
        raise ConfigError(f"`{field}` in {file} is {found!r}, not an integer above 0", remedy=_REMEDY)
    return found


def _epsilon(file: Path, config: dict[str, object]) -> float:
    found = config.get("layer_norm_eps", 1e-12)
    if not isinstance(found, int | float) or not 0 <= found < 1:
        raise ConfigError(f"`layer_norm_eps` in {file} is {found!r}, not a number below 1", remedy=_REMEDY)
    return float(found)


def _json(file: Path) -> dict[str, object]:
    """The object in a file; empty where there is no such file."""
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file} cannot be read: {error}", remedy=_REMEDY) from error
    if not isinstance(found, dict):
        raise ConfigError(f"{file} does not contain a JSON object", remedy=_REMEDY)
    return found
