"""A long history is summarised once: again costs nothing, one message more at most one summary a level."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from foveal import Foveal, Session, presets
from foveal.pipeline.summarize import extract
from foveal.pipeline.summarize.values import Ask, Summary

MESSAGES = 20_096 if os.environ.get("FOVEAL_SOAK") == "1" else 2_496
"""A block of twenty, a group of five blocks and one of groups come to an end a few messages later."""
REOPENED = 1_012
BUDGET = 4_000
LEVELS = 5
"""Blocks of 20 messages, then groups of five: 1 000 blocks are 200, 40, 8 and 1 more."""


class Made:
    """The summaries that were made, by level."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.levels: list[int] = []
        self._extractive = extract.extractive_summary
        monkeypatch.setattr(extract, "extractive_summary", self)

    def __call__(self, ask: Ask, count: extract.Count) -> Summary:
        self.levels.append(ask.level)
        return self._extractive(ask, count)

    def since(self) -> list[int]:
        """Those of the time since the last question."""
        made, self.levels = self.levels, []
        return made


def said(number: int) -> dict[str, str]:
    text = f"Order {number} of flour_{number % 13}.csv is paid; we decided to ship it on day {number % 31}."
    return {"role": ("user", "assistant")[number % 2], "content": text}


@contextmanager
def opened(file: Path) -> Iterator[Session]:
    with Foveal(file, embedder="none") as fov:
        yield fov.session("long", model="gpt-5", preset="openscroll")


def built(session: Session) -> list[dict[str, Any]]:
    return session.build(budget=BUDGET, now=0.0).messages


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    """Nothing is known beside the history: what is learnt in the background would change its share."""
    layers = replace(presets.PRESETS["openscroll"], knows=False)
    monkeypatch.setitem(presets.PRESETS, "openscroll", layers)
    return Made(monkeypatch)


def test_the_same_content_is_summarised_once_and_one_message_more_at_most_once_a_level(
    tmp_path: Path, made: Made
) -> None:
    with opened(tmp_path / "foveal.db") as session:
        session.extend([*map(said, range(MESSAGES))])
        first = built(session)
        assert len(made.since()) >= MESSAGES // 20
        assert (built(session), made.since()) == (first, [])
        for number in range(MESSAGES, MESSAGES + 5):
            session.extend([said(number)])
            built(session)
            new = made.since()
            assert len(new) == len(set(new)) <= LEVELS


def test_a_store_that_is_opened_again_has_all_summaries_but_those_that_still_grow(
    tmp_path: Path, made: Made
) -> None:
    with opened(tmp_path / "foveal.db") as session:
        session.extend([*map(said, range(REOPENED))])
        first = built(session)
        assert len(made.since()) >= REOPENED // 20
    with opened(tmp_path / "foveal.db") as session:
        assert built(session) == first
        again = made.since()
        assert len(again) == len(set(again)) < LEVELS
