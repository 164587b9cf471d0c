"""Looking back over a session. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import foveal
from foveal import BudgetError, Foveal, InputError, Session
from foveal.search.terms import terms

JWT = "We decided to use JWT tokens for the login service."
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "auth.js"}'}}
    ],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "function verify(token) { /* expiry */ }"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Foveal]:
    with Foveal(tmp_path / "store.db") as fov:
        yield fov


@pytest.fixture
def session(store: Foveal) -> Session:
    session = store.session("work")
    for number in range(40):
        session.add("user", f"Chapter {number}: the weather on the island was fine.", timestamp=float(number))
    session.add("assistant", JWT, timestamp=50.0)
    return session


def test_a_search_finds_the_message_that_answers_and_says_why(session: Session) -> None:
    hit = session.search("which tokens for the login?")[0]
    assert (hit.text, hit.session) == (JWT, "work")
    assert hit.parts["keyword"] > 0
    assert session.recall(hit.handle)["content"] == JWT


def test_a_search_for_words_that_no_message_has_finds_nothing(session: Session) -> None:
    assert session.search("zebra quantum") == ()


def test_what_was_just_added_is_found_and_what_was_erased_is_not(session: Session) -> None:
    id = session.add("user", "The passphrase is xylophone.")
    assert session.search("xylophone")[0].id == id
    session.forget(id)
    assert session.search("xylophone") == ()


def test_another_session_is_searched_only_everywhere(store: Foveal, session: Session) -> None:
    other = store.session("other")
    other.add("user", "Nothing to see here.")
    assert other.search("JWT tokens for login") == ()
    assert other.search("JWT tokens for login", everywhere=True)[0].session == "work"


def test_another_tenant_is_never_searched(tmp_path: Path, session: Session) -> None:
    with Foveal(tmp_path / "store.db", tenant="stranger") as fov:
        assert fov.session("work").search("JWT tokens", everywhere=True) == ()


def test_a_focus_holds_the_answer_whole_in_order_and_within_its_budget(session: Session) -> None:
    window = session.focus("which tokens did we choose for login?", budget=80)
    said = [message["content"] for message in window.messages]
    assert JWT in said
    assert window.tokens <= 80 == window.budget
    assert foveal.count_tokens(window.messages) == window.tokens


def test_a_focus_with_room_for_everything_leaves_out_what_has_nothing_to_do_with_the_question(
    session: Session,
) -> None:
    session.add("user", "Where do login tokens expire?", timestamp=51.0)
    session.add("assistant", "After a quarter of an hour, in the gateway.", timestamp=52.0)
    for number in range(40, 60):
        session.add("user", f"Chapter {number}: the weather on the island was fine.", timestamp=float(number))
    texts = [m["content"] for m in session.focus("which tokens for the login?", budget=50_000).messages]
    asked, answered = "Where do login tokens expire?", "After a quarter of an hour, in the gateway."
    assert [text for text in texts if not text.startswith("Chapter")] == [JWT, asked, answered]
    assert len(texts) < 6


def test_a_focus_explains_itself_when_asked(session: Session) -> None:
    manifest = session.focus("which tokens for login?", budget=80).manifest
    covered = sum(decision.last - decision.first + 1 for decision in manifest.decisions)
    assert (manifest.preset, covered) == ("focus", 41)
    assert all(decision.score for decision in manifest.kept)


def test_a_focus_keeps_a_tool_s_result_with_its_call(store: Foveal) -> None:
    session = store.session("tools")
    session.extend([{"role": "user", "content": "Look at auth.js."}, CALL, RESULT])
    window = session.focus("verify token expiry", budget=120)
    assert CALL in window.messages
    assert RESULT in window.messages


def test_a_focus_shows_messages_that_were_left_out_of_windows(session: Session) -> None:
    session.add("user", "Go on.")
    session.summarize(keep=1)
    window = session.focus("which tokens did we choose for login?", budget=80)
    assert JWT in [message["content"] for message in window.messages]


def test_a_large_session_is_searched_by_the_store_s_indexes(
    session: Session, store: Foveal, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.settle()
    monkeypatch.setattr("foveal.session.search.search.LARGE", 10)
    assert session.search("which tokens for the login?")[0].text == JWT


ASKED = [
    ("Where did we decide on SAML?", "We decided on SAML for the staff, because of their directory."),
    ("What is the port of the staging database?", "The staging database listens on port 5433."),
    ("So how long do access tokens live?", "Access tokens live fifteen minutes, refresh tokens a week."),
    ("which queue did Maria choose", "Maria chose the Redis queue after the load test."),
]


@pytest.mark.parametrize("large", [5_000, 10], ids=["in memory", "in the store"])
@pytest.mark.parametrize(("question", "answer"), ASKED)
def test_what_answers_a_query_comes_before_what_only_asks_it(
    session: Session,
    store: Foveal,
    monkeypatch: pytest.MonkeyPatch,
    question: str,
    answer: str,
    large: int,
) -> None:
    session.add("assistant", answer, timestamp=60.0)
    for number in range(20):
        session.add("user", f"Verse {number}: a ship came in at dawn.", timestamp=61.0 + number)
    session.add("user", question, timestamp=90.0)
    session.add("assistant", "One moment, I am reading it up.", timestamp=91.0)
    store.settle()
    monkeypatch.setattr("foveal.session.search.search.LARGE", large)
    found = [hit.text for hit in session.search(question)]
    assert found[0] == answer
    assert question in found


def test_a_statement_in_the_very_words_of_the_query_comes_first(session: Session) -> None:
    session.add("user", "Should we use JWT tokens for the login service?", timestamp=60.0)
    assert session.search("use JWT tokens for the login service")[0].text == JWT
    assert session.search(JWT)[0].text == JWT


def test_a_query_with_an_identifier_finds_the_message_that_contains_it(store: Foveal) -> None:
    session = store.session("code")
    for number in range(60):
        text = " ".join(f"def func_{number}_{part}(): return {part}" for part in range(40))
        session.extend([{"role": "user", "content": f"Look at step {number}."}])
        session.extend([{"role": "assistant", "content": text}])
    assert "func_17_3(" in session.search("what does func_17_3 return")[0].text
    window = session.focus("what does func_17_3 return", budget=1_500)
    assert any("func_17_3(" in message["content"] for message in window.messages)


def test_an_erased_copy_spoils_no_vector_of_the_words_elsewhere(store: Foveal) -> None:
    one, other = store.session("one"), store.session("other")
    for session in (one, other):
        session.add("user", "The harbour is closed in winter.")
        session.add("user", "Bread is baked at dawn.")
    one.forget("m1")
    assert one.search("winter port") == ()
    assert other.search("harbour", everywhere=True)[0].session == "other"
    assert other.search("harbour")[0].parts["vector"] > 0


def test_a_focus_does_not_show_a_turn_with_an_erased_message(store: Foveal) -> None:
    session = store.session("tools")
    session.extend([{"role": "user", "content": "Look at auth.js."}, CALL, RESULT])
    session.forget("m2")
    session.forget("m3", erase=False)
    assert RESULT not in session.focus("verify token expiry", budget=200).messages


def test_a_manifest_read_later_describes_the_history_as_it_was(session: Session) -> None:
    window = session.focus("which tokens for login?", budget=80)
    session.add("user", "One more.")
    assert window.manifest.decisions[-1].last == 40


def test_a_focus_does_not_count_as_a_build(session: Session) -> None:
    session.focus("login", budget=100)
    assert session.stats().builds == 0


def test_vectors_are_computed_once_and_survive_a_restart(
    tmp_path: Path, session: Session, store: Foveal
) -> None:
    assert store.settle()
    first = session.search("authentication secrets")
    with Foveal(tmp_path / "store.db") as fov:
        assert fov.session("work").search("authentication secrets") == first


def test_without_an_embedder_words_alone_decide(tmp_path: Path) -> None:
    with Foveal(tmp_path / "words.db", embedder="none") as fov:
        session = fov.session("work")
        session.add("assistant", JWT)
        assert session.search("login")[0].text == JWT
        assert "vector" not in session.search("login")[0].parts


@pytest.mark.parametrize("budget", [-1, 0, 2])
def test_a_budget_below_an_empty_window_is_refused(session: Session, budget: int) -> None:
    with pytest.raises(BudgetError, match=f"the budget is {budget} tokens, an empty window has 3"):
        session.focus("login", budget=budget)


def test_a_question_must_be_text(session: Session) -> None:
    with pytest.raises(InputError, match="`question` is a int, not text"):
        session.focus(5, budget=100)  # type: ignore[arg-type]


def test_an_empty_session_has_nothing_to_show(store: Foveal) -> None:
    window = store.session("new").focus("anything", budget=100)
    assert (window.messages, store.session("new").search("anything")) == ([], ())


WORDS = st.text(st.sampled_from("abc \n"), max_size=40)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), WORDS), max_size=12), WORDS, st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
def test_no_focus_is_over_its_budget_and_all_it_shows_was_said(
    store: Foveal, said: list[tuple[str, str]], question: str, data: st.DataObject
) -> None:
    session = store.session(f"s{len(store.sessions())}")
    session.extend([{"role": role, "content": text} for role, text in said if text.strip()])
    budget = data.draw(st.integers(3, 200))
    window = session.focus(f"a {question}", budget=budget)
    assert foveal.count_tokens(window.messages) == window.tokens <= budget
    assert {m["content"] for m in window.messages} <= {text for _, text in said} | {
        "[The conversation as far as it is shown:]"
    }


PARAPHRASES = json.loads((Path(__file__).parents[3] / "benchmarks" / "paraphrases.json").read_text("utf-8"))
SAMPLE = (
    ("any dietary restrictions?", "I'm vegetarian."),
    ("vehicle", "We bought a used car from my uncle in March."),
    ("tell me about the kitten", "Our cat sleeps on the radiator all day."),
    ("what is my job", "I work as a nurse on the night shift."),
    ("which database are we running", "Production is on Postgres 16 behind pgbouncer."),
    ("my family", "My wife Anna and the two boys are visiting in June."),
    ("musical taste", "I mostly listen to jazz and a bit of soul."),
    ("alcohol", "I stopped drinking wine and beer after New Year."),
)


def test_no_paraphrase_has_a_content_word_of_its_question() -> None:
    pairs = PARAPHRASES["pairs"]
    assert len(pairs) == 100
    assert not [p for p in pairs if set(terms(p["query"]).all) & set(terms(p["text"]).all)]


def test_a_question_finds_what_says_the_same_in_other_words(store: Foveal) -> None:
    session = store.session("talk")
    texts = (*(pair["text"] for pair in PARAPHRASES["pairs"]), *PARAPHRASES["distractors"])
    session.extend([{"role": "user", "content": text} for text in texts])
    for question, text in SAMPLE:
        assert text in [hit.text for hit in session.search(question, limit=5)], question


def test_a_hit_that_may_be_a_coincidence_is_marked_as_weak(store: Foveal) -> None:
    session = store.session("talk")
    session.extend([{"role": "user", "content": text} for text in PARAPHRASES["distractors"]])
    unrelated = session.search("kubernetes ingress controller", limit=10)
    assert len(unrelated) <= 5
    assert all(hit.weak for hit in unrelated)
    assert not session.search("umbrella")[0].weak


def test_hits_by_meaning_across_sessions_are_marked_too(store: Foveal) -> None:
    session = store.session("talk")
    session.extend([{"role": "user", "content": text} for text in ("I'm vegetarian.", "The bus is late.")])
    store.settle(60)
    (hit,) = session.search("dietary restrictions", everywhere=True)
    assert (hit.text, hit.weak) == ("I'm vegetarian.", hit.score < 0.15)
    assert not session.search("bus", everywhere=True)[0].weak
