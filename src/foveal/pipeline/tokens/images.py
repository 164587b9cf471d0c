"""Compute the tokens that a provider charges for an image or a file.

Counts are never low on purpose: an image of unknown size (a link, an unknown format) costs the most its rule
allows. Sizes are read from the first bytes of PNG, JPEG, GIF and WebP without decoding the image. The cost of
a file is an estimate from its pages or bytes: no provider states it beforehand.
"""

from __future__ import annotations

import binascii
import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from foveal.errors import ConfigError
from foveal.model import File, Image

HEADER = 1 << 18
"""Base64 characters read to find a size: a JPEG may have a long preview before its own header."""

_LOW_DETAIL = 512
"""OpenAI scales an image with `detail: low` into a square of this many pixels."""


class Rule(Protocol):
    """The cost of an image by its size."""

    @property
    def most(self) -> int: ...

    def tokens(self, width: int, height: int, /) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Patches:
    """`factor` tokens for each square patch; larger images are scaled down to `limit` patches."""

    edge: int
    limit: int
    factor: float = 1.0

    @property
    def most(self) -> int:
        return math.ceil(self.limit * self.factor)

    def tokens(self, width: int, height: int, /) -> int:
        patches = math.ceil(width / self.edge) * math.ceil(height / self.edge)
        return math.ceil(min(patches, self.limit) * self.factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """OpenAI's older rule: scaled into 2048 × 2048, then to a short side of 768, then tiles of 512."""

    base: int
    tile: int

    @property
    def most(self) -> int:
        return self.base + 8 * self.tile

    def tokens(self, width: int, height: int, /) -> int:
        scale = min(1.0, 2048 / max(width, height), 768 / min(width, height))
        across, down = (math.ceil(round(side * scale) / 512) for side in (width, height))
        return self.base + self.tile * across * down


@dataclass(frozen=True, slots=True, kw_only=True)
class Crops:
    """Gemini before 3: one tile up to 384 pixels a side, else crops of two thirds of the short side."""

    tile: int = 258

    @property
    def most(self) -> int:
        return 24 * self.tile  # no limit is documented; this is the cost of a photo of 12 megapixels

    def tokens(self, width: int, height: int, /) -> int:
        if max(width, height) <= 384:
            return self.tile
        edge = min(max(256, min(width, height) * 2 // 3), 768)
        return self.tile * math.ceil(width / edge) * math.ceil(height / edge)


# Limits and factors are those the providers document; patches and pixels were compared with the counts
# published for ten sizes, tiles and crops were not.
RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "openai-tiles": Tiles(base=85, tile=170),
        "openai-tiles-mini": Tiles(base=2833, tile=5667),
        "openai-patches": Patches(edge=32, limit=12_000, factor=1.2),
        "openai-patches-mini": Patches(edge=32, limit=1536, factor=2.46),
        "anthropic-small": Patches(edge=28, limit=1600),
        "anthropic-large": Patches(edge=28, limit=4784),
        "gemini-crops": Crops(),
        "gemini-flat": Patches(edge=1 << 20, limit=1, factor=1120),
    }
)
"""`openai-tiles` GPT-4o to 5, `openai-tiles-mini` GPT-4o mini, `openai-patches` GPT-5.4 and later,
`openai-patches-mini` the mini and nano models before it; `anthropic-small` Claude up to 4.6,
`anthropic-large` later; `gemini-flat` Gemini 3 and later."""

_OF_FORMAT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "openai": ("openai-tiles", "openai-patches", "openai-patches-mini"),
        "anthropic": ("anthropic-large",),
        "gemini": ("gemini-crops", "gemini-flat"),
    }
)
"""The rules to take the most expensive of when the model's own is unknown (one model's own apart)."""


def image_tokens(image: Image, rule: str) -> int:
    """The cost of an image under a rule, or under the most expensive rule of a provider."""
    rules = rules_of(rule)
    low = image.detail == "low" and rule.startswith("openai")
    size = (_LOW_DETAIL, _LOW_DETAIL) if low else image_size(image.data)
    return max(each.tokens(*size) if size else each.most for each in rules)


def rules_of(name: str) -> tuple[Rule, ...]:
    """The rule of that name, or all rules of the provider of that name."""
    if name not in RULES and name not in _OF_FORMAT:
        known = ", ".join(f"`{known}`" for known in RULES)
        raise ConfigError(f"there is no image rule {name!r}", remedy=f"set `images` to one of {known}")
    return tuple(RULES[each] for each in _OF_FORMAT.get(name, (name,)))


def image_size(data: str) -> tuple[int, int] | None:
    """Width and height from the header of a base64 image; None when they are not found.

    >>> image_size("iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAA")
    (2, 3)
    """
    head = _decoded(data[:HEADER])
    for read in (_png, _gif, _webp, _jpeg):
        size = read(head)
        if size and min(size) > 0:
            return size
    return None


def _decoded(data: str) -> bytes:
    try:
        return binascii.a2b_base64(data[: len(data) // 4 * 4])
    except ValueError:
        return b""


def _png(head: bytes) -> tuple[int, int] | None:
    if len(head) < 24 or not head.startswith(b"\x89PNG\r\n\x1a\n"):
        return None
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def _gif(head: bytes) -> tuple[int, int] | None:
    if len(head) < 10 or head[:6] not in (b"GIF87a", b"GIF89a"):
        return None
    width, height = struct.unpack("<HH", head[6:10])
    return width, height


def _webp(head: bytes) -> tuple[int, int] | None:
    if len(head) < 30 or head[:4] != b"RIFF" or head[8:12] != b"WEBP":
        return None
    kind, bits = head[12:16], int.from_bytes(head[21:25], "little")
    if kind == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if kind == b"VP8L":
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack("<HH", head[26:30])
    return width & 0x3FFF, height & 0x3FFF


_SIZE_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def _jpeg(head: bytes) -> tuple[int, int] | None:
    """Walk the segments to the frame header, the only one with the size."""
    at = 2
    while head.startswith(b"\xff\xd8") and at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker in _SIZE_MARKERS:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        standalone = marker == 0xFF or 0xD0 <= marker <= 0xD8
        at += (1 if marker == 0xFF else 2) if standalone else 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return None


PAGE = 4600
"""A page of a PDF, as an image (1,600) and as text (3,000): Anthropic's upper figures."""
PAGE_BYTES = 25_000
LINKED_PAGES = 10
"""Pages assumed for a file that is only linked."""
MEDIA_BYTES = 125
"""Bytes of audio or video per token: 32 tokens a second, at the lowest usual rate of 32 kbit/s."""

_PAGE = re.compile(rb"/Type\s*/Page\b")


def file_tokens(file: File) -> int:
    """The cost of a file that is not inline text: an estimate, on the high side."""
    if not file.data:
        return LINKED_PAGES * PAGE
    size = len(file.data) * 3 // 4
    if file.media_type.startswith(("audio/", "video/")):
        return math.ceil(size / MEDIA_BYTES)
    if file.media_type == "application/pdf" or file.data.startswith("JVBER"):
        return PAGE * (len(_PAGE.findall(_decoded(file.data))) or math.ceil(size / PAGE_BYTES))
    return size
