"""What the commands about the user promise."""

from __future__ import annotations

import pytest

from commands import CommandLine
from foveal import Foveal
from foveal.knowledge.values import Profile

CHAT = [
    {"role": "user", "content": "My name is Maya. We move the billing from Stripe to Adyen."},
    {"role": "assistant", "content": "The client of Adyen is in src/billing/adyen.py."},
    {"role": "user", "content": "Is src/billing/adyen.py the only place that calls Adyen?"},
]


def known(shell: CommandLine) -> Profile:
    with Foveal(shell.store) as fov:
        return fov.profile()


def test_a_memory_is_kept_and_shown_with_its_id_and_who_said_it(shell: CommandLine) -> None:
    assert shell.foveal("remember", "--kind", "preference", "I like short answers.").out == "memory-1\n"
    lines = shell.foveal("profile").out.splitlines()
    assert lines[1].startswith("  memory-1  preference, said by you on 20")
    assert lines[2] == "      I like short answers."


def test_a_memory_may_come_from_stdin_and_go_out_as_json(shell: CommandLine) -> None:
    kept = shell.foveal("remember", "-", "--json", stdin="I live in Lyon.\n").json
    assert (kept["id"], kept["kind"], kept["text"], kept["confirmed"]) == (
        "memory-1", "identity", "I live in Lyon.", True,
    )  # fmt: skip


def test_what_was_spoken_of_is_shown_with_what_it_is_based_on_in_80_columns(shell: CommandLine) -> None:
    shell.fill(*CHAT, {"role": "user", "content": f"Is src/{'very/' * 20}deep.py one too?"})
    out = shell.foveal("profile").out
    assert "said by you in default on 20" in out
    (line,) = [line for line in out.splitlines() if " src/billing/adyen.py " in line]
    assert "2× in 1 session, last 20" in line
    assert max(map(len, out.splitlines())) <= 80


def test_json_has_everything(shell: CommandLine) -> None:
    shell.fill(*CHAT)
    found = shell.foveal("profile", "--json").json
    assert [each["text"] for each in found["memories"]] == ["My name is Maya."]
    assert "Adyen" in [each["name"] for each in found["topics"] + found["entities"]]


def test_a_memory_is_edited_and_deleted_by_its_id(shell: CommandLine) -> None:
    with Foveal(shell.store) as fov:
        fov.remember("I live in Lyon.")
    assert shell.foveal("profile", "edit", "memory-1", "I live in Rome.").out == "memory-1 edited\n"
    assert [each.text for each in known(shell).memories] == ["I live in Rome."]
    assert shell.foveal("profile", "delete", "memory-1").out == "memory-1 deleted\n"
    assert known(shell).memories == ()


def test_what_a_model_noted_waits_for_the_users_word(shell: CommandLine) -> None:
    with Foveal(shell.store) as fov:
        fov.remember("The user lives in Lyon.", by="model")
    shown = shell.foveal("profile").out
    assert "said by a model" in shown
    assert "in no window before `foveal profile confirm memory-1`" in shown
    assert shell.foveal("profile", "confirm", "memory-1", "--json").json["confirmed"]


def test_a_thing_is_renamed_and_deleted_by_its_id(shell: CommandLine) -> None:
    shell.fill(*CHAT)
    (adyen,) = [each for each in known(shell).entities if each.name == "Adyen"]
    assert shell.foveal("profile", "rename", adyen.id, "Adyen NV").code == 0
    assert "Adyen NV" in [each.name for each in known(shell).entities]
    assert shell.foveal("profile", "delete", adyen.id, "--json").json == {
        "id": adyen.id,
        "change": "deleted",
    }
    assert adyen.id not in [each.id for each in known(shell).entities]


def test_junk_is_no_memory(shell: CommandLine) -> None:
    done = shell.foveal("remember", "Where do I live?")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("foveal: `text` is no memory: it asks\n  try: ")


@pytest.mark.parametrize("id", ["memory-99", "thing-99", "zork"])
def test_who_names_nothing_that_is_known_is_told_what_lists_it(shell: CommandLine, id: str) -> None:
    shell.fill({"role": "user", "content": "hello"})
    done = shell.foveal("profile", "delete", id)
    assert done.code == 1
    assert "  try: `foveal profile` lists them with their ids" in done.err


def test_without_a_store_it_is_said_what_makes_one(shell: CommandLine) -> None:
    done = shell.foveal("profile")
    assert (done.code, done.out) == (1, "")
    assert "`foveal add`, `import` or `remember` creates one" in done.err


def test_where_nothing_is_known_that_is_said(shell: CommandLine) -> None:
    shell.fill({"role": "user", "content": "hello"})
    done = shell.foveal("profile")
    assert (done.code, done.out) == (0, "")
    assert "`foveal remember TEXT`" in done.err
