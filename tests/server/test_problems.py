"""Every error is a problem document with a remedy; none shows internals."""

from __future__ import annotations

import re
import time
from typing import Any, get_args

import httpx
import pytest

from foveal.errors import NotFoundError, See
from foveal.server.middleware.limits import BODY_MOST
from foveal.server.problems import KINDS, problem_of
from house.tree import DOCS
from serving import API, Served

JSON = {"content-type": "application/json"}


def problem(answer: httpx.Response) -> tuple[int, str, str]:
    """Its status, what its type ends in, and the field it names; its shape is checked on the way."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    document: dict[str, Any] = answer.json()
    assert document["status"] == answer.status_code
    assert document["detail"]
    assert document["remedy"]
    return answer.status_code, document["type"].rpartition(":")[2], document.get("field", "")


PROBLEMS = {
    "a session that is not there": ("GET", "/sessions/nobody", None, (404, "not-found", "")),
    "a message that is not there": ("GET", "/sessions/one/recall/m99", None, (404, "not-found", "")),
    "a build that is not there": ("GET", "/sessions/one/builds/99", None, (404, "not-found", "")),
    "an operation that is not there": ("POST", "/operations/nonesuch", {}, (404, "not-found", "")),
    "a route that is not there": ("GET", "/nonesuch", None, (404, "not-found", "")),
    "a method that the route has not": ("PUT", "/sessions", {}, (405, "method-not-allowed", "")),
    "a field that is missing": ("POST", "/sessions", {}, (422, "input", "name")),
    "a field of another type": ("POST", "/sessions", {"name": 3}, (422, "input", "name")),
    "a field that nobody knows": ("POST", "/sessions", {"name": "x", "colour": 1}, (422, "input", "colour")),
    "a parameter that is no number": ("GET", "/sessions/one/messages?limit=x", None, (422, "input", "limit")),
    "a role that nobody has": (
        "POST", "/sessions/one/messages", {"role": "king", "text": "x"}, (422, "input", "role"),
    ),
    "a budget nothing fits into": ("POST", "/sessions/one/build", {"budget": 1}, (422, "budget", "")),
    "a preset that is not there": ("POST", "/sessions/one/build", {"preset": "nope"}, (422, "config", "")),
    "messages that are none": ("POST", "/fit", {"messages": [{"x": 1}]}, (422, "input", "")),
    "a folder that cannot be named": (
        "POST", "/sessions/one/build", {"workspace": "/tmp/\0"}, (422, "input", "workspace"),
    ),
    "too many chunks": ("GET", "/sessions/one/builds/1/chunks?last=500", None, (422, "input", "last")),
    "neither text nor messages": ("POST", "/count", {}, (422, "input", "text")),
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _one(service: Served) -> None:
    service.post("/sessions/one/messages", {"role": "user", "text": "hello"})
    service.post("/sessions/one/build", {"budget": 100})


@pytest.mark.parametrize("case", PROBLEMS)
def test_a_problem_says_what_is_wrong_and_names_the_field(service: Served, case: str) -> None:
    method, path, body, expected = PROBLEMS[case]
    found = problem(service.client.request(method, API + path, json=body))
    assert (found[:2], found[2] if expected[2] else "") == (expected[:2], expected[2])


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"name": NaN}', b"[" * 50_000, b'{"name": "a",}'])
def test_a_body_that_is_not_json_is_malformed(service: Served, body: bytes) -> None:
    answer = service.client.post(f"{API}/sessions", content=body, headers=JSON)
    assert problem(answer)[:2] == (400, "malformed")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_that_is_not_said_to_be_json_is_not_read(service: Served, kind: str) -> None:
    answer = service.client.post(f"{API}/sessions", content=b'{"name": "x"}', headers={"content-type": kind})
    assert problem(answer)[:2] == (415, "media-type")
    assert service.client.get(f"{API}/sessions/x").status_code == 404


def test_a_body_that_is_too_large_is_refused(service: Served) -> None:
    answer = service.client.post(f"{API}/sessions", content=b" " * (BODY_MOST + 1), headers=JSON)
    assert problem(answer)[:2] == (413, "too-large")


def test_a_body_that_goes_on_for_ever_is_refused_on_the_way(service: Served) -> None:
    pieces = (b" " * 2**20 for _ in range(40))
    answer = service.client.post(f"{API}/sessions", content=pieces, headers=JSON)
    assert problem(answer)[:2] == (413, "too-large")


def test_more_than_ten_thousand_messages_are_too_many(service: Served) -> None:
    many = {"messages": [{"role": "user", "content": "x"}] * 10_001}
    answer = service.client.post(f"{API}/sessions/many/messages/import", json=many)
    assert problem(answer) == (413, "too-large", "messages")
    assert service.client.get(f"{API}/sessions/many").status_code == 404


def test_half_a_character_is_refused_or_comes_back_as_it_was(service: Served) -> None:
    half = b'{"role": "user", "text": "half \\ud800 of it"}'
    added = service.client.post(f"{API}/sessions/half/messages", content=half, headers=JSON)
    assert added.status_code in (201, 422)
    assert service.client.get(f"{API}/sessions/half/messages").status_code in (200, 404)


def test_every_listing_that_a_remedy_refers_to_has_a_route() -> None:
    for see in get_args(See):
        shown = problem_of(NotFoundError("what", "remedy", see=see)).remedy
        assert ("`" in shown) is bool(see)


def test_the_page_of_the_api_lists_every_kind_of_problem_with_its_status() -> None:
    page = (DOCS / "reference" / "http.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| (\d+) \|", page, re.MULTILINE)
    assert {name: int(status) for name, status in rows} == {k.name: k.status for k in KINDS.values()}


@pytest.mark.parametrize(
    ("body", "detail", "remedy"),
    [
        (
            {"budget": "8k"},
            "`budget` is not an integer",
            "give the number of tokens as a JSON number, as in 8000",
        ),
        ({"budget": 0}, "`budget` is less than 1", "`/docs` says what the route takes"),
        ({"bugdet": 8}, "`bugdet` is not a field of this request", "`/docs` says what the route takes"),
        ({"format": "xml"}, "`format` is not one of 'json', 'openai'", "`/docs` says what the route takes"),
    ],
)
def test_a_wrong_field_is_answered_in_words_of_ours(
    service: Served, body: dict[str, object], detail: str, remedy: str
) -> None:
    answer = service.client.post(f"{API}/sessions/one/build", json=body).json()
    assert answer["detail"].startswith(detail)
    assert answer["remedy"] == remedy


ZEROS = b",".join([b"0"] * 300_000)


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("/sessions/zeros/messages/import", b'{"messages": [%s]}', 413, "messages"),
        ("/compare", b'{"messages": [%s]}', 413, "messages"),
        ("/fit", b'{"messages": [], "tools": [%s]}', 422, "tools[0]"),
        ("/operations/context_optimize", b'{"chunks": [%s]}', 422, "chunks[0]"),
        ("/operations/history_prune", b'{"messages": [%s]}', 422, "messages[0]"),
    ],
)
def test_a_body_that_is_wrong_throughout_is_refused_at_once(
    service: Served, path: str, body: bytes, status: int, field: str
) -> None:
    began = time.monotonic()
    answer = service.client.post(API + path, content=body % ZEROS, headers=JSON)
    assert (answer.status_code, answer.json()["field"]) == (status, field)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("path", ["/sessions", "/operations/tokens_count", "/sessions/one/build"])
def test_an_answer_does_not_repeat_a_long_name(service: Served, path: str) -> None:
    answer = service.client.post(API + path, json={"name": "x", "k" * 200_000: 1})
    assert answer.status_code == 422
    assert len(answer.content) < 1_200


def test_an_answer_names_the_place_in_one_way_and_the_remedy_a_route(service: Served) -> None:
    chunk = {"id": "a", "content": "", "type": "poem"}
    request = {"chunks": [chunk], "available_tokens": "lots", "user_id": "u"}
    answer = service.client.post(f"{API}/operations/context_optimize", json=request).json()
    assert answer["field"] == "chunks[0].type"
    assert "`GET /api/v1/operations/{operation}`" in answer["remedy"]
    assert (
        service.client.post(f"{API}/fit", json={"messages": [0]}).json()["detail"].startswith("messages[0]")
    )
    added = service.client.post(
        f"{API}/sessions/one/messages", json={"role": "user", "text": "", "priority": 5e3}
    )
    assert "`priority` is more than 1,000" in added.json()["detail"] or added.json()["field"] == "text"


@pytest.mark.parametrize(
    ("body", "detail", "remedy"),
    [
        ('{"text": "\\"NaN", "x": NaN}', "NaN is not JSON", "correct it at character 23"),
        ('{"a": [-Infinity]}', "-Infinity is not JSON", "correct it at character 7"),
        ('{"text": %s}' % ("9" * 5_000), "a number has too many digits", "write it as text"),
        ('{"text": nan}', "the body is not JSON", "correct it at character 9"),
    ],
)
def test_what_is_not_json_is_named_with_its_place(
    service: Served, body: str, detail: str, remedy: str
) -> None:
    answer = service.client.post(f"{API}/count", content=body.encode(), headers=JSON)
    assert (answer.json()["detail"], answer.json()["remedy"]) == (detail, remedy)
