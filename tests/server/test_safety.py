"""Who may speak to the service: by which name, from which page, with which token."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from house.tree import SOURCE
from serving import API, Served, served

ACME, GLOBEX = "acme-token-0123456789", "globex-token-0123456789"
SETTINGS = """
[serve]
allowed_origins = ["https://app.example.com"]
hosts = ["foveal.example.com"]
workspaces = ["shared"]
[serve.tokens]
ACME_TOKEN = "acme"
GLOBEX_TOKEN = "globex"
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with two tenants, and a page of another origin that is trusted."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "shared").mkdir()
    (folder / "shared" / "notes.md").write_text("the harbour opens at six\n", encoding="utf-8")
    text = SETTINGS.replace('"shared"', f'"{(folder / "shared").as_posix()}"')
    (folder / "foveal.toml").write_text(text, encoding="utf-8")
    with served(folder, token=ACME, ACME_TOKEN=ACME, GLOBEX_TOKEN=GLOBEX) as found:
        yield found


def status(service: Served, method: str = "GET", path: str = f"{API}/sessions", **headers: str) -> int:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {} if method == "GET" else {"json": {"name": "made-by-a-page"}}
    return service.client.request(method, path, headers=named, **body).status_code  # type: ignore[arg-type]


HOSTS = {
    "127.0.0.1": 200, "localhost:1234": 200, "[::1]:8790": 200, "LOCALHOST": 200,
    "evil.example.com": 421, "127.0.0.1.evil.com": 421, "localhost.evil.com": 421, "192.168.1.9": 421,
    "": 421, "localhost/x?": 421, "localhost@evil.com": 421, "0": 421, "[::1": 421,
}  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_only_names_of_this_machine_are_answered(service: Served, host: str) -> None:
    assert {status(service, host=host), status(service, path="/", host=host)} - {404} == {HOSTS[host]}


def test_a_name_that_was_set_is_answered(guarded: Served) -> None:
    assert status(guarded, host="foveal.example.com") == 200
    assert status(guarded, host="other.example.com") == 421


ORIGINS = [
    "http://evil.example.com",
    "null",
    "http://localhost:3000",
    "https://127.0.0.1.evil.com",
]


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/sessions"),
        ("DELETE", "/sessions/x"),
        ("GET", "/events"),
        ("GET", "/sessions"),
        ("GET", "/search?query=x"),
        ("HEAD", "/sessions"),
    ],
)
def test_a_foreign_page_changes_nothing_and_hears_nothing(
    service: Served, origin: str, method: str, path: str
) -> None:
    assert status(service, method, API + path, origin=origin) == 403
    assert service.client.get(f"{API}/sessions/made-by-a-page").status_code == 404


def test_a_foreign_page_that_says_nothing_of_itself_is_known_by_its_browser(service: Served) -> None:
    assert status(service, "GET", f"{API}/events", sec_fetch_site="cross-site") == 403
    assert status(service, "POST", sec_fetch_site="same-site") == 403


WORKING = [f"{API}/sessions", f"{API}/search?query=x", f"{API}/sessions/x/why/m1", "/metrics", "/ready"]


@pytest.mark.parametrize("path", WORKING)
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_picture_or_link_on_a_foreign_page_makes_the_service_do_no_work(
    service: Served, path: str, site: str
) -> None:
    assert status(service, path=path, sec_fetch_site=site) == 403


@pytest.mark.parametrize("path", WORKING)
@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_the_dashboard_and_the_address_bar_may_ask_everything(service: Served, path: str, site: str) -> None:
    assert status(service, path=path, sec_fetch_site=site) in (200, 404)


@pytest.mark.parametrize("path", ["/", "/docs", "/widget.js", "/health"])
def test_a_link_on_a_foreign_page_opens_the_pages(service: Served, path: str) -> None:
    assert status(service, path=path, sec_fetch_site="cross-site", sec_fetch_mode="navigate") != 403


