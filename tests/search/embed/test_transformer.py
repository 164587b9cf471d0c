"""What a transformer in a folder promises. The model is a tiny one with random weights."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from foveal.errors import ConfigError
from foveal.search.embed.transformer import Transformer, transformer

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "where", "is", "the", "login", "port", "##s", "?"]
WIDTH, WIDE, LAYERS, LONGEST = 32, 64, 2, 16
REAL = os.environ.get("FOVEAL_MINILM", "")
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": WIDTH,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "max_position_embeddings": LONGEST,
    "layer_norm_eps": 1e-12,
}


def shapes() -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": (LONGEST, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    products: dict[str, tuple[int, ...]] = {}
    for layer in (f"encoder.layer.{at}" for at in range(LAYERS)):
        products |= {f"{layer}.attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        products |= {f"{layer}.attention.output.dense": (WIDTH, WIDTH)}
        products |= {f"{layer}.intermediate.dense": (WIDE, WIDTH), f"{layer}.output.dense": (WIDTH, WIDE)}
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    found |= {f"{name}.weight": shape for name, shape in products.items()}
    found |= {f"{name}.bias": shape[:1] for name, shape in products.items()}
    return found | {f"{name}.{part}": (WIDTH,) for name in norms for part in ("weight", "bias")}


def weights(dtype: type[np.floating[Any]] = np.float32) -> dict[str, Any]:
    random = np.random.default_rng(7)
    found = {name: random.normal(0, 0.3, shape) for name, shape in shapes().items()}
    scales = {name: value + 1 for name, value in found.items() if name.endswith("LayerNorm.weight")}
    return {name: value.astype(dtype) for name, value in (found | scales).items()}


def write(file: Path, tensors: dict[str, Any]) -> None:
    header, at = {}, 0
    for name, tensor in tensors.items():
        kind = "F16" if tensor.dtype == np.float16 else "F32"
        header[name] = {"dtype": kind, "shape": tensor.shape, "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(t.tobytes() for t in tensors.values()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tokenizer = Tokenizer(models.WordPiece({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.add_special_tokens(WORDS[:4])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    write(tmp_path / "model.safetensors", weights())
    return tmp_path


def by_the_book(ids: list[int]) -> Any:
    """One text through the same model in double precision, written the long way round."""
    w = {name: value.astype(np.float64) for name, value in weights().items()}
    from math import erf

    def dense(x: Any, name: str) -> Any:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: Any, name: str) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt(x.var(-1, keepdims=True)) * w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in (f"encoder.layer.{at}" for at in range(LAYERS)):
        q, k, v = (dense(x, f"{layer}.attention.self.{part}") for part in ("query", "key", "value"))
        heads = []
        for part in (slice(at, at + 8) for at in range(0, WIDTH, 8)):
            share = np.exp(q[:, part] @ k[:, part].T / np.sqrt(8))
            heads.append(share / share.sum(-1, keepdims=True) @ v[:, part])
        attended = dense(np.concatenate(heads, axis=1), f"{layer}.attention.output.dense")
        x = norm(x + attended, f"{layer}.attention.output.LayerNorm")
        wide = dense(x, f"{layer}.intermediate.dense")
        bent = wide / 2 * (1 + np.vectorize(erf)(wide / np.sqrt(2)))
        x = norm(x + dense(bent, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    return x


def scaled(row: Any) -> Any:
    return row / np.linalg.norm(row)


def test_it_computes_what_the_model_means(folder: Path) -> None:
    row = Transformer(folder).embed(["where is the login?"])[0]
    assert np.allclose(row, scaled(by_the_book([2, 4, 5, 6, 7, 10, 3]).mean(0)), atol=1e-5)


def test_the_first_token_speaks_where_the_model_says_so(folder: Path) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    row = Transformer(folder).embed(["the port"])[0]
    assert np.allclose(row, scaled(by_the_book([2, 6, 8, 3])[0]), atol=1e-5)


def test_a_row_does_not_depend_on_the_texts_beside_it(folder: Path) -> None:
    texts = ["the login " * (1 + n % 9) for n in range(130)]
    many = Transformer(folder).embed(texts)
    assert np.allclose(many, [Transformer(folder).embed([text])[0] for text in texts], atol=1e-5)


def test_what_says_nothing_is_a_row_of_zeros(folder: Path) -> None:
    rows = Transformer(folder).embed(["", "port", " \n"])
    assert np.linalg.norm(rows, axis=1) == pytest.approx([0, 1, 0], abs=1e-5)


def test_no_texts_make_no_rows(folder: Path) -> None:
    assert Transformer(folder).embed([]).shape == (0, WIDTH)


def test_a_text_is_read_up_to_the_length_of_the_model(folder: Path) -> None:
    one, other = Transformer(folder).embed(["port " * 20, "port " * 20 + "login"])
    assert np.allclose(one, other, atol=1e-5)


def test_a_shorter_length_that_the_model_was_trained_for_is_kept(folder: Path) -> None:
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 4}')
    one, other = Transformer(folder).embed(["the port", "the port is login"])
    assert np.allclose(one, other, atol=1e-5)


def test_the_spelling_of_a_special_token_is_plain_text(folder: Path) -> None:
    one, other = Transformer(folder).embed(["the [SEP] port", "the port"])
    row = scaled(by_the_book([2, 6, 1, 1, 1, 8, 3]).mean(0))
    assert np.allclose(one, row, atol=1e-5)
    assert not np.allclose(one, other, atol=1e-2)


def test_half_precision_weights_are_read_too(folder: Path) -> None:
    whole = Transformer(folder).embed(["the port"])
    write(folder / "model.safetensors", weights(np.float16))
    assert np.allclose(Transformer(folder).embed(["the port"]), whole, atol=1e-2)


def test_names_under_a_prefix_are_found(folder: Path) -> None:
    whole = Transformer(folder).embed(["the port"])
    write(folder / "model.safetensors", {f"bert.{name}": tensor for name, tensor in weights().items()})
    assert np.array_equal(Transformer(folder).embed(["the port"]), whole)


def test_a_model_keeps_its_name_until_its_weights_change(folder: Path) -> None:
    before = Transformer(folder).name
    assert Transformer(folder).name == before
    write(folder / "model.safetensors", weights(np.float16))
    assert Transformer(folder).name != before


def test_everybody_who_names_a_folder_shares_one(folder: Path) -> None:
    assert transformer(folder) is transformer(folder / ".." / folder.name)


@pytest.mark.parametrize("character", ["a", " ", "[", "\ud800"])
def test_a_million_of_one_character_take_no_time(folder: Path, character: str) -> None:
    model = Transformer(folder)
    started = time.process_time()
    model.embed([character * 1_000_000])
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ConfigError, match=rf"has no {name}") as failure:
        Transformer(folder)
    assert "`embedder`" in failure.value.remedy


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("model_type", "llama", "only 'bert' is supported"),
        ("hidden_act", "swish", "only 'gelu' is supported"),
        ("position_embedding_type", "rotary", "only 'absolute' is supported"),
        ("hidden_size", "wide", "not an integer above 0"),
        ("num_hidden_layers", None, "not an integer above 0"),
        ("layer_norm_eps", "small", "not a number below 1"),
    ],
)
def test_a_config_that_cannot_be_run_names_the_field(folder: Path, field: str, value: Any, says: str) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, field: value}))
    with pytest.raises(ConfigError, match=rf"`{field}` in .*config\.json .*{says}"):
        Transformer(folder)


@pytest.mark.parametrize("text", ["{", "[]", "\x00"])
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_a_file_that_is_no_json_object_is_named(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    with pytest.raises(ConfigError, match=name):
        Transformer(folder)


@pytest.mark.parametrize(
    "bytes_", [b"", b"\xff" * 8, b"\x02" + b"\0" * 7 + b"[]", b"\x05" + b"\0" * 7 + b"hello"]
)
def test_weights_that_are_none_are_named(folder: Path, bytes_: bytes) -> None:
    (folder / "model.safetensors").write_bytes(bytes_)
    with pytest.raises(ConfigError, match=r"model\.safetensors"):
        Transformer(folder).embed(["port"])


def test_weights_of_another_kind_name_what_they_lack(folder: Path) -> None:
    write(folder / "model.safetensors", {"wte.weight": np.zeros((2, 2), dtype=np.float32)})
    with pytest.raises(ConfigError, match=r"has no tensor embeddings\.word_embeddings\.weight"):
        Transformer(folder).embed(["port"])


@pytest.mark.skipif(not REAL, reason="FOVEAL_MINILM names no folder with all-MiniLM-L6-v2")
def test_the_real_one_gives_the_likenesses_its_makers_published() -> None:
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    rows = Transformer(Path(REAL)).embed(texts)
    likenesses = [rows[0] @ rows[1], rows[0] @ rows[2], rows[1] @ rows[2]]
    assert likenesses == pytest.approx([0.6660, 0.1046, 0.1411], abs=1e-4)
