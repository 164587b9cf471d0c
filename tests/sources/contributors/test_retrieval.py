"""What search hits contribute. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from pathlib import Path

import pytest

from foveal.sources.contributor import Offer
from foveal.sources.contributors.retrieval import Hit, retrieval
from workspaces import request_for, words


def offered(root: Path, *hits: Hit, room: int = 10_000) -> list[Offer]:
    return list(retrieval(hits)(request_for(root, room=room)))


def hit(text: str, score: float, source: str = "past/m1") -> Hit:
    return Hit(text=text, source=source, score=score)


def test_the_best_come_first_with_their_scores_as_salience(tmp_path: Path) -> None:
    found = offered(tmp_path, hit("low", 0.3, "a/m1"), hit("high", 0.9, "b/m1"))
    assert [(each.source_path, each.salience) for each in found] == [("b/m1", 0.9), ("a/m1", 0.3)]


def test_what_says_nothing_is_passed_over(tmp_path: Path) -> None:
    assert offered(tmp_path, hit(" \n", 0.9)) == []


@pytest.mark.parametrize("room", [0, 200, 400, 4_000])
def test_long_hits_are_cut_and_all_stay_within_their_part(tmp_path: Path, room: int) -> None:
    found = offered(tmp_path, *(hit("word " * 3_000, 0.5) for _ in range(20)), room=room)
    assert sum(words(each.text) for each in found) <= room / 4
    assert len(found) == {0: 0, 200: 0, 400: 1}.get(room, len(found))
    assert all("characters cut" in each.text for each in found)
