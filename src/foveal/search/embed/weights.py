"""Map the tensors of a safetensors file into memory, by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from foveal.errors import ConfigError

_TYPES = {"F32": np.float32, "F16": np.float16}
_MAX_HEADER = 100_000_000
"""Bytes; the limit of the format itself."""


def tensors(file: Path) -> Mapping[str, np.ndarray[Any, np.dtype[np.floating[Any]]]]:
    """Every float32 and float16 tensor; others (positions, for instance) are skipped."""
    try:
        return _read(file)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{file} cannot be read as safetensors: {error}",
            remedy="download the model again, or set `embedder` to another folder",
        ) from error


def _read(file: Path) -> Mapping[str, np.ndarray[Any, np.dtype[np.floating[Any]]]]:
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        if size > _MAX_HEADER:
            raise ValueError(f"its header is {size:,} bytes long")
        header = json.loads(opened.read(size))
    data = np.memmap(file, dtype=np.uint8, mode="r", offset=8 + size)
    return {
        name: data[slice(*entry["data_offsets"])].view(_TYPES[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] in _TYPES
    }
