"""What counting promises: exact where it says so, never low where it does not, and no text too strange."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal.errors import ConfigError
from foveal.pipeline.tokens import vocabularies
from foveal.pipeline.tokens.count import tokenizer, tokenizer_names
from foveal.pipeline.tokens.estimate import calibration
from reference import encoding

OPENAI = ("o200k_base", "cl100k_base")
SOURCE = Path(vocabularies.__file__).read_text(encoding="utf-8")
TEXTS = {
    "prose": "The eye keeps full detail where it looks, and less further out. It can look back at any time.\n"
    * 40,
    "code": SOURCE,
    "JSON": '{"role": "tool", "id": "call_7Fq", "content": [1, 2.5, null, "caf\\u00e9"], "ok": true}\n' * 60,
    "CJK": "人工智能正在改变世界。機械学習モデルは自然言語を理解します。인공지능은 세상을 바꾸고 있습니다.\n"
    * 40,
    "emoji": "🚀 ship it 👩‍👩‍👧‍👦 🇩🇪 👍🏽 ❤️ 1️⃣ " * 80,
    "special tokens": "<|endoftext|><|im_start|>system<|im_end|><|fim_prefix|>" * 20,
    "whitespace": " \t\n\r\n   \u3000\u00a0\v " * 60,
    "nothing": "",
}


def strange_texts(amount: int, seed: int = 20) -> list[str]:
    """Random strings from every plane, with runs that vocabularies like to merge."""
    source = random.Random(seed)
    pieces = [
        "    ",
        "\n\n",
        "----",
        "don't",
        " the",
        "0123",
        "é",
        "é",
        "好",
        "ाि",
        "🏽",
        "\u200d",
        "\x00",
        "/\n/",
    ]

    def character() -> str:
        code = source.choice((128, 0x250, 0x3000, 0xD800, 0x110000))
        found = chr(source.randrange(code))
        return "\ufffd" if "\ud800" <= found <= "\udfff" else found

    def piece() -> str:
        return source.choice(pieces) if source.random() < 0.4 else character()

    return ["".join(piece() for _ in range(source.randint(1, 80))) for _ in range(amount)]


@pytest.mark.parametrize("name", OPENAI)
@pytest.mark.parametrize("kind", TEXTS)
def test_openai_counts_equal_tiktoken(name: str, kind: str) -> None:
    text = TEXTS[kind]
    assert tokenizer(name).count(text) == len(encoding(name).encode_ordinary(text))


@pytest.mark.parametrize("name", OPENAI)
def test_a_thousand_random_strings_equal_tiktoken(name: str) -> None:
    count, reference = tokenizer(name).count, encoding(name)
    wrong = [t for t in strange_texts(1000) if count(t) != len(reference.encode_ordinary(t))]
    assert wrong == []


@pytest.mark.parametrize("name", OPENAI)
def test_the_fallback_counts_the_same(name: str) -> None:
    first, second = vocabularies._rs_bpe(name), vocabularies._splintr(name)
    if first is None:
        pytest.skip("rs_bpe has no build for this Python")
    assert [t for t in (*TEXTS.values(), *strange_texts(200)) if first(t) != second(t)] == []


@pytest.mark.parametrize("name", ["o200k_base", "llama3", "mistral_v3", "deepseek_v3", "qwen3", "gemma3"])
def test_large_texts_cost_the_sum_of_their_pieces(name: str) -> None:
    encode = import_module("splintr").Tokenizer.from_pretrained(name).encode_ordinary
    text = "\n".join((SOURCE, TEXTS["CJK"], TEXTS["JSON"], TEXTS["prose"])) * 20
    assert len(text) > 2 * vocabularies.LARGE
    assert tokenizer(name).count(text) == len(encode(text))


@pytest.mark.parametrize("run", ["a", " ", "\n", "\n/", ".", "好", "😀", "ab1"])
def test_an_unbroken_run_costs_at_most_two_tokens_more_for_each_cut(run: str) -> None:
    text = run * (200_000 // len(run))
    whole, cut = tokenizer("o200k_base").count(text), vocabularies._splintr("o200k_base")(text)
    assert whole <= cut <= whole + 2 * (len(text) // vocabularies.LARGE)


@given(st.text(alphabet="ab\n /.", max_size=200))
def test_pieces_lose_nothing(text: str) -> None:
    long = text * (3 * vocabularies.LARGE // max(1, len(text)))
    found = list(vocabularies.pieces(long))
    assert "".join(found) == long
    assert all(len(piece) <= vocabularies.LARGE for piece in found)


def test_the_fallback_forgets_large_texts() -> None:
    kept: list[str] = []

    class Vocabulary:
        family = "BPE"

        def encode_ordinary(self, text: str) -> list[int]:
            kept.append(text)
            return [0]

        def clear_cache(self) -> None:
            kept.clear()

    count = vocabularies.counter(Vocabulary())
    count("short")
    assert kept == ["short"]
    count("a" * (vocabularies.LARGE + 1))
    assert kept == []


@pytest.mark.parametrize("name", tokenizer_names())
def test_every_name_counts_every_kind_of_text(name: str) -> None:
    found = tokenizer(name)
    assert found.name == name
    assert found.count("") == 0
    assert all(found.count(text) >= 0 for text in TEXTS.values())
    assert found.error == 0.0 if found.exact else found.error > 0


@pytest.mark.parametrize("name", ["o200k_base", "claude", "gemini", "words"])
@given(text=st.text(st.characters(exclude_categories=()), max_size=300))
@settings(max_examples=150, deadline=None)
def test_no_text_raises(name: str, text: str) -> None:
    assert tokenizer(name).count(text) >= 0


def test_a_lone_surrogate_counts_as_replacement_characters() -> None:
    assert tokenizer("o200k_base").count("\ud800") == tokenizer("o200k_base").count("\ufffd\ufffd\ufffd")


def test_a_panicking_tokenizer_counts_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panics(text: str) -> int:
        raise PanicException

    monkeypatch.setattr(vocabularies, "_loaded", lambda _: panics)
    assert vocabularies.count("o200k_base", "héllo") == 6


def test_an_interrupt_is_not_mistaken_for_a_panic(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(text: str) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(vocabularies, "_loaded", lambda _: interrupted)
    with pytest.raises(KeyboardInterrupt):
        vocabularies.count("o200k_base", "text")


def test_threads_share_one_vocabulary() -> None:
    vocabularies._load.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        counts = set(pool.map(lambda _: tokenizer("deepseek_v3").count("look back at any time"), range(16)))
    assert len(counts) == 1
    assert vocabularies._load.cache_info().misses == 1


def test_naming_a_tokenizer_loads_no_vocabulary() -> None:
    vocabularies._load.cache_clear()
    tokenizer("kimi_k2")
    assert vocabularies._load.cache_info().misses == 0


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="there is no tokenizer 'gpt2'") as refusal:
        tokenizer("gpt2")
    assert "`o200k_base`" in refusal.value.remedy


def test_any_callable_is_a_tokenizer() -> None:
    mine = tokenizer(len)
    assert (mine.name, mine.exact, mine.count("four")) == ("custom", True, 4)


def test_the_named_rules_of_thumb() -> None:
    text = "one two three four"
    assert [tokenizer(name).count(text) for name in ("words", "chars", "density")] == [6, 5, 5]


# What Claude's counting endpoint said of these texts, without the message around them.
CLAUDE = [("claude", "hello, world", 3), ("claude-new", "hello, world", 4), ("claude", "😂" * 10, 21)]


@pytest.mark.parametrize(("name", "text", "billed"), CLAUDE)
def test_claude_is_never_counted_low(name: str, text: str, billed: int) -> None:
    assert tokenizer(name).count(text) >= billed


@pytest.mark.parametrize("kind", ["prose", "code", "JSON", "CJK", "emoji"])
def test_newer_claude_costs_more_than_older_and_both_more_than_gpt(kind: str) -> None:
    counts = [tokenizer(name).count(TEXTS[kind]) for name in ("o200k_base", "claude", "claude-new")]
    assert counts[0] * 1.3 < counts[1] < counts[2]


def test_without_bills_counts_stand() -> None:
    assert calibration([]) == 1.0
    assert calibration([(0, 0), (100, 0)]) == 1.0


def test_one_cheap_bill_is_not_trusted() -> None:
    assert calibration([(1000, 700)]) == 1.0
    assert calibration([(1000, 700)] * 3) < 1.0


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)), min_size=1, max_size=40))
def test_calibration_never_undercuts_a_recent_bill(bills: list[tuple[int, int]]) -> None:
    factor = calibration(bills)
    assert all(counted * factor >= billed for counted, billed in bills[-20:])
