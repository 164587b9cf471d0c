"""Builds that older versions stored are read as they were meant."""

from __future__ import annotations

import json

import pytest

from foveal import Session
from foveal.pipeline import reasons

EMPTY: dict[str, object] = {
    **{name: [] for name in ("repairs", "warnings", "slots", "conflicts")},
    **{name: {} for name in ("parts", "metrics")},
}


def read(session: Session, because: str, verdict: str = "left out") -> str:
    """The code of a decision that was stored when decisions had none."""
    row = [0, 0, verdict, 5, 0, "full", None, ""]
    stored = json.dumps({"counter": "words", "reasons": [because], "decisions": [row], **EMPTY})
    session._state.store.amend_build(session._state.id, 1, stored)
    return session.manifest().decisions[0].code


@pytest.mark.parametrize(
    ("because", "code"),
    [
        ("left out on request, until restored", "left_out"),
        ("erased", "erased"),
        ("not selected", "not_selected"),
        ("82 tokens short", "not_selected"),
    ],
)
def test_a_decision_without_a_code_gets_it_from_its_sentence(
    session: Session, monkeypatch: pytest.MonkeyPatch, because: str, code: str
) -> None:
    session.add("user", "hello")
    session.build()
    monkeypatch.setattr(reasons, "SENTENCES", dict.fromkeys(reasons.SENTENCES, "said otherwise today"))
    assert read(session, because) == code


def test_what_was_kept_and_cut_keeps_its_code(session: Session) -> None:
    session.add("user", "hello")
    session.build()
    cut = "open turn; its longest results were cut from 900 to 100 tokens"
    assert (read(session, cut, "kept"), read(session, "score 0.9", "kept")) == ("open_turn", "selected")
