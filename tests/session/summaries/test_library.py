"""Who makes summaries, and how often. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from foveal.pipeline.summarize.values import Ask, Passage, Summary
from foveal.session.summaries.library import Answers, Library
from foveal.store import Store, open_store
from foveal.testing import draft


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(str(tmp_path / "store.db"), tenant="default")
    yield store
    store.close()


def asked(store: Store, *, tokens: int = 20, whole: bool = True) -> Ask:
    session = store.session("talk", now=0.0)
    said = ["We decided to use JWT. " * 20, "Is auth.js broken? " * 20]
    entries = store.append(session.id, [draft(text) for text in said], counter="")
    passages = tuple(
        Passage(first=e.seq, last=e.seq, role=e.role, text=text, digest=e.digest)
        for e, text in zip(entries, said, strict=True)
    )
    return Ask(passages=passages, tokens=tokens, whole=whole)


def answering(library: Library, *, better: bool = False) -> Answers:
    return Answers(library, lambda text: len(text.split()), better=better)


def test_an_answer_is_an_extract_within_its_tokens(store: Store) -> None:
    made = answering(Library(store))(asked(store))
    assert made.by == "extractive"
    assert 0 < made.tokens <= 20


def test_nothing_is_stored_before_it_is_saved(store: Store) -> None:
    answers, ask = answering(Library(store)), asked(store)
    answers(ask)
    assert store.summary(ask.key) is None
    answers.save()
    assert store.summary(ask.key) is not None


def test_a_stored_summary_is_found_by_every_library(store: Store) -> None:
    answers, ask = answering(Library(store)), asked(store)
    made = answers(ask)
    answers.save()
    assert Library(store).find(ask) == made


def test_a_stretch_that_still_grows_is_remembered_but_not_stored(store: Store) -> None:
    library, ask = Library(store), asked(store, whole=False)
    answers = answering(library)
    made = answers(ask)
    answers.save()
    assert (store.summary(ask.key), library.find(ask)) == (None, made)


def test_a_models_summary_replaces_an_extract(store: Store) -> None:
    library, ask = Library(store), asked(store)
    answers = answering(library, better=True)
    answers(ask)
    answers.save()
    written = Summary(text="They chose JWT.", tokens=3, by="llm")
    assert library.write_one(lambda _: written) is False
    assert answering(library, better=True)(ask) == written


def test_whoever_writes_summaries_is_told_that_one_was_queued(store: Store) -> None:
    told: list[str] = []
    library, ask = Library(store, when_queued=lambda: told.append("queued")), asked(store)
    answering(library)(ask)
    assert told == []
    answering(library, better=True)(ask)
    answering(library, better=True)(ask)
    assert told == ["queued"]


def test_what_a_model_has_written_is_known_though_another_process_asked_it(store: Store) -> None:
    library, ask = Library(store), asked(store)
    answers = answering(library, better=True)
    answers(ask)
    answers.save()
    library.find(ask)
    assert library.written({ask.key}) == set()
    Library(store).save(ask, Summary(text="They chose JWT.", tokens=3, by="llm"))
    assert library.written({ask.key, "another"}) == {ask.key}
    assert answering(library)(ask).by == "llm"


def test_a_model_that_failed_is_not_asked_again(store: Store) -> None:
    library, ask = Library(store), asked(store)
    fallback = answering(library, better=True)(ask)
    library.write_one(lambda _: fallback)
    answering(library, better=True)(ask)
    assert library.write_one(lambda _: pytest.fail("asked again")) is False


def test_summaries_of_erased_messages_are_forgotten(store: Store) -> None:
    library, ask = Library(store), asked(store)
    answers = answering(library)
    answers(ask)
    answers.save()
    session = store.session("talk", now=0.0)
    store.erase(session.id, store.entries(session.id)[0].id)
    library.forget()
    assert library.find(ask) is None


def test_messages_that_another_process_erased_are_not_sent_to_a_model(store: Store) -> None:
    library, ask = Library(store), asked(store)
    answering(library, better=True)(ask)
    session = store.session("talk", now=0.0)
    store.erase(session.id, store.entries(session.id)[0].id)
    assert library.write_one(lambda _: pytest.fail("sent")) is False


def test_an_extract_that_comes_late_does_not_hide_a_models_summary(store: Store) -> None:
    late, ask = answering(Library(store)), asked(store)
    late(ask)
    Library(store).save(ask, Summary(text="They chose JWT.", tokens=3, by="llm"))
    late.save()
    assert late(ask).by == "llm"
