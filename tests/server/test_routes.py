"""Every route once, against a real store: it does what the command of the same name does."""

from __future__ import annotations

import json
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw
import pytest

from commands import CommandLine
from serving import API, Served, json_of, served
from workspaces import installed

_NUMBERS = count()
JSON_BODY = {"content-type": "application/json"}
SAID = [
    {"role": "system", "content": "You are a careful engineer."},
    {"role": "user", "content": "The login fails with error E4711 since the release."},
    {"role": "assistant", "content": "I look at the session code first."},
    {"role": "user", "content": "The grace period must be 90 seconds."},
    {"role": "assistant", "content": "Then a rotated token stays valid for 90 seconds."},
    {"role": "user", "content": "What was the grace period?"},
]


def session(service: Served, *, builds: int = 0) -> str:
    """A session of its own with six messages."""
    name = f"s{next(_NUMBERS)}"
    service.post(f"/sessions/{name}/messages/import", {"messages": SAID})
    for _ in range(builds):
        service.post(f"/sessions/{name}/build", {"budget": 100})
    return f"/sessions/{name}"


def test_a_session_is_made_read_listed_and_deleted(service: Served) -> None:
    made = json_of(service.client.post(f"{API}/sessions", json={"name": "a/b c%", "model": "gpt-5"}))
    assert service.get("/sessions/a%2Fb%20c%25") == made
    assert made in service.get("/sessions")
    assert json_of(service.client.delete(f"{API}/sessions/a%2Fb%20c%25")) == {
        "name": "a/b c%",
        "change": "deleted",
    }
    assert service.client.get(f"{API}/sessions/a%2Fb%20c%25").status_code == 404


NAMES = (
    "/",
    "//",
    "a/../b",
    "./",
    "...",
    "?x#y",
    "%2e",
    "%",
    " a ",
    "+;=&",
    "\\",
    "é 東京",
    "\u202eabc",
    "~*'",
    "a" * 500,
)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_that_is_accepted_can_be_addressed(service: Served, name: str) -> None:
    json_of(service.client.post(f"{API}/sessions", json={"name": name}))
    path = f"/sessions/{quote(name, safe='')}"
    assert service.get(path)["name"] == name
    assert service.post(f"{path}/messages", {"role": "user", "text": "hello"})["id"] == "m1"
    assert json_of(service.client.delete(f"{API}{path}"))["name"] == name


@pytest.mark.parametrize("name", [".", "..", "a\nb", "\x7f", "a\0", "\udc80"])
def test_a_name_that_a_url_cannot_carry_is_refused(service: Served, name: str) -> None:
    before = service.get("/sessions")
    made = service.client.post(f"{API}/sessions", content=json.dumps({"name": name}), headers=JSON_BODY)
    assert (made.status_code, made.json()["field"]) == (422, "name")
    path = f"{API}/sessions/{session(service).rpartition('/')[2]}/fork"
    forked = service.client.post(path, content=json.dumps({"name": name}), headers=JSON_BODY)
    assert forked.status_code == 422
    assert len(service.get("/sessions")) == len(before) + 1


def test_recall_reaches_another_session_only_on_request(service: Served) -> None:
    here, there = session(service), session(service)
    service.post(f"{there}/messages", {"role": "user", "text": "only there"})
    handle = service.get(f"{there}/messages")["messages"][-1]["handle"][:11]
    assert service.client.get(f"{API}{here}/recall/{handle}").status_code == 404
    assert service.get(f"{here}/recall/{handle}", everywhere=True)["content"] == "only there"


def test_a_session_that_is_there_is_not_made_again(service: Served) -> None:
    name = session(service).rpartition("/")[2]
    again = service.client.post(f"{API}/sessions", json={"name": name})
    assert (again.status_code, again.json()["field"]) == (409, "name")


def test_a_fork_begins_as_the_session_and_goes_its_own_way(service: Served) -> None:
    place = session(service)
    name = f"{place.rpartition('/')[2]}-fork"
    assert service.post(f"{place}/fork", {"name": name, "messages": 2})["messages"] == 2
    service.post(f"/sessions/{name}/messages", {"role": "user", "text": "another way"})
    texts = [row["text"] for row in service.get(f"/sessions/{name}/messages")["messages"]]
    assert texts == [SAID[0]["content"], SAID[1]["content"], "another way"]
    assert service.get(place)["messages"] == 6


