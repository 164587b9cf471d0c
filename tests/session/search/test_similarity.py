"""How `fifth` compares messages with a task: by meaning, in every window, each message embedded once."""

from __future__ import annotations

from pathlib import Path

import pytest

import foveal
from foveal import Foveal, Manifest, Session

TASK = "Why do the printers fail?"
FILLER = "The quarterly budget of the finance department was approved on Monday without changes."
PARAPHRASE = "The machine on the third floor that prints our documents is broken."


def relevance(manifest: Manifest) -> list[float]:
    """The share that relevance has in the score of each turn."""
    return [each.score.parts["relevance"] for each in manifest.decisions if each.score]


def filled(session: Session) -> Session:
    for text in (FILLER, "The printer is jammed.", PARAPHRASE, FILLER, TASK):
        session.add("user", text)
    return session


def check(found: list[float]) -> None:
    filler, printer, paraphrase, _, task = found
    assert filler < paraphrase < task
    assert filler < printer
    assert task == pytest.approx(0.4, abs=0.001)


def test_other_forms_of_a_word_and_other_words_of_the_same_meaning_are_relevant(fov: Foveal) -> None:
    session = filled(fov.session("work", model="gpt-5", preset="fifth"))
    check(relevance(session.build(task=TASK).manifest))


def test_fit_and_compare_rank_by_meaning_too() -> None:
    texts = (FILLER, "The printer is jammed.", PARAPHRASE, FILLER, TASK)
    history = [{"role": "user", "content": text} for text in texts]
    check(relevance(foveal.fit(history, preset="fifth", task=TASK).manifest))
    assert foveal.compare(history, presets=["fifth"], task=TASK).presets[0].messages == len(history)


def test_without_an_embedder_words_decide(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db", embedder="none") as fov:
        session = filled(fov.session("work", model="gpt-5", preset="fifth"))
        filler, printer, *_ = relevance(session.build(task="printers jam").manifest)
        assert (filler, printer) == (0.0, 0.0)


def test_vectors_are_stored_and_give_the_same_window_after_a_restart(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as fov:
        session = filled(fov.session("work", model="gpt-5", preset="fifth"))
        before = relevance(session.build(task=TASK, now=1e9).manifest)
    with Foveal(tmp_path / "f.db") as fov:
        assert relevance(fov.session("work").build(task=TASK, now=1e9).manifest) == before


def test_why_reproduces_a_window_that_was_chosen_by_meaning(fov: Foveal) -> None:
    session = filled(fov.session("work", model="gpt-5", preset="fifth"))
    session.build(budget=70, now=1e9)
    assert session.why("m2").tokens is not None
