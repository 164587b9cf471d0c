"""A model's folder in → what it says of itself, or an error that names the file and the field."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from foveal.errors import ConfigError
from foveal.search.embed.bert import Shape

CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"
_POOLING, _SENTENCES = "1_Pooling/config.json", "sentence_bert_config.json"
_FETCH = "name a folder with `config.json`, `tokenizer.json` and `model.safetensors` in `embedder`"
_KNOWN = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
"""What the forward pass can do, by field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What must be known of a model before its weights are loaded."""

    shape: Shape
    longest: int
    """Tokens of a text that it takes."""
    first_token: bool
    """It was trained to put a text's meaning into the first token, not into the mean of all."""


def card(folder: Path) -> Card:
    """Check that everything is there, and read what is small."""
    if not folder.is_dir():
        raise ConfigError(f"`embedder` names {folder}, and there is no such folder", remedy=_FETCH)
    missing = [name for name in (CONFIG, TOKENIZER, WEIGHTS) if not (folder / name).is_file()]
    if missing:
        raise ConfigError(f"{folder} has no {' and no '.join(missing)}", remedy=_FETCH)
    if "model" not in _json(folder / TOKENIZER):
        raise ConfigError(f"{folder / TOKENIZER} has no field `model`: it is no tokenizer", remedy=_FETCH)
    config = _json(folder / CONFIG)
    for field, known in _KNOWN.items():
        if (said := config.get(field, known)) != known:
            raise ConfigError(
                f"`{field}` in {folder / CONFIG} is {said!r}; only {known!r} can be run",
                remedy="name the folder of another model in `embedder`, or an endpoint that runs it",
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
        raise ConfigError(f"`{field}` in {file} is {found!r}, not a number above 0", remedy=_FETCH)
    return found


def _epsilon(file: Path, config: dict[str, object]) -> float:
    found = config.get("layer_norm_eps", 1e-12)
    if not isinstance(found, int | float) or not 0 <= found < 1:
        raise ConfigError(f"`layer_norm_eps` in {file} is {found!r}, not a number below 1", remedy=_FETCH)
    return float(found)


def _json(file: Path) -> dict[str, object]:
    """An object; an empty one where there is no such file."""
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise ConfigError(f"{file} cannot be read: {fault}", remedy=_FETCH) from fault
    if not isinstance(found, dict):
        raise ConfigError(f"{file} holds no JSON object", remedy=_FETCH)
    return found
