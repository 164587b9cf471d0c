"""What can be set for the service, what wins, and what is refused before it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from foveal.config import load, unknown_variables
from foveal.errors import ConfigError
from foveal.server.settings import Serving, serving
from serving import served

TOKEN = "a-long-token-of-acme-0123"


def settled(folder: Path, text: str = "", port: int | None = None, **environment: str) -> Serving:
    (folder / "foveal.toml").write_text(text, encoding="utf-8")
    return serving(load({}, environment, folder), {"port": port}, environment)


def test_it_listens_on_this_machine_without_a_token_by_default(tmp_path: Path) -> None:
    found = settled(tmp_path)
    assert (found.host, found.port, found.loopback, found.tokens) == ("127.0.0.1", 8790, True, {})


def test_an_option_beats_a_variable_which_beats_the_file(tmp_path: Path) -> None:
    text = "[serve]\nport = 1\n"
    assert settled(tmp_path, text).port == 1
    assert settled(tmp_path, text, FOVEAL_SERVE_PORT="2").port == 2
    assert settled(tmp_path, text, port=3, FOVEAL_SERVE_PORT="2").port == 3


def test_lists_in_variables_have_commas(tmp_path: Path) -> None:
    found = settled(tmp_path, FOVEAL_SERVE_ALLOWED_ORIGINS="https://a.example, http://B.example:81/")
    assert found.allowed_origins == ("https://a.example", "http://b.example:81")


def test_a_token_opens_the_tenant_that_is_set(tmp_path: Path) -> None:
    found = settled(tmp_path, 'tenant = "acme"\n', FOVEAL_TOKEN=TOKEN)
    assert (found.tenant_of(TOKEN), found.tenant_of(TOKEN + "x")) == ("acme", None)


def test_only_the_hash_of_a_token_is_kept(tmp_path: Path) -> None:
    text = '[serve.tokens]\nACME_TOKEN = "acme"\n'
    found = settled(tmp_path, text, ACME_TOKEN=TOKEN)
    assert found.tenant_of(TOKEN) == "acme"
    assert TOKEN not in f"{found!r} {found.tokens}"


REFUSED = {
    "an unknown setting": "[serve]\nprot = 1\n",
    "a port that is none": "[serve]\nport = 70000\n",
    "an origin with a path": '[serve]\nallowed_origins = ["https://a.example/page"]\n',
    "every origin": '[serve]\nallowed_origins = ["*"]\n',
    "a list that is none": '[serve]\nhosts = "a.example"\n',
    "a table that is none": "serve = 3\n",
    "a token in a file": f'[serve.tokens]\n"{TOKEN}" = "acme"\n',
    "a variable that is not set": '[serve.tokens]\nNONE_TOKEN = "acme"\n',
    "another machine without a token": '[serve]\nhost = "0.0.0.0"\n',
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_makes_no_sense_is_refused(tmp_path: Path, what: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        settled(tmp_path, REFUSED[what])
    assert refusal.value.remedy
    assert refusal.value.field
    assert TOKEN not in str(refusal.value)


def test_two_tenants_with_one_token_are_refused(tmp_path: Path) -> None:
    text = '[serve.tokens]\nACME_TOKEN = "acme"\nGLOBEX_TOKEN = "globex"\n'
    with pytest.raises(ConfigError, match="two tokens are the same"):
        settled(tmp_path, text, ACME_TOKEN=TOKEN, GLOBEX_TOKEN=TOKEN)


def test_its_variables_are_no_strangers() -> None:
    assert unknown_variables({"FOVEAL_SERVE_PORT": "1", "FOVEAL_TOKEN": "x"}) == []


def test_the_demo_has_a_session_to_show_and_touches_nothing_else(tmp_path: Path) -> None:
    with served(tmp_path, "--demo") as demo:
        (session,) = demo.get("/sessions")
        assert session["name"] == "demo"
        assert len(demo.get("/sessions/demo/builds")["builds"]) > 5
        managed = demo.get("/sessions/demo/stats")["costs"]["managed"]
        assert managed["cached"] > managed["tokens"] / 2  # one window after another, as an agent asks
    assert not demo.store.exists()


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with served(tmp_path) as first, pytest.raises(AssertionError, match="cannot listen on"):  # noqa: SIM117
        with served(tmp_path, "--port", first.address.rpartition(":")[2]):
            pass
