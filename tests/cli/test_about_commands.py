"""What the commands about foveal itself promise."""

from __future__ import annotations

from commands import Desk


def test_models_show_limits_prices_and_tokenizer(desk: Desk) -> None:
    (card,) = [card for card in desk.foveal("models", "gpt-5", "--json").json if card["id"] == "gpt-5"]
    assert (card["context"], card["tokenizer"], card["exact"]) == (400_000, "o200k_base", True)
    assert card["prices"]["input"] > card["prices"]["cache_read"] > 0


def test_models_fit_a_pattern_and_80_columns(desk: Desk) -> None:
    out = desk.foveal("models", "claude-*-4-5").out
    assert "claude-sonnet-4-5" in out
    assert "gpt" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_model_of_the_users_is_listed(desk: Desk) -> None:
    desk.write("models.toml", '[models."house-model"]\ncontext = 9000\ntokenizer = "qwen3"\ninput = 0.5')
    desk.write("foveal.toml", 'catalogue = "models.toml"')
    (card,) = desk.foveal("models", "house-model", "--json").json
    assert (card["context"], card["prices"]["input"]) == (9000, 0.5)


def test_config_prints_every_value_and_its_origin(desk: Desk) -> None:
    file = desk.folder / desk.write("foveal.toml", "budget = 8000")
    found = desk.foveal("--session", "review", "config", "--json").json
    assert found["session"] == {"value": "review", "origin": "option"}
    assert found["store"] == {"value": str(desk.store), "origin": "FOVEAL_STORE"}
    assert found["budget"] == {"value": 8000, "origin": str(file)}
    assert found["tenant"] == {"value": "default", "origin": "default"}


def test_a_setting_that_makes_no_sense_stops_the_work_and_is_named(desk: Desk) -> None:
    desk.write("foveal.toml", "bugdet = 8000")
    done = desk.foveal("sessions")
    assert done.code == 1
    assert "foveal.toml: unknown setting `bugdet` (= 8000)\n  try: did you mean `budget`?" in done.err


def test_doctor_finds_nothing_where_all_is_well(desk: Desk) -> None:
    done = desk.foveal("doctor")
    assert done.code == 0, done.out
    assert all(line.startswith("ok ") for line in done.out.splitlines())


def test_doctor_says_what_to_do_about_each_problem(desk: Desk) -> None:
    desk.store.write_text("this is somebody's diary")
    done = desk.foveal("doctor")
    assert done.code == 1
    problem, remedy = [line for line in done.out.splitlines() if not line.startswith("ok ")]
    assert problem.startswith("problem  ")
    assert "is not a Foveal store" in problem
    assert remedy.strip().startswith("try: ")
