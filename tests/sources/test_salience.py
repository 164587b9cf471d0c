"""How relevant an offer is to the task: worked examples. Read the test names top to bottom."""

from __future__ import annotations

from pathlib import Path

import pytest

from foveal.sources.contributor import Offer
from foveal.sources.mentions import mentions
from foveal.sources.salience import saliences
from workspaces import DAY, NOW, request_for

TASK = "fix the login"


def salience(root: Path, offer: Offer, *others: Offer, task: str = TASK, **more: list[str]) -> float:
    request = request_for(root, task, **more)
    return saliences([offer, *others], request, mentions(request))[0]


def test_a_text_with_all_words_of_the_task_has_the_whole_of_similarity(tmp_path: Path) -> None:
    assert salience(tmp_path, Offer(text="How logins were fixed")) == 0.6


def test_half_of_the_words_is_half_of_it(tmp_path: Path) -> None:
    assert salience(tmp_path, Offer(text="login")) == pytest.approx(0.26, abs=0.05)


def test_a_word_that_few_offers_have_counts_for_more(tmp_path: Path) -> None:
    rare, common = Offer(text="login form"), Offer(text="fix this")
    request = request_for(tmp_path, TASK)
    found = saliences([rare, common, Offer(text="fix that")], request, mentions(request))
    assert found[0] > found[1]


def test_what_was_touched_now_has_the_whole_of_recency_and_half_a_day_later(tmp_path: Path) -> None:
    assert salience(tmp_path, Offer(text="x", touched_at=NOW)) == 0.3
    assert salience(tmp_path, Offer(text="x", touched_at=NOW - DAY)) == 0.15
    assert salience(tmp_path, Offer(text="x", touched_at=NOW + DAY)) == 0.3


def test_a_path_that_is_mentioned_lifts_the_most(tmp_path: Path) -> None:
    offer = Offer(text="x", source_path="src/auth.py")
    assert salience(tmp_path, offer, said=["look at src/auth.py:12"]) == 0.9
    assert salience(tmp_path, offer, said=["look at auth.py"]) == 0.9
    assert salience(tmp_path, offer, said=["look at oauth.py"]) == 0.0


def test_a_file_that_is_open_counts_as_mentioned(tmp_path: Path) -> None:
    offer = Offer(text="x", source_path="src/auth.py")
    assert salience(tmp_path, offer, active_files=["src/auth.py"]) == 0.9


def test_a_name_of_code_counts_more_in_the_task_than_in_the_conversation(tmp_path: Path) -> None:
    offer = Offer(text="def check_token(): ...")
    assert salience(tmp_path, offer, task="", said=["call check_token", "go on"]) == 0.25
    assert salience(tmp_path, offer, task="call check_token") > 0.5


def test_signs_join_and_never_exceed_one(tmp_path: Path) -> None:
    offer = Offer(text="fix login", source_path="auth.py", touched_at=NOW)
    assert salience(tmp_path, offer, said=["auth.py"]) == round(1 - 0.4 * 0.7 * 0.1, 4)


def test_without_a_task_the_last_words_are_the_task(tmp_path: Path) -> None:
    assert salience(tmp_path, Offer(text="fix login"), task="", said=["hello", "fix the login"]) == 0.6


@pytest.mark.parametrize(("given", "taken"), [(0.4, 0.4), (7.0, 1.0), (-1.0, 0.0), (float("nan"), 0.0)])
def test_what_an_offer_says_itself_is_taken_within_0_and_1(
    tmp_path: Path, given: float, taken: float
) -> None:
    assert salience(tmp_path, Offer(text="fix login", salience=given)) == taken