def test_a_page_that_is_allowed_may_use_get_from_another_site(guarded: Served) -> None:
    origin = "https://app.example.com"
    assert status(guarded, origin=origin, sec_fetch_site="cross-site") == 200


def test_the_dashboard_itself_may_change_things(service: Served) -> None:
    assert status(service, "POST", origin=service.address) in (201, 409)
    service.client.delete(f"{API}/sessions/made-by-a-page")


def test_no_foreign_page_may_read_an_answer(service: Served) -> None:
    answer = service.client.get(f"{API}/sessions", headers={"origin": "http://evil.example.com"})
    assert not [name for name in answer.headers if name.startswith("access-control")]


def preflight(service: Served, origin: str) -> httpx.Response:
    asked = {"origin": origin, "access-control-request-method": "POST"}
    return service.client.options(f"{API}/sessions", headers=asked)


def test_a_page_that_is_allowed_may_ask_and_read(guarded: Served) -> None:
    origin = "https://app.example.com"
    assert preflight(guarded, origin).headers["access-control-allow-origin"] == origin
    assert "authorization" in preflight(guarded, origin).headers["access-control-allow-headers"]
    answer = guarded.client.get(f"{API}/sessions", headers={"origin": origin})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, origin)


def test_a_page_that_is_not_allowed_may_not_even_ask(guarded: Served) -> None:
    answer = preflight(guarded, "https://app.example.com.evil.com")
    assert (answer.status_code, answer.headers.get("access-control-allow-origin")) == (403, None)


TOKENS = {
    f"Bearer {ACME}": 200, f"bearer {GLOBEX}": 200,
    "": 401, "Bearer": 401, ACME: 401, f"Basic {ACME}": 401, f"Bearer {ACME}x": 401,
    "Bearer acme": 401, f"Bearer {ACME[:-1]}": 401,
}  # fmt: skip


@pytest.mark.parametrize("given", TOKENS)
def test_where_there_are_tokens_one_is_needed_on_this_machine_too(guarded: Served, given: str) -> None:
    assert status(guarded, authorization=given) == TOKENS[given]


@pytest.mark.parametrize("path", [f"{API}/events", "/metrics", f"{API}/operations", "//api/v1/sessions"])
def test_nothing_that_shows_data_is_open(guarded: Served, path: str) -> None:
    assert status(guarded, path=path, authorization="") in (401, 404)


@pytest.mark.parametrize("path", ["/health", "/docs", "/openapi.json"])
def test_what_shows_no_data_is_open(guarded: Served, path: str) -> None:
    assert status(guarded, path=path, authorization="") == 200


def test_a_token_opens_its_own_tenant_and_no_other(guarded: Served) -> None:
    guarded.post("/sessions/plan/messages", {"role": "user", "text": "acme's secret plan"})
    handle = guarded.get("/sessions/plan/messages")["messages"][0]["handle"]
    other = {"authorization": f"Bearer {GLOBEX}", "x-foveal-tenant": "acme"}
    for path in (
        "",
        "/messages",
        "/stats",
        "/export",
        "/recall/m1",
        f"/recall/{handle}",
        "/search?query=plan",
    ):
        assert guarded.client.get(f"{API}/sessions/plan{path}", headers=other).status_code == 404, path
    assert guarded.client.get(f"{API}/search?query=secret", headers=other).json() == []


def test_holders_of_tokens_look_through_the_folders_that_were_named_and_no_others(guarded: Served) -> None:
    options = {"task": "harbour", "budget": 2_000}
    shared = str(guarded.store.parent / "shared")
    assert "notes.md" in guarded.post("/context", {**options, "workspace": shared})["text"]
    for folder in ("/etc", shared + "/..", str(guarded.store.parent)):
        answer = guarded.client.post(f"{API}/context", json={**options, "workspace": folder})
        assert (answer.status_code, answer.json()["field"]) == (403, "workspace")


def refused(folder: Path, *arguments: str, **environment: str) -> str:
    """Why it would not start."""
    with (
        pytest.raises(AssertionError, match="did not start") as why,
        served(folder, *arguments, **environment),
    ):
        pass
    return str(why.value)


