"""What the commands about foveal itself promise."""

from __future__ import annotations

import pytest

from commands import CommandLine
from foveal.testing.model_server import ModelServer, Reply


def test_models_show_limits_prices_and_tokenizer(shell: CommandLine) -> None:
    (card,) = [card for card in shell.foveal("models", "gpt-5", "--json").json if card["id"] == "gpt-5"]
    assert (card["context"], card["tokenizer"], card["exact"]) == (400_000, "o200k_base", True)
    assert card["prices"]["input"] > card["prices"]["cache_read"] > 0


def test_models_fit_a_pattern_and_80_columns(shell: CommandLine) -> None:
    out = shell.foveal("models", "claude-*-4-5").out
    assert "claude-sonnet-4-5" in out
    assert "gpt" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_what_doctor_and_models_print_fits_80_columns(shell: CommandLine) -> None:
    shell.fill({"role": "user", "content": "hello"})
    shell.write("foveal.toml", 'embedder = "nowhere"\ncounter = "o200k_base"\npreset = "omar"')
    for command in ("doctor", "models"):
        done = shell.foveal(command)
        lines = [*done.out.splitlines(), *done.err.splitlines()]
        assert [line for line in lines if len(line) > 80 and str(shell.folder) not in line] == []


def test_a_model_of_the_users_is_listed(shell: CommandLine) -> None:
    shell.write("models.toml", '[models."house-model"]\ncontext = 9000\ntokenizer = "qwen3"\ninput = 0.5')
    shell.write("foveal.toml", 'catalogue = "models.toml"')
    (card,) = shell.foveal("models", "house-model", "--json").json
    assert (card["context"], card["prices"]["input"]) == (9000, 0.5)


def test_config_prints_every_value_and_its_origin(shell: CommandLine) -> None:
    file = shell.folder / shell.write("foveal.toml", "budget = 8000")
    found = shell.foveal("--session", "review", "config", "--json").json
    assert found["session"] == {"value": "review", "origin": "option"}
    assert found["store"] == {"value": str(shell.store), "origin": "FOVEAL_STORE"}
    assert found["budget"] == {"value": 8000, "origin": str(file)}
    assert found["tenant"] == {"value": "default", "origin": "default"}


def test_config_prints_the_name_of_a_keys_variable_and_never_the_key(shell: CommandLine) -> None:
    shell.write("foveal.toml", "summary_key = 'SOME_KEY'\nsummary_url = 'http://localhost/v1'")
    done = shell.foveal("config", SOME_KEY="sk-proj-0451")
    assert "SOME_KEY" in done.out
    assert "0451" not in done.out + done.err


def test_a_setting_that_makes_no_sense_stops_the_work_and_is_named(shell: CommandLine) -> None:
    shell.write("foveal.toml", "bugdet = 8000")
    done = shell.foveal("sessions")
    assert done.code == 1
    assert "foveal.toml: unknown setting `bugdet` (= 8000)\n  try: did you mean `budget`?" in done.err


def test_config_shows_the_numbers_that_are_set_and_where(shell: CommandLine) -> None:
    file = shell.folder / shell.write("foveal.toml", "[presets.omar.base]\ntool_output = 100")
    found = shell.foveal("config", "--json").json
    assert found["presets.omar.base.tool_output"] == {"value": 100, "origin": str(file)}
    assert [key for key in found if key.startswith("presets.")] == ["presets.omar.base.tool_output"]
    assert shell.foveal("config").out.endswith(
        "\n\npresets.omar      value  origin\nbase.tool_output  100    foveal.toml\n"
    )


def test_config_lists_every_number_of_a_preset_in_80_columns(shell: CommandLine) -> None:
    shell.write("foveal.toml", f'[presets.openscroll.key_messages]\ndecisions = "{"so be it|" * 30}"')
    out = shell.foveal("config", "--preset", "openscroll").out
    assert "\nidentity_share                        0.02 " in out
    assert "\nkey_messages.decisions                so be it|so be it|" in out
    assert max(map(len, out.splitlines())) <= 80
    found = shell.foveal("config", "--preset", "openscroll", "--json").json
    assert len(found) == len(out.splitlines()) - 1
    assert found["presets.openscroll.key_messages.decisions"]["value"] == "so be it|" * 30


def test_config_lists_every_number_of_every_preset(shell: CommandLine) -> None:
    found = shell.foveal("config", "--all", "--json").json
    assert found["presets.reploid.roles.system"] == {"value": 30.0, "origin": "default"}
    assert found["presets.omar.group_caps"] == {"value": {}, "origin": "default"}
    assert "store" in found


def test_config_knows_no_numbers_of_a_preset_that_is_not_there(shell: CommandLine) -> None:
    assert shell.foveal("config", "--preset", "nonesuch").code == 1


def test_a_number_in_the_file_changes_what_is_built_and_fitted(shell: CommandLine) -> None:
    talk = [{"role": ("user", "assistant")[n % 2], "content": f"part {n} " * 20} for n in range(21)]
    shell.fill(*talk)
    file = shell.write("talk.json", talk)
    commands = (
        ("build", "--preset", "reploid", "--budget", "600", "--json"),
        ("fit", file, "--preset", "reploid", "--budget", "600", "--json"),
    )
    for command in commands:
        (shell.folder / "foveal.toml").unlink(missing_ok=True)
        assert _chosen(shell, *command) == {0, 1}
        shell.write("foveal.toml", "[presets.reploid]\nrecency = 0\nroles.assistant = 90")
        assert _chosen(shell, *command) == {1}


