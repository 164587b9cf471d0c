"""What images and files cost: by size where it is known, else the most their rule allows."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.errors import ConfigError
from foveal.model import File, Framing, Image
from foveal.pipeline.tokens.count import Meter, tokenizer
from foveal.pipeline.tokens.images import LINKED_PAGES, PAGE, RULES, file_tokens, image_size, image_tokens

SIDE = st.integers(1, 8000)


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", width, height) + bytes(20)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(20)


def jpeg(width: int, height: int) -> bytes:
    preview = b"\xff\xe1" + struct.pack(">H", 40_002) + bytes(40_000)
    return b"\xff\xd8" + preview + b"\xff\xff\xc0\x00\x11\x08" + struct.pack(">HH", height, width) + bytes(20)


def webp(width: int, height: int) -> bytes:
    frame = b"VP8 " + bytes(4) + b"\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", width, height)
    return b"RIFF" + bytes(4) + b"WEBP" + frame + bytes(20)


def webp_lossless(width: int, height: int) -> bytes:
    bits = struct.pack("<I", (width - 1) | (height - 1) << 14)
    return b"RIFF" + bytes(4) + b"WEBPVP8L" + bytes(4) + b"\x2f" + bits + bytes(20)


def webp_extended(width: int, height: int) -> bytes:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF" + bytes(4) + b"WEBPVP8X" + bytes(8) + sides + bytes(20)


FORMATS = [png, gif, jpeg, webp, webp_lossless, webp_extended]


def sized(width: int, height: int, *, detail: str = "") -> Image:
    return Image(data=base64.b64encode(png(width, height)).decode(), detail=detail)


@pytest.mark.parametrize("write", FORMATS)
@given(width=SIDE, height=SIDE)
def test_the_size_is_read_from_the_header(write: object, width: int, height: int) -> None:
    assert callable(write)
    assert image_size(base64.b64encode(write(width, height)).decode()) == (width, height)


@given(
    st.binary(max_size=200) | st.sampled_from([write(9, 9)[:cut] for write in FORMATS for cut in range(30)])
)
def test_no_bytes_are_too_broken_to_price(data: bytes) -> None:
    assert image_tokens(Image(data=base64.b64encode(data).decode()), "openai") > 0


@given(st.text(max_size=50))
def test_no_text_is_too_broken_to_price(data: str) -> None:
    assert image_tokens(Image(data=data), "anthropic") > 0


@pytest.mark.parametrize(
    ("rule", "width", "height", "tokens"),
    [
        ("openai-tiles", 1024, 1024, 85 + 4 * 170),
        ("openai-tiles", 2048, 4096, 85 + 6 * 170),
        ("openai-tiles-mini", 512, 512, 2833 + 5667),
        ("openai-patches", 1024, 1024, 1229),
        ("openai-patches", 1920, 1080, 2448),
        ("openai-patches-mini", 1024, 1024, 2520),
        ("openai-patches-mini", 4000, 4000, 3779),
        ("anthropic-small", 1024, 1024, 1369),
        ("anthropic-small", 4032, 3024, 1600),
        ("anthropic-large", 1920, 1080, 2691),
        ("anthropic-large", 8000, 8000, 4784),
        ("gemini-crops", 384, 384, 258),
        ("gemini-crops", 960, 540, 6 * 258),
        ("gemini-flat", 100, 100, 1120),
    ],
)
def test_an_image_costs_what_the_provider_documents(rule: str, width: int, height: int, tokens: int) -> None:
    assert image_tokens(sized(width, height), rule) == tokens


@pytest.mark.parametrize("rule", RULES)
@given(width=SIDE, height=SIDE)
def test_an_image_never_costs_more_than_one_of_unknown_size(rule: str, width: int, height: int) -> None:
    if rule != "gemini-crops":  # which states no limit
        assert image_tokens(sized(width, height), rule) <= image_tokens(Image(url="https://x"), rule)


@pytest.mark.parametrize(
    ("provider", "prefix"), [("openai", "openai-p"), ("anthropic", "anth"), ("gemini", "gem")]
)
@given(width=SIDE, height=SIDE)
def test_an_unknown_model_pays_its_providers_dearest_rule(
    provider: str, prefix: str, width: int, height: int
) -> None:
    image = sized(width, height)
    dearest = max(image_tokens(image, rule) for rule in RULES if rule.startswith(prefix))
    assert image_tokens(image, provider) >= dearest


def test_an_unknown_rule_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="there is no image rule 'cubes'") as refusal:
        Meter(tokenizer("chars"), Framing(), images="cubes")
    assert "`openai-tiles`" in refusal.value.remedy


def test_low_detail_costs_one_small_image() -> None:
    assert image_tokens(sized(4000, 4000, detail="low"), "openai-tiles") == 85 + 170
    assert image_tokens(Image(url="https://x", detail="low"), "openai-tiles") == 85 + 170


def test_a_pdf_costs_its_pages_where_they_can_be_seen() -> None:
    body = b"%PDF-1.4\n" + b"<< /Type /Page >>\n" * 3 + b"<< /Type /Pages /Count 3 >>"
    data = base64.b64encode(body).decode()
    assert file_tokens(File(data=data, media_type="application/pdf")) == 3 * PAGE
    assert file_tokens(File(data=data)) == 3 * PAGE


def test_a_pdf_without_visible_pages_costs_by_its_bytes() -> None:
    data = base64.b64encode(b"%PDF-1.7" + bytes(100_000)).decode()
    assert file_tokens(File(data=data)) == 5 * PAGE


def test_sound_and_film_cost_by_their_bytes() -> None:
    assert file_tokens(File(data="A" * 4000, media_type="audio/mpeg")) == 24


def test_a_file_of_unknown_type_costs_its_bytes() -> None:
    assert file_tokens(File(data="A" * 4000, media_type="application/zip")) == 3000


def test_a_linked_file_costs_a_guess() -> None:
    assert file_tokens(File(url="file-abc")) == LINKED_PAGES * PAGE