def test_elsewhere_it_listens_only_with_a_token(tmp_path: Path) -> None:
    assert "there is no token" in refused(tmp_path, "--host", "0.0.0.0")


def test_a_token_that_can_be_guessed_is_refused_and_not_shown(tmp_path: Path) -> None:
    said = refused(tmp_path, FOVEAL_TOKEN="hunter2")
    assert "too weak" in said
    assert "hunter2" not in said


def test_with_a_token_it_listens_elsewhere_and_is_called_by_its_address(tmp_path: Path) -> None:
    with served(tmp_path, "--host", "0.0.0.0", token=ACME, FOVEAL_TOKEN=ACME) as found:
        port = found.address.rpartition(":")[2]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            client.headers["authorization"] = f"Bearer {ACME}"
            hosts = ("192.168.1.9", "evil.example.com")
            codes = [client.get(f"{API}/sessions", headers={"host": host}).status_code for host in hosts]
    assert codes == [200, 421]


def test_no_token_is_ever_said(guarded: Served, tmp_path: Path) -> None:
    paths = ("/openapi.json", "/metrics", f"{API}/sessions", "/health", f"{API}/nonesuch")
    assert ACME not in "".join(guarded.client.get(path).text for path in paths)
    (tmp_path / "foveal.toml").write_text(SETTINGS, encoding="utf-8")
    with served(tmp_path, token=ACME, ACME_TOKEN=ACME, GLOBEX_TOKEN=GLOBEX) as found:
        found.client.get(f"{API}/sessions/{ACME}")
        found.process.terminate()
        found.process.wait(timeout=30)
        assert ACME not in found.said.read_text(encoding="utf-8")


PAGES = {"/docs": "text/html", "/static/docs.js": "text/javascript", "/static/docs.css": "text/css"}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_runs_only_its_own_scripts(service: Served, path: str) -> None:
    headers = service.client.get(path).headers
    assert headers["content-type"].startswith(PAGES[path])
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]


ELSEWHERE = ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "....//app.py", "/etc/passwd", "x.js", "", "docs"]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_no_file_but_those_of_the_dashboard_is_given_out(service: Served, name: str) -> None:
    request = httpx.Request("GET", httpx.URL(service.address, raw_path=f"/static/{name}".encode()))
    assert service.client.send(request).status_code == 404


SINKS = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "srcdoc", "eval(")


@pytest.mark.parametrize("folder", ["static", "listing"])
def test_no_script_of_the_pages_makes_markup_of_text(folder: str) -> None:
    scripts = list((SOURCE / "server" / folder).glob("*.js"))
    assert scripts
    texts = {script.name: script.read_text(encoding="utf-8") for script in scripts}
    assert [(name, sink) for name, text in texts.items() for sink in SINKS if sink in text] == []


def test_a_page_that_did_not_change_is_not_sent_again(service: Served) -> None:
    tag = service.client.get("/docs").headers["etag"]
    assert service.client.get("/docs", headers={"if-none-match": tag}).status_code == 304


def test_the_command_line_does_not_load_the_service_for_anything_else(tmp_path: Path) -> None:
    code = "import sys; from foveal.cli.app import run; run(['models']); print('fastapi' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


def test_without_the_extra_the_command_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['fastapi'] = None; from foveal.cli.app import run; print(run(['serve']))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), "pip install 'foveal[serve]'" in done.stderr) == ("1", True)


FORGED = "gpt\x1b]0;owned\x07\x1b[2J\r\n\u202eerror: all is well\x9b31m"


def test_the_name_of_a_model_reaches_the_terminal_escaped(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        body = {"messages": [{"role": "user", "content": "hi"}], "budget": 100, "model": FORGED}
        service.client.post(f"{API}/fit", json=body)
        service.client.post(f"{API}/sessions", json={"name": "s", "model": FORGED})
        service.client.post(f"{API}/sessions/s/build", json={"budget": 100})
    said = service.said.read_bytes()
    assert b"\x1b" not in said
    assert b"\x07" not in said
