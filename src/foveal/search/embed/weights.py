"""A safetensors file in → its tensors by name, mapped into memory and not yet read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from foveal.errors import ConfigError

_TYPES = {"F32": np.float32, "F16": np.float16}
_MOST_HEADER = 100_000_000
"""Bytes; the format itself allows no more."""


def tensors(file: Path) -> Mapping[str, np.ndarray[Any, np.dtype[np.floating[Any]]]]:
    """Every tensor of whole or half precision; others (positions, say) are none of ours."""
    try:
        return _read(file)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        raise ConfigError(
            f"{file} cannot be read as safetensors: {fault}",
            remedy="fetch the model again, or name another folder in `embedder`",
        ) from fault


def _read(file: Path) -> Mapping[str, np.ndarray[Any, np.dtype[np.floating[Any]]]]:
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        if size > _MOST_HEADER:
            raise ValueError(f"its header would be {size:,} bytes long")
        header = json.loads(opened.read(size))
    data = np.memmap(file, dtype=np.uint8, mode="r", offset=8 + size)
    return {
        name: data[slice(*about["data_offsets"])].view(_TYPES[about["dtype"]]).reshape(about["shape"])
        for name, about in header.items()
        if name != "__metadata__" and about["dtype"] in _TYPES
    }