def test_one_message_is_stored_and_the_session_with_it(service: Served) -> None:
    new = {"role": "user", "text": "hello", "pin": True, "kind": "chat_history_user"}
    assert service.post("/sessions/fresh/messages", new) == {"id": "m1"}
    (row,) = service.get("/sessions/fresh/messages")["messages"]
    assert (row["place"], row["mark"], row["text"]) == (0, "pinned", "hello")


def test_many_are_stored_and_a_history_is_synced(service: Served) -> None:
    place = session(service)
    more = {"messages": [*SAID, {"role": "assistant", "content": "90 seconds."}], "sync": True}
    found = service.post(f"{place}/messages/import", more)
    assert (found["messages"], found["stored"], found["ids"]) == (7, 1, ["m7"])


@pytest.mark.parametrize(
    ("verb", "body"), [("messages", {"role": "user", "text": " "}), ("tasks", {"name": " "})]
)
def test_no_session_is_made_for_what_is_refused(service: Served, verb: str, body: Any) -> None:
    assert service.client.post(f"{API}/sessions/unmade/{verb}", json=body).status_code == 422
    assert service.client.get(f"{API}/sessions/unmade").status_code == 404


def test_of_messages_that_cannot_be_read_none_is_stored(service: Served) -> None:
    broken = {"messages": [SAID[0], {"role": 5, "content": "x"}]}
    assert service.client.post(f"{API}/sessions/none/messages/import", json=broken).status_code == 422
    assert service.client.get(f"{API}/sessions/none").status_code == 404


def test_messages_come_page_by_page(service: Served) -> None:
    place = session(service)
    pages, after = [], 0
    while after is not None:
        page = service.get(f"{place}/messages", after=after, limit=4)
        pages.append([row["id"] for row in page["messages"]])
        after = page["next"]
    assert pages == [["m1", "m2", "m3", "m4"], ["m5", "m6"]]


def test_an_export_is_what_came_in_line_by_line(service: Served) -> None:
    found = service.client.get(f"{API}{session(service)}/export")
    assert found.headers["content-type"] == "application/x-ndjson"
    assert [json.loads(line) for line in found.text.splitlines()] == SAID


