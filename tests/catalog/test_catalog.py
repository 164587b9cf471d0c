"""What the catalogue promises: the right card for every spelling, honest ignorance, the user's last word."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.catalog import find, models, prices
from foveal.catalog.cards import UNKNOWN_CONTEXT
from foveal.errors import ConfigError, InputError
from foveal.pipeline.tokens.count import tokenizer_names
from foveal.pipeline.tokens.images import RULES

AUTUMN = datetime(2026, 11, 1, tzinfo=UTC)


def user_file(folder: Path, text: str) -> Path:
    file = folder / "models.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("spelling", "model"),
    [
        ("gpt-5", "gpt-5"),
        ("GPT-5", "gpt-5"),
        ("openai/gpt-5", "gpt-5"),
        ("azure/gpt-5-mini", "gpt-5-mini"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("ft:gpt-4o-mini-2024-07-18:acme::9xYz", "gpt-4o-mini"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-4.1-mini", "gpt-4.1-mini"),
        ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5[1m]"),
        ("claude-opus-5[1m]", "claude-opus-5"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet"),
        ("claude-sonnet-3.7", "claude-3-7-sonnet"),
        ("claude-4-5-sonnet", "claude-sonnet-4-5"),
        ("Claude 4.5 Sonnet", "claude-sonnet-4-5"),
        ("anthropic/claude-4.5-haiku-20251001", "claude-haiku-4-5"),
        ("claude-4-sonnet-20250514", "claude-sonnet-4"),
        ("claude-4-5-sonnet[1m]", "claude-sonnet-4-5[1m]"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gemini-2.5-flash-lite-preview-09-2025", "gemini-2.5-flash-lite"),
        ("deepseek/deepseek-chat:free", "deepseek-chat"),
        ("deepseek/deepseek-v3:free", "deepseek-v3"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3"),
        ("openrouter/moonshotai/kimi-k2.5", "kimi-k2.5"),
        ("zai-org/GLM-4.5-Air", "glm-4.5"),
    ],
)
def test_a_model_is_known_by_its_many_names(spelling: str, model: str) -> None:
    card = find(spelling)
    assert (card.id, card.known) == (model, True)


def test_claude_sonnet_4_5_has_200_000_tokens_unless_the_million_is_asked_for() -> None:
    assert find("claude-sonnet-4-5").context == 200_000
    assert find("claude-sonnet-4-5[1m]").context == 1_000_000


@pytest.mark.parametrize(
    ("model", "tokenizer"),
    [
        ("gpt-5", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo-2024-04-09", "cl100k_base"),
        ("gpt-4.1", "o200k_base"),
        ("gpt-oss-120b", "gpt_oss"),
        ("claude-3-haiku-20240307", "claude"),
        ("claude-sonnet-4-20250514", "claude"),
        ("claude-opus-4-6", "claude"),
        ("claude-4-5-sonnet", "claude"),
        ("claude-opus-4-7", "claude-new"),
        ("claude-sonnet-5", "claude-new"),
        ("claude-of-the-future", "claude-new"),
        ("gemini-2.5-pro", "gemini"),
        ("deepseek-chat", "deepseek_v3"),
        ("mistral-small-latest", "mistral_v3"),
        ("qwen3-max", "qwen3"),
        ("qwen3.8-max", "other"),
        ("grok-4", "other"),
        ("llama-3.1-8b-instruct", "llama3"),
        ("llama-4-scout", "other"),
    ],
)
def test_a_model_is_counted_with_its_own_vocabulary_or_an_estimate(model: str, tokenizer: str) -> None:
    assert find(model).tokenizer == tokenizer


def test_a_name_in_another_order_of_words_names_no_other_version() -> None:
    assert [
        find(name).known for name in ("claude-4-99-sonnet", "claude-4-5-sonnets", "claude-sonnet-3-9")
    ] == [False] * 3


def test_another_version_number_is_another_model() -> None:
    card = find("gpt-5.99")
    assert (card.known, card.context, card.provider, card.tokenizer) == (
        False,
        100_000,
        "openai",
        "o200k_base",
    )


def test_an_unknown_model_gets_a_small_window_and_says_so() -> None:
    card = find("nobody-has-heard-of-it")
    assert (card.id, card.known, card.context) == ("nobody-has-heard-of-it", False, UNKNOWN_CONTEXT)
    assert (card.max_output, card.tokenizer, card.sources) == (None, "o200k_base", ())
    assert prices("nobody-has-heard-of-it") is None


@given(st.text(max_size=40).filter(str.isprintable))
def test_any_printable_name_gets_a_card(model: str) -> None:
    assert find(model).context > 0


@pytest.mark.parametrize("model", [":a" * 20_000 + "!", "a" * 257])
def test_a_name_longer_than_any_model_has_is_refused(model: str) -> None:
    for look_up in (find, prices):
        with pytest.raises(InputError, match=r"`model` has [\d,]+ characters, more than 256") as failure:
            look_up(model)
        assert failure.value.field == "model"
    assert find("a" * 256).known is False


def test_a_model_only_the_package_lists_has_its_window_and_an_estimate() -> None:
    card = find("minimax/minimax-m2")
    assert (card.context, card.known, card.tokenizer) == (204_800, True, "other")
    assert card.sources == ("genai-prices",)


def test_every_card_is_complete() -> None:
    cards = models()
    assert len(cards) > 100
    for card in cards:
        assert card.known, card
        assert card.provider, card
        assert card.tokenizer in tokenizer_names(), card
        assert card.images in ("", *RULES), card
        assert card.max_output is None or 0 < card.max_output < card.context, card
        assert card.sources == ("models.toml",), card


def test_cards_come_by_provider_and_name() -> None:
    cards = models()
    assert [(c.provider, c.id) for c in cards] == sorted((c.provider, c.id) for c in cards)


def test_prices_are_for_a_million_tokens() -> None:
    found = prices("claude-sonnet-4-5-20250929", at=AUTUMN)
    assert found is not None
    assert (found.input, found.output, found.cache_read, found.cache_write) == (3.0, 15.0, 0.3, 3.75)


def test_an_unlisted_price_is_unknown_not_free() -> None:
    found = prices("gpt-4", at=AUTUMN)
    assert found is not None
    assert (found.cache_read, found.cache_write) == (None, None)


def test_a_host_that_names_itself_is_asked_for_its_own_price() -> None:
    assert prices("groq/llama-3.3-70b-versatile", at=AUTUMN) != prices("llama-3.3-70b-versatile", at=AUTUMN)


def test_neither_limits_nor_tokenizers_load_a_web_client() -> None:
    program = "import sys; from foveal.catalog import find; find('gpt-5'); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    tops = {name.partition(".")[0] for name in loaded.split()}
    assert not tops & {"genai_prices", "httpx", "httpx2", "pydantic", "requests", "urllib3"}


def test_the_users_file_adds_a_model(tmp_path: Path) -> None:
    extra = user_file(tmp_path, '[models."house-7b"]\ncontext = 9000\ntokenizer = "llama3"\ninput = 0\n')
    card = find("local/house-7b", extra=extra)
    assert (card.context, card.tokenizer, card.known, card.sources) == (9000, "llama3", True, (str(extra),))
    assert "house-7b" in [c.id for c in models(extra=extra)]
    found = prices("house-7b", extra=extra)
    assert found is not None
    assert (found.input, found.output) == (0.0, None)


def test_the_users_file_wins_key_by_key(tmp_path: Path) -> None:
    extra = user_file(tmp_path, '[models."claude-sonnet-4.5"]\ncontext = 1_000_000\ninput = 6\n')
    card, found = find("claude-sonnet-4-5", extra=extra), prices("claude-sonnet-4-5", extra=extra, at=AUTUMN)
    assert (card.context, card.max_output, card.sources) == (1_000_000, 64_000, (str(extra), "models.toml"))
    assert found is not None
    assert (found.input, found.output) == (6.0, 15.0)


def test_the_users_families_come_first(tmp_path: Path) -> None:
    extra = user_file(tmp_path, '[families.mine]\nmatch = ["gpt-*"]\ntokenizer = "words"\n')
    assert find("gpt-5", extra=extra).tokenizer == "words"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("models = 3", "models = 3 is invalid"),
        ("[model.x]", "unknown section `model`"),
        ("[models]\nx = 1", 'models."x" = 1 is invalid'),
        ("[models.x]\nwindow = 5", 'models."x" has no key `window` (= 5)'),
        ("[models.x]\ncontext = 0", 'models."x".context = 0 is invalid'),
        ("[models.x]\ncontext = true", 'models."x".context = True is invalid'),
        ('[models.x]\ncontext = "9k"', "models.\"x\".context = '9k' is invalid"),
        ("[models.x]\ninput = -1", 'models."x".input = -1 is invalid'),
        ("[models.x]\ninput = nan", 'models."x".input = nan is invalid'),
        ("[models.x]\ntokenizer = 5", 'models."x".tokenizer = 5 is invalid'),
        ("[models.x]\nmatch = ['a']", "models.\"x\" has no key `match` (= ['a'])"),
        ("[families.x]\nmatch = []", 'families."x".match = [] is invalid'),
        ("[families.x]\nprovider = 'a'", 'families."x" has no `match`'),
        ("[models.x", "is not TOML"),
    ],
)
def test_an_invalid_file_is_refused_with_file_key_and_value(
    tmp_path: Path, text: str, complaint: str
) -> None:
    extra = user_file(tmp_path, text)
    with pytest.raises(ConfigError) as refusal:
        find("gpt-5", extra=extra)
    assert refusal.value.what.startswith(str(extra))
    assert complaint in refusal.value.what
    assert refusal.value.remedy


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        find("gpt-5", extra=tmp_path / "missing.toml")