def _chosen(shell: CommandLine, *command: str) -> set[int]:
    """Whether what was chosen, beside what is always in, was said by the user (0), the assistant (1)."""
    decisions = shell.foveal(*command).json["manifest"]["decisions"]
    return {each["first"] % 2 for each in decisions if each["code"] == "selected"}


def test_an_unknown_number_stops_the_work_and_is_named_with_its_file(shell: CommandLine) -> None:
    file = shell.folder / shell.write("foveal.toml", "[presets.reploid.roles]\nassistent = 90")
    done = shell.foveal("fit", shell.write("talk.json", []))
    assert done.code == 1
    assert done.err == (
        f"foveal: {file}, preset reploid: unknown number `roles.assistent` (= 90)\n"
        "  try: did you mean `roles.assistant`?\n"
    )


def test_doctor_finds_nothing_where_all_is_well(shell: CommandLine) -> None:
    done = shell.foveal("doctor")
    assert done.code == 0, done.out
    assert all(line.startswith(("ok ", "   ")) for line in done.out.splitlines())
    assert "try: " not in done.out


def test_doctor_makes_no_store_and_says_where_it_would_be(shell: CommandLine) -> None:
    assert f"store {shell.store} does not exist yet" in " ".join(shell.foveal("doctor").out.split())
    assert not shell.store.exists()


def test_doctor_names_the_variables_that_set_something(shell: CommandLine) -> None:
    out = shell.foveal("doctor", FOVEAL_MODEL="gpt-5").out
    assert "settings: no file; in the environment: FOVEAL_MODEL, FOVEAL_STORE\n" in out


def test_doctor_reports_a_bad_setting_once(shell: CommandLine) -> None:
    shell.write("foveal.toml", "bugdet = 8000")
    done = shell.foveal("doctor")
    assert done.code == 1
    assert done.out.count("unknown setting `bugdet`") == 1


KEY = "sk-of-the-desk"


def checked(shell: CommandLine, server: ModelServer, **more: str) -> str:
    model = {"FOVEAL_SUMMARIES": "llm", "FOVEAL_SUMMARY_URL": server.url, "FOVEAL_SUMMARY_MODEL": "writer"}
    return shell.foveal("doctor", **model, FOVEAL_SUMMARY_KEY="OFFICE_KEY", OFFICE_KEY=KEY, **more).out


def test_doctor_asks_the_embedder_and_the_model_for_a_word(shell: CommandLine) -> None:
    with ModelServer() as server:
        out = checked(shell, server, FOVEAL_EMBEDDER=f"{server.url}#placer")
    assert "ok       embedder placer at 127.0.0.1 answers\n" in out
    assert "ok       model writer at 127.0.0.1 answers\n" in out
    assert {each.headers["authorization"] for each in server.received} == {f"Bearer {KEY}"}


def test_doctor_sends_a_key_nowhere_but_to_its_own_address(shell: CommandLine) -> None:
    elsewhere = Reply(status=307, headers={"location": "http://127.0.0.1:9/v1"})
    with ModelServer() as server, ModelServer(elsewhere) as other:
        out = checked(shell, server, FOVEAL_EMBEDDER=f"{other.url}#placer")
    assert "authorization" not in other.received[0].headers
    assert "problem  embedder placer: 127.0.0.1 answered 307" in out


def test_doctor_reports_a_model_that_does_not_answer(shell: CommandLine) -> None:
    with ModelServer(Reply(status=401)) as server:
        out = checked(shell, server)
    assert "problem  model writer: 127.0.0.1 answered 401 (api_error)\n         try: check the key" in out
    assert KEY not in out


@pytest.mark.parametrize(
    ("embedder", "reported"), [("", "embedder wordllama-256-lower loads"), ("none", "no ")]
)
def test_doctor_reports_the_embedder(shell: CommandLine, embedder: str, reported: str) -> None:
    assert f"ok       {reported}" in shell.foveal("doctor", FOVEAL_EMBEDDER=embedder).out


def test_doctor_says_what_to_do_about_each_problem(shell: CommandLine) -> None:
    shell.store.write_text("this is somebody's diary")
    done = shell.foveal("doctor")
    assert done.code == 1
    _, _, problem = " ".join(done.out.split()).partition("problem ")
    assert "is not a Foveal store" in problem.partition(" try: ")[0]
    assert " try: restore a copy" in problem


@pytest.mark.parametrize("command", [("config",), ("config", "--json"), ("doctor",)])
def test_what_an_address_may_keep_secret_is_not_printed(shell: CommandLine, command: tuple[str, ...]) -> None:
    shell.write("foveal.toml", "summary_url = 'http://127.0.0.1:1/v1?api_key=hunter2#hunter2'")
    done = shell.foveal(*command, FOVEAL_STORE="postgresql://me:hunter2@db/foveal?password=hunter2")
    assert "hunter2" not in done.out + done.err


@pytest.mark.parametrize("command", ["config", "doctor"])
@pytest.mark.parametrize(
    ("variable", "value", "near"), [("PRESET", "fovel", "`foveal`"), ("COUNTER", "o200k", "`o200k_base`")]
)
def test_an_unknown_preset_or_counter_is_refused_with_the_nearest(
    shell: CommandLine, command: str, variable: str, value: str, near: str
) -> None:
    done = shell.foveal(command, **{f"FOVEAL_{variable}": value})
    assert done.code == 1
    assert f"did you mean {near}" in done.out + done.err