def test_the_export_of_a_damaged_message_is_refused_in_words_of_ours(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        place = session(service)
        with closing(apsw.Connection(str(service.store))) as db:
            db.execute("UPDATE contents SET body = substr(body, 1, 5)")
        found = service.client.get(f"{API}{place}/export")
        assert (found.status_code, "the store is damaged" in found.json()["detail"]) == (503, True)
        assert "foveal verify" in found.json()["remedy"]


def test_a_handle_brings_the_original_back(service: Served) -> None:
    place = session(service)
    handle = service.get(f"{place}/messages")["messages"][1]["handle"]
    assert service.get(f"{place}/recall/{handle}") == service.get(f"{place}/recall/m2") == SAID[1]


def test_marks_are_set_and_taken_back(service: Served) -> None:
    place = session(service)
    assert service.post(f"{place}/pin", {"id": "m2"}) == {"id": "m2", "mark": "pinned"}
    assert service.post(f"{place}/unpin", {"id": "m2"}) == {"id": "m2", "mark": "unpinned"}
    assert service.post(f"{place}/forget", {"id": "m3", "keep": True})["mark"] == "left out"
    assert service.post(f"{place}/restore", {"id": "m3"}) == {"id": "m3", "mark": "restored", "ids": ["m3"]}
    assert service.post(f"{place}/forget", {"id": "m3"})["ids"] == ["m3"]
    assert service.client.get(f"{API}{place}/recall/m3").status_code == 404


@pytest.mark.parametrize("verb", ["prune", "compress"])
def test_a_session_shrinks_and_is_restored(service: Served, verb: str) -> None:
    place = session(service)
    for number in range(12):
        text = f"Step {number}: " + "the log of the gateway says nothing new about the tokens. " * 20
        service.post(f"{place}/messages", {"role": "user", "text": text})
    gone = service.post(f"{place}/{verb}", {"max_tokens": 1_500})
    assert gone["ids"]
    assert gone["final"] < gone["original"]
    assert set(gone["ids"]) <= set(service.post(f"{place}/restore")["ids"])


def test_a_summary_stands_for_all_but_the_newest(service: Served) -> None:
    gone = service.post(f"{session(service)}/summarize", {"keep": 2})
    assert gone["ids"]
    assert gone["summary"]


def test_a_window_is_built_within_its_budget(service: Served) -> None:
    place = session(service)
    window = service.post(f"{place}/build", {"budget": 60, "preset": "recent"})
    assert window["tokens"] <= 60 == window["budget"] == window["manifest"]["budget"]
    assert window["messages"][-1] == SAID[-1]


def test_a_window_comes_as_a_provider_takes_it(service: Served) -> None:
    body = service.post(f"{session(service)}/build", {"budget": 500, "format": "anthropic"})
    assert body["system"]
    assert body["messages"][0]["role"] == "user"


def test_a_build_is_drawn_without_gaps_and_sums_to_its_tokens(service: Served) -> None:
    place = session(service, builds=1)
    build = service.get(f"{place}/builds/newest")
    segments = build["segments"]
    assert [each["first"] for each in segments] == [0, *(each["last"] + 1 for each in segments[:-1])]
    kept = sum(each["tokens"] for each in segments if each["verdict"] == "kept")
    assert kept + build["parts"]["framing"] + build["parts"].get("notes", 0) == build["tokens"]
    assert segments[0]["role"] == "system"


def test_past_builds_come_page_by_page_newest_first(service: Served) -> None:
    place = session(service, builds=3)
    page = service.get(f"{place}/builds", limit=2)
    assert ([each["number"] for each in page["builds"]], page["next"]) == ([3, 2], 2)
    last = service.get(f"{place}/builds", limit=2, before=page["next"])
    assert ([each["number"] for each in last["builds"]], last["next"]) == ([1], None)


def test_the_chunks_of_a_build_carry_its_decisions_and_their_first_words(service: Served) -> None:
    place = session(service, builds=1)
    found = service.get(f"{place}/builds/1/chunks", first=1, last=2)
    assert [each["place"] for each in found["chunks"]] == [1, 2]
    assert found["chunks"][0]["text"] == SAID[1]["content"]
    assert found["chunks"][0]["because"]


def test_a_build_from_before_an_edit_says_so(service: Served) -> None:
    place = session(service, builds=1)
    service.post(f"{place}/messages/import", {"messages": [SAID[0], *SAID[2:]], "sync": True})
    build = service.get(f"{place}/builds/1")
    assert (build["current"], build["segments"][0]["id"]) == (False, "")
    assert service.get(f"{place}/builds/1/chunks")["chunks"] == []


def test_two_builds_are_compared(service: Served) -> None:
    place = session(service, builds=2)
    assert service.get(f"{place}/diff", a=1, b=2)["stayed"] > 0


def test_a_new_session_names_the_preset_that_applies(service: Served) -> None:
    made = service.post("/sessions", {"name": "with the default"})
    service.post("/sessions/with%20the%20default/messages", {"role": "user", "text": "hello"})
    built = service.post("/sessions/with%20the%20default/build", {"budget": 200})
    assert made["preset"] == service.get("/sessions/with%20the%20default")["preset"]
    assert made["preset"] == built["manifest"]["preset"]


def test_presets_are_compared_on_a_session_and_on_messages(service: Served) -> None:
    options = {"budget": 200, "presets": ["recent", "omar"]}
    stored = service.post(f"{session(service)}/compare", options)
    given = service.post("/compare", {**options, "messages": SAID})
    assert [row["preset"] for row in stored["presets"]] == ["recent", "omar"]
    assert [row["tokens"] for row in given["presets"]] == [row["tokens"] for row in stored["presets"]]


def test_a_session_is_replayed_under_another_preset(service: Served) -> None:
    found = service.post(f"{session(service)}/replay", {"preset": "recent", "budget": 200})
    assert (found["calls"], found["run"]["name"], found["whole"]["over"]) == (3, "recent", 0)


def test_messages_are_fitted_and_counted_with_nothing_stored(service: Served) -> None:
    before = service.get("/sessions")
    fitted = service.post("/fit", {"messages": SAID, "budget": 60})
    assert fitted["tokens"] <= 60
    assert (
        service.post("/fit", {"messages": {"model": "gpt-5", "messages": SAID}})["body"]["model"] == "gpt-5"
    )
    assert service.post("/count", {"text": "Fix the bug in auth.js", "model": "gpt-5"})["tokens"] == 6
    assert service.post("/count", {"messages": SAID})["tokens"] > 50
    assert service.get("/sessions") == before


def test_words_are_found_in_one_session_and_in_all(service: Served) -> None:
    place = session(service)
    assert service.get(f"{place}/search", query="E4711", limit=1)[0]["id"] == "m2"
    assert service.get("/search", query="E4711", limit=3)[0]["text"] == SAID[1]["content"]


def test_a_question_gets_a_window_of_its_own(service: Served) -> None:
    found = service.post(f"{session(service)}/focus", {"question": "grace period?", "budget": 100})
    assert found["tokens"] <= 100
    assert "90 seconds" in json.dumps(found["messages"])


def test_tasks_begin_and_end(service: Served) -> None:
    place = session(service)
    assert service.post(f"{place}/tasks", {"name": "fix it"}) == {"number": 1, "name": "fix it"}
    service.post(f"{place}/messages", {"role": "user", "text": "fix it now"})
    assert service.post(f"{place}/tasks/complete").keys() == {"summary", "replaced"}
    assert service.get(f"{place}/tasks")[0]["ended_at"]


def test_the_context_of_a_workspace_is_returned(service: Served, tmp_path: Path) -> None:
    (tmp_path / "login.py").write_text("def grace_period():\n    return 90\n", encoding="utf-8")
    options: dict[str, Any] = {
        "workspace": str(tmp_path),
        "task": "grace_period in login.py",
        "budget": 4_000,
    }
    assert "grace_period" in service.post("/context", options)["text"]
    assert "grace_period" in service.post(f"{session(service)}/context", options)["text"]
    window = service.post(f"{session(service)}/build", {**options, "active": ["login.py"]})
    assert window["manifest"]["contributed"]


def test_an_installed_contributor_is_named_in_a_request(tmp_path: Path) -> None:
    options = {"workspace": str(tmp_path), "task": "rain", "budget": 4_000, "contributors": ["weather"]}
    with served(tmp_path, PYTHONPATH=installed(tmp_path / "site")) as service:
        place = session(service)
        for route in ("/context", f"{place}/context"):
            assert "## [CUSTOM] weather\nRain" in service.post(route, options)["text"]
        window = service.post(f"{place}/build", options)
        assert "weather" in [each["source"] for each in window["manifest"]["contributed"]]
        for route in ("/context", f"{place}/context", f"{place}/build"):
            answer = service.client.post(API + route, json={**options, "contributors": ["wind"]})
            found = answer.json()
            assert (answer.status_code, found["field"]) == (422, "contributors")
            assert "use one of: `weather`" in found["remedy"]
        alone = service.client.post(f"{API}{place}/build", json={"contributors": ["weather"]})
        assert alone.json()["field"] == "contributors"


def test_what_is_known_is_kept_edited_and_deleted(service: Served) -> None:
    kept = service.post("/profile", {"text": "I am a nurse in Bergen.", "kind": "identity"})
    place = f"{API}/profile/{kept['id']}"
    edited = json_of(service.client.put(place, json={"text": "I am a doctor in Bergen."}))
    assert (edited["change"], edited["text"]) == ("edited", "I am a doctor in Bergen.")
    assert service.post(f"/profile/{kept['id']}/confirm")["confirmed"]
    assert kept["id"] in [each["id"] for each in service.get("/profile")["memories"]]
    assert json_of(service.client.delete(place)) == {"id": kept["id"], "change": "deleted"}


def test_a_thing_is_renamed(service: Served) -> None:
    new = {"role": "user", "text": "Please look at auth/session.py, the bug is in auth/session.py."}
    service.post(f"{session(service)}/messages", new)
    things = service.get("/profile")
    thing = (things["topics"] + things["entities"])[0]["id"]
    assert service.post(f"/profile/{thing}/rename", {"name": "the login"}) == {
        "id": thing,
        "change": "renamed",
    }


def test_where_the_user_is_leads_to_predictions(service: Served) -> None:
    name = session(service).rpartition("/")[2]
    assert isinstance(service.post("/presence", {"active_conversation": name, "warm": False}), list)
    assert service.get("/predictions")["made"] >= 0


def test_operations_are_listed_described_and_run(service: Served) -> None:
    names = [each["name"] for each in service.get("/operations")]
    assert "tokens_count" in names
    assert service.get("/operations/tokens_count")["request"]["properties"]["text"]
    assert service.post("/operations/tokens_count", {"text": "hello", "model": "gpt-5"})["tokens"] == 1


def test_the_server_reports_health_readiness_and_metrics(service: Served) -> None:
    assert service.client.get("/health").json()["status"] == "ok"
    assert service.client.get("/ready").json()["status"] == "ready"
    assert 'foveal_requests_total{method="GET",route="/health"' in service.client.get("/metrics").text
    assert "/static/docs.js" in service.client.get("/docs").text


def test_unknown_methods_are_counted_as_one(service: Served) -> None:
    for method in ("PLUGH", "XYZZY"):
        assert service.client.request(method, "/health").status_code == 405
    numbers = service.client.get("/metrics").text
    assert 'foveal_requests_total{method="any",route="/health",status="405"} 2' in numbers
    assert "XYZZY" not in numbers


VERBS = {
    ("sessions",): "/sessions",
    ("stats",): "/sessions/{name}/stats",
    ("explain",): "/sessions/{name}/explain",
    ("explain", "--message", "m2"): "/sessions/{name}/explain?message=m2",
    ("why", "m2"): "/sessions/{name}/why/m2",
    ("diff", "1", "2"): "/sessions/{name}/diff?a=1&b=2",
    ("recall", "m2"): "/sessions/{name}/recall/m2",
    ("search", "grace period"): "/sessions/{name}/search?query=grace+period",
    ("task",): "/sessions/{name}/tasks",
    ("models", "gpt-5"): "/models?pattern=gpt-5",
    ("op", "--list"): "/operations",
    ("op", "tokens_count", "--schema"): "/operations/tokens_count",
}


@pytest.mark.parametrize("command", VERBS, ids=" ".join)
def test_a_route_answers_what_the_command_prints(service: Served, command: tuple[str, ...]) -> None:
    place = session(service, builds=2)
    name = place.rpartition("/")[2]
    shell = CommandLine(folder=service.store.parent)
    printed = shell.foveal("--session", name, "--json", *command).json
    assert service.client.get(API + VERBS[command].format(name=name)).json() == printed


def test_nul_characters_and_lone_surrogates_go_in_and_come_back(service: Served) -> None:
    bad = "windmill\0\udc80"
    messages = [
        {"role": "user", "content": bad},
        {"role": "user", "content": [{"type": "text", "text": bad}]},
    ]
    headers = {"content-type": "application/json"}
    place = f"/sessions/s{next(_NUMBERS)}"
    for path, body in [
        (f"{place}/messages/import", {"messages": messages}),
        (f"{place}/messages", {"role": "user", "text": bad, "name": bad}),
        (f"{place}/build", {"budget": 1_000}),
        ("/fit", {"messages": messages, "budget": 1_000}),
    ]:
        answer = service.client.post(API + path, content=json.dumps(body), headers=headers)
        assert answer.is_success, answer.text
        if "budget" in body:
            # What other tests remembered may precede it.
            shown = [each["content"] for each in answer.json()["messages"]]
            assert "windmill\ufffd\ufffd" in shown
    assert service.get(f"{place}/recall/m1") == messages[0]
    exported = service.client.get(f"{API}{place}/export").text.splitlines()
    assert [json.loads(line) for line in exported][:2] == messages
    hits = service.get(f"{place}/search", query="windmill")
    assert {hit["id"] for hit in hits} == {"m1", "m2", "m3"}


def long_session(service: Served) -> str:
    """A session of its own with sixty messages."""
    said = [{"role": ("user", "assistant")[n % 2], "content": f"Port {n} is taken. " * 20} for n in range(60)]
    place = f"/sessions/long{next(_NUMBERS)}"
    service.post(f"{place}/messages/import", {"messages": said})
    return place


def test_the_notes_of_a_build_have_the_text_that_the_model_read(service: Served) -> None:
    place = long_session(service)
    window = service.post(f"{place}/build", {"budget": 2_000})
    (log,) = service.get(f"{place}/builds/newest/notes")["notes"]
    assert log["kind"] == "log"
    assert log["text"] in [message["content"] for message in window["messages"]]


@pytest.mark.parametrize("verb", ["prune", "compress", "summarize"])
def test_a_dry_run_says_what_would_leave_and_changes_nothing(service: Served, verb: str) -> None:
    place = long_session(service)
    size = {"keep": 4} if verb == "summarize" else {"max_tokens": 2_000}
    planned = service.post(f"{place}/{verb}", {**size, "dry_run": True})
    assert planned["ids"]
    assert service.get(f"{place}/stats")["absent"] == 0
    assert service.post(f"{place}/{verb}", size) == planned


def test_a_priority_is_stored_and_listed(service: Served) -> None:
    path = "/sessions/priority/messages"
    service.post(path, {"role": "user", "text": "hello", "priority": 170})
    service.post(f"{path}/import", {"messages": [{"role": "user", "content": "again", "priority": 5}]})
    assert [row["priority"] for row in service.get(path)["messages"]] == [170, 5]
    wrong = service.client.post(f"{API}{path}", json={"role": "user", "text": "x", "priority": 1_001})
    assert (wrong.status_code, wrong.json()["field"]) == (422, "priority")
