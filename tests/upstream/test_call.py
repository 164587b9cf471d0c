"""Calling a model, against a real server: a response or a clear error in time, and the key in no error."""

from __future__ import annotations

import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.errors import ConfigError, UpstreamError
from foveal.testing.model_server import ModelServer, Reply, vector_of
from foveal.upstream import Endpoint, complete, embed, endpoint_at
from foveal.upstream.call import LONGEST_PAUSE
from foveal.upstream.protocols import read_completion, read_vectors

KEY = "sk-very-secret-0451"
FIELDS = ["choices", "message", "content", "data", "embedding", "index", "text", "type"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(FIELDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=6,
)


class Model:
    """A caller that records the pauses between attempts."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def ask(self, endpoint: Endpoint, key: str = KEY) -> str:
        return complete(endpoint, "hello", system="be brief", max_tokens=9, key=key, sleep=self.pauses.append)

    def fail(self, endpoint: Endpoint, key: str = KEY) -> UpstreamError:
        with pytest.raises(UpstreamError) as failure:
            self.ask(endpoint, key)
        return failure.value


@pytest.fixture
def model() -> Model:
    return Model()


def at(server: ModelServer, tail: str = "", **changes: float) -> Endpoint:
    return replace(endpoint_at(server.url + tail, "small"), **changes)  # type: ignore[arg-type]


def test_an_openai_compatible_model_is_called_in_its_protocol(model: Model) -> None:
    with ModelServer(Reply(text="hi")) as server:
        assert model.ask(at(server)) == "hi"
    (asked,) = server.received
    assert (asked.path, asked.headers["authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert asked.body["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hello"},
    ]
    assert (asked.body["model"], asked.body["max_tokens"]) == ("small", 9)


def test_an_anthropic_model_is_called_in_its_protocol(model: Model) -> None:
    with ModelServer(Reply(text="hi")) as server:
        assert model.ask(at(server, "/messages")) == "hi"
    (asked,) = server.received
    assert (asked.path, asked.headers["x-api-key"]) == ("/v1/messages", KEY)
    assert asked.headers["anthropic-version"]
    assert (asked.body["system"], asked.body["max_tokens"]) == ("be brief", 9)
    assert asked.body["messages"] == [{"role": "user", "content": "hello"}]


def test_without_a_key_none_is_sent(model: Model) -> None:
    with ModelServer() as server:
        model.ask(at(server), key="")
    assert "authorization" not in server.received[0].headers


@pytest.mark.parametrize("trouble", ["hang", "trickle"])
def test_a_server_that_does_not_come_to_an_end_is_left_in_time(model: Model, trouble: str) -> None:
    with ModelServer(Reply(trouble=trouble)) as server:  # type: ignore[arg-type]
        began = time.monotonic()
        error = model.fail(at(server, timeout=0.3))
        assert time.monotonic() - began < 3
    assert error.what == "127.0.0.1 did not answer within 0.3 s"
    assert len(server.received) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_a_temporary_failure_is_retried(model: Model, status: int) -> None:
    with ModelServer(Reply(status=status), Reply(status=status), Reply(text="hi")) as server:
        assert model.ask(at(server)) == "hi"
    assert len(server.received) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_permanent_failure_is_not_retried(model: Model, status: int) -> None:
    with ModelServer(Reply(status=status)) as server:
        error = model.fail(at(server))
    assert error.what == f"127.0.0.1 answered {status} (api_error)"
    assert len(server.received) == 1


def test_after_its_retries_a_call_gives_up_and_says_how_often_it_tried(model: Model) -> None:
    with ModelServer(Reply(status=500)) as server:
        assert model.fail(at(server, retries=3)).what == "127.0.0.1 answered 500 (api_error), 4 times"
    assert len(server.received) == 4


def test_pauses_double_and_are_never_quite_the_same(model: Model) -> None:
    with ModelServer(Reply(status=500)) as server:
        model.fail(at(server, retries=4))
    assert [0.25 * 2**n <= pause <= 0.5 * 2**n for n, pause in enumerate(model.pauses)] == [True] * 4
    assert len(set(model.pauses)) == 4


@pytest.mark.parametrize(
    ("retry_after", "least", "most"),
    [
        (lambda: "7", 7, 7),
        (lambda: formatdate(time.time() + 9, usegmt=True), 7, 9),
        (lambda: formatdate(time.time() - 9, usegmt=True), 0, 0.5),
        (lambda: "86400", LONGEST_PAUSE, LONGEST_PAUSE),
        (lambda: "9" * 5000, LONGEST_PAUSE, LONGEST_PAUSE),
        (lambda: "when I say so", 0, 0.5),
        (lambda: "-5", 0, 0.5),
    ],
)
def test_the_pause_a_server_asks_for_is_kept_up_to_a_limit(
    model: Model, retry_after: Callable[[], str], least: float, most: float
) -> None:
    with ModelServer(Reply(status=429, headers={"retry-after": retry_after()}), Reply()) as server:
        model.ask(at(server))
    assert least <= model.pauses[0] <= most


def test_a_pause_that_would_outlast_the_call_ends_it_now(model: Model) -> None:
    with ModelServer(Reply(status=429, headers={"retry-after": "20"})) as server:
        assert "answered 429" in model.fail(at(server, timeout=5)).what
    assert model.pauses == []


def test_a_broken_connection_is_tried_again(model: Model) -> None:
    with ModelServer(Reply(trouble="reset"), Reply(text="hi")) as server:
        assert model.ask(at(server)) == "hi"


def test_a_host_that_is_not_there_is_named_after_all_attempts(model: Model) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    error = model.fail(endpoint_at(f"http://127.0.0.1:{port}/v1", "small"))
    assert error.what == "127.0.0.1 cannot be reached, 3 times"


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        (Reply(body=b'{"choices": ['), "answered 13 bytes of broken JSON"),
        (Reply(body=b"[" * 100_000), "answered 100,000 bytes of broken JSON"),
        (Reply(body=b"\xff\xfe"), "answered 2 bytes of broken JSON"),
        (Reply(body=b" " * 2_000_000), "answered more than 1,048,576 bytes"),
        (Reply(headers={"content-type": "text/html"}), "answered something other than JSON"),
        (Reply(headers={"content-encoding": "gzip"}), "answered something other than JSON"),
        (Reply(end="length"), "did not finish within 9 tokens"),
        (Reply(body=b"null"), "answered no text"),
        (Reply(body=b'{"choices": [{"message": {"content": null}}]}'), "answered no text"),
    ],
)
def test_an_answer_that_cannot_be_used_is_an_error_at_once(model: Model, reply: Reply, what: str) -> None:
    with ModelServer(reply) as server:
        assert model.fail(at(server)).what == f"127.0.0.1 {what}"
    assert len(server.received) == 1


def test_a_redirect_is_not_followed(model: Model) -> None:
    with ModelServer() as elsewhere:
        away = Reply(status=307, headers={"location": f"{elsewhere.url}/chat/completions"})
        with ModelServer(away) as server:
            assert model.fail(at(server)).what == "127.0.0.1 answered 307 (api_error)"
    assert elsewhere.received == []


def test_no_more_calls_than_the_limit_run_at_once() -> None:
    with ModelServer(Reply(seconds=0.05)) as server:
        endpoint = at(server, concurrency=2)
        threads = [threading.Thread(target=Model().ask, args=(endpoint,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (len(server.received), server.busiest) == (8, 2)


def test_waiting_for_a_slot_ends_with_the_timeout(model: Model) -> None:
    with ModelServer(Reply(trouble="hang")) as server:
        patient = at(server, concurrency=1, timeout=0.6)
        first = threading.Thread(target=Model().fail, args=(patient,))
        first.start()
        while not server.received:
            time.sleep(0.01)
        error = model.fail(replace(patient, timeout=0.1))
        first.join()
    assert error.what == "127.0.0.1 was busy with 1 other calls for 0.1 s"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=401, text=f"no such key: {KEY}"),
        Reply(status=429, body=f'{{"error": {{"code": "{KEY}", "type": "{KEY}"}}}}'.encode()),
        Reply(status=307, headers={"location": f"http://a.io/{KEY}"}),
        Reply(body=KEY.encode()),
        Reply(trouble="reset"),
    ],
)
def test_no_error_quotes_the_key_even_if_the_server_does(model: Model, reply: Reply) -> None:
    with ModelServer(reply) as server:
        error = model.fail(at(server))
    assert KEY not in "".join(traceback.format_exception(error)) + repr(error)


@pytest.mark.parametrize("key", [f"{KEY}\nx-evil: 1", f"{KEY} ", f"{KEY}é", f"{KEY}\x00"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(model: Model, key: str) -> None:
    with (
        ModelServer() as server,
        pytest.raises(ConfigError, match="contains spaces") as failure,
    ):
        model.ask(at(server), key=key)
    assert KEY not in "".join(traceback.format_exception(failure.value))
    assert server.received == []


def test_without_the_package_the_error_says_how_to_get_it(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(ConfigError) as failure:
        model.ask(endpoint_at("http://127.0.0.1/v1", "small"))
    assert failure.value.remedy == "`pip install 'foveal[llm]'`"


def test_vectors_come_in_the_order_of_the_texts_a_hundred_at_a_time(model: Model) -> None:
    texts = [f"text {n}" for n in range(250)]
    with ModelServer() as server:
        assert embed(at(server), texts, key=KEY, sleep=model.pauses.append) == [vector_of(t) for t in texts]
    assert [len(asked.body["input"]) for asked in server.received] == [100, 100, 50]
    assert [asked.path for asked in server.received] == ["/v1/embeddings"] * 3
    assert model.pauses == [0.1, 0.1]


def test_vectors_are_put_in_order_by_their_index() -> None:
    rows = b'{"data": [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}]}'
    with ModelServer(Reply(body=rows)) as server:
        assert embed(at(server), ["a", "b"]) == [[1.0], [2.0]]


def test_no_texts_ask_for_nothing() -> None:
    with ModelServer() as server:
        assert embed(at(server), []) == []
    assert server.received == []


@pytest.mark.parametrize(
    "rows",
    [
        "[]",
        '[{"embedding": [1]}]',
        '[{"embedding": [1]}, {"embedding": [1, 2]}]',
        '[{"embedding": [1]}, {"embedding": []}]',
        '[{"embedding": [1]}, {"embedding": [NaN]}]',
        '[{"embedding": [1]}, {"embedding": ["1"]}]',
        '[{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]',
        '[{"index": 1, "embedding": [1]}, {"index": 2, "embedding": [1]}]',
    ],
)
def test_vectors_that_are_not_one_for_each_text_are_an_error(rows: str) -> None:
    with (
        ModelServer(Reply(body=f'{{"data": {rows}}}'.encode())) as server,
        pytest.raises(UpstreamError, match="one vector for each of 2 texts"),
    ):
        embed(at(server), ["a", "b"])


def test_a_protocol_without_vectors_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"api\.anthropic\.com uses a protocol without embeddings"):
        embed(endpoint_at("https://api.anthropic.com", "m"), ["a"])


@given(JSON)
def test_whatever_json_comes_back_reading_it_never_fails(answer: object) -> None:
    for url in ("http://a.io/v1", "http://a.io/v1/messages"):
        found = read_completion(endpoint_at(url, "m"), answer)
        assert found is None or isinstance(found.text, str)
    rows = read_vectors(answer, 1)
    assert rows is None or len(rows) == 1
