"""Settings: which source wins, where a value came from, and clear errors for invalid values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal import ConfigError
from foveal.config import (
    KEYS,
    Loaded,
    Settings,
    default_store,
    embedder_key,
    load,
    secret,
    shown,
    token_count,
    unknown_variables,
    user_file,
)
from foveal.errors import masked
from foveal.presets.numbers import listed


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))


def settle(cwd: Path, environment: dict[str, str] | None = None, **options: str | int | None) -> Loaded:
    return load(options, environment or {}, cwd)


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_without_anything_said_the_defaults_hold(tmp_path: Path) -> None:
    loaded = settle(tmp_path)
    assert loaded.settings == Settings(store=str(default_store()))
    assert set(loaded.origins.values()) == {"default"}


def test_an_option_beats_the_environment_beats_the_project_beats_the_user(tmp_path: Path) -> None:
    user = write(user_file(), "session='user'\nmodel='user'\npreset='user'\ncounter='user'")
    project = write(tmp_path / "foveal.toml", "session='project'\nmodel='project'\npreset='project'")
    loaded = settle(tmp_path, {"FOVEAL_SESSION": "variable", "FOVEAL_MODEL": "variable"}, session="option")
    found = loaded.settings
    assert [found.session, found.model, found.preset, found.counter] == [
        "option",
        "variable",
        "project",
        "user",
    ]
    assert [loaded.origins[key] for key in ("session", "model", "preset", "counter")] == [
        "option", "FOVEAL_MODEL", str(project), str(user),
    ]  # fmt: skip


def test_the_project_file_is_searched_upward(tmp_path: Path) -> None:
    write(tmp_path / "foveal.toml", "session='above'")
    (tmp_path / "one" / "two").mkdir(parents=True)
    assert settle(tmp_path / "one" / "two").settings.session == "above"


def test_a_project_may_say_it_in_its_pyproject(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.foveal]\nbudget = 8000")
    assert settle(tmp_path).settings.budget == 8000


def test_a_pyproject_that_says_nothing_of_foveal_is_passed_by(tmp_path: Path) -> None:
    write(tmp_path / "foveal.toml", "session='above'")
    write(tmp_path / "inner" / "pyproject.toml", "this is not = = TOML")
    assert settle(tmp_path / "inner").settings.session == "above"


def test_paths_in_a_file_are_seen_from_that_file(tmp_path: Path) -> None:
    write(tmp_path / "foveal.toml", "store='data/agents.db'\ncatalogue='~/models.toml'")
    found = settle(tmp_path).settings
    assert (found.store, found.catalogue) == (str(tmp_path / "data" / "agents.db"), "~/models.toml")


@pytest.mark.parametrize("store", [":memory:", "sqlite:///tmp/x.db", "~/x.db"])
def test_addresses_in_a_file_stay_as_they_are(tmp_path: Path, store: str) -> None:
    write(tmp_path / "foveal.toml", f"store='{store}'")
    assert settle(tmp_path).settings.store == store


def test_an_empty_variable_says_nothing(tmp_path: Path) -> None:
    assert settle(tmp_path, {"FOVEAL_SESSION": ""}).origins["session"] == "default"


@pytest.mark.parametrize("text", ["8000", "8_000", "8,000"])
def test_a_budget_may_be_written_with_separators(tmp_path: Path, text: str) -> None:
    assert settle(tmp_path, {"FOVEAL_BUDGET": text}).settings.budget == 8000


def test_a_budget_may_be_written_in_thousands_and_millions(tmp_path: Path) -> None:
    write(tmp_path / "foveal.toml", 'budget = "1.5m"')
    assert settle(tmp_path).settings.budget == 1_500_000
    assert settle(tmp_path, {"FOVEAL_BUDGET": "8k"}).settings.budget == 8_000


@given(st.integers(min_value=0, max_value=10**15))
def test_every_spelling_of_a_number_of_tokens_is_the_same_number(number: int) -> None:
    thousands, rest = divmod(number, 1000)
    for text in (
        f"{number}",
        f"{number:_}",
        f"{number:,}",
        f"{thousands}.{rest:03}k",
        f" {thousands:,}.{rest:03}K",
    ):
        assert token_count(text) == number, text


@pytest.mark.parametrize(
    "text", ["", "k", "8x", "-8", "1,5k", "8__000", "0.5", "1.0001k", "8 000", "٨", "1e3"]
)
def test_what_is_not_a_number_of_tokens_is_none(text: str) -> None:
    assert token_count(text) is None


def test_an_unknown_key_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    file = write(tmp_path / "foveal.toml", "bugdet = 8000")
    with pytest.raises(ConfigError) as failure:
        settle(tmp_path)
    assert failure.value.what == f"{file}: unknown setting `bugdet` (= 8000)"
    assert failure.value.remedy == "did you mean `budget`?"
    assert failure.value.field == "bugdet"


def test_an_unknown_key_like_no_other_is_refused_with_all_of_them(tmp_path: Path) -> None:
    write(tmp_path / "foveal.toml", "zzz = 1")
    with pytest.raises(ConfigError) as failure:
        settle(tmp_path)
    assert all(f"`{key}`" in failure.value.remedy for key in KEYS)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("budget = 0", "`budget` is 0"),
        ("budget = true", "`budget` is True"),
        ("budget = 'many'", "`budget` is 'many'"),
        ("model = 5", "`model` is 5"),
        ("session = ''", "`session` is ''"),
        ("durability = 'paranoid'", "`durability` is 'paranoid'"),
        ("summaries = 'by hand'", "`summaries` is 'by hand'"),
        ("embedder = 5", "`embedder` is 5"),
    ],
)
def test_an_invalid_value_is_refused_with_key_value_and_file(tmp_path: Path, text: str, what: str) -> None:
    file = write(tmp_path / "foveal.toml", text)
    with pytest.raises(ConfigError) as failure:
        settle(tmp_path)
    assert failure.value.what == f"{file}: {what}"
    assert failure.value.field == text.partition(" ")[0]


def test_an_invalid_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="FOVEAL_BUDGET: `budget` is 'ten'"):
        settle(tmp_path, {"FOVEAL_BUDGET": "ten"})


def test_a_variable_that_looks_like_ours_and_sets_nothing_is_reported() -> None:
    (near, far) = unknown_variables(
        {"FOVEAL_MODLE": "gpt-5", "FOVEAL_ZZZ": "1", "FOVEAL_MODEL": "gpt-5", "HOME": "/"}
    )
    assert near == "the variable FOVEAL_MODLE sets nothing; did you mean `FOVEAL_MODEL`?"
    assert far.startswith("the variable FOVEAL_ZZZ sets nothing; use one of `FOVEAL_STORE`")


def test_a_file_that_is_not_toml_is_refused_with_the_place(tmp_path: Path) -> None:
    write(tmp_path / "foveal.toml", "session = = 1")
    with pytest.raises(ConfigError, match=r"foveal\.toml is not TOML: .*line 1"):
        settle(tmp_path)


def test_numbers_of_presets_are_merged_key_by_key_and_the_project_wins(tmp_path: Path) -> None:
    user = write(user_file(), "[presets.reploid]\nkeep = 4\n[presets.reploid.roles]\nuser = 1\ntool = 2")
    project = write(
        tmp_path / "foveal.toml", "[presets.reploid.roles]\ntool = 3\n[presets.omar]\nreserve = 5"
    )
    loaded = settle(tmp_path)
    assert loaded.numbers == {"reploid": {"keep": 4, "roles": {"user": 1, "tool": 3}}, "omar": {"reserve": 5}}
    assert [origin for origin, _ in loaded.layers] == [str(user), str(project)]
    assert loaded.settings == Settings(store=str(default_store()))


def test_a_pyproject_may_set_numbers(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.foveal.presets.omar]\nreserve = 5")
    assert settle(tmp_path).numbers == {"omar": {"reserve": 5}}


def test_the_environment_does_not_reach_into_presets(tmp_path: Path) -> None:
    environment = {"FOVEAL_PRESETS": "omar", "FOVEAL_PRESETS_OMAR_RESERVE": "5"}
    assert settle(tmp_path, environment).numbers == {}
    assert len(unknown_variables(environment)) == 2


@pytest.mark.parametrize(
    ("text", "what"), [("presets = 5", "`presets` is 5"), ("presets.omar = 5", "`presets.omar` is 5")]
)
def test_presets_that_are_no_tables_are_refused_with_the_file(tmp_path: Path, text: str, what: str) -> None:
    file = write(tmp_path / "foveal.toml", text)
    with pytest.raises(ConfigError) as failure:
        settle(tmp_path)
    assert failure.value.what == f"{file}: {what}"


def test_the_numbers_of_the_reference_page_are_accepted_and_differ_from_the_defaults(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    example = next(block for block in page.split("```toml\n") if "[presets." in block).partition("```")[0]
    file = write(tmp_path / "foveal.toml", example)
    loaded = settle(tmp_path)
    assert len(loaded.numbers) > 2
    for name in loaded.numbers:
        usual = {number.key: number.value for number in listed(name, ())}
        changed = [number for number in listed(name, loaded.layers) if number.origin == str(file)]
        assert changed
        assert all(usual.get(number.key) != number.value for number in changed)


@pytest.mark.parametrize(
    "key", ["sk-proj-0451", "gsk_abcdef", "AIzaSyD", "d41d8cd98f00b204", "A1B2C3D4E5F6G7H8", "two words"]
)
def test_a_key_in_place_of_its_variables_name_is_refused_and_not_shown(tmp_path: Path, key: str) -> None:
    file = write(tmp_path / "foveal.toml", f"summary_key = '{key}'")
    with pytest.raises(
        ConfigError, match="`summary_key` is not the name of an environment variable"
    ) as failure:
        settle(tmp_path)
    assert failure.value.what.startswith(str(file))
    assert key not in str(failure.value)


def test_a_key_under_a_misspelt_setting_is_not_shown_either(tmp_path: Path) -> None:
    write(tmp_path / "foveal.toml", "sumary_key = 'sk-proj-0451'")
    with pytest.raises(
        ConfigError, match="unknown setting `sumary_key`\n  try: did you mean `summary_key`"
    ) as failure:
        settle(tmp_path)
    assert "0451" not in str(failure.value)


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "_KEY", "KEY2", ""])
def test_the_name_of_a_variable_is_taken(tmp_path: Path, name: str) -> None:
    write(tmp_path / "foveal.toml", f"summary_key = '{name}'")
    assert settle(tmp_path).settings.summary_key == name


@pytest.mark.parametrize("setting", ["summary_url", "embedder"])
@pytest.mark.parametrize(
    "address", ["ftp://a.io#m", "https://me:hunter2@a.io/v1#m", "https://#m", "http://a b#m"]
)
def test_an_address_that_cannot_be_used_is_refused_and_not_shown(
    tmp_path: Path, setting: str, address: str
) -> None:
    write(tmp_path / "foveal.toml", f"{setting} = '{address}'")
    with pytest.raises(ConfigError, match=f"`{setting}` is not an address that can be used") as failure:
        settle(tmp_path)
    assert address not in str(failure.value)


def test_an_address_of_an_embedder_names_its_model(tmp_path: Path) -> None:
    write(tmp_path / "foveal.toml", "embedder = 'https://a.io/v1'")
    with pytest.raises(ConfigError, match=r"`https://api\.openai\.com/v1#text-embedding-3-small`"):
        settle(tmp_path)


@pytest.mark.parametrize("embedder", ["", "none", "~/minilm", "https://a.io/v1#small"])
def test_an_embedder_that_is_no_path_of_the_file_stays_as_it_is(tmp_path: Path, embedder: str) -> None:
    write(tmp_path / "foveal.toml", f"embedder = '{embedder}'")
    assert settle(tmp_path).settings.embedder == embedder


def test_the_folder_of_an_embedder_is_seen_from_its_file(tmp_path: Path) -> None:
    write(tmp_path / "foveal.toml", "embedder = 'models/minilm'")
    assert settle(tmp_path).settings.embedder == str(tmp_path / "models" / "minilm")


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("", "summary_url"),
        ("summary_url='http://a.io/v1'", "summary_model"),
        ("summary_model='m'", "summary_url"),
    ],
)
def test_summaries_by_a_model_need_its_address_and_its_name(tmp_path: Path, text: str, missing: str) -> None:
    file = write(tmp_path / "foveal.toml", f"summaries = 'llm'\n{text}")
    with pytest.raises(ConfigError) as failure:
        settle(tmp_path)
    assert failure.value.what == f"{file}: `summaries` is 'llm', and `{missing}` is empty"


def test_a_model_may_be_named_before_it_is_used(tmp_path: Path) -> None:
    write(tmp_path / "foveal.toml", "summary_url = 'http://localhost:11434/v1'\nsummary_model = 'small'")
    assert settle(tmp_path).settings.summaries == "extractive"


def test_a_key_is_read_from_its_variable_when_it_is_needed() -> None:
    assert secret("OPENAI_API_KEY", {"OPENAI_API_KEY": "sk-1\n"}) == "sk-1"
    assert secret("", {}) == ""


def test_a_variable_for_a_key_that_is_not_set_is_named() -> None:
    with pytest.raises(ConfigError, match="the variable OPENAI_API_KEY, named by `summary_key`, is not set"):
        secret("OPENAI_API_KEY", {"OPENAI_API_KEY": " "})


@pytest.mark.parametrize(
    ("embedder", "summary_url", "sent"),
    [
        ("https://a.io/v1#m", "https://a.io/v2", True),
        ("https://a.io/v1#m", "https://b.io/v1", False),
        ("http://a.io/v1#m", "https://a.io/v1", False),
        ("https://a.io:8443/v1#m", "https://a.io/v1", False),
        ("", "", False),
    ],
)
def test_a_key_goes_to_the_embedder_only_if_it_is_where_the_summaries_come_from(
    embedder: str, summary_url: str, sent: bool
) -> None:
    settings = Settings(embedder=embedder, summary_url=summary_url, summary_key="A_KEY")
    assert embedder_key(settings) == ("A_KEY" if sent else "")


def test_there_are_at_most_fifteen_settings() -> None:
    assert len(KEYS) <= 15


@pytest.mark.parametrize(
    "address",
    [
        "https://me:hunter2@api.io/v1",
        "https://api.io/v1?key=hunter2",
        "https://api.io/v1?v=1&api_key=hunter2#hunter2",
        "https://api.io/v1#hunter2",
        "https://api.io/v1?hunter2",
        "https://me%3Ahunter2%40api.io/v1",
        "https://api.io/v1%3Fkey%3Dhunter2",
        "https://me:hun/ter2@api.io/v1",
        "https://me:hun?ter2hunter2@api.io/v1",
        "https://api.io/v1?key=a@hunter2",
        "postgresql://me:hunter2@db/foveal?password=hunter2&sslmode=require",
        "postgres://me@db/foveal?password=a%26hunter2",
    ],
)
def test_an_address_is_shown_without_its_secrets(address: str) -> None:
    assert "hunter2" not in masked(address)
    assert "hun/ter2" not in masked(address)
    assert masked(address).startswith(address.partition("://")[0] + "://")
    for key in ("summary_url", "store"):
        assert "hunter2" not in str(shown(replace(Settings(), **{key: address})))  # type: ignore[arg-type]


def test_an_unknown_setting_shows_no_secret_of_an_address(tmp_path: Path) -> None:
    write(tmp_path / "foveal.toml", "summary_uri = 'https://me:hunter2@api.io/v1'")
    with pytest.raises(ConfigError) as failure:
        settle(tmp_path)
    assert "hunter2" not in str(failure.value)
