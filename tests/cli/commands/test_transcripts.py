"""What an import stores: files, transcripts that grow, exports of chats."""

from __future__ import annotations

import json
import zipfile

import pytest

from commands import CommandLine
from foveal.cli import inputs

CHAT = [
    {"role": "system", "content": "You fix bugs."},
    {"role": "user", "content": "We use RS256, not HS256."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "auth.js\nindex.js"},
]


def said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def claude(kind: str, content: object, **more: object) -> str:
    """A line of Claude Code; `id` and `model` are the message's."""
    line = {"type": kind, "uuid": "u1", "parentUuid": None, "isSidechain": False, "sessionId": "s"}
    message = {"role": kind, "content": content, **more}
    return json.dumps({**line, "timestamp": "2025-06-01T10:00:00Z", "message": message})


def test_import_says_what_it_stored_and_comes_out_the_same(shell: CommandLine) -> None:
    file = shell.write("chat.json", CHAT)
    assert shell.foveal("import", file).out == "chat.json: 4 messages (openai), 4 stored\n"
    assert shell.foveal("export").json == CHAT
    lines = shell.foveal("export", "--jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == CHAT


def test_import_takes_several_files_and_jsonl(shell: CommandLine) -> None:
    one = shell.write("one.jsonl", "\n".join(map(json.dumps, CHAT)))
    two = shell.write("two.json", {"messages": [said("and now?")]})
    assert [row["stored"] for row in shell.foveal("import", one, two, "--json").json] == [4, 1]
    assert shell.history() == [*CHAT, said("and now?")]


def test_a_file_that_is_imported_again_adds_only_what_is_new(shell: CommandLine) -> None:
    lines = [*map(json.dumps, CHAT)]
    shell.foveal("import", shell.write("other.json", [said("before")]))
    shell.foveal("import", shell.write("log.jsonl", "\n".join(lines[:2]) + '\n{"role": "assis'))
    shell.foveal("add", "user", "an aside")
    done = shell.foveal("import", shell.write("log.jsonl", "\n".join(lines)))
    assert done.out == "log.jsonl: 4 messages (openai), 2 stored\n"
    assert shell.foveal("import", "log.jsonl").out == "log.jsonl: 4 messages (openai), 0 stored\n"
    assert [m for m in shell.history() if m["content"] not in ("before", "an aside")] == CHAT


def test_an_answer_that_was_imported_in_part_is_completed(shell: CommandLine) -> None:
    texts = [{"type": "text", "text": text} for text in ("one", "two")]
    lines = [claude("user", "hello"), *(claude("assistant", [text], id="r") for text in texts)]
    shell.foveal("import", shell.write("log.jsonl", "\n".join(lines[:2])))
    shell.foveal("import", shell.write("log.jsonl", "\n".join(lines)))
    assert [message["content"] for message in shell.history()] == ["hello", texts]


def test_what_cannot_be_read_is_named_on_stderr_and_in_json(shell: CommandLine) -> None:
    text = "\n".join([json.dumps(CHAT[0]), "{oops", json.dumps(CHAT[1])])
    done = shell.foveal("import", shell.write("log.jsonl", text), "--json")
    assert done.err.startswith("foveal: log.jsonl: skipped 1 part that cannot be read: line 2: not JSON")
    (row,) = done.json
    assert (row["stored"], row["skipped"][0]["line"]) == (2, 2)


def test_the_model_of_a_transcript_becomes_the_session_s(shell: CommandLine) -> None:
    log = shell.write("log.jsonl", claude("assistant", "hi", id="r", model="claude-sonnet-4-5"))
    assert shell.foveal("import", log, "--json").json[0]["model"] == "claude-sonnet-4-5"
    assert shell.foveal("stats", "--json").json["model"] == "claude-sonnet-4-5"
    shell.foveal("--session", "two", "import", log, FOVEAL_MODEL="gpt-5")
    assert shell.foveal("--session", "two", "stats", "--json").json["model"] == "gpt-5"


ID = "7f3a1c2-0000-4000-8000-000000000000"
"""All but the first digit of the ids in an export."""


def export(*titles: str) -> list[dict[str, object]]:
    """An export of ChatGPT with a conversation of each title."""
    return [
        {
            "title": title,
            "conversation_id": f"{at}{ID}",
            "current_node": "q",
            "mapping": {
                "q": {
                    "id": "q",
                    "message": {
                        "author": {"role": "user"},
                        "content": {"content_type": "text", "parts": [title]},
                    },
                }
            },
        }
        for at, title in enumerate(titles, start=1)
    ]


def test_every_conversation_of_an_export_becomes_a_session(shell: CommandLine) -> None:
    file = shell.write("conversations.json", export("Ports", "Ports", "A/B"))
    rows = shell.foveal("import", file, "--json").json
    names = [f"Ports 1{ID}", f"Ports 2{ID}", f"A B 3{ID}"]
    assert [row["session"] for row in rows] == names
    shell.write("conversations.json", export("Ports, renamed", "Ports", "A/B"))
    again = shell.foveal("import", file, "--json").json
    assert [(row["session"], row["stored"]) for row in again] == [(names[0], 1), (names[1], 0), (names[2], 0)]


def test_one_conversation_of_an_export_can_be_chosen(shell: CommandLine) -> None:
    file = shell.write("conversations.json", export("Ports", "Ports", "Hosts"))
    shell.foveal("--session", "mine", "import", file, "--conversation", "hosts")
    assert shell.history("mine") == [said("Hosts")]
    assert shell.foveal("import", file, "--conversation", f"1{ID}").code == 0
    several = shell.foveal("import", file, "--conversation", "Ports")
    assert "2 conversations titled 'Ports'" in several.err
    assert f"`2{ID}`" in several.err
    assert "as in 'Hosts'" in shell.foveal("import", file, "--conversation", "Host").err
    assert "`foveal import conversations.json --conversation TITLE`" in shell.foveal("fit", file).err


def zipped(shell: CommandLine, member: str, content: bytes) -> str:
    with zipfile.ZipFile(shell.folder / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
    return "export.zip"


def test_an_export_can_be_imported_as_the_zip_it_came_in(shell: CommandLine) -> None:
    file = zipped(shell, "conversations.json", json.dumps(export("Ports")).encode())
    assert shell.foveal("import", file, "--json").json[0]["session"] == f"Ports 1{ID}"
    assert "has no conversations.json" in shell.foveal("import", zipped(shell, "chat.html", b"x")).err


def test_a_zip_that_unpacks_to_too_much_is_refused(
    shell: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "BYTES_MOST", 1 << 20)
    bomb = zipped(shell, "conversations.json", b" " * (1 << 24))
    assert (shell.folder / bomb).stat().st_size < 1 << 15
    done = shell.foveal("import", bomb)
    assert (done.code, "has more than 1,048,576 bytes" in done.err) == (1, True)


def test_a_damaged_zip_is_reported(shell: CommandLine) -> None:
    (shell.folder / "export.zip").write_bytes(b"PK\x03\x04" + b"x" * 100)
    assert "is a damaged zip" in shell.foveal("import", "export.zip").err


def test_import_with_sync_stores_only_what_is_new(shell: CommandLine) -> None:
    shell.fill(*CHAT[:2])
    done = shell.foveal("import", "--sync", shell.write("chat.json", CHAT))
    assert done.out == "chat.json: 4 messages (openai), 2 stored\n"
    assert shell.history() == CHAT


def test_of_several_files_the_good_ones_before_a_bad_one_stay(shell: CommandLine) -> None:
    good, bad = (
        shell.write("good.json", CHAT[:2]),
        shell.write("bad.json", [*CHAT, {"role": 5}]),
    )
    done = shell.foveal("import", good, bad)
    assert done.code == 1
    assert "bad.json, messages[4]: `role` is of type int" in done.err
    assert shell.history() == CHAT[:2]


def test_a_transcript_of_an_agent_can_be_imported(shell: CommandLine) -> None:
    done = shell.foveal("import", shell.write("log.jsonl", claude("user", "hello")))
    assert done.out == "log.jsonl: 1 message (anthropic), 1 stored\n"


def test_import_and_stats_agree_on_the_format(shell: CommandLine) -> None:
    (row,) = shell.foveal("import", shell.write("plain.json", CHAT[:2]), "--json").json
    assert row["format"] == shell.foveal("stats", "--json").json["format"]
    shell.foveal("--session", "two", "import", "plain.json", "--format", "anthropic")
    assert shell.foveal("--session", "two", "stats", "--json").json["format"] == "anthropic"


@pytest.mark.parametrize("date", [-9e14, -6.3e10, -1e11, 5e14, "9999-12-31T23:59:59-14:00"])
def test_an_impossible_date_of_a_message_is_left_out(shell: CommandLine, date: object) -> None:
    (one,) = export("Ports")
    one["mapping"]["q"]["message"]["create_time"] = date  # type: ignore[index]
    name = shell.foveal("import", shell.write("conversations.json", [one]), "--json").json[0]["session"]
    assert shell.foveal("--session", name, "search", "ports").code == 0
    assert shell.foveal("search", "ports", "--everywhere").code == 0
    assert shell.foveal("verify").code == 0


def claude_ai(*ids: str) -> list[dict[str, object]]:
    """An export of Claude.ai with a conversation of each id, which is its only message too."""
    return [{"uuid": id, "name": "", "chat_messages": [{"sender": "human", "text": id}]} for id in ids]


def test_an_export_writes_into_no_session_that_it_did_not_create(shell: CommandLine) -> None:
    shell.foveal("--session", "fix login", "add", "user", "my own")
    shell.foveal("--session", "login", "add", "user", "my own")
    (row,) = shell.foveal("import", shell.write("e.json", claude_ai("login")), "--json").json
    assert row["session"] not in ("fix login", "login")
    assert shell.foveal("import", "e.json", "--json").json[0]["stored"] == 0
    assert shell.history("fix login") == shell.history("login") == [said("my own")]


def test_conversations_with_ids_that_begin_alike_or_differ_in_punctuation_stay_apart(
    shell: CommandLine,
) -> None:
    ids = ("0190a5b2-0000-7000-8000-000000000001", "0190a5b2-0000-7000-8000-000000000002", "!!!", "???")
    rows = shell.foveal("import", shell.write("e.json", claude_ai(*ids)), "--json").json
    assert [row["stored"] for row in rows] == [1, 1, 1, 1]
    assert len({row["session"] for row in rows}) == 4
